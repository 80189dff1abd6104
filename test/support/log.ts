/** Completes the event log for tests that insert its rows directly. */

import type { Database } from "bun:sqlite";

/** Writes the names, counts, summaries and links that recording each event would have written. */
export function summarizeLog(sqlite: Database): void {
  sqlite.run(`INSERT INTO event_names (project_seq, name, count)
    SELECT project_seq, name, count(*) FROM events WHERE true GROUP BY 1, 2
    ON CONFLICT (project_seq, name) DO UPDATE SET count = excluded.count`);
  sqlite.run(`UPDATE events SET previous_seq = links.previous FROM (
      SELECT seq, lag(seq) OVER (PARTITION BY contact_seq, name ORDER BY seq) AS previous
      FROM events WHERE contact_seq IS NOT NULL) AS links
    WHERE links.seq = events.seq`);
  sqlite.run(`INSERT OR REPLACE INTO contact_events (contact_seq, name_seq, last_at, last_seq, count)
    SELECT e.contact_seq, n.seq, max(e.created_at), max(e.seq), count(*)
    FROM events e JOIN event_names n ON n.project_seq = e.project_seq AND n.name = e.name
    WHERE e.contact_seq IS NOT NULL GROUP BY 1, 2`);
}
