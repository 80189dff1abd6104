/** Writes down what a visit means: the first open, every click, the status, the events. */

import type { Db } from "../../db/open.ts";
import type { TrackingMode } from "../../db/schema/projects.ts";
import type { Clock } from "../../lib/clock.ts";
import { ExpiringMap } from "../../lib/expiring-map.ts";
import type { Fact } from "../events/service.ts";
import { SOONEST_MS } from "./machines.ts";

/** One fetch of a pixel or of a link. */
export type Visit = {
  kind: "open" | "click";
  emailId: string;
  /** Target of the link; null for the pixel. */
  url: string | null;
  at: number;
  /** The request itself says that no person made it. */
  isMachine: boolean;
};

/** Part of a change. */
export type Count = (visit: Visit) => void;

type Row = {
  seq: number;
  projectSeq: number;
  contactSeq: number | null;
  source: string;
  sentAt: number | null;
  openedAt: number | null;
  clickedAt: number | null;
  tracking: TrackingMode;
};

/** The same link of the same mail again within this time is one click: a double click, a reload. */
const ONE_CLICK_MS = 10_000;
const MOST_REMEMBERED = 20_000;

export function createCount(deps: {
  db: Db;
  clock: Clock;
  record: (fact: Fact) => void;
  /** The first visit of a mail by a machine. */
  noteMachine: (emailSeq: number, kind: Visit["kind"]) => void;
}): Count {
  const { record } = deps;
  const { sqlite } = deps.db;
  /** The first click of late on each link. */
  const clicks = new ExpiringMap<Visit>({ maxEntries: MOST_REMEMBERED, clock: deps.clock });
  const find = sqlite.prepare<Row, [string]>(`
    SELECT e.seq, e.project_seq AS projectSeq, e.contact_seq AS contactSeq, e.source,
           e.sent_at AS sentAt, e.opened_at AS openedAt, e.clicked_at AS clickedAt, p.tracking
    FROM emails e JOIN projects p ON p.seq = e.project_seq
    WHERE e.id = ?`);
  // The status never goes back, and stays what it is where the mail bounced or was complained of.
  const open = sqlite.prepare<unknown, [number, number]>(`
    UPDATE emails
    SET opened_at = ?, status = iif(status IN ('SENT', 'DELIVERED'), 'OPENED', status)
    WHERE seq = ?`);
  const click = sqlite.prepare<unknown, [number, number]>(`
    UPDATE emails
    SET clicked_at = ?, status = iif(status IN ('SENT', 'DELIVERED', 'OPENED'), 'CLICKED', status)
    WHERE seq = ?`);
  const noteMachine = {
    open: sqlite.prepare<{ seq: number }, [number, number]>(`
      UPDATE emails SET machine_opened_at = ?
      WHERE seq = +? AND machine_opened_at IS NULL RETURNING seq`),
    click: sqlite.prepare<{ seq: number }, [number, number]>(`
      UPDATE emails SET machine_clicked_at = ?
      WHERE seq = +? AND machine_clicked_at IS NULL RETURNING seq`),
  };

  return function count(visit) {
    const email = find.get(visit.emailId);
    if (email === null || isUncounted(email)) return;
    if (visit.isMachine || isTooSoon(visit, email)) {
      const noted = noteMachine[visit.kind].get(visit.at, email.seq);
      if (noted !== null) deps.noteMachine(email.seq, visit.kind);
      return;
    }
    // Who clicks has opened, also where images are not shown.
    if (email.openedAt === null) {
      open.run(visit.at, email.seq);
      record(factOf("email.opened", visit, email));
    }
    if (visit.kind === "open" || isRepeated(visit)) return;
    if (email.clickedAt === null) click.run(visit.at, email.seq);
    record(factOf("email.clicked", visit, email));
  };

  /** A visit does not repeat itself: its change may be run once more. */
  function isRepeated(visit: Visit): boolean {
    const link = `${visit.emailId} ${visit.url}`;
    const first = clicks.get(link);
    if (first === undefined) clicks.set(link, visit, ONE_CLICK_MS);
    return first !== undefined && first !== visit;
  }
}

/**
 * Nothing is noted any more of a contact that was deleted, nor in a project that has switched
 * tracking off since the mail left. Test mails are in no statistics.
 */
function isUncounted({ contactSeq, source, tracking }: Row): boolean {
  return contactSeq === null || source === "TEST" || tracking === "DISABLED";
}

/** What has not left yet, or only just, is being looked at by a scanner on its way. */
function isTooSoon({ kind, at }: Visit, { sentAt }: Row): boolean {
  return sentAt === null || at - sentAt < SOONEST_MS[kind];
}

function factOf(name: string, { url, at }: Visit, { seq, projectSeq, contactSeq }: Row): Fact {
  const data = url === null || name !== "email.clicked" ? {} : { data: { url } };
  return { projectSeq, name, contactSeq, emailSeq: seq, ...data, at };
}
