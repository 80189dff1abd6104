/** The state of the installation, for its owners. */

import { type Static, Type } from "@sinclair/typebox";
import { BACKUP_PHASES } from "../../backup/phases.ts";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { OneOf } from "../../http/validation.ts";

const DateTime = Type.String({ format: "date-time" });

const SystemFinding = named(
  "SystemFinding",
  described(
    Type.Object({
      level: OneOf(["ok", "warn", "fail"]),
      what: Type.String(),
      finding: Type.String(),
      fix: Nullable(Type.String()),
      page: Nullable(OneOf(["relay-reports", "mailboxes", "server-settings"])),
    }),
    {
      level: "fail: mail is not delivered, or data is in danger; warn: something should be changed",
      what: "The subject of the check, such as `port 25`",
      finding: "What was found",
      fix: "The recommended fix; null if nothing has to be done",
      page: "The page of the dashboard where it is done, in any project or of the server; null if there is none",
    },
  ),
  { description: "A finding of the checks that `mailstead doctor` also runs" },
);

const PausedSite = named(
  "PausedSite",
  described(Type.Object({ name: Type.String(), until: DateTime }), {
    name: "Name of the site: the domain or the provider of its mail servers",
    until: "Until when it gets no mail",
  }),
  { description: "A receiving site that asked for a pause" },
);

const SystemUpdate = named(
  "SystemUpdate",
  described(
    Type.Object({ version: Type.String(), changesUrl: Type.String(), command: Type.String() }),
    {
      version: "The newer version",
      changesUrl: "The page that tells what is new in it",
      command: "The command that installs it, on the server as root",
    },
  ),
  { description: "A newer version of the program" },
);

const SystemBackup = named(
  "SystemBackup",
  described(
    Type.Object({
      target: Type.String(),
      keep: described(
        Type.Object({ days: Type.Integer(), weeks: Type.Integer(), months: Type.Integer() }),
        {
          days: "Days of which the newest backup is kept",
          weeks: "Weeks of which the newest backup is kept",
          months: "Months of which the newest backup is kept",
        },
      ),
      running: Nullable(
        described(
          Type.Object({
            startedAt: DateTime,
            phase: Nullable(OneOf(BACKUP_PHASES)),
            bytes: Type.Integer(),
            totalBytes: Nullable(Type.Integer()),
          }),
          {
            startedAt: "When it began",
            phase:
              "copy: of the database; encrypt; verify: the archive is opened again; upload, into a " +
              "bucket; check: it is read back; publish; remove: of old ones. Null before the first one",
            bytes: "Bytes of the phase that are done",
            totalBytes: "All bytes of the phase; null if they are not known",
          },
        ),
      ),
      nextAt: DateTime,
      last: Nullable(
        described(
          Type.Object({
            name: Type.String(),
            createdAt: DateTime,
            verifiedAt: DateTime,
            bytes: Type.Integer(),
            sha256: Type.String(),
          }),
          {
            name: "The folder of the backup in the target",
            createdAt: "When the database was copied",
            verifiedAt: "When the backup was opened again, read back and compared",
            bytes: "Bytes of the encrypted file",
            sha256: "SHA-256 of the encrypted file, hexadecimal",
          },
        ),
      ),
      failure: Nullable(
        described(
          Type.Object({
            at: DateTime,
            error: Type.String(),
            suggestion: Nullable(Type.String()),
          }),
          {
            at: "When it failed",
            error: "Why it failed",
            suggestion: "What to do; null if the error says it",
          },
        ),
      ),
    }),
    {
      target: "Folder of the backups, or s3://BUCKET/PREFIX",
      keep: "Which backups are kept",
      running: "The backup that the server makes now; null if it makes none",
      nextAt: "When the next one is made",
      last: "The last backup that was verified; null if there is none",
      failure: "Why the latest try failed; null if it succeeded",
    },
  ),
  { description: "The encrypted backups that the server makes every day" },
);

export const KeptBackup = named(
  "KeptBackup",
  described(
    Type.Object({
      name: Type.String(),
      path: Type.String(),
      contents: Nullable(
        described(
          Type.Object({
            createdAt: DateTime,
            verifiedAt: DateTime,
            version: Type.String(),
            bytes: Type.Integer(),
          }),
          {
            createdAt: "When the database was copied",
            verifiedAt: "When the backup was opened again, read back and compared",
            version: "Version of the program that made it",
            bytes: "Bytes of the encrypted file",
          },
        ),
      ),
      fault: Nullable(Type.String()),
    }),
    {
      name: "The folder of the backup in the target",
      path: "What `mailstead restore` gets: its path, or its address in the bucket",
      contents: "What its manifest says; null if the backup cannot be used",
      fault: "Why it cannot be used; null if nothing was found",
    },
  ),
  {
    description: "A backup in the folder or bucket of --backup-to",
    example: {
      name: "mailstead-1a2b3c4d-20270131T031700Z",
      path: "s3://backups/shop/mailstead-1a2b3c4d-20270131T031700Z",
      contents: {
        createdAt: EXAMPLE.createdAt,
        verifiedAt: EXAMPLE.updatedAt,
        version: "1.0.0",
        bytes: 21_930_101,
      },
      fault: null,
    },
  },
);
export type KeptBackup = Static<typeof KeptBackup>;

export const System = named(
  "System",
  described(
    Type.Object({
      version: Type.String(),
      revision: Type.String(),
      startedAt: DateTime,
      transport: OneOf(["capture", "relay", "direct"]),
      hostname: Type.String(),
      url: Type.String(),
      storage: described(
        Type.Object({
          folder: Nullable(Type.String()),
          usedBytes: Nullable(Type.Integer()),
          freeBytes: Nullable(Type.Integer()),
        }),
        {
          folder: "The data folder; null if the database is in memory",
          usedBytes: "Bytes of the files in the folder",
          freeBytes: "Free bytes of its file system",
        },
      ),
      queue: described(
        Type.Object({
          waiting: Type.Integer(),
          inProgress: Type.Integer(),
          oldestDueAt: Nullable(DateTime),
          stalledSeconds: Type.Integer(),
          heldSince: Nullable(DateTime),
        }),
        {
          waiting: "Mails that wait, also those that are not due yet",
          inProgress: "Mails that are being sent",
          oldestDueAt: "When the next mail is due, or was; null if none waits",
          stalledSeconds:
            "For how long due mail has not moved although nothing pauses it; more than 60 means " +
            "that the sending does not work",
          heldSince:
            "Since when the queue is held, so that nothing leaves; null if it is not held. A restored " +
            "installation begins with it",
        },
      ),
      pausedSites: Type.Array(PausedSite),
      update: Nullable(SystemUpdate),
      backup: Nullable(SystemBackup),
      checks: described(
        Type.Object({
          checkedAt: Nullable(DateTime),
          isRunning: Type.Boolean(),
          findings: Type.Array(SystemFinding),
        }),
        {
          checkedAt: "When the checks ended; null before the first time",
          isRunning: "Whether they run now; they run at most once a minute",
          findings: "The findings of the latest run",
        },
      ),
    }),
    {
      version: "Version of the program",
      revision: "Git revision of the program; empty if it is not known",
      startedAt: "When the process started",
      transport: "How mail leaves",
      hostname: "Name of this server towards other mail servers",
      url: "Address of this server in links",
      storage: "The data folder",
      queue: "The mails of all projects that have not left",
      pausedSites: "Sites of direct delivery that asked for a pause, at most 100",
      update: "A newer version, which is known once a day (--update-check); null if there is none",
      backup: "The scheduled backups; null if there are none (--backup-to)",
      checks: "The checks of everything that delivery depends on",
    },
  ),
  {
    description: "The state of the installation",
    example: {
      version: "1.0.0",
      revision: "3f0c1a9",
      startedAt: EXAMPLE.createdAt,
      transport: "direct",
      hostname: "mail.example.com",
      url: "https://mail.example.com",
      storage: { folder: "/var/lib/mailstead", usedBytes: 52_428_800, freeBytes: 42_949_672_960 },
      queue: {
        waiting: 12,
        inProgress: 2,
        oldestDueAt: EXAMPLE.updatedAt,
        stalledSeconds: 0,
        heldSince: null,
      },
      pausedSites: [{ name: "example.net", until: EXAMPLE.updatedAt }],
      update: {
        version: "1.1.0",
        changesUrl: "https://github.com/mailstead/mailstead/releases/tag/v1.1.0",
        command: "mailstead upgrade",
      },
      backup: {
        target: "s3://backups/shop",
        keep: { days: 7, weeks: 4, months: 6 },
        running: null,
        nextAt: EXAMPLE.updatedAt,
        last: {
          name: "mailstead-1a2b3c4d-20270131T031700Z",
          createdAt: EXAMPLE.createdAt,
          verifiedAt: EXAMPLE.updatedAt,
          bytes: 21_930_101,
          sha256: "a86ae32d2579e8915691d81bdc32320e9ce5500887d996f8739395acaeea979c",
        },
        failure: null,
      },
      checks: {
        checkedAt: EXAMPLE.updatedAt,
        isRunning: false,
        findings: [{ level: "ok", what: "clock", finding: "is correct", fix: null, page: null }],
      },
    },
  },
);
export type System = Static<typeof System>;
