/** Creates the projects and contacts of scripts/content.ts in a data folder. */

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { recountUsage } from "../../src/db/usage-recount.ts";
import { findDomain, recordsOfDomain } from "../../src/modules/domains/domains.ts";
import { changeProject, createProject } from "../../src/modules/projects.ts";
import { addDomain, openStore } from "../bench/store.ts";
import { createRandom, type Random } from "../seed/random.ts";
import { type ContentProject, PROJECTS } from "./templates.ts";
import { contactDataOf, displayNameOf } from "./values.ts";
import { createKey } from "../../src/modules/keys.ts";

export type ContentContact = {
  id: string;
  email: string;
  /** Display name in POST /v1/send, which stores it as `name` of the contact; null for none. */
  displayName: string | null;
  data: Readonly<Record<string, unknown>>;
};

export type PreparedProject = ContentProject & {
  seq: number;
  id: string;
  /** Secret API key. */
  key: string;
  contacts: readonly ContentContact[];
};

/** The projects, and the DKIM records of their domains by name. */
export type PreparedContent = {
  projects: readonly PreparedProject[];
  records: ReadonlyMap<string, string>;
};

export async function prepareContent(
  data: string,
  { contacts, seed }: { contacts: number; seed: number },
): Promise<PreparedContent> {
  const { app, close } = openStore(data, { isSigned: true });
  const random = createRandom(seed);
  const projects: PreparedProject[] = [];
  const records = new Map<string, string>();
  for (const project of PROJECTS) {
    const { name, domain, tracking, language } = project;
    const { seq, id, key } = await app.writer.write(() => {
      const row = createProject(app.app, name);
      changeProject(app.app, row, { tracking, language });
      const { text } = createKey(app.app, row.seq, { kind: "SECRET", name, expiresAt: null });
      return { seq: row.seq, id: row.id, key: text };
    });
    await addDomain(app, seq, domain);
    const row = findDomain(app.app, seq, domain);
    if (row === null) throw new Error(`${domain} is missing`);
    for (const record of recordsOfDomain(app.app, row)) {
      if (record.purpose === "DKIM") records.set(record.name, record.value);
    }
    projects.push({ ...project, seq, id, key, contacts: makeContacts(seq, contacts, random) });
  }
  await close();
  insertContacts(data, projects);
  return { projects, records };
}

function makeContacts(projectSeq: number, count: number, random: Random): ContentContact[] {
  return Array.from({ length: count }, (_, number) => ({
    id: `reader-${projectSeq}-${number}`,
    email: `reader-${number}@example.net`,
    displayName: displayNameOf(random),
    data: contactDataOf(random, number),
  }));
}

function insertContacts(data: string, projects: readonly PreparedProject[]): void {
  const sqlite = new Database(join(data, "mailstead.db"));
  const insert = sqlite.prepare<unknown, [string, number, string, string]>(
    `INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
     VALUES (?, ?, ?, 1, ?, 0, 0)`,
  );
  sqlite.transaction(() => {
    for (const { seq, contacts } of projects) {
      for (const { id, email, data } of contacts) insert.run(id, seq, email, JSON.stringify(data));
    }
  })();
  recountUsage(sqlite);
  sqlite.close();
}
