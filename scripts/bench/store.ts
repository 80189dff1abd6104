/** Prepares and reads data folders: with a project, an API key and, on request, queued mails. */

import "../../src/lib/production.ts";
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { type Server, createServer } from "../../src/app.ts";
import { readConfig } from "../../src/config/read.ts";
import type { Config } from "../../src/config/settings.ts";
import { openDataFolder } from "../../src/db/folder.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openDatabase } from "../../src/db/open.ts";
import { findWrongUsage } from "../../src/db/usage-recount.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { silentLog } from "../../src/lib/log.ts";
import { prepareDomain } from "../../src/modules/domains/domains.ts";
import { createProject, findProject } from "../../src/modules/projects.ts";
import { BODY, SENDER, SENDER_DOMAIN, SUBJECT } from "./mail.ts";
import { createKey } from "../../src/modules/keys.ts";

const MAX_RECIPIENTS = 1000;
const POLL_MS = 250;

export type StoreOptions = {
  /** Returns the recipient of the mail with this number. */
  recipientOf?: (number: number) => string;
  /** Whether the sender domain gets DKIM keys, one RSA and one Ed25519. */
  isSigned?: boolean;
};

/** Adds a verified sender domain to the project of that name, which is created if it is missing. */
export async function addSender(data: string, domain: string, project = "Seed"): Promise<void> {
  const { app, close } = openStore(data, { isSigned: false });
  const { seq } = await app.writer.write(
    () => findProject(app.app, project) ?? createProject(app.app, project),
  );
  await addDomain(app, seq, domain);
  await close();
}

/**
 * Creates a project with a sender domain and queued mails, and returns its secret key. Nothing is
 * sent, since the dispatcher does not run.
 */
export async function prepareStore(
  data: string,
  queuedMails: number,
  { recipientOf = (number) => `person-${number}@example.net`, isSigned = false }: StoreOptions = {},
): Promise<string> {
  const { app, post, close } = openStore(data, { isSigned });
  const { projectSeq, key } = await app.writer.write(() => {
    const { seq } = createProject(app.app, "bench");
    const { text } = createKey(app.app, seq, { kind: "SECRET", name: "bench", expiresAt: null });
    return { projectSeq: seq, key: text };
  });
  await addDomain(app, projectSeq, SENDER_DOMAIN);
  for (let first = 0; first < queuedMails; first += MAX_RECIPIENTS) {
    const count = Math.min(MAX_RECIPIENTS, queuedMails - first);
    const to = Array.from({ length: count }, (_, i) => recipientOf(first + i));
    await post(key, "/v1/send", {
      to,
      from: SENDER,
      subject: SUBJECT,
      body: BODY,
      data: { name: "Ada", order: "A-1001" },
    });
  }
  await close();
  return key;
}

/**
 * Waits until no mail is waiting or under way. `onStep` receives the number of finished mails at
 * every poll.
 */
export async function waitUntilSent(
  reader: ReturnType<typeof openReader>,
  mails: number,
  {
    limitMs,
    onStep = () => {},
  }: { limitMs: number; onStep?: (ended: number) => Promise<void> | void },
): Promise<void> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    // This count reads only the index of the queue, so that polling does not slow down delivery.
    const openMails = reader.count("emails WHERE campaign_seq IS NULL AND next_at IS NOT NULL");
    await onStep(mails - openMails);
    if (openMails === 0) return;
    if (performance.now() > deadline) {
      throw new Error(`only ${mails - openMails} of ${mails} mails were sent within ${limitMs} ms`);
    }
    await Bun.sleep(POLL_MS);
  }
}

/** Adds a domain that counts as verified to a project. */
export async function addDomain(app: Server, projectSeq: number, domain: string): Promise<void> {
  const add = await prepareDomain(app.app, { projectSeq, domain, isDeclaredVerified: true });
  await app.writer.write(() => void add());
}

/**
 * Opens an application on a data folder in this process, without its background work. Domains that
 * it adds get DKIM keys only if `isSigned`: otherwise measurements would mostly measure signing.
 */
export function openStore(
  data: string,
  { isSigned = false, ...settings }: Partial<Config> & { isSigned?: boolean } = {},
) {
  const folder = openDataFolder(data, null);
  const db = openDatabase(folder.databaseFile);
  migrate(db.sqlite);
  const app = createServer({
    config: readConfig({}, {}, { apiRate: 0, ...settings }),
    db,
    folder: folder.path,
    secret: folder.secret,
    clock: systemClock,
    log: silentLog,
    ...(isSigned ? {} : { makeDkimKeys: () => Promise.resolve([]) }),
  });
  return {
    app,

    /** Sends a POST request and resolves to the body of the response; throws unless it succeeds. */
    async post(key: string, path: string, body: unknown): Promise<unknown> {
      const response = await app.handle(
        new Request(`http://localhost${path}`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify(body),
        }),
      );
      if (!response.ok) throw new Error(await response.text());
      return response.json();
    },

    async close(): Promise<void> {
      await app.writer.drain();
      // SQLite ends the connection when its statements are garbage: nothing is left for it to write.
      db.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
      db.sqlite.close();
    },
  };
}

/** Opens the database read-only; the server may be running. */
export function openReader(data: string) {
  const sqlite = new Database(join(data, "mailstead.db"), { readonly: true });
  sqlite.run("PRAGMA busy_timeout = 5000");
  const count = (sql: string): number =>
    sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${sql}`).get()?.n ?? 0;
  return {
    count,
    numbers: (sql: string): number[] =>
      sqlite
        .query<{ n: number }, []>(sql)
        .all()
        .map(({ n }) => n),
    texts: (sql: string): string[] =>
      sqlite
        .query<{ text: string }, []>(sql)
        .all()
        .map(({ text }) => text),
    /** Projects whose counters of stored data and queued mails differ from their rows. */
    wrongCounters: (): number => findWrongUsage(sqlite).length,
    close: () => sqlite.close(),
  };
}
