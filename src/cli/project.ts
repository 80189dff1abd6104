/** mailstead project create | list | disable | enable */

import { isoTime } from "../lib/clock.ts";
import type { ProjectRow } from "../modules/projects/service.ts";
import { type Command, UsageError } from "./command.ts";
import { print, STORE_SETTINGS, withStore } from "./store.ts";

const LONGEST_NAME = 100;

export const projectCreate: Command = {
  name: "project create",
  summary: "Make a project with a secret and a public key",
  positionals: [{ name: "NAME", help: "Name of the project, up to 100 characters" }],
  flags: [],
  settings: STORE_SETTINGS,
  run: (input) =>
    withStore(input, async ({ writer, projects, keys }) => {
      const name = (input.positionals[0] ?? "").trim();
      if (name === "" || name.length > LONGEST_NAME) {
        throw new UsageError(`NAME: expected 1 to ${LONGEST_NAME} characters`);
      }
      const { project, secret, open } = await writer.write(() => {
        const made = projects.create(name)();
        const key = (kind: "SECRET" | "PUBLIC") =>
          keys.create(made.seq, { kind, name: "first key", expiresAt: null })();
        return { project: made, secret: key("SECRET"), open: key("PUBLIC") };
      });
      return print(
        input,
        {
          project: { id: project.id, name: project.name },
          secretKey: secret.text,
          publicKey: open.text,
        },
        [
          `Project ${project.name} (${project.id})`,
          `  secret key  ${secret.text}`,
          `  public key  ${open.text}`,
          "Keep the secret key now: it is not shown again.",
        ].join("\n"),
      );
    }),
};

export const projectList: Command = {
  name: "project list",
  summary: "List the projects",
  positionals: [],
  flags: [],
  settings: STORE_SETTINGS,
  run: (input) =>
    withStore(input, async ({ projects }) => {
      const all = projects.list();
      const lines = all.map(
        ({ id, name, isEnabled }) => `${id}  ${isEnabled ? "enabled " : "disabled"}  ${name}`,
      );
      const human = lines.join("\n") || "No project yet. Make one: mailstead project create NAME";
      return print(input, { projects: all.map(present) }, human);
    }),
};

export const projectDisable = switchCommand("disable", false);
export const projectEnable = switchCommand("enable", true);

function switchCommand(verb: "disable" | "enable", isEnabled: boolean): Command {
  return {
    name: `project ${verb}`,
    summary: isEnabled
      ? "Let a project work again"
      : "Refuse every request of a project and hold its mail",
    positionals: [{ name: "ID|NAME", isOptional: true, help: "Which project" }],
    flags: [],
    settings: STORE_SETTINGS,
    run: (input) =>
      withStore(input, async ({ writer, projects }) => {
        const project = projects.resolve(input.positionals[0] ?? null);
        const changed = await writer.write(projects.setEnabled(project, isEnabled));
        return print(input, { project: present(changed) }, `Project ${changed.name} is ${verb}d.`);
      }),
  };
}

function present({ id, name, isEnabled, createdAt }: ProjectRow) {
  return { id, name, enabled: isEnabled, createdAt: isoTime(createdAt) };
}
