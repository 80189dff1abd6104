/** A person who got a marketing mail, and acts on the preference page. */

import { expect } from "bun:test";
import type { TestResponse } from "../../support/app.ts";
import { inboxParts } from "../../support/inbox-parts.ts";
import { listAt, stringAt, valueAt } from "../../support/json.ts";
import { mailingOf } from "../../support/mailing.ts";
import { projectPerTest } from "../../support/project-per-test.ts";

const projects = projectPerTest();

export type Person = Awaited<ReturnType<typeof mailed>>;

type Consent = {
  kind: string;
  topic: string | null;
  source: string;
  sourceId: string | null;
  wording: string | null;
};

export async function mailed(to = "ada@example.net") {
  const mailing = mailingOf(await projects.next());
  const { t } = mailing;
  const letter = await mailing.send({ to });
  await inboxParts(t.app.app).indexer.caughtUp();
  const contactId = async () => stringAt(await rowOf(), "id");

  /** Without an address, the contact that was created last. */
  async function rowOf(email = ""): Promise<unknown> {
    const { body } = await t.call("GET", `/contacts?search=${encodeURIComponent(email)}`);
    return listAt(body, "contacts")[0];
  }

  return {
    ...mailing,
    letter,
    contactId,
    contactIdOf: async (email: string) => stringAt(await rowOf(email), "id"),
    data: async () => valueAt(await rowOf(), "data"),
    topic: async (name: string, rest: Readonly<Record<string, unknown>>) =>
      t.create("/topics", { name, ...rest }, "data.id"),
    /** The topics by name, each with true if the person is in it. */
    async topics() {
      const answer = await t.call("GET", `/contacts/${await contactId()}/topics`);
      const all = listAt(answer.body, "data.topics");
      return Object.fromEntries(
        all.map((one) => [stringAt(one, "name"), valueAt(one, "subscribed")]),
      );
    },
    pausedUntil: () => {
      const row = t.db.sqlite
        .query<{ at: number | null }, [number]>(
          "SELECT paused_until AS at FROM contacts WHERE project_seq = ? AND email LIKE 'ada%'",
        )
        .get(t.project.seq);
      const at = row?.at ?? null;
      return at === null ? null : new Date(at).toISOString();
    },
    /** The entries of the ledger that came after the mail. */
    consents: () =>
      t.db.sqlite
        .query<Consent, [number]>(
          `SELECT c.kind, t.name AS topic, c.source_type AS source, c.source_id AS sourceId, w.text AS wording
           FROM consents c LEFT JOIN topics t ON t.seq = c.topic_seq
           LEFT JOIN consent_wordings w ON w.seq = c.wording_seq
           WHERE c.project_seq = ? AND c.source_type <> 'API' ORDER BY c.seq`,
        )
        .all(t.project.seq),
  };
}

export const expectRecorded = (person: Person, kinds: readonly string[]): void =>
  expect(person.consents().map(({ kind }) => kind)).toEqual([...kinds]);

/** The content of a page, without its head and its styles. */
export function mainOf(page: string | TestResponse): string {
  const text = typeof page === "string" ? page : page.text("");
  return text.slice(text.indexOf("<main>"), text.indexOf("</main>"));
}
