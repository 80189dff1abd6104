/** Creates a complete application on a migrated database in memory, with a project and its keys. */

import "./production.ts";
import { type Server, createServer } from "../../src/app.ts";
import type { AppOptions } from "../../src/core.ts";
import { buildConfig, type GivenSettings, type StoredTexts } from "../../src/config/read.ts";
import type { Config } from "../../src/config/settings.ts";
import { migrate } from "../../src/db/migrate.ts";
import type { Db } from "../../src/db/open.ts";
import { prepareDomain } from "../../src/modules/domains/domains.ts";
import { createProject, findProject } from "../../src/modules/projects.ts";
import type { Transport } from "../../src/outbox/outcome.ts";
import type { Dns } from "../../src/protocols/dns/client.ts";
import type { FetchGuarded } from "../../src/protocols/fetch-guarded/fetch-guarded.ts";
import { type Log, silentLog } from "../../src/lib/log.ts";
import { type ManualClock, manualClock } from "./clock.ts";
import { migratedDatabase } from "./database.ts";
import { dkimPairs } from "./dkim.ts";
import { FAILING_DNS } from "./dns.ts";
import { valueAt, stringAt } from "./json.ts";
import { readStoredTexts } from "../../src/modules/settings/stored.ts";
import { createKey } from "../../src/modules/keys.ts";

/** The installation secret of the test applications, and of the databases in test/fixtures. */
export const TEST_SECRET = "a secret for tests, long enough to be taken";

/** The least that Argon2id allows, because a digest with the cost of the product takes 0.2 s. */
export const CHEAP_PASSWORDS = { memoryCost: 8, timeCost: 1 };

export type TestApp = Awaited<ReturnType<typeof testApp>>;

export type TestResponse = {
  status: number;
  headers: Headers;
  /** The parsed JSON, the text of other media types, or undefined for an empty body. */
  body: unknown;
  /** Returns the value at a dotted path of the body. */
  at: (path: string) => unknown;
  /** Returns the string at a dotted path of the body; throws if it is not a string. */
  text: (path: string) => string;
};

export type TestOptions = {
  config?: Partial<Config>;
  /** Settings as flags, variables and files give them. */
  given?: GivenSettings;
  transport?: Transport;
  /** DNS client; by default all queries fail. */
  dns?: Dns;
  fetchGuarded?: FetchGuarded;
  loopWatch?: AppOptions["loopWatch"];
  log?: Log;
  clock?: ManualClock;
  /** An existing database, as after a restart. */
  db?: Db;
  folder?: string;
  /** By default TEST_SECRET. */
  secret?: string;
  /** Inboxes need no key, as in `mailstead dev`. */
  hasOpenInboxes?: boolean;
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
  const db = options.db ?? migratedDatabase();
  migrate(db.sqlite);
  const defaults = {
    sendRate: 0,
    apiRate: 0,
    publicKeyRate: 0,
    publicClientRate: 0,
    userRate: 0,
    hostname: "sender.test",
    ...options.config,
  };
  /** False while a project is created here: its domain gets no DKIM keys, since signing is slow. */
  let hasDkimKeys = false;
  const { given = {} } = options;
  const withStored = (stored: StoredTexts | null) => buildConfig(given, { defaults, stored });
  const app = createServer({
    config: withStored(readStoredTexts({ db, secret: TEST_SECRET }, given)),
    settings: { given, withStored },
    db,
    folder: options.folder ?? null,
    secret: options.secret ?? TEST_SECRET,
    clock,
    log: options.log ?? silentLog,
    hasOpenInboxes: options.hasOpenInboxes ?? false,
    dns: options.dns ?? FAILING_DNS,
    passwordCost: CHEAP_PASSWORDS,
    makeDkimKeys: () => (hasDkimKeys ? dkimPairs() : Promise.resolve([])),
    ...(options.transport === undefined ? {} : { transport: options.transport }),
    ...(options.fetchGuarded === undefined ? {} : { fetchGuarded: options.fetchGuarded }),
    ...(options.loopWatch === undefined ? {} : { loopWatch: options.loopWatch }),
  });
  const first = await makeProject(app, options.project ?? "acme");
  hasDkimKeys = true;

  let isStarted = false;
  /** Starts the application once, because a second start would treat mails under way as interrupted. */
  async function start(): Promise<void> {
    if (!isStarted) await app.start();
    isStarted = true;
  }

  /** Sends a request with the given key or none (null). */
  async function send(
    method: string,
    path: string,
    body: unknown,
    { key, headers, raw }: CallOptions & { key: string | null },
  ): Promise<TestResponse> {
    const content = raw ?? (body === undefined ? null : JSON.stringify(body));
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...lengthOf(content),
        ...headers,
      },
      body: content,
    });
    return readResponse(await app.handle(request));
  }

  /** Returns the rows of all tables except SQLite's own and the one of the readiness check. */
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

  /** Requests with the key of a project, and its rows; those of all projects if `isOnly` is false. */
  function inProject(access: typeof first, isOnly = true) {
    const { secretKey } = access;
    const ofProject = isOnly ? `project_seq = ${access.project.seq}` : "TRUE";

    /** Sends a request with the secret key of the project, another key, or none (null). */
    const call = (
      method: string,
      path: string,
      body?: unknown,
      { key = secretKey, ...rest }: CallOptions = {},
    ): Promise<TestResponse> => send(method, path, body, { key, ...rest });

    return {
      ...access,
      call,

      /** Sends a POST request and returns the string at `idPath` of the response; throws on errors. */
      async create(
        path: string,
        body: unknown,
        idPath: string,
        rest?: CallOptions,
      ): Promise<string> {
        const response = await call("POST", path, body, rest);
        if (response.status >= 300) throw new Error(JSON.stringify(response.body));
        return response.text(idPath);
      },

      /** Returns the names of the events of the project, oldest first. */
      eventNames: (): string[] =>
        db.sqlite
          .query<{ name: string }, []>(`SELECT name FROM events WHERE ${ofProject} ORDER BY seq`)
          .all()
          .map((row) => row.name),

      /** Returns the number of rows in a table; those of the project, if the table has its column. */
      countRows(table: string): number {
        const condition = hasProject(table) ? `WHERE ${ofProject}` : "";
        const sql = `SELECT count(*) AS n FROM ${table} ${condition}`;
        return db.sqlite.query<{ n: number }, []>(sql).get()?.n ?? 0;
      },
    };
  }

  const hasProject = (table: string): boolean =>
    db.sqlite.query("SELECT 1 FROM pragma_table_info(?) WHERE name = 'project_seq'").get(table) !==
    null;

  return {
    app,
    db,
    clock,
    contents,
    start,
    inProject,
    async makeProject(name: string) {
      hasDkimKeys = false;
      const created = await makeProject(app, name);
      hasDkimKeys = true;
      return created;
    },
    ...inProject(first, false),

    /** Sends all due mail and waits until every outcome is recorded. */
    async deliver(): Promise<void> {
      await start();
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

/** The header that every client sends with a body that it has in memory. */
function lengthOf(content: CallOptions["raw"] | null): Record<string, string> {
  if (typeof content === "string") return { "content-length": `${Buffer.byteLength(content)}` };
  if (content instanceof Uint8Array) return { "content-length": `${content.byteLength}` };
  return {};
}

/** Reads the whole body of a response. */
export async function readResponse(response: Response): Promise<TestResponse> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") ?? false;
  const body: unknown = text === "" ? undefined : isJson ? JSON.parse(text) : text;
  return {
    status: response.status,
    headers: response.headers,
    body,
    at: (path) => valueAt(body, path),
    text: (path) => stringAt(body, path),
  };
}

/** Gives a project two new keys and a verified domain; creates the project if it is missing. */
async function makeProject(app: Server, name: string) {
  const created = await app.writer.write(() => {
    const project = findProject(app.app, name) ?? createProject(app.app, name);
    const key = (kind: "SECRET" | "PUBLIC") =>
      createKey(app.app, project.seq, { kind, name: "test", expiresAt: null }).text;
    return { project, secretKey: key("SECRET"), publicKey: key("PUBLIC") };
  });
  await addDomain(app, created.project.seq, `${name}.test`);
  return created;
}

/** Adds a domain that counts as verified by the operator, without DNS checks. */
export async function addDomain(app: Server, projectSeq: number, domain: string): Promise<void> {
  const add = await prepareDomain(app.app, { projectSeq, domain, isDeclaredVerified: true });
  await app.writer.write(() => void add());
}
