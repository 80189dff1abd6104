/**
 * Where policies are kept so that they outlive the process (RFC 8461 §5.1: a policy holds for its
 * max_age, also while it cannot be fetched). Those in use are in memory, too.
 */

import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { describeError, type Log } from "../../lib/log.ts";
import { endOf, memoryPolicyStore, type KeptPolicy, type PolicyStore } from "./mta-sts.ts";

type Row = { recordId: string; policy: string; fetchedAt: number };

/** What was written here; anything else is treated as if it were not there. */
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

  function recall(domain: string): KeptPolicy | null {
    const row = find.get(domain);
    if (row === null) return null;
    const policy: unknown = JSON.parse(row.policy);
    if (!Value.Check(Stored, policy)) return null;
    const kept = { id: row.recordId, policy, fetchedAt: row.fetchedAt };
    memory.set(domain, kept);
    return kept;
  }

  return {
    get: (domain) => memory.get(domain) ?? recall(domain),
    set(domain, kept) {
      memory.set(domain, kept);
      writer
        .write(() => {
          removeEnded.run(clock.now());
          const policy = JSON.stringify(kept.policy);
          insert.run(domain, kept.id, policy, kept.fetchedAt, endOf(kept));
        })
        .catch((error: unknown) =>
          log.warn("an MTA-STS policy is kept in memory only", {
            domain,
            error: describeError(error),
          }),
        );
    },
  };
}
