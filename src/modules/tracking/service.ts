/**
 * Records a hit: times of the first open and the first click, the mail's status and events. Anybody
 * who has a mail can follow its links for ever, so its later clicks are recorded only while the
 * project has room for what strangers add.
 */

import type { Clock } from "../../lib/clock.ts";
import { ExpiringMap } from "../../lib/expiring-map.ts";
import type { EventInput } from "../../events/log.ts";
import type { Engagement, TrackedEmail } from "../../outbox/engagement.ts";
import { TRANSITIONS } from "../../outbox/states.ts";
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

export type HitCounter = ReturnType<typeof createHitCounter>;

/** Counts one hit; runs inside a change. */
export type CountHit = (hit: Hit) => void;

/** Clicks on the same link of the same mail within this time count once: double clicks, reloads. */
const REPEATED_CLICK_MS = 10_000;
const MAX_RECENT_CLICKS = 20_000;

/** Called for the first open and the first click of a mail by a machine, inside the change. */
type MachineHitHandler = (emailSeq: number, kind: Hit["kind"]) => void;

export function createHitCounter(deps: {
  engagement: Engagement;
  clock: Clock;
  record: (event: EventInput) => void;
  /** Whether strangers may add to what a project stores. */
  hasRoom: (projectSeq: number) => boolean;
}) {
  const { engagement, record, hasRoom } = deps;
  /** The first click on each link within `REPEATED_CLICK_MS`. */
  const recentClicks = new ExpiringMap<Hit>({ maxEntries: MAX_RECENT_CLICKS, clock: deps.clock });
  const machineHitHandlers: MachineHitHandler[] = [];

  function countMachineHit({ kind, at }: Hit, emailSeq: number): void {
    if (!engagement.hitByMachine(kind, emailSeq, at)) return;
    for (const handle of machineHitHandlers) handle(emailSeq, kind);
  }

  return {
    onMachineHit(handler: MachineHitHandler): void {
      machineHitHandlers.push(handler);
    },

    /** Part of a change. */
    count(hit: Hit): void {
      const email = engagement.find(hit.emailId);
      if (email === null || isNotTracked(email)) return;
      if (hit.isMachine || isTooFast(hit, email)) return countMachineHit(hit, email.seq);
      // A click implies an open, even if the mail program does not load the pixel.
      if (email.openedAt === null) {
        engagement.open(email.seq, hit.at);
        record(eventOf(TRANSITIONS.open.event, hit, email));
      }
      if (hit.kind === "open" || isRepeated(hit)) return;
      const isFirstOfMail = email.clickedAt === null;
      if (!isFirstOfMail && !hasRoom(email.projectSeq)) return;
      if (isFirstOfMail) engagement.click(email.seq, hit.at);
      record({ ...eventOf(TRANSITIONS.click.event, hit, email), isFirstOfMail });
    },
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
function isNotTracked({ contactSeq, source, tracking }: TrackedEmail): boolean {
  return contactSeq === null || source === "TEST" || tracking === "DISABLED";
}

/** A hit before or shortly after sending comes from a scanner on the way to the recipient. */
function isTooFast({ kind, at }: Hit, { sentAt }: TrackedEmail): boolean {
  return sentAt === null || at - sentAt < FASTEST_PERSON_MS[kind];
}

function eventOf(
  name: string,
  { url, at }: Hit,
  { seq, projectSeq, contactSeq }: TrackedEmail,
): EventInput {
  const data = url === null || name !== "email.clicked" ? {} : { data: { url } };
  return { projectSeq, name, contactSeq, emailSeq: seq, ...data, at };
}
