/**
 * The preference page: the mail that a person gets from a project, in one form, and below it the
 * forms for the address and the data. Pure. It needs no script: each form posts to the address of
 * the page.
 */

import type { Brand } from "../../http/brand.ts";
import type { HtmlPage } from "../../http/page.ts";
import { fillPlaceholders, LANGUAGES, type Texts } from "../../render/language.ts";
import { type PreferenceTexts, preferenceTexts } from "../../render/preference-texts.ts";

export type ShownTopic = {
  id: string;
  name: string;
  description: string | null;
  isSubscribed: boolean;
};

export type PreferenceView = {
  texts: Texts;
  brand: Brand;
  /** The address as the holder of the link may see it. */
  email: string;
  isSubscribed: boolean;
  topics: readonly ShownTopic[];
  /** Until when the person gets no newsletters, in Unix milliseconds; null without a pause. */
  pausedUntil: number | null;
  /** True if the person allows measurement; null if the project never measures. */
  isTrackingAllowed: boolean | null;
  /** The time of the request. */
  now: number;
  /** Sentences that say which changes were made. */
  notices: readonly string[];
  fault: PreferenceFault | GeneralFault | null;
};

/** A field that could not be used, and the values that the person has entered. */
export type PreferenceFault = { field: "pauseDay" | "newAddress"; value: string };
/** Another reason why nothing was done. */
type GeneralFault = { field?: never; text: string };

/** The values of the field `action`, one of each button. */
export const PREFERENCE_ACTIONS = [
  "save",
  "subscribe",
  "unsubscribe",
  "address",
  "export",
  "erase",
] as const;
type PreferenceAction = (typeof PREFERENCE_ACTIONS)[number];

/** The values of the field `pause`. */
export const PAUSES = {
  none: "none",
  keep: "keep",
  month: "1",
  quarter: "3",
  until: "until",
} as const;

const DAY_MS = 24 * 60 * 60_000;
/** The furthest day on which a pause may end, in days from now. */
const MAX_PAUSE_DAYS = 365;

const escape = (text: string): string => Bun.escapeHTML(text);

export function preferencePage(view: PreferenceView): HtmlPage {
  const { texts, brand, isSubscribed } = view;
  const words = preferenceTexts(texts);
  const fill = filler(view);
  const state = isSubscribed ? texts.subscribed : texts.unsubscribed;
  const parts = [
    `<h1>${escape(words.title)}</h1>`,
    noticeHtml(view, words),
    `<p>${escape(fill(state.text))}</p>`,
    ...(isSubscribed ? [] : [formHtml(button("subscribe", texts.subscribe))]),
    formHtml(
      [
        ...(isSubscribed ? [topicsHtml(view, words), pauseHtml(view, words)] : []),
        languageHtml(texts, fill(words.languageHint), words.language),
        trackingHtml(view, words),
        button("save", words.save, isSubscribed ? "" : "second"),
      ].join(""),
    ),
    ...(isSubscribed
      ? [
          formHtml(button("unsubscribe", words.unsubscribeAll, "second")),
          `<p class="note">${escape(texts.note)}</p>`,
        ]
      : []),
    `<div class="more">${addressHtml(view, words)}${dataHtml(view, words)}</div>`,
  ];
  const body = `${parts.filter((part) => part !== "").join("\n")}\n`;
  return { language: texts.language, title: words.title, brand, body };
}

/** Fills in the name of the project and the address. */
const filler =
  ({ brand, email }: Pick<PreferenceView, "brand" | "email">) =>
  (text: string, more: Readonly<Record<string, string>> = {}): string =>
    fillPlaceholders(text, { project: brand.name, email, ...more });

/** A day in words, such as 3 March 2026. */
export const dayText = (language: string, at: number): string =>
  new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" }).format(at);

function noticeHtml({ notices, fault }: PreferenceView, words: PreferenceTexts): string {
  if (fault !== null) {
    const text =
      fault.field === undefined
        ? fault.text
        : fault.field === "pauseDay"
          ? words.pauseDayFault
          : words.newAddressFault;
    return `<div class="fault" id="fault" role="alert"><p>${escape(text)}</p></div>`;
  }
  if (notices.length === 0) return "";
  // The focus makes screen readers say it, and lets the keyboard go on behind it.
  const lines = notices.map((notice) => `<p>${escape(notice)}</p>`).join("");
  return `<div class="done" role="status" tabindex="-1" autofocus>${lines}</div>`;
}

const formHtml = (content: string): string => `<form method="post">${content}</form>`;

function button(action: PreferenceAction, label: string, style = ""): string {
  const styled = style === "" ? "" : ` class="${style}"`;
  return `<button name="action" value="${action}"${styled}>${escape(label)}</button>`;
}

type Choice = {
  type: "checkbox" | "radio";
  name: string;
  value: string;
  isChecked: boolean;
  label: string;
  hint: string | null;
};

function choiceHtml({ type, name, value, isChecked, label, hint }: Choice): string {
  return (
    `<label class="choice"><input type="${type}" name="${name}" value="${escape(value)}"` +
    `${isChecked ? " checked" : ""}><span>${escape(label)}</span>` +
    `${hint === null ? "" : `<span class="hint">${escape(hint)}</span>`}</label>`
  );
}

function fieldset(legend: string, hint: string | null, content: string): string {
  const said = hint === null ? "" : `<p class="hint">${escape(hint)}</p>`;
  return `<fieldset><legend>${escape(legend)}</legend>${said}<div class="choices">${content}</div></fieldset>`;
}

const hiddenHtml = (name: string, value: string): string =>
  `<input type="hidden" name="${name}" value="${escape(value)}">`;

/**
 * `topics` names the topics that were shown, because a box that is not ticked is not sent, and
 * `joined` the topics that were ticked: an old page that is saved changes only the choices that the
 * person has changed on it.
 */
function topicsHtml({ topics }: PreferenceView, words: PreferenceTexts): string {
  if (topics.length === 0) return "";
  const shown = topics.map(({ id }) => id).join(" ");
  const boxes = topics.map(({ id, name, description, isSubscribed }) =>
    choiceHtml({
      type: "checkbox",
      name: `topic-${escape(id)}`,
      value: "on",
      isChecked: isSubscribed,
      label: name,
      hint: description,
    }),
  );
  const joined = topics.filter(({ isSubscribed }) => isSubscribed).map(({ id }) => id);
  const hidden = hiddenHtml("topics", shown) + hiddenHtml("joined", joined.join(" "));
  return hidden + fieldset(words.topics, null, boxes.join(""));
}

function pauseHtml(view: PreferenceView, words: PreferenceTexts): string {
  const { pausedUntil, fault, now, texts } = view;
  const isUntil = fault?.field === "pauseDay";
  const selected = isUntil ? PAUSES.until : pausedUntil === null ? PAUSES.none : PAUSES.keep;
  const choices: [value: string, label: string][] = [
    [PAUSES.none, words.noPause],
    ...(pausedUntil === null ? [] : [keepChoice(view, words, pausedUntil)]),
    [PAUSES.month, words.pauseMonth],
    [PAUSES.quarter, words.pauseQuarter],
    [PAUSES.until, words.pauseUntil],
  ];
  const radios = choices.map(([value, label]) =>
    choiceHtml({
      type: "radio",
      name: "pause",
      value,
      isChecked: value === selected,
      label,
      hint: null,
    }),
  );
  const invalid = isUntil ? ' aria-invalid="true" aria-describedby="fault" autofocus' : "";
  const value = isUntil ? ` value="${escape(fault.value)}"` : "";
  const day =
    `<div class="field day"><label for="pause-day">${escape(words.pauseDay)}</label>` +
    `<input type="date" id="pause-day" name="pauseDay" lang="${texts.language}" ` +
    `min="${isoDay(now + DAY_MS)}" max="${isoDay(now + MAX_PAUSE_DAYS * DAY_MS)}"${value}${invalid}></div>`;
  const hidden = pausedUntil === null ? hiddenHtml("shownPause", PAUSES.none) : "";
  return hidden + fieldset(words.pause, words.pauseHint, radios.join("") + day);
}

function keepChoice(
  view: PreferenceView,
  words: PreferenceTexts,
  pausedUntil: number,
): [value: string, label: string] {
  const date = dayText(view.texts.language, pausedUntil);
  return [PAUSES.keep, filler(view)(words.paused, { date })];
}

const isoDay = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The start of the day that a pause ends on; null if it is no day from tomorrow on within a year. */
export function pauseEndOn(text: string, now: number): number | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return null;
  const at = Date.parse(`${text}T00:00:00Z`);
  // A day such as 31 June becomes another one, or none.
  if (Number.isNaN(at) || isoDay(at) !== text) return null;
  const furthest = Date.parse(`${isoDay(now + MAX_PAUSE_DAYS * DAY_MS)}T00:00:00Z`);
  return at > now && at <= furthest ? at : null;
}

/** The start of the same day some months later, or of the last day of that month. */
export function monthsLater(now: number, months: number): number {
  const start = new Date(now);
  const [year, month] = [start.getUTCFullYear(), start.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(start.getUTCDate(), lastDay));
}

/** The names of the languages, each in itself. */
function languageHtml({ language }: Texts, hint: string, label: string): string {
  const options = LANGUAGES.map((tag) => {
    const name = new Intl.DisplayNames([tag], { type: "language" }).of(tag) ?? tag;
    const shown = name.slice(0, 1).toLocaleUpperCase(tag) + name.slice(1);
    const selected = tag === language ? " selected" : "";
    return `<option value="${tag}" lang="${tag}"${selected}>${escape(shown)}</option>`;
  });
  return (
    hiddenHtml("shownLanguage", language) +
    `<div class="field"><label class="title" for="language">${escape(label)}</label>` +
    `<select id="language" name="language" aria-describedby="language-hint">${options.join("")}</select>` +
    `<span class="hint" id="language-hint">${escape(hint)}</span></div>`
  );
}

/** The values of the hidden field that says whether the box was ticked when the page was shown. */
export const TRACKING_SHOWN = { allowed: "allowed", refused: "refused" } as const;

function trackingHtml(view: PreferenceView, words: PreferenceTexts): string {
  if (view.isTrackingAllowed === null) return "";
  const box = choiceHtml({
    type: "checkbox",
    name: "tracking",
    value: "on",
    isChecked: view.isTrackingAllowed,
    label: filler(view)(words.trackingLabel),
    hint: words.trackingHint,
  });
  const shown = view.isTrackingAllowed ? TRACKING_SHOWN.allowed : TRACKING_SHOWN.refused;
  return hiddenHtml("asksTracking", shown) + fieldset(words.tracking, null, box);
}

function addressHtml({ fault }: PreferenceView, words: PreferenceTexts): string {
  const isFaulty = fault?.field === "newAddress";
  const value = isFaulty
    ? ` value="${escape(fault.value)}" aria-invalid="true" aria-describedby="fault" autofocus`
    : "";
  const field =
    `<div class="field"><label for="new-address">${escape(words.newAddress)}</label>` +
    `<input type="email" id="new-address" name="newAddress" required maxlength="320" ` +
    `autocomplete="email" spellcheck="false"${value}></div>`;
  return details(
    { title: words.address, hint: words.addressHint, isOpen: isFaulty },
    formHtml(field + button("address", words.changeAddress, "second")),
  );
}

function dataHtml(view: PreferenceView, words: PreferenceTexts): string {
  return details(
    { title: words.data, hint: filler(view)(words.dataHint), isOpen: false },
    formHtml(button("export", words.sendData, "second")) +
      formHtml(button("erase", words.deleteData, "second")),
  );
}

function details(
  { title, hint, isOpen }: { title: string; hint: string; isOpen: boolean },
  content: string,
): string {
  return (
    `<details${isOpen ? " open" : ""}><summary>${escape(title)}</summary>` +
    `<p class="hint">${escape(hint)}</p>${content}</details>`
  );
}

/**
 * The wording that the ledger of consents keeps of a choice: the heading, the choice and the button.
 * The address is not in it, so that it is the same for all who saw the page.
 */
export function preferenceWording(
  { texts, brand }: Pick<PreferenceView, "texts" | "brand">,
  choice:
    | { kind: "topic"; topic: ShownTopic }
    | { kind: "all"; isSubscribed: boolean }
    | { kind: "tracking" },
): string {
  const words = preferenceTexts(texts);
  const fill = (text: string) => fillPlaceholders(text, { project: brand.name });
  const linesOf = (): (string | null)[] => {
    switch (choice.kind) {
      case "topic":
        return [words.topics, choice.topic.name, choice.topic.description, `[${words.save}]`];
      case "tracking":
        return [words.tracking, fill(words.trackingLabel), words.trackingHint, `[${words.save}]`];
      case "all":
        return choice.isSubscribed
          ? [fill(texts.unsubscribed.text), `[${texts.subscribe}]`]
          : [fill(texts.subscribed.text), `[${words.unsubscribeAll}]`, texts.note];
    }
  };
  return [words.title, ...linesOf()].filter((line) => line !== null).join("\n\n");
}
