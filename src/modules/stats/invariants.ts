/** Invariants between the statistics by hour and the event log, for `mailstead check`. */

import type { Invariant } from "../../db/invariant.ts";

/** The counters with the events that they count. Clicks are counted once per mail (see below). */
const EVENT_OF = {
  sent: "email.sent",
  delivered: "email.delivered",
  opened: "email.opened",
  bounced: "email.bounced",
  complained: "email.complained",
  failed: "email.failed",
  suppressed: "email.suppressed",
  subscribed: "contact.subscribed",
  unsubscribed: "contact.unsubscribed",
} as const;

/** SQL condition that is true until the first events are purged. */
const IS_LOG_COMPLETE = "(SELECT min(seq) = 1 FROM events)";
const HOUR = "created_at - created_at % 3600000";

const names = Object.values(EVENT_OF).map((name) => `'${name}'`);
/** Earlier versions counted test mails too, so that an hour may have them or not. */
const IS_TEST = "iif(email_seq IN (SELECT seq FROM emails WHERE source = 'TEST'), 1, 0)";
const sums = Object.entries(EVENT_OF).map(
  ([counter, name]) =>
    `sum(name = '${name}' AND NOT is_test) AS ${counter}, sum(name = '${name}') AS all_${counter}`,
);

/** One row for each hour and counter: the stored number, and the least and the largest of the log. */
const rows = [...Object.keys(EVENT_OF), "clicked"]
  .map(
    (counter) => `
      SELECT project_seq, hour, '${counter}' AS counter,
             coalesce(counts.${counter}, 0) AS counted, coalesce(found.${counter}, 0) AS logged,
             coalesce(found.all_${counter}, 0) AS most
      FROM hours LEFT JOIN project_hours AS counts USING (project_seq, hour)
      LEFT JOIN ${counter === "clicked" ? "clicks" : "found"} AS found USING (project_seq, hour)`,
  )
  .join(" UNION ALL ");

export const STATS_INVARIANTS: readonly Invariant[] = [
  {
    name: "project-hours",
    rule: "The statistics of each hour equal the events of the log, as far as it reaches back; test mails may be counted.",
    // Once old events are purged, the first click of a mail may be missing, so clicks are unknown.
    violations: `
      WITH found AS (
        SELECT project_seq, ${HOUR} AS hour, ${sums.join(", ")}
        FROM (SELECT project_seq, created_at, name, ${IS_TEST} AS is_test FROM events
              WHERE name IN (${names.join(", ")}))
        GROUP BY project_seq, hour),
      clicks AS (
        SELECT project_seq, ${HOUR} AS hour, count(*) AS clicked, count(*) AS all_clicked
        FROM (SELECT project_seq, created_at, min(seq) FROM events
              WHERE name = 'email.clicked' AND email_seq IS NOT NULL GROUP BY email_seq)
        GROUP BY project_seq, hour),
      hours AS (
        SELECT project_seq, hour FROM project_hours
        UNION SELECT project_seq, hour FROM found
        UNION SELECT project_seq, hour FROM clicks)
      SELECT format('project %s, %s', projects.id, strftime('%Y-%m-%dT%H:00Z', hour / 1000,
                    'unixepoch')) AS id,
             format('%s: counted %d, but there are %d', counter, counted, logged) AS finding
      FROM (${rows}) JOIN projects ON projects.seq = project_seq
      WHERE (counted < logged AND (counter <> 'clicked' OR ${IS_LOG_COMPLETE}))
         OR (counted > most AND ${IS_LOG_COMPLETE})`,
  },
  {
    name: "late-bounces",
    rule: "An hour has at most as many bounces that were reported later as it has bounces.",
    violations: `
      SELECT format('project %s, %s', projects.id, strftime('%Y-%m-%dT%H:00Z', hour / 1000,
                    'unixepoch')) AS id,
             format('%d bounces reported later, %d bounces', bounced_later, bounced) AS finding
      FROM project_hours JOIN projects ON projects.seq = project_seq
      WHERE bounced_later > bounced`,
  },
];
