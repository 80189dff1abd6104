/** The commands `mailstead project create`, `list`, `set`, `disable` and `enable`. */

import { findDomain } from "../modules/domains/domains.ts";
import { createKey } from "../modules/keys.ts";
import { changeByCommand, recordCommand } from "./audit.ts";
import { TRACKING_MODES } from "../db/schema/projects.ts";
import { isoTime } from "../lib/clock.ts";
import { domainOf } from "../protocols/mime/address.ts";
import { LANGUAGES } from "../render/language.ts";
import { formatMailbox, type Mailbox, parseMailbox } from "../protocols/mime/mailbox.ts";
import {
  changeProject,
  createProject,
  listProjects,
  type ProjectRow,
  type ProjectSettings,
  type ProjectUsage,
  resolveProject,
  usageOfProject,
} from "../modules/projects.ts";
import { type Command, type Input, UsageError } from "./command.ts";
import {
  findLongPeriods,
  MAX_RETENTION_DAYS,
  type RetentionField,
} from "../modules/project-retention.ts";
import { isProjectName, PROJECT_NAME_RULE } from "./project-name.ts";
import { print, STORE_SETTINGS, withNewStore, withStore } from "./store.ts";

const PROJECT_ARGUMENT = {
  name: "ID|NAME",
  isOptional: true,
  help: "Project; may be omitted if there is only one",
} as const;

export const projectCreate: Command = {
  name: "project create",
  summary: "Create a project with a secret and a public key",
  positionals: [{ name: "NAME", help: "Name of the project, up to 100 characters" }],
  flags: [],
  settings: STORE_SETTINGS,
  run: async (input) => {
    const name = (input.positionals[0] ?? "").trim();
    if (!isProjectName(name)) throw new UsageError(`NAME: ${PROJECT_NAME_RULE}`);
    return withNewStore(input, async (store) => {
      const { writer } = store;
      const { project, secretKey, publicKey } = await writer.write(() => {
        const created = createProject(store, name);
        recordCommand(store, "project create", { projectSeq: created.seq, objectId: created.id });
        const key = (kind: "SECRET" | "PUBLIC") =>
          createKey(store, created.seq, { kind, name: "first key", expiresAt: null });
        return { project: created, secretKey: key("SECRET"), publicKey: key("PUBLIC") };
      });
      return print(
        input,
        {
          project: { id: project.id, name: project.name },
          secretKey: secretKey.text,
          publicKey: publicKey.text,
        },
        [
          `Project ${project.name} (${project.id})`,
          `  secret key  ${secretKey.text}`,
          `  public key  ${publicKey.text}`,
          "Store the secret key now: it is not shown again.",
        ].join("\n"),
      );
    });
  },
};

export const projectList: Command = {
  name: "project list",
  summary: "List the projects",
  positionals: [],
  flags: [],
  settings: STORE_SETTINGS,
  run: (input) =>
    withStore(input, async (store) => {
      const all = listProjects(store);
      const lines = all.map((project) => lineFor(project, usageOfProject(store, project)));
      const human =
        lines.join("\n") || "There is no project yet. Create one: mailstead project create NAME";
      return print(
        input,
        { projects: all.map((one) => ({ ...present(one), usage: usageOfProject(store, one) })) },
        human,
      );
    }),
};

const DAYS_OR_DEFAULT = { placeholder: "DAYS|default" } as const;
const RETENTION_FLAGS = [
  {
    name: "retain-bodies",
    ...DAYS_OR_DEFAULT,
    help: "Days until body, variables and attachments of a mail are deleted",
  },
  { name: "retain-raw", ...DAYS_OR_DEFAULT, help: "Days until captured messages are deleted" },
  {
    name: "retain-events",
    ...DAYS_OR_DEFAULT,
    help: "Days until events and ended workflow executions are deleted",
  },
  { name: "retain-received", ...DAYS_OR_DEFAULT, help: "Days until received mails are deleted" },
] as const;

const RETENTION_FLAG = {
  retainBodies: "retain-bodies",
  retainRaw: "retain-raw",
  retainEvents: "retain-events",
  retainReceived: "retain-received",
} as const satisfies Record<RetentionField, (typeof RETENTION_FLAGS)[number]["name"]>;

export const projectSet: Command = {
  name: "project set",
  summary: "Change the settings of a project's mail",
  details:
    "Tracking: opens and clicks are tracked in all mail, in marketing mail only, or in none.\n" +
    "Language: the language of the footer of marketing mail, and of the pages that it links to.\n" +
    "Logo and colour: what these pages show beside the name of the project.\n" +
    "How long data is kept: the flags --retain-… shorten the period of the server for one project.\n" +
    "A longer period is refused.\n" +
    "Default sender: used if neither the request nor its template names a sender. Its domain must\n" +
    "be verified when mail is sent.",
  positionals: [PROJECT_ARGUMENT],
  flags: [
    { name: "tracking", placeholder: TRACKING_MODES.join("|"), help: "Mail that is tracked" },
    { name: "language", placeholder: LANGUAGES.join("|"), help: "Language for recipients" },
    {
      name: "logo",
      placeholder: "IMAGE-ID|none",
      help: "Uploaded image that the pages for recipients show",
    },
    { name: "color", placeholder: "#RRGGBB|none", help: "Colour of these pages" },
    ...RETENTION_FLAGS,
    { name: "from", placeholder: "'NAME <ADDRESS>'", help: "Default sender" },
    { name: "no-from", help: "Remove the default sender" },
  ],
  settings: STORE_SETTINGS,
  run: async (input) => {
    const fields = settingsIn(input);
    return withStore(input, async (store) => {
      const { config, writer } = store;
      const [tooLong] = findLongPeriods(store.retention, fields);
      if (tooLong !== undefined) {
        throw new UsageError(`--${RETENTION_FLAG[tooLong.field]}: ${tooLong.message}`);
      }
      const project = resolveProject(store, input.positionals[0] ?? null, commandText("set"));
      const changed = await writer.write(() => {
        const { seq: projectSeq, id: objectId } = project;
        return changeByCommand(store, "project set", {
          projectSeq,
          objectId,
          fields: Object.keys(fields),
          run: () => changeProject(store, project, fields),
        });
      });
      const { seq, name, tracking, language } = changed;
      const sender = senderOf(changed);
      const lines = [
        `Project ${name}: tracking ${tracking}, language ${language}, ${senderText(sender)}.`,
      ];
      const domain =
        fields.sender === undefined || sender === null ? null : domainOf(sender.address);
      const isVerified = domain === null || findDomain(store, seq, domain)?.status === "VERIFIED";
      if (config.requireVerifiedDomain && !isVerified) {
        lines.push(
          `The domain ${domain} is not verified for this project. Mail from it is refused until`,
        );
        lines.push(`it is verified. Add it with: mailstead domain add ${domain}`);
      }
      return print(input, { project: present(changed) }, lines.join("\n"));
    });
  },
};

function lineFor(project: ProjectRow, { storedBytes, queuedMails }: ProjectUsage): string {
  const { id, name, isEnabled } = project;
  const stored = `${(storedBytes / (1024 * 1024)).toFixed(1)} MiB stored`;
  const sender = senderOf(project);
  const from = sender === null ? "" : `  ${senderText(sender)}`;
  const usage = `  ${stored}, ${queuedMails} mails queued`;
  return `${id}  ${isEnabled ? "enabled " : "disabled"}  ${name}${from}${usage}`;
}

function senderText(sender: Mailbox | null): string {
  return sender === null ? "no default sender" : `default sender ${formatMailbox(sender)}`;
}

function senderOf({ fromAddress, fromName }: ProjectRow): Mailbox | null {
  return fromAddress === null ? null : { address: fromAddress, name: fromName };
}

function settingsIn({ flags }: Input): ProjectSettings {
  const tracking = choiceIn(flags, "tracking", TRACKING_MODES);
  const language = choiceIn(flags, "language", LANGUAGES);
  const sender = senderIn(flags);
  const logoImageId = valueOrNone(flags["logo"]);
  const brandColor = colorIn(flags);
  const periods = {
    retainBodies: daysIn(flags, RETENTION_FLAG.retainBodies),
    retainRaw: daysIn(flags, RETENTION_FLAG.retainRaw),
    retainEvents: daysIn(flags, RETENTION_FLAG.retainEvents),
    retainReceived: daysIn(flags, RETENTION_FLAG.retainReceived),
  };
  const given = { tracking, language, sender, logoImageId, brandColor, ...periods };
  const settings: ProjectSettings = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  );
  if (Object.keys(settings).length > 0) return settings;
  throw new UsageError(
    "give at least one of --tracking, --language, --logo, --color, --retain-bodies, --retain-raw, " +
      "--retain-events, --retain-received, --from and --no-from",
  );
}

/** Undefined without the flag, and null for `default`. */
function daysIn(
  flags: Input["flags"],
  name: (typeof RETENTION_FLAGS)[number]["name"],
): number | null | undefined {
  const given = flags[name];
  if (given === undefined) return undefined;
  if (given === "default") return null;
  const days = /^\d{1,9}$/.test(given) ? Number(given) : 0;
  if (days >= 1 && days <= MAX_RETENTION_DAYS) return days;
  throw new UsageError(
    `--${name}: expected a number of days from 1 to ${MAX_RETENTION_DAYS}, or default, got "${given}"`,
  );
}

/** Undefined without the flag, and null for `none`. */
const valueOrNone = (given: string | undefined): string | null | undefined =>
  given === "none" ? null : given;

function colorIn(flags: Input["flags"]): string | null | undefined {
  const given = valueOrNone(flags["color"]);
  if (typeof given !== "string" || /^#[0-9a-f]{6}$/i.test(given))
    return given?.toLowerCase() ?? given;
  throw new UsageError(`--color: expected a colour such as '#1d56c4', or none, got "${given}"`);
}

/** Returns null if the sender is to be removed, and undefined if neither flag was given. */
function senderIn(flags: Input["flags"]): Mailbox | null | undefined {
  const from = flags["from"];
  const isRemoved = flags["no-from"] !== undefined;
  if (from === undefined) return isRemoved ? null : undefined;
  if (isRemoved)
    throw new UsageError("--from and --no-from contradict each other: give only one of them");
  const parsed = parseMailbox(from);
  if (parsed.ok) return parsed.mailbox;
  throw new UsageError(`--from: ${parsed.reason} Example: --from 'Shop <orders@shop.example>'`);
}

/** Ignores upper and lower case. Returns undefined if the flag was not given. */
function choiceIn<T extends string>(
  flags: Input["flags"],
  name: string,
  choices: readonly T[],
): T | undefined {
  const given = flags[name];
  if (given === undefined) return undefined;
  const choice = choices.find((one) => one.toLowerCase() === given.toLowerCase());
  if (choice !== undefined) return choice;
  throw new UsageError(`--${name}: expected one of ${choices.join(", ")}, got "${given}"`);
}

export const projectDisable = enabledCommand("disable", false);
export const projectEnable = enabledCommand("enable", true);

function enabledCommand(verb: "disable" | "enable", isEnabled: boolean): Command {
  return {
    name: `project ${verb}`,
    summary: isEnabled
      ? "Enable a project again"
      : "Refuse every request of a project; its mail, webhooks and workflow calls wait",
    positionals: [PROJECT_ARGUMENT],
    flags: [],
    settings: STORE_SETTINGS,
    run: (input) =>
      withStore(input, async (store) => {
        const { writer } = store;
        const project = resolveProject(store, input.positionals[0] ?? null, commandText(verb));
        const changed = await writer.write(() => {
          const { seq: projectSeq, id: objectId } = project;
          return changeByCommand(store, `project ${verb}`, {
            projectSeq,
            objectId,
            fields: ["isEnabled"],
            run: () => changeProject(store, project, { isEnabled }),
          });
        });
        return print(input, { project: present(changed) }, `Project ${changed.name} is ${verb}d.`);
      }),
  };
}

function commandText(verb: string): string {
  return `mailstead project ${verb} ${PROJECT_ARGUMENT.name}`;
}

function present(project: ProjectRow) {
  const { id, name, isEnabled, tracking, language, logoImageId, brandColor, createdAt } = project;
  const { retainBodies, retainRaw, retainEvents, retainReceived } = project;
  const sender = senderOf(project);
  return {
    id,
    name,
    enabled: isEnabled,
    tracking,
    language,
    logoImageId,
    brandColor,
    retainBodies,
    retainRaw,
    retainEvents,
    retainReceived,
    sender: sender === null ? null : { email: sender.address, name: sender.name },
    createdAt: isoTime(createdAt),
  };
}
