/**
 * An application over a new database in memory with some rows of the server, whose clock is moved. It has
 * no connection to the database of the server, and its links, DNS and requests lead nowhere.
 */

import type { Database } from "bun:sqlite";
import { buildConfig } from "../../../config/read.ts";
import type { Config } from "../../../config/settings.ts";
import type { App } from "../../../core/app.ts";
import { linkKeysOf } from "../../../core/signed-ids.ts";
import { migrate } from "../../../db/migrate.ts";
import { type Db, openCopy, openDatabase } from "../../../db/open.ts";
import { createDatabaseReader } from "../../../db/reader.ts";
import { createUsageCounter } from "../../../db/usage-counter.ts";
import { createWriter } from "../../../db/writer.ts";
import { eventLog } from "../../../events/log.ts";
import type { Clock } from "../../../lib/clock.ts";
import { randomBase62 } from "../../../lib/crypto.ts";
import { silentLog } from "../../../lib/log.ts";
import { createLoopWatch, platformWatch } from "../../../lib/loop-watch.ts";
import { createReferences } from "../../../lib/references.ts";
import { createDns } from "../../../protocols/dns/client.ts";

/** Rows of a table as JSON: a list of the values of each row, in the order of the columns. */
export type TableRows = { table: string; columns: readonly string[]; rows: string };

/** The settings on which the steps of a workflow depend. */
type SandboxConfig = Pick<
  Config,
  "url" | "trackingUrl" | "requireVerifiedDomain" | "allowPrivateAddresses"
>;

export type SandboxAppInput = {
  config: SandboxConfig;
  /** Base URL of the links in mails. */
  url: string;
  projectSeq: number;
  tables: readonly TableRows[];
  startAt: number;
};

type SandboxEvent = {
  name: string;
  contactSeq: number;
  /** JSON of an object, or null. */
  json: string | null;
  /** The mail of the event. */
  emailSeq?: number | null;
};

export type SandboxApp = ReturnType<typeof createSandboxApp>;

/** The same in each run, so that retries of webhooks have the same times. */
const RANDOM = 0.5;

export function createSandboxApp(input: SandboxAppInput) {
  const { projectSeq, tables, startAt } = input;
  const clock = movedClock(startAt);
  const app = sandboxApp(input, clock);
  const { sqlite } = app.db;
  for (const rows of tables) insertRows(sqlite, rows);
  return {
    app,
    clock,

    /** Part of a change: appends an event of now to the log. */
    record({ name, contactSeq, json, emailSeq = null }: SandboxEvent): void {
      const data = json === null ? {} : { json };
      const mail = emailSeq === null ? {} : { emailSeq };
      eventLog(app).record({ projectSeq, name, contactSeq, ...data, ...mail, at: clock.now() });
    },

    close: () => sqlite.close(),
  };
}

/** The settings of a sandbox that are those of the server. */
export function sandboxSettings({ config, url: base }: App) {
  const { url, trackingUrl, requireVerifiedDomain, allowPrivateAddresses } = config;
  return { config: { url, trackingUrl, requireVerifiedDomain, allowPrivateAddresses }, url: base };
}

type MovedClock = Clock & { set(at: number): void };

/** Nothing in a sandbox waits for a timer. */
function movedClock(startAt: number): MovedClock {
  let now = startAt;
  return {
    now: () => now,
    elapsed: () => now,
    after: () => () => {},
    set(at) {
      now = at;
    },
  };
}

let image: Uint8Array | null = null;

/** A copy of an empty database takes a twentieth of the time of its migrations. */
function emptyDatabase(): Db {
  if (image === null) {
    const { sqlite } = openDatabase(":memory:");
    migrate(sqlite);
    image = sqlite.serialize();
    sqlite.close();
  }
  return openCopy(image);
}

/** An application whose links, DNS and requests lead nowhere. */
function sandboxApp(
  { config: given, url }: Pick<SandboxAppInput, "config" | "url">,
  clock: Clock,
): App {
  const db = emptyDatabase();
  // The rows refer to others that are not needed here.
  db.sqlite.run("PRAGMA foreign_keys = OFF");
  const config = buildConfig({}, { defaults: { ...given, quotaStorage: 0, quotaQueuedMails: 0 } });
  const writer = createWriter(db, silentLog, null);
  const secret = randomBase62(43);
  return {
    isApp: true,
    config,
    settings: { given: {}, withStored: () => config },
    folder: null,
    secret,
    clock,
    log: silentLog,
    random: () => RANDOM,
    db,
    reader: createDatabaseReader(db),
    writer,
    usage: createUsageCounter(db, writer),
    references: createReferences(),
    dns: createDns({ servers: [], clock }),
    fetchGuarded: () => Promise.reject(new Error("a sandbox makes no requests")),
    url,
    trackingUrl: given.trackingUrl ?? url,
    ...linkKeysOf(secret),
    loopWatch: createLoopWatch(platformWatch(silentLog)),
    hasOpenInboxes: false,
    makeDkimKeys: () => Promise.resolve([]),
    passwordCost: undefined,
  };
}

function insertRows(sqlite: Database, { table, columns, rows }: TableRows): void {
  const values = columns.map((_, i) => `value ->> ${i}`).join(", ");
  const names = columns.map((name) => `"${name}"`).join(", ");
  sqlite
    .prepare<unknown, [string]>(
      `INSERT OR IGNORE INTO ${table} (${names}) SELECT ${values} FROM json_each(?)`,
    )
    .run(rows);
}
