/** Records a hit: times of the first open and the first click, the mail's status and events. */

import type { Db } from "../../db/open.ts";
import type { TrackingMode } from "../../db/schema/projects.ts";
import type { Clock } from "../../lib/clock.ts";
import { ExpiringMap } from "../../lib/expiring-map.ts";
import type { EventInput } from "../../events/log.ts";
import { FASTEST_PERSON_MS } from "./machines.ts";

/** One open or click as the tracking server received it. */
export type Hit = {
  kind: "open" | "click";
  emailId: string;
  /** Target of the link; null for an open. */
  url: string | null;
  at: number;
  /** The request itself shows that no person made it. */
  isMachine: boolean;
};

/** Counts one hit; runs inside a change. */
export type CountHit = (hit: Hit) => void;

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

/** Clicks on the same link of the same mail within this time count once: double clicks, reloads. */
const REPEATED_CLICK_MS = 10_000;
const MAX_RECENT_CLICKS = 20_000;

export function createHitCounter(deps: {
  db: Db;
  clock: Clock;
  record: (fact: EventInput) => void;
  /** Called for the first open and the first click of a mail by a machine. */
  recordMachineHit: (emailSeq: number, kind: Hit["kind"]) => void;
}): CountHit {
  const { record } = deps;
  const { sqlite } = deps.db;
  /** The first click on each link within `REPEATED_CLICK_MS`. */
  const recentClicks = new ExpiringMap<Hit>({ maxEntries: MAX_RECENT_CLICKS, clock: deps.clock });
  const find = sqlite.prepare<Row, [string]>(`
    SELECT e.seq, e.project_seq AS projectSeq, e.contact_seq AS contactSeq, e.source,
           e.sent_at AS sentAt, e.opened_at AS openedAt, e.clicked_at AS clickedAt, p.tracking
    FROM emails e JOIN projects p ON p.seq = e.project_seq
    WHERE e.id = ?`);
  // The status never moves back, and a bounced or complained mail keeps its status.
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

  return function count(hit) {
    const email = find.get(hit.emailId);
    if (email === null || isNotTracked(email)) return;
    if (hit.isMachine || isTooFast(hit, email)) {
      const noted = noteMachine[hit.kind].get(hit.at, email.seq);
      if (noted !== null) deps.recordMachineHit(email.seq, hit.kind);
      return;
    }
    // A click implies an open, even if the mail program does not load the pixel.
    if (email.openedAt === null) {
      open.run(hit.at, email.seq);
      record(eventOf("email.opened", hit, email));
    }
    if (hit.kind === "open" || isRepeated(hit)) return;
    if (email.clickedAt === null) click.run(hit.at, email.seq);
    record(eventOf("email.clicked", hit, email));
  };

  /**
   * Whether the link was clicked a moment ago. The writer may run a change twice, so the hit itself
   * does not count as its own repetition.
   */
  function isRepeated(hit: Hit): boolean {
    const link = `${hit.emailId} ${hit.url}`;
    const first = recentClicks.get(link);
    if (first === undefined) recentClicks.set(link, hit, REPEATED_CLICK_MS);
    return first !== undefined && first !== hit;
  }
}

/**
 * Whether the hit is ignored: its contact was deleted, the mail is a test mail, or the project
 * switched tracking off after the mail was sent.
 */
function isNotTracked({ contactSeq, source, tracking }: Row): boolean {
  return contactSeq === null || source === "TEST" || tracking === "DISABLED";
}

/** A hit before or shortly after sending comes from a scanner on the way to the recipient. */
function isTooFast({ kind, at }: Hit, { sentAt }: Row): boolean {
  return sentAt === null || at - sentAt < FASTEST_PERSON_MS[kind];
}

function eventOf(name: string, { url, at }: Hit, { seq, projectSeq, contactSeq }: Row): EventInput {
  const data = url === null || name !== "email.clicked" ? {} : { data: { url } };
  return { projectSeq, name, contactSeq, emailSeq: seq, ...data, at };
}
