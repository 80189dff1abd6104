/**
 * Reads the form of the preference page, and makes its changes. Each is part of one change; a value
 * that the person has already is not changed again. A withdrawal is always stored; anything else is
 * refused with 409 if strangers have filled their part of the storage quota, because who has the
 * link could change to and fro for ever.
 */

import type { App } from "../../core/app.ts";
import type { TrackingMode } from "../../db/schema/projects.ts";
import { textsIn } from "../../render/language.ts";
import type { ConsentCause, ContactRow } from "../contacts/service.ts";
import { contactService } from "../contacts/service.ts";
import { LANGUAGE_KEY } from "../contacts/language.ts";
import { pausedUntilNow, setPause } from "../contacts/pause.ts";
import { isTrackingAllowed, setTracking } from "../contacts/tracking.ts";
import { ensureStorage } from "../quotas.ts";
import { setTopicChoices, topicChoices } from "../topics/choices.ts";
import {
  monthsLater,
  PAUSES,
  pauseEndOn,
  type PreferenceFault,
  preferenceWording,
  type PreferenceView,
  type ShownTopic,
  TRACKING_SHOWN,
} from "./preference-page.ts";

type Fields = ReadonlyMap<string, string>;

/**
 * The choices of a submitted form. A choice that the form did not show, or that the person left as it
 * was shown, is left out: another page may have changed it meanwhile.
 */
export type SavedChoices = {
  topics: readonly { id: string; isSubscribed: boolean }[];
  /** Null for no pause, and undefined to leave it as it is. */
  pausedUntil: number | null | undefined;
  /** True if opens and clicks may be recorded; undefined if the form did not ask. */
  tracking: boolean | undefined;
  /** A language that the pages have; null if it was not chosen. */
  language: string | null;
};

/** The most ids of topics that are read; a project has at most 100. */
const MAX_TOPICS = 200;

export function readChoices(
  fields: Fields,
  now: number,
): { choices: SavedChoices } | { fault: PreferenceFault } {
  const language = textsIn(fields.get("language") ?? "")?.language ?? null;
  const day = (fields.get("pauseDay") ?? "").trim();
  const pause = fields.get("pause");
  const pausedUntil = pause === fields.get("shownPause") ? undefined : readPause(pause, day, now);
  if (pausedUntil === "fault") return { fault: { field: "pauseDay", value: day } };
  return {
    choices: {
      topics: readTopics(fields),
      pausedUntil,
      tracking: readTracking(fields),
      language: language === fields.get("shownLanguage") ? null : language,
    },
  };
}

const idsIn = (text: string | undefined): Set<string> =>
  new Set((text ?? "").split(" ", MAX_TOPICS).filter((id) => id !== ""));

function readTopics(fields: Fields): SavedChoices["topics"] {
  const joined = fields.get("joined");
  const joinedIds = idsIn(joined);
  return [...idsIn(fields.get("topics"))]
    .map((id) => ({ id, isSubscribed: fields.get(`topic-${id}`) !== undefined }))
    .filter(({ id, isSubscribed }) => joined === undefined || isSubscribed !== joinedIds.has(id));
}

function readTracking(fields: Fields): boolean | undefined {
  const shown = fields.get("asksTracking");
  if (shown === undefined) return undefined;
  const isAllowed = fields.get("tracking") !== undefined;
  return shown === (isAllowed ? TRACKING_SHOWN.allowed : TRACKING_SHOWN.refused)
    ? undefined
    : isAllowed;
}

function readPause(
  choice: string | undefined,
  day: string,
  now: number,
): number | null | undefined | "fault" {
  switch (choice) {
    case PAUSES.none:
      return null;
    case PAUSES.month:
    case PAUSES.quarter:
      return monthsLater(now, Number(choice));
    case PAUSES.until:
      return pauseEndOn(day, now) ?? "fault";
    default:
      return undefined;
  }
}

/** The topics that the preference page shows: public ones, and private ones that the contact is in. */
export function shownTopics(app: App, contact: ContactRow): ShownTopic[] {
  return topicChoices(app, contact)
    .filter(({ topic, isSubscribed }) => topic.visibility === "PUBLIC" || isSubscribed)
    .map(({ topic: { id, name, description }, isSubscribed }) => ({
      id,
      name,
      description,
      isSubscribed,
    }));
}

/** The cause of a change: the mail whose link was used, the consent, and the page. */
export type PreferenceCause = {
  emailSeq: number;
  consent: Pick<ConsentCause, "source" | "clientAddress">;
  page: Pick<PreferenceView, "texts" | "brand">;
};

/** Part of a change: subscribes the contact, or unsubscribes it from everything. */
export function changeSubscription(
  app: App,
  contact: ContactRow,
  isSubscribed: boolean,
  { emailSeq, consent, page }: PreferenceCause,
): ContactRow {
  if (isSubscribed) ensureStorage(app, contact.projectSeq, true);
  const wording = preferenceWording(page, { kind: "all", isSubscribed });
  return contactService(app).setSubscription(contact, isSubscribed, {
    emailSeq,
    data: { via: "page" },
    consent: { ...consent, wording },
  });
}

/** Part of a change: returns the contact and its topics, and whether anything has changed. */
export function saveChoices(
  app: App,
  { contact, tracking: mode }: { contact: ContactRow; tracking: TrackingMode },
  choices: SavedChoices,
  cause: PreferenceCause,
): { contact: ContactRow; topics: readonly ShownTopic[]; isChanged: boolean } {
  const changed = changedTopics(shownTopics(app, contact), choices);
  const now = app.clock.now();
  const { pausedUntil, language, tracking } = choices;
  const isPauseChanged = pausedUntil !== undefined && pausedUntil !== pausedUntilNow(contact, now);
  const isLanguageChanged = language !== null && language !== cause.page.texts.language;
  const wasTracked = isTrackingAllowed(mode, contact);
  const isTrackingChanged =
    tracking !== undefined && wasTracked !== null && tracking !== wasTracked;
  const isWithdrawal =
    changed.every(({ isSubscribed }) => !isSubscribed) && !(isTrackingChanged && tracking);
  if (!isWithdrawal || isPauseChanged || isLanguageChanged) {
    ensureStorage(app, contact.projectSeq, true);
  }
  const { emailSeq, consent } = cause;
  for (const topic of changed) {
    const wording = preferenceWording(cause.page, { kind: "topic", topic });
    const choice = { topicId: topic.id, isSubscribed: topic.isSubscribed };
    setTopicChoices(app, contact, [choice], { emailSeq, consent: { ...consent, wording } });
  }
  let updated = contact;
  if (isTrackingChanged) {
    const wording = preferenceWording(cause.page, { kind: "tracking" });
    updated = setTracking(app, updated, tracking, { ...consent, wording });
  }
  if (isPauseChanged) {
    updated = setPause(app, updated, pausedUntil, { emailSeq, source: consent.source });
  }
  if (isLanguageChanged) {
    const patch = { data: { [LANGUAGE_KEY]: language } };
    updated = contactService(app).patch(contact.projectSeq, contact.id, patch)();
  }
  const isChanged = changed.length > 0 || isTrackingChanged || isPauseChanged || isLanguageChanged;
  return { contact: updated, topics: shownTopics(app, updated), isChanged };
}

/** The topics with another choice than before. Ids that the page cannot have shown are ignored. */
function changedTopics(before: readonly ShownTopic[], { topics }: SavedChoices): ShownTopic[] {
  const chosen = new Map(topics.map(({ id, isSubscribed }) => [id, isSubscribed]));
  return before.flatMap((topic) => {
    const isSubscribed = chosen.get(topic.id) ?? topic.isSubscribed;
    return isSubscribed === topic.isSubscribed ? [] : [{ ...topic, isSubscribed }];
  });
}
