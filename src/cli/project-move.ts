/** The commands `mailstead project export` and `mailstead project import`. */

import { resolve } from "node:path";
import { parseRecipient } from "../backup/age.ts";
import { exportProject } from "../backup/project-export.ts";
import { importProject } from "../backup/project-import.ts";
import { openDataFolder } from "../db/folder.ts";
import { systemClock } from "../lib/clock.ts";
import { recordCommand } from "./audit.ts";
import { findNamedBackup, S3_SETTINGS } from "./backup-places.ts";
import { type Command, readSettings, UsageError } from "./command.ts";
import { identityIn, KEY_FILE, requiredKeyFile } from "./encrypted-backup.ts";
import { isProjectName, PROJECT_NAME_RULE } from "./project-name.ts";
import {
  ensureDatabase,
  newInstallationText,
  openAccounts,
  print,
  PROJECT_FLAG,
  STORE_SETTINGS,
  withStore,
} from "./store.ts";

export const projectExport: Command = {
  name: "project export",
  summary: "Write one project into an encrypted file, for another installation",
  details:
    "It works while the server runs. What users and keys did, the mails with their events, contacts,\n" +
    "campaigns, workflows, templates, domains with their DKIM keys, and API keys are in the file. Users,\n" +
    "caught mail and files of imports are not. Disable the project before, so that nothing changes.",
  positionals: [{ name: "FILE", help: "File to write" }],
  flags: [
    PROJECT_FLAG,
    {
      name: "recipient",
      placeholder: "AGE1…",
      help: "Public half of a key that you have; without it, a key is made and shown once",
    },
  ],
  settings: STORE_SETTINGS,
  run: (input) =>
    withStore(input, async (store) => {
      const { folder: data, writer } = store;
      const project = store.project();
      const { recipient } = input.flags;
      const file = resolve(input.io.cwd, input.positionals[0] ?? "");
      const exported = await exportProject({
        data,
        project,
        file,
        recipient: recipient === undefined ? null : parseRecipient(recipient),
        now: systemClock.now,
      });
      await writer.write(() => {
        recordCommand(store, "project export", { projectSeq: project.seq, objectId: project.id });
      });
      const { bytes, identity } = exported;
      const text = [
        `Exported ${project.name} (${project.id}): ${bytes} bytes in ${file}`,
        ...(identity === null
          ? []
          : ["", `  ${identity}`, "", "Only this key opens the file. It is not shown again."]),
        ...(project.isEnabled
          ? [`${project.name} is enabled, so what happens from now on is not in the file.`]
          : []),
      ];
      return print(input, { file, ...exported }, text.join("\n"));
    }),
};

export const projectImport: Command = {
  name: "project import",
  summary: "Bring a project from an export or a backup into this installation",
  details:
    "The server must be stopped. The project is disabled afterwards: nothing of it is accepted or leaves\n" +
    "until mailstead project enable. Its API keys work again then, and so do the links in its mail.",
  positionals: [
    { name: "FILE", help: "File of an export, or a backup: its folder or its address in a bucket" },
  ],
  flags: [
    KEY_FILE,
    { name: "project", placeholder: "ID|NAME", help: "Project in the file, if there are several" },
    { name: "name", placeholder: "NAME", help: "Name that the project gets here" },
  ],
  settings: [...STORE_SETTINGS, ...S3_SETTINGS],
  run: async (input) => {
    const name = input.flags["name"]?.trim() ?? null;
    if (name !== null && !isProjectName(name)) throw new UsageError(`--name: ${PROJECT_NAME_RULE}`);
    const from = await findNamedBackup(input);
    const identity = identityIn(input, requiredKeyFile(input));
    const { data: path, secret } = readSettings(input, { names: STORE_SETTINGS });
    const data = openDataFolder(path, secret);
    const isNew = await ensureDatabase(data);
    if (isNew && !input.isJson) input.io.stderr.line(newInstallationText(data.path));
    const imported = await importProject({
      from,
      identity,
      data,
      wanted: input.flags["project"] ?? null,
      name,
      onCopied: (db, { seq, id }) => {
        const accounts = openAccounts(db, data.secret, "");
        recordCommand({ accounts }, "project import", { projectSeq: seq, objectId: id });
      },
    });
    const { contacts = 0, emails = 0, events = 0 } = imported.rows;
    const text = [
      `Imported ${imported.name} (${imported.id}): ${contacts} contacts, ${emails} mails, ${events} events.`,
      `It is disabled. When the other installation sends no more for it: mailstead project enable ${imported.id}`,
    ];
    return print(input, { project: imported }, text.join("\n"));
  },
};
