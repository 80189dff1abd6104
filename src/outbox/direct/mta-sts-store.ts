/**
 * Stores policies in the database, because a policy applies for its whole max_age, also after a
 * restart and while it cannot be fetched (RFC 8461 §5.1). Policies in use are also in memory.
 */

import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { describeError, type Log } from "../../lib/log.ts";
import {
  expiresAt,
  memoryPolicyStore,
  type StoredPolicy,
  type PolicyStore,
} from "../../protocols/mta-sts/mta-sts.ts";

type Row = { recordId: string; policy: string; fetchedAt: number };

/** Shape of a stored policy; a row of another shape is ignored. */
const Stored = Type.Object({
  mode: Type.Union([Type.Literal("enforce"), Type.Literal("testing"), Type.Literal("none")]),
  mx: Type.Array(Type.String()),
  maxAgeSeconds: Type.Number(),
});

export function databasePolicyStore(deps: {
  db: Db;
  writer: Pick<Writer, "write">;
  clock: Pick<Clock, "now" | "elapsed">;
  log: Log;
}): PolicyStore {
  const { writer, clock, log } = deps;
  const { sqlite } = deps.db;
  const memory = memoryPolicyStore(clock);
  const find = sqlite.prepare<Row, [string]>(`
    SELECT record_id AS recordId, policy, fetched_at AS fetchedAt
    FROM mta_sts_policies WHERE domain = +?`);
  const insert = sqlite.prepare<unknown, [string, string, string, number, number]>(`
    INSERT INTO mta_sts_policies (domain, record_id, policy, fetched_at, ends_at)
    VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET record_id = excluded.record_id, policy = excluded.policy,
      fetched_at = excluded.fetched_at, ends_at = excluded.ends_at`);
  const removeEnded = sqlite.prepare<unknown, [number]>(
    "DELETE FROM mta_sts_policies WHERE ends_at <= +?",
  );

  function load(domain: string): StoredPolicy | null {
    const row = find.get(domain);
    if (row === null) return null;
    const policy: unknown = JSON.parse(row.policy);
    if (!Value.Check(Stored, policy)) return null;
    const stored = { id: row.recordId, policy, fetchedAt: row.fetchedAt };
    memory.set(domain, stored);
    return stored;
  }

  return {
    get: (domain) => memory.get(domain) ?? load(domain),
    set(domain, stored) {
      memory.set(domain, stored);
      writer
        .write(() => {
          removeEnded.run(clock.now());
          const policy = JSON.stringify(stored.policy);
          insert.run(domain, stored.id, policy, stored.fetchedAt, expiresAt(stored));
        })
        .catch((error: unknown) =>
          log.warn("an MTA-STS policy could be stored in memory only", {
            domain,
            error: describeError(error),
          }),
        );
    },
  };
}
