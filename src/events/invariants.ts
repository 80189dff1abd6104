/** Invariants between the event log and the rows that are derived from it. */

import type { Invariant } from "../db/invariant.ts";

/** True for an event of a mail whose row does not show that event. */
const CONTRADICTIONS = `
  (events.name = 'email.sent' AND emails.sent_at IS NULL)
  OR (events.name = 'email.delivered' AND emails.delivered_at IS NULL)
  OR (events.name = 'email.opened' AND emails.opened_at IS NULL)
  OR (events.name = 'email.clicked' AND emails.clicked_at IS NULL)
  OR (events.name = 'email.bounced' AND emails.bounced_at IS NULL)
  OR (events.name = 'email.complained' AND emails.complained_at IS NULL)
  OR (events.name = 'email.failed' AND emails.status <> 'FAILED')
  OR (events.name = 'email.suppressed' AND emails.status <> 'SUPPRESSED')
  OR (events.name = 'email.cancelled' AND emails.status <> 'CANCELLED')`;

export const EVENT_INVARIANTS: readonly Invariant[] = [
  {
    name: "event-names",
    rule: "The count of each event name equals the number of its events in the log.",
    violations: `
      SELECT 'project ' || projects.id AS id,
             format('%s: counted %s, but there are %d', event_name,
                    coalesce(counted, 'nothing'), found)
               AS finding
      FROM (SELECT coalesce(names.project_seq, log.project_seq) AS of_project,
                   coalesce(names.name, log.name) AS event_name, names.count AS counted,
                   coalesce(log.count, 0) AS found
            FROM event_names AS names
            FULL JOIN (SELECT project_seq, name, count(*) AS count
                       FROM events GROUP BY project_seq, name) AS log
              ON log.project_seq = names.project_seq AND log.name = names.name)
      JOIN projects ON projects.seq = of_project
      WHERE counted IS NOT found`,
  },
  {
    name: "contact-events",
    rule: "The summary of each contact and event name has the count and the last event of the log.",
    // A single sort over both tables, because a join of two results without an index is too slow.
    violations: `
      SELECT 'contact ' || coalesce(contacts.id, contact_seq) AS id,
             format('%s: summary of %s, last %s, but the log has %d, last %s', event_names.name,
                    coalesce(counted, 'nothing'), coalesce(counted_last, 'none'), found,
                    coalesce(found_last, 'none')) AS finding
      FROM (SELECT contact_seq, name_seq, sum(counted) AS counted, count(found_seq) AS found,
                   max(counted_seq) AS counted_last, max(found_seq) AS found_last
            FROM (SELECT contact_seq, name_seq, count AS counted, last_seq AS counted_seq,
                         last_at AS counted_at, NULL AS found_seq, NULL AS found_at
                  FROM contact_events
                  UNION ALL
                  SELECT events.contact_seq, names.seq, NULL, NULL, NULL, events.seq,
                         events.created_at
                  FROM events CROSS JOIN event_names AS names
                    ON names.project_seq = events.project_seq AND names.name = events.name
                  WHERE events.contact_seq IS NOT NULL)
            GROUP BY contact_seq, name_seq
            HAVING sum(counted) IS NOT count(found_seq)
              OR (max(found_seq) IS NOT NULL AND max(found_seq) IS NOT max(counted_seq))
              OR max(counted_at) < max(found_at))
      LEFT JOIN contacts ON contacts.seq = contact_seq
      LEFT JOIN event_names ON event_names.seq = name_seq`,
  },
  {
    name: "event-chains",
    rule: "Each event of a contact refers to the previous event of the same name.",
    violations: `
      SELECT 'event ' || id AS id,
             format('leads to %s, but the one before it is %s', coalesce(previous_seq, 'none'),
                    coalesce(found, 'not in the log')) AS finding
      FROM (SELECT id, previous_seq,
                   lag(seq) OVER (PARTITION BY contact_seq, project_seq, name ORDER BY seq) AS found
            FROM events WHERE contact_seq IS NOT NULL)
      WHERE (found IS NOT NULL AND previous_seq IS NOT found)
         OR (found IS NULL AND previous_seq IN (SELECT seq FROM events))`,
  },
  {
    name: "event-contacts",
    rule: "Each event of a contact belongs to a contact of its project, and to a mail of its project.",
    violations: `
      SELECT 'event ' || events.id AS id,
             iif(events.contact_seq IS NOT NULL AND contacts.seq IS NULL, 'its contact is missing',
                 'its contact or mail belongs to another project') AS finding
      FROM events
      LEFT JOIN contacts ON contacts.seq = events.contact_seq
      LEFT JOIN emails ON emails.seq = events.email_seq
      WHERE (events.contact_seq IS NOT NULL AND contacts.project_seq IS NOT events.project_seq)
         OR emails.project_seq <> events.project_seq`,
  },
  {
    name: "event-facts",
    rule: "The row of a mail shows each event that the log has of it.",
    violations: `
      SELECT 'email ' || emails.id AS id,
             format('the log has %s, but it is %s', events.name, emails.status) AS finding
      FROM events JOIN emails ON emails.seq = events.email_seq
      WHERE ${CONTRADICTIONS}`,
  },
  {
    name: "event-readers",
    rule: "No reader has a position after the end of the log.",
    violations: `
      SELECT 'reader ' || name AS id,
             format('is at %d, but the log has come to %d', seq, last) AS finding
      FROM readers
      JOIN (SELECT coalesce(max(seq), 0) AS last FROM sqlite_sequence WHERE name = 'events')
      WHERE seq > last`,
  },
];
