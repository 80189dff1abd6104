/** The commands `mailstead queue list`, `hold` and `release`. */

import { isoTime, isoTimeOrNull } from "../lib/clock.ts";
import {
  countHeldMails,
  countMailsBefore,
  type HeldMail,
  listHeldMails,
} from "../outbox/held-mails.ts";
import { holdQueue, readQueueHold, releaseQueue, releaseQueueFrom } from "../outbox/queue-hold.ts";
import { type Command, type Input, UsageError } from "./command.ts";
import { print, type Store, STORE_SETTINGS, withStore } from "./store.ts";

const USUAL_LIMIT = 50;
const MAX_LIMIT = 10_000;

export const queueList: Command = {
  name: "queue list",
  summary: "List the mails that have not left, with their ages, and whether the queue is held",
  positionals: [],
  flags: [
    { name: "limit", placeholder: "N", help: `Mails to list, the oldest first; ${USUAL_LIMIT}` },
  ],
  settings: STORE_SETTINGS,
  run: (input) => {
    const limit = limitOf(input);
    return withStore(input, async (store) => {
      const now = store.clock.now();
      const state = stateOf(store);
      const mails = listHeldMails(store.db, limit);
      const machine = {
        ...state,
        emails: mails.map(({ createdAt, ...mail }) => ({
          ...mail,
          createdAt: isoTime(createdAt),
          ageSeconds: secondsSince(createdAt, now),
        })),
      };
      const lines = mails.map((mail) => lineFor(mail, now));
      const left = state.waiting - mails.length;
      return print(
        input,
        machine,
        [...summaryOf(state), ...lines, ...(left > 0 ? [`… and ${left} more`] : [])].join("\n"),
      );
    });
  },
};

export const queueHoldCommand: Command = {
  name: "queue hold",
  summary: "Let nothing leave: mail is accepted and waits; webhooks, workflows and campaigns wait",
  details: "A running server does it within a second. Mails that are being sent end as usual.",
  positionals: [],
  flags: [],
  settings: STORE_SETTINGS,
  run: (input) =>
    withStore(input, async (store) => {
      await store.writer.write(() => holdQueue(store.db, store.clock.now()));
      const state = stateOf(store);
      return print(input, state, summaryOf(state).join("\n"));
    }),
};

export const queueRelease: Command = {
  name: "queue release",
  summary: "End the hold of the queue, for example after a restore",
  details:
    "It prints how many mails wait, and how old they are. Those that left after the backup was\n" +
    "made would be sent again: look at them first with mailstead queue list, and cancel them.",
  positionals: [],
  flags: [
    {
      name: "cancel-older-than",
      placeholder: "AGE",
      help: "Cancel the mails that are older before, such as 2h; the server does it, or its next start",
    },
  ],
  settings: STORE_SETTINGS,
  run: (input) => {
    const ageMs = ageIn(input);
    return withStore(input, async (store) => {
      const state = stateOf(store);
      if (ageMs !== null) return cancelAndRelease(input, store, ageMs);
      await store.writer.write(() => releaseQueue(store.db));
      const { heldSince, ...rest } = state;
      if (heldSince === null) return print(input, { released: false, ...rest }, NOT_HELD);
      const counts = rest.ages.map(ageText);
      const text = [`The queue is released. ${mailsText(rest.waiting)} may leave.`, ...counts];
      return print(input, { released: true, ...rest }, text.join("\n"));
    });
  },
};

/** The server cancels, because it counts the mails of campaigns and projects. */
async function cancelAndRelease(input: Input, store: Store, ageMs: number): Promise<number> {
  const { db, clock, writer } = store;
  const before = clock.now() - ageMs;
  await writer.write(() => {
    if (readQueueHold(db) === null) {
      throw new UsageError("--cancel-older-than: the queue is not held, so its mail is leaving");
    }
    releaseQueueFrom(db, before);
  });
  const cancelled = countMailsBefore(db, before);
  const text =
    `${mailsText(cancelled)} of before ${isoTime(before)} are cancelled by the server within a ` +
    "second, or at its next start. Then the queue is released.";
  return print(input, { cancelled, before: isoTime(before) }, text);
}

const AGE_UNITS: Readonly<Record<string, number>> = {
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

function ageIn({ flags }: Input): number | null {
  const given = flags["cancel-older-than"];
  if (given === undefined) return null;
  const [, count, unit = ""] = /^(\d{1,5})(min|h|d)$/.exec(given) ?? [];
  const unitMs = AGE_UNITS[unit];
  if (count !== undefined && unitMs !== undefined) return Number(count) * unitMs;
  throw new UsageError(
    `--cancel-older-than: expected an age such as 90min, 2h or 3d, got "${given}"`,
  );
}

const NOT_HELD = "The queue is not held.";

type State = { heldSince: string | null; waiting: number; ages: ReturnType<typeof countHeldMails> };

function stateOf({ db, clock }: Store): State {
  const ages = countHeldMails(db, clock.now());
  const waiting = ages.reduce((sum, { mails }) => sum + mails, 0);
  return { heldSince: isoTimeOrNull(readQueueHold(db)), waiting, ages };
}

function summaryOf({ heldSince, waiting, ages }: State): string[] {
  const hold =
    heldSince === null
      ? NOT_HELD
      : `The queue is held since ${heldSince}: nothing leaves until mailstead queue release.`;
  return [
    hold,
    `${mailsText(waiting)} ${waiting === 1 ? "has" : "have"} not left.`,
    ...ages.map(ageText),
  ];
}

const mailsText = (count: number): string => `${count} ${count === 1 ? "mail" : "mails"}`;
const ageText = ({ age, mails }: State["ages"][number]): string => `  ${age.padEnd(14)} ${mails}`;

function lineFor({ id, project, to, subject, createdAt }: HeldMail, now: number): string {
  const age = ageOf(secondsSince(createdAt, now)).padEnd(6);
  return `${age}  ${id}  ${project}  ${to ?? "(deleted contact)"}  ${JSON.stringify(subject)}`;
}

function secondsSince(at: number, now: number): number {
  return Math.max(0, Math.floor((now - at) / 1_000));
}

const UNITS = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
] as const;

/** An age in its largest unit, such as `3 h`. */
function ageOf(seconds: number): string {
  const [size, unit] = UNITS.find(([each]) => seconds >= each) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${unit}`;
}

function limitOf({ flags }: Input): number {
  const given = flags["limit"] ?? String(USUAL_LIMIT);
  const limit = /^\d{1,5}$/.test(given) ? Number(given) : 0;
  if (limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new UsageError(`--limit: expected a number from 1 to ${MAX_LIMIT}, got "${given}"`);
}
