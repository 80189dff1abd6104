/** A data folder with a project, a key and, where wanted, mails in its queue. */

import "../../src/lib/production.ts";
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { createApp } from "../../src/app.ts";
import { readConfig } from "../../src/config.ts";
import { openDataFolder } from "../../src/db/folder.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openDatabase } from "../../src/db/open.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { silentLog } from "../../src/lib/log.ts";
import { BODY, SENDER, SENDER_DOMAIN, SUBJECT } from "./mail.ts";

const MOST_RECIPIENTS = 1000;

/** Returns the secret key. Nothing is sent: the dispatcher does not run. */
export async function prepareStore(data: string, queuedMails: number): Promise<string> {
  const folder = openDataFolder(data, null);
  const db = openDatabase(folder.databaseFile);
  migrate(db.sqlite);
  const app = createApp({
    config: readConfig({}, {}, { apiRate: 0 }),
    db,
    folder: folder.path,
    secret: folder.secret,
    clock: systemClock,
    log: silentLog,
  });
  const key = await app.writer.write(() => {
    const project = app.projects.create("bench")();
    app.domains.addVerified(project.seq, SENDER_DOMAIN)();
    return app.keys.create(project.seq, { kind: "SECRET", name: "bench", expiresAt: null })().text;
  });
  for (let first = 0; first < queuedMails; first += MOST_RECIPIENTS) {
    const count = Math.min(MOST_RECIPIENTS, queuedMails - first);
    const to = Array.from({ length: count }, (_, i) => `person-${first + i}@example.net`);
    const response = await app.handle(
      new Request("http://localhost/v1/send", {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({
          to,
          from: SENDER,
          subject: SUBJECT,
          body: BODY,
          data: { name: "Ada", order: "A-1001" },
        }),
      }),
    );
    if (response.status !== 200) throw new Error(await response.text());
  }
  await app.writer.drain();
  db.sqlite.close();
  return key;
}

/** Reads the database of a server that may be running. */
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
    close: () => sqlite.close(),
  };
}
