/** A whole application on an in-memory, really migrated database, with one project and its keys. */

import { createApp } from "../../src/app.ts";
import { type Config, readConfig } from "../../src/config.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openDatabase } from "../../src/db/open.ts";
import type { Transport } from "../../src/delivery/outcome.ts";
import { type Log, silentLog } from "../../src/lib/log.ts";
import { manualClock } from "./clock.ts";

export type TestApp = Awaited<ReturnType<typeof testApp>>;

export type Answered = {
  status: number;
  headers: Headers;
  /** Parsed JSON; undefined for an empty body. */
  body: any;
};

export async function testApp(
  options: { config?: Partial<Config>; transport?: Transport; log?: Log } = {},
) {
  const clock = manualClock();
  const db = openDatabase(":memory:");
  migrate(db.sqlite);
  const defaults = { sendRate: 0, apiRate: 0, hostname: "sender.test", ...options.config };
  const app = createApp({
    config: readConfig({}, {}, defaults),
    db,
    folder: null,
    secret: "a secret for tests, long enough to be taken",
    clock,
    log: options.log ?? silentLog,
    ...(options.transport === undefined ? {} : { transport: options.transport }),
  });
  const makeProject = (name: string) =>
    app.writer.write(() => {
      const project = app.projects.create(name)();
      const key = (kind: "SECRET" | "PUBLIC") =>
        app.keys.create(project.seq, { kind, name: "test", expiresAt: null })().text;
      app.domains.addVerified(project.seq, `${name}.test`)();
      return { project, secretKey: key("SECRET"), publicKey: key("PUBLIC") };
    });
  const acme = await makeProject("acme");

  /** A request with the secret key of acme unless another one is given; null sends none. */
  async function call(
    method: string,
    path: string,
    body?: unknown,
    rest: {
      key?: string | null;
      headers?: Record<string, string>;
      raw?: string | Uint8Array | ReadableStream;
    } = {},
  ): Promise<Answered> {
    const key = rest.key === undefined ? acme.secretKey : rest.key;
    const response = await app.handle(
      new Request(`http://localhost${path}`, {
        method,
        headers: {
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...rest.headers,
        },
        body: rest.raw ?? (body === undefined ? null : JSON.stringify(body)),
      }),
    );
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") ?? false;
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== "" ? JSON.parse(text) : text === "" ? undefined : text,
    };
  }

  return {
    app,
    db,
    clock,
    call,
    makeProject,
    ...acme,

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
      await app.start();
      for (;;) {
        await Bun.sleep(0);
        const busy = db.sqlite
          .query<{ n: number }, [number]>(
            "SELECT count(*) AS n FROM emails WHERE status = 'SENDING' OR (status = 'QUEUED' AND next_at <= ?)",
          )
          .get(clock.now());
        if (busy?.n === 0) return;
      }
    },

    close: () => app.stop(),
  };
}
