/** Adds up the statistics of a project by hour from its events (modules/stats/stats.ts). */

import type { Database } from "bun:sqlite";
import { projectHours } from "../../../src/db/schema/stats.ts";

/** The counters with the names of their events; clicks are counted once per mail. */
const COUNTERS: readonly (readonly [column: string, event: string])[] = [
  [projectHours.sent.name, "email.sent"],
  [projectHours.delivered.name, "email.delivered"],
  [projectHours.opened.name, "email.opened"],
  [projectHours.bounced.name, "email.bounced"],
  [projectHours.complained.name, "email.complained"],
  [projectHours.failed.name, "email.failed"],
  [projectHours.suppressed.name, "email.suppressed"],
  [projectHours.subscribed.name, "contact.subscribed"],
  [projectHours.unsubscribed.name, "contact.unsubscribed"],
];
const HOUR = "created_at - created_at % 3600000";

export function addUpHours(sqlite: Database): void {
  const columns = COUNTERS.map(([column]) => column).join(", ");
  const sums = COUNTERS.map(([, event]) => `sum(name = '${event}')`).join(", ");
  const names = COUNTERS.map(([, event]) => `'${event}'`).join(", ");
  const clicked = projectHours.clicked.name;
  sqlite.run(`INSERT INTO project_hours (project_seq, hour, ${columns})
    SELECT project_seq, ${HOUR} AS hour, ${sums} FROM events
    WHERE name IN (${names})
      AND iif(email_seq IN (SELECT seq FROM emails WHERE source = 'TEST'), 0, 1)
    GROUP BY project_seq, hour`);
  sqlite.run(`INSERT INTO project_hours (project_seq, hour, ${clicked})
    SELECT project_seq, ${HOUR} AS hour, count(*) FROM (
      SELECT project_seq, min(created_at) AS created_at FROM events
      WHERE name = 'email.clicked' GROUP BY project_seq, email_seq)
    GROUP BY project_seq, hour
    ON CONFLICT (project_seq, hour) DO UPDATE SET ${clicked} = excluded.${clicked}`);
}
