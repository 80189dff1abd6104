/** A whole application on an in-memory, really migrated database, with one project and its keys. */

import "./production.ts";
import { type App, createApp } from "../../src/app.ts";
import { type Config, readConfig } from "../../src/config.ts";
import { migrate } from "../../src/db/migrate.ts";
import { type Db, openDatabase } from "../../src/db/open.ts";
import type { Transport } from "../../src/delivery/outcome.ts";
import type { Dns } from "../../src/lib/dns/client.ts";
import type { FetchGuarded } from "../../src/lib/fetch-guarded/fetch-guarded.ts";
import { type Log, silentLog } from "../../src/lib/log.ts";
import { type ManualClock, manualClock } from "./clock.ts";
import { dkimPairs } from "./dkim.ts";
import { NO_DNS } from "./dns.ts";
import { at, textAt } from "./json.ts";

export type TestApp = Awaited<ReturnType<typeof testApp>>;

export type Answered = {
  status: number;
  headers: Headers;
  /** Parsed JSON, other text as it is; undefined for an empty body. */
  body: unknown;
  /** What stands at a dotted path of the body. */
  at: (path: string) => unknown;
  /** The same where it has to be text. */
  text: (path: string) => string;
};

export type TestOptions = {
  config?: Partial<Config>;
  transport?: Transport;
  /** Nobody answers unless told otherwise. */
  dns?: Dns;
  fetchGuarded?: FetchGuarded;
  log?: Log;
  clock?: ManualClock;
  /** A database that is there already, as after a restart. */
  db?: Db;
  folder?: string;
  /** Name of the project; its domain is `<name>.test`. */
  project?: string;
};

export type CallOptions = {
  key?: string | null;
  headers?: Record<string, string>;
  raw?: string | Uint8Array | ReadableStream;
};

export async function testApp(options: TestOptions = {}) {
  const clock = options.clock ?? manualClock();
  const db = options.db ?? openDatabase(":memory:");
  migrate(db.sqlite);
  const defaults = {
    sendRate: 0,
    apiRate: 0,
    publicKeyRate: 0,
    publicClientRate: 0,
    hostname: "sender.test",
    ...options.config,
  };
  /** Mail of the projects made here leaves unsigned: signing takes real time, on other threads. */
  let isSigning = false;
  const app = createApp({
    config: readConfig({}, {}, defaults),
    db,
    folder: options.folder ?? null,
    secret: "a secret for tests, long enough to be taken",
    clock,
    log: options.log ?? silentLog,
    dns: options.dns ?? NO_DNS,
    makeDkimKeys: () => (isSigning ? dkimPairs() : Promise.resolve([])),
    ...(options.transport === undefined ? {} : { transport: options.transport }),
    ...(options.fetchGuarded === undefined ? {} : { fetchGuarded: options.fetchGuarded }),
  });
  const acme = await makeProject(app, options.project ?? "acme");
  isSigning = true;

  let isStarted = false;

  /** A request with the secret key of acme unless another one is given; null sends none. */
  async function call(
    method: string,
    path: string,
    body?: unknown,
    { key = acme.secretKey, headers, raw }: CallOptions = {},
  ): Promise<Answered> {
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      body: raw ?? (body === undefined ? null : JSON.stringify(body)),
    });
    return answered(await app.handle(request));
  }

  /** What every table holds, but for bookkeeping that is not data. */
  const contents = (): Record<string, unknown[]> =>
    Object.fromEntries(
      db.sqlite
        .query<{ name: string }, []>(
          `SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'readiness'
           AND name NOT LIKE 'sqlite_%'`,
        )
        .all()
        .map(({ name }) => [name, db.sqlite.query(`SELECT * FROM ${name}`).all()]),
    );

  return {
    app,
    db,
    clock,
    call,
    contents,
    async makeProject(name: string) {
      isSigning = false;
      const made = await makeProject(app, name);
      isSigning = true;
      return made;
    },
    ...acme,

    /** Creates something and returns the id that the answer names at `path`. */
    async create(path: string, body: unknown, idPath: string, rest?: CallOptions): Promise<string> {
      const answer = await call("POST", path, body, rest);
      if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
      return answer.text(idPath);
    },

    /** Names of the events written so far, oldest first. */
    eventNames: (): string[] =>
      db.sqlite
        .query<{ name: string }, []>("SELECT name FROM events ORDER BY seq")
        .all()
        .map((row) => row.name),

    /** Rows in a table: to show that nothing was stored. */
    countRows: (table: string): number =>
      db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? 0,

    /** Sends what is due and waits until all of it was settled. */
    async deliver(): Promise<void> {
      // As a process does: once. A second start would take what is under way for orphans.
      if (!isStarted) await app.start();
      isStarted = true;
      for (;;) {
        await Bun.sleep(0);
        const busy = db.sqlite
          .query<{ n: number }, [number]>(
            "SELECT count(*) AS n FROM emails WHERE status = 'SENDING' OR (status = 'QUEUED' AND line = '' AND next_at <= ?)",
          )
          .get(clock.now());
        if (busy?.n === 0) return;
      }
    },

    close: () => app.stop(),
  };
}

/** Reads an answer whole. */
export async function answered(response: Response): Promise<Answered> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") ?? false;
  const body: unknown = text === "" ? undefined : isJson ? JSON.parse(text) : text;
  return {
    status: response.status,
    headers: response.headers,
    body,
    at: (path) => at(body, path),
    text: (path) => textAt(body, path),
  };
}

/** The project of that name, made if it is not there, with two new keys and a verified domain. */
async function makeProject(app: App, name: string) {
  const made = await app.writer.write(() => {
    const project = app.projects.find(name) ?? app.projects.create(name)();
    const key = (kind: "SECRET" | "PUBLIC") =>
      app.keys.create(project.seq, { kind, name: "test", expiresAt: null })().text;
    return { project, secretKey: key("SECRET"), publicKey: key("PUBLIC") };
  });
  await addDomain(app, made.project.seq, `${name}.test`);
  return made;
}

/** A domain that is verified by the operator's word. */
export async function addDomain(app: App, projectSeq: number, domain: string): Promise<void> {
  const add = await app.domains.add({ projectSeq, domain, isByWord: true });
  await app.writer.write(() => void add());
}
