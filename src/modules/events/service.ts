/** The log of facts. Each is written in the transaction of its cause; readers follow by `seq`. */

import { sql } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { events } from "../../db/schema/events.ts";
import { newId } from "../../lib/id.ts";

/** Names that the service itself gives (interface decision J). */
export type BuiltInEvent =
  | "email.sent"
  | "email.delivered"
  | "email.bounced"
  | "email.failed"
  | "email.suppressed"
  | "contact.subscribed"
  | "contact.unsubscribed";

export type Fact = {
  projectSeq: number;
  name: string;
  contactSeq: number | null;
  emailSeq?: number;
  data?: unknown;
  at: number;
};

export type Events = ReturnType<typeof createEvents>;

export function createEvents({ db }: { db: Db }) {
  const insert = db
    .insert(events)
    .values({
      id: sql.placeholder("id"),
      projectSeq: sql.placeholder("projectSeq"),
      name: sql.placeholder("name"),
      contactSeq: sql.placeholder("contactSeq"),
      emailSeq: sql.placeholder("emailSeq"),
      data: sql.placeholder("data"),
      createdAt: sql.placeholder("at"),
    })
    .returning({ seq: events.seq })
    .prepare();

  return {
    /** Part of a change: appends one fact and returns its id. */
    record(fact: Fact): string {
      const id = newId(fact.at);
      insert.get({
        ...fact,
        id,
        emailSeq: fact.emailSeq ?? null,
        data: fact.data === undefined ? null : JSON.stringify(fact.data),
      });
      return id;
    },
  };
}
