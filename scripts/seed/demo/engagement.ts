/** Makes the opens, clicks, unsubscriptions and complaints of delivered mails. */

import type { Random } from "../random.ts";
import type { Journal } from "./journal.ts";
import type { Person } from "./people.ts";

export type Engagement = {
  openedAt: number | null;
  clickedAt: number | null;
  complainedAt: number | null;
  machineOpenedAt: number | null;
  machineClickedAt: number | null;
};

type Read = {
  person: Person | null;
  source: "TRANSACTIONAL" | "CAMPAIGN" | "WORKFLOW" | "TEST";
  links: readonly string[];
};

const SECOND = 1000;
const DAY_MS = 24 * 60 * 60 * SECOND;

/** Shares of the delivered mails that are opened, and of the opened ones that are clicked, in percent. */
const SHARES = {
  CAMPAIGN: { opened: 40, clicked: 15 },
  WORKFLOW: { opened: 44, clicked: 18 },
  TRANSACTIONAL: { opened: 41, clicked: 16 },
  TEST: { opened: 0, clicked: 0 },
} as const;
/** Shares of the delivered mails in units of 1/100,000. */
const COMPLAINTS = 52;
const MACHINE_OPENS = 21_000;
const MACHINE_CLICKS = 1_600;
/** Share of the opened marketing mails in units of 1/100,000. */
const UNSUBSCRIPTIONS = 420;

export function createEngagement(deps: { random: Random; journal: Journal; untilMs: number }) {
  const { random, journal, untilMs } = deps;
  const oneIn100k = (share: number) => random.integer(100_000) < share;

  /** Minutes after most deliveries and days after a few. */
  function later(at: number): number {
    const part = (1 + random.integer(1_000_000)) / 1_000_000;
    return at + 20 * SECOND + Math.floor(part ** 5 * 4 * DAY_MS) + random.integer(30 * 60) * SECOND;
  }

  function clicks(mail: Read, emailSeq: number, openedAt: number): number | null {
    const contactSeq = mail.person?.seq ?? null;
    const firstAt = openedAt + (5 + random.integer(240)) * SECOND;
    const times = 1 + (random.integer(4) === 0 ? 1 + random.integer(2) : 0);
    let clickedAt: number | null = null;
    for (let i = 0; i < times; i++) {
      const at = firstAt + i * 45 * SECOND;
      // The first links of a mail are clicked most.
      const index = Math.min(random.integer(mail.links.length), random.integer(mail.links.length));
      const data = { url: mail.links[index] ?? "" };
      const isAdded = journal.add({ at, name: "email.clicked", contactSeq, emailSeq, data });
      if (isAdded) clickedAt ??= at;
    }
    return clickedAt;
  }

  function unsubscribe(person: Person, emailSeq: number, at: number): void {
    if (person.unsubscribedAt !== Infinity) return;
    const data = { via: random.integer(3) === 0 ? "one-click" : "page" };
    const event = { at, name: "contact.unsubscribed", contactSeq: person.seq, emailSeq, data };
    if (journal.add(event)) person.unsubscribedAt = at;
  }

  function complain(person: Person, emailSeq: number, at: number): number | null {
    const event = { at, name: "email.complained", contactSeq: person.seq, emailSeq };
    if (!journal.add(event)) return null;
    person.suppression = "COMPLAINT";
    person.suppressedAt = at;
    person.suppressedByMail = emailSeq;
    return at;
  }

  return {
    /** Chooses the behaviour of the recipient and adds its events. */
    engage(mail: Read, emailSeq: number, deliveredAt: number): Engagement {
      const { person, source } = mail;
      const machineOpenedAt = oneIn100k(MACHINE_OPENS) ? deliveredAt + 2 * SECOND : null;
      const machineClickedAt = oneIn100k(MACHINE_CLICKS) ? deliveredAt + 3 * SECOND : null;
      const engagement: Engagement = {
        openedAt: null,
        clickedAt: null,
        complainedAt: null,
        machineOpenedAt,
        machineClickedAt,
      };
      if (person === null) return engagement;
      const at = later(deliveredAt);
      if (person.suppression === null && oneIn100k(COMPLAINTS)) {
        engagement.complainedAt = complain(person, emailSeq, at);
        return engagement;
      }
      if (random.integer(100) >= SHARES[source].opened || at > untilMs) return engagement;
      journal.add({ at, name: "email.opened", contactSeq: person.seq, emailSeq });
      engagement.openedAt = at;
      if (mail.links.length > 0 && random.integer(100) < SHARES[source].clicked) {
        engagement.clickedAt = clicks(mail, emailSeq, at);
      }
      if (source !== "TRANSACTIONAL" && oneIn100k(UNSUBSCRIPTIONS)) {
        unsubscribe(person, emailSeq, at + 90 * SECOND);
      }
      return engagement;
    },
  };
}
