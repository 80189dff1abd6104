/**
 * Creates or updates a contact from a row, by the same rules as all other upserts, with prepared
 * statements. An existing contact keeps the values that the row does not contain. A row subscribes a
 * contact that is not subscribed only if the request of the import says so in words; otherwise a file
 * of another service would subscribe people again who unsubscribed here.
 */

import { insertedSeq } from "../../../db/inserted.ts";
import type { Db } from "../../../db/open.ts";
import { bytesOfRow } from "../../../db/usage.ts";
import type { UsageCounter } from "../../../db/usage-counter.ts";
import type { Clock } from "../../../lib/clock.ts";
import { AppError } from "../../../lib/errors.ts";
import { newId } from "../../../lib/id.ts";
import type { EventLog } from "../../../events/log.ts";
import type { RecordOwnConsent } from "../../consents/record.ts";
import type { TopicWish } from "./rows.ts";
import type { Standing } from "./standing.ts";
import { mergeData, parseData, serializeData } from "../data.ts";

export type RowTarget = {
  projectSeq: number;
  /** Subscription of a new contact if its row says nothing about it. */
  subscribesNew: boolean;
  /** True if a row may subscribe a contact that is not subscribed. */
  resubscribes: boolean;
  /** If not null, rows only suppress addresses; the reason is for rows that say no other. */
  suppressAs: SuppressionReason | null;
  /** Id of the import, for the ledger of consents. */
  jobId: string;
};

type SuppressionReason = Exclude<Standing, "SUBSCRIBED" | "UNSUBSCRIBED">;

export type RowOutcome =
  | (TopicCounts & {
      is: "created" | "updated";
      /** The contact exists and has these values already. */
      isUnchanged: boolean;
      /** The address is suppressed because of this row. */
      isSuppressed: boolean;
      /** The row says that the contact is subscribed, but the contact stays unsubscribed. */
      isKeptUnsubscribed: boolean;
      /** The contact was unsubscribed, and the row subscribes it. */
      isResubscribed: boolean;
      /** The contact was subscribed, and the row unsubscribes it. */
      isUnsubscribed: boolean;
      /** The contact is subscribed after the row. */
      isSubscribed: boolean;
    })
  | { is: "failed"; message: string };

/** The number of topics that a row changes, or keeps as they are, for a contact. */
type TopicCounts = {
  topicsJoined: number;
  topicsLeft: number;
  /** Topics that the row names with a yes, and that the contact has left. */
  keptOutOfTopics: number;
};

/** The values of an import row that are written. */
export type RowContent = {
  email: string;
  standing: Standing | null;
  topics: readonly TopicWish[];
  data: string;
};

/** Whether a contact is in a topic, and whether that was chosen for it or is the default. */
export type TopicState = { isIn: boolean; isChosen: boolean };

type Known = { seq: number; isSubscribed: number; data: string };

/** The subscription and the data of a contact. */
type ContactState = { isSubscribed: boolean; data: string };

export type RowWriter = {
  /** Writes one row and records its event, inside a change. */
  write(row: RowContent, target: RowTarget): RowOutcome;
};

/** The state of a new contact. */
export function newState(row: RowContent, { subscribesNew }: RowTarget): ContactState {
  const isSubscribed = row.standing === null ? subscribesNew : row.standing === "SUBSCRIBED";
  return { isSubscribed, data: row.data };
}

/** The state of a contact after the row, and the kinds of changes that the row makes. */
export function nextState(row: RowContent, known: ContactState, { resubscribes }: RowTarget) {
  const wanted = row.standing === null ? known.isSubscribed : row.standing === "SUBSCRIBED";
  const isSubscribed = wanted && (known.isSubscribed || resubscribes);
  const data = serializeData(mergeData(parseData(known.data), parseData(row.data)));
  return {
    isSubscribed,
    data,
    isUnchanged: isSubscribed === known.isSubscribed && data === known.data,
    isKeptUnsubscribed: wanted && !isSubscribed,
    isResubscribed: isSubscribed && !known.isSubscribed,
    isUnsubscribed: known.isSubscribed && !isSubscribed,
  };
}

/**
 * The choices of topics that a row stores, and the counts of their changes. A contact who left a
 * topic, or is not subscribed, joins it only if the request says so. A choice that equals the
 * default is stored as well, so that another default does not change it. `stateOf` throws for an
 * unknown topic.
 */
export function nextTopics(
  { topics }: Pick<RowContent, "topics">,
  stateOf: (key: string) => TopicState,
  may: { subscribe: boolean; resubscribe: boolean },
): { choices: TopicWish[]; counts: TopicCounts } {
  const counts = { ...NO_TOPICS };
  const choices = topics.filter(({ key, isSubscribed }) => {
    const { isIn, isChosen } = stateOf(key);
    if (isIn === isSubscribed) return true;
    const mayJoin = may.resubscribe || (may.subscribe && !isChosen);
    if (!isSubscribed) counts.topicsLeft++;
    else if (mayJoin) counts.topicsJoined++;
    else counts.keptOutOfTopics++;
    return !isSubscribed || mayJoin;
  });
  return { choices, counts };
}

export const hasNewTopics = ({ topicsJoined, topicsLeft }: TopicCounts): boolean =>
  topicsJoined + topicsLeft > 0;

const NO_TOPICS: TopicCounts = { topicsJoined: 0, topicsLeft: 0, keptOutOfTopics: 0 };

export function unknownTopic(key: string): AppError {
  return new AppError(422, "VALIDATION_ERROR", `There is no topic with the key ${key}.`);
}

/** The outcome of a row that creates a contact. */
export const CREATED = {
  ...NO_TOPICS,
  isUnchanged: false,
  isKeptUnsubscribed: false,
  isResubscribed: false,
  isUnsubscribed: false,
};

export function createRowWriter(deps: {
  db: Db;
  clock: Clock;
  events: EventLog;
  usage: Pick<UsageCounter, "addBytes">;
  recordConsent: RecordOwnConsent;
  /** Suppresses the address again if it was suppressed when it was erased. */
  keepSuppressed: (projectSeq: number, email: string) => void;
  /** True if the person had unsubscribed before their address was erased. */
  hasLeft: (projectSeq: number, email: string) => boolean;
  /** Null without a topic with this key. */
  topicState: (projectSeq: number, key: string, contactSeq: number | null) => TopicState | null;
  setTopic: (
    contact: { projectSeq: number; seq: number },
    choice: TopicWish,
    jobId: string,
  ) => void;
  /** Suppresses an address; returns false if it was suppressed before. */
  suppress: (projectSeq: number, email: string, reason: SuppressionReason) => boolean;
}): RowWriter {
  const { clock, events, usage, suppress, recordConsent } = deps;
  const { sqlite } = deps.db;
  const insert = sqlite.prepare<unknown, [string, number, string, number, string, number, number]>(`
    INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (project_seq, email) DO NOTHING`);
  const find = sqlite.prepare<Known, [number, string]>(`
    SELECT seq, is_subscribed AS isSubscribed, data FROM contacts
    WHERE project_seq = ? AND email = ?`);
  const change = sqlite.prepare<unknown, [number, string, number, number]>(
    "UPDATE contacts SET is_subscribed = ?, data = ?, updated_at = ? WHERE seq = ?",
  );

  function recordSubscription(
    { projectSeq, jobId }: RowTarget,
    contactSeq: number,
    isSubscribed: boolean,
  ): void {
    const name = isSubscribed ? "contact.subscribed" : "contact.unsubscribed";
    events.record({ projectSeq, name, contactSeq, at: clock.now() });
    const source = { type: "IMPORT", id: jobId } as const;
    recordConsent({ projectSeq, seq: contactSeq }, isSubscribed, source);
  }

  /** Creates the contact; returns null if it exists already. */
  function create(row: RowContent, target: RowTarget) {
    const { projectSeq } = target;
    const now = clock.now();
    const hasLeft = deps.hasLeft(projectSeq, row.email);
    const isSubscribed = newState(row, target).isSubscribed && !hasLeft;
    const flag = Number(isSubscribed);
    const created = insert.run(newId(now), projectSeq, row.email, flag, row.data, now, now);
    if (created.changes === 0) return null;
    const seq = insertedSeq(created);
    usage.addBytes(projectSeq, bytesOfRow("contacts", row));
    if (isSubscribed) recordSubscription(target, seq, true);
    deps.keepSuppressed(projectSeq, row.email);
    const topics = writeTopics(row, target, seq, { subscribe: !hasLeft, resubscribe: false });
    return { is: "created", ...CREATED, ...topics, isSubscribed } as const;
  }

  function update(row: RowContent, target: RowTarget) {
    const { projectSeq } = target;
    const known = find.get(projectSeq, row.email);
    if (known === null) throw new Error("a contact neither was created nor exists");
    const wasSubscribed = known.isSubscribed === 1;
    const resubscribes = target.resubscribes && !deps.hasLeft(projectSeq, row.email);
    const before = { isSubscribed: wasSubscribed, data: known.data };
    const { data, ...next } = nextState(row, before, { ...target, resubscribes });
    const { isSubscribed } = next;
    if (!next.isUnchanged) {
      change.run(Number(isSubscribed), data, clock.now(), known.seq);
      usage.addBytes(projectSeq, Buffer.byteLength(data) - Buffer.byteLength(known.data));
    }
    if (isSubscribed !== wasSubscribed) recordSubscription(target, known.seq, isSubscribed);
    const may = { subscribe: wasSubscribed, resubscribe: resubscribes };
    const topics = writeTopics(row, target, known.seq, may);
    const isUnchanged = next.isUnchanged && !hasNewTopics(topics);
    return { is: "updated", ...next, ...topics, isUnchanged } as const;
  }

  function writeTopics(
    row: RowContent,
    { projectSeq, jobId }: RowTarget,
    seq: number,
    may: Parameters<typeof nextTopics>[2],
  ): TopicCounts {
    const stateOf = (key: string) => stateIn(projectSeq, key, seq);
    const { choices, counts } = nextTopics(row, stateOf, may);
    for (const choice of choices) deps.setTopic({ projectSeq, seq }, choice, jobId);
    return counts;
  }

  function stateIn(projectSeq: number, key: string, contactSeq: number | null): TopicState {
    const state = deps.topicState(projectSeq, key, contactSeq);
    if (state === null) throw unknownTopic(key);
    return state;
  }

  function writeContact(row: RowContent, target: RowTarget): RowOutcome {
    const reason = suppressionReasonFrom(row.standing);
    // Before anything is written: an unknown topic refuses the row.
    for (const { key } of row.topics) stateIn(target.projectSeq, key, null);
    const outcome = create(row, target) ?? update(row, target);
    const isSuppressed = reason !== null && suppress(target.projectSeq, row.email, reason);
    return { ...outcome, isSuppressed };
  }

  function writeSuppression(
    { email, standing }: RowContent,
    { projectSeq }: RowTarget,
    suppressAs: SuppressionReason,
  ): RowOutcome {
    if (standing === "SUBSCRIBED") return { is: "failed", message: STILL_SUBSCRIBED };
    const isNew = suppress(projectSeq, email, suppressionReasonFrom(standing) ?? suppressAs);
    const is = isNew ? "created" : "updated";
    return { is, ...CREATED, isSubscribed: false, isUnchanged: !isNew, isSuppressed: isNew };
  }

  return {
    write(row, target) {
      const { suppressAs } = target;
      return refusable(() =>
        suppressAs === null ? writeContact(row, target) : writeSuppression(row, target, suppressAs),
      );
    },
  };
}

/** Returns a refusal as the fault of the row. */
export function refusable<T>(run: () => T): T | { is: "failed"; message: string } {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { is: "failed", message: error.message };
  }
}

const STILL_SUBSCRIBED =
  "The row says that the person did not leave, so the address is not suppressed.";

export function suppressionReasonFrom(standing: Standing | null): SuppressionReason | null {
  return standing === "SUBSCRIBED" || standing === "UNSUBSCRIBED" ? null : standing;
}
