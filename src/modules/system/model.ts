/** The state of the installation, for its owners. */

import { type Static, Type } from "@sinclair/typebox";
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
    }),
    {
      level: "fail: mail is not delivered, or data is in danger; warn: something should be changed",
      what: "The subject of the check, such as `port 25`",
      finding: "What was found",
      fix: "The recommended fix; null if nothing has to be done",
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
        }),
        {
          waiting: "Mails that wait, also those that are not due yet",
          inProgress: "Mails that are being sent",
          oldestDueAt: "When the next mail is due, or was; null if none waits",
          stalledSeconds:
            "For how long due mail has not moved although nothing pauses it; more than 60 means " +
            "that the sending does not work",
        },
      ),
      pausedSites: Type.Array(PausedSite),
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
      queue: { waiting: 12, inProgress: 2, oldestDueAt: EXAMPLE.updatedAt, stalledSeconds: 0 },
      pausedSites: [{ name: "example.net", until: EXAMPLE.updatedAt }],
      checks: {
        checkedAt: EXAMPLE.updatedAt,
        isRunning: false,
        findings: [{ level: "ok", what: "clock", finding: "is correct", fix: null }],
      },
    },
  },
);
export type System = Static<typeof System>;
