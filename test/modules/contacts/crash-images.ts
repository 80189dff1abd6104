/** Applications on data folders in files, and copies of them as a process that is killed would leave. */

import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../../src/db/open.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import { migratedDatabase } from "../../support/database.ts";

export type CrashImages = ReturnType<typeof createCrashImages>;

export function createCrashImages() {
  const root = mkdtempSync(join(tmpdir(), "mailstead-resume-"));
  const apps: TestApp[] = [];

  async function close(app: TestApp): Promise<void> {
    if (!apps.includes(app)) return;
    apps.splice(apps.indexOf(app), 1);
    await app.close();
    app.db.sqlite.close();
  }

  return {
    /** Makes an empty data folder, and returns its path. */
    makeFolder(name: string): string {
      const folder = join(root, name);
      mkdirSync(folder);
      const db = migratedDatabase();
      writeFileSync(join(folder, "mailstead.db"), db.sqlite.serialize());
      db.sqlite.close();
      return folder;
    },

    async openIn(name: string): Promise<TestApp> {
      const folder = join(root, name);
      const app = await testApp({ db: openDatabase(join(folder, "mailstead.db")), folder });
      apps.push(app);
      return app;
    },

    /** Copies the data folder between two changes, which is all that a new process would find. */
    copy(from: string, to: string): string {
      cpSync(join(root, from), join(root, to), { recursive: true });
      return join(root, to);
    },

    close,

    async remove(): Promise<void> {
      for (const app of apps.toReversed()) await close(app);
      rmSync(root, { recursive: true });
    },
  };
}

/** A file with some addresses twice and some invalid rows, in no order. */
export function makeContactsFile(lines: number): string {
  const rows = Array.from({ length: lines }, (_, i) => {
    const person = (i * 7919) % Math.ceil((lines * 5) / 6);
    return i % 500 === 499 ? `fault ${i},${i}` : `person-${person}@x.io,${i}`;
  });
  return `email,n\n${rows.join("\n")}\n`;
}

export function processedRows(app: TestApp): number {
  return (
    app.db.sqlite.query<{ n: number }, []>("SELECT processed AS n FROM jobs LIMIT 1").get()?.n ?? 0
  );
}

export const jobRows = (app: TestApp) =>
  app.db.sqlite
    .query("SELECT status, processed, total, created, updated, failed, errors FROM jobs")
    .all();
