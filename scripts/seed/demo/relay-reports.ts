/** The relay providers of the demonstration: one that reports, and one whose key is missing. */

import type { Database } from "bun:sqlite";
import type { Api, SetClock } from "./api.ts";
import { DAY_MS } from "./people.ts";

const MINUTE = 60_000;

export async function addReportSources({
  api,
  clock,
  db,
  untilMs,
}: {
  api: Api;
  clock: SetClock;
  db: { sqlite: Database };
  untilMs: number;
}): Promise<void> {
  clock.set(untilMs - 210 * DAY_MS);
  const known = await api.create("/report-sources", { provider: "POSTMARK" });
  clock.set(untilMs - 2 * DAY_MS);
  const keyless = { provider: "SENDGRID", name: "Newsletters" };
  const refused = await api.create("/report-sources", keyless);
  db.sqlite.run(
    "UPDATE report_sources SET received = 7912, counted = 7846, unknown = 23, last_received_at = ? WHERE id = ?",
    [untilMs - 4 * MINUTE, known],
  );
  db.sqlite.run("UPDATE report_sources SET refused_at = ?, refusal = ? WHERE id = ?", [
    untilMs - 12 * MINUTE,
    "The key that checks the signatures is not set.",
    refused,
  ]);
}
