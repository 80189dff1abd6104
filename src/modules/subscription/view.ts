/** Builds the page that a recipient sees. Pure. */

import type { Brand } from "../../http/brand.ts";
import type { Page } from "../../http/page.ts";
import { fillPlaceholders, type PageText, type Texts } from "../../render/language.ts";
import { topicTexts } from "../../render/topic-texts.ts";
import type { Recipient } from "./subscription.ts";

export type PageName = "unsubscribe" | "subscribe" | "manage";

/** Name of the form field that holds an `Action`. */
export const ACTION = "action";
export const ACTIONS = ["subscribe", "unsubscribe", "unsubscribe-all"] as const;

/**
 * `hasActed` is true for the answer to a decision: the page then shows the new state and a button
 * that undoes the decision.
 */
export function buildPage(
  texts: Texts,
  name: PageName,
  { recipient, hasActed, email }: { recipient: Recipient; hasActed: boolean; email?: string },
): Page {
  const { contact, to, brand } = recipient;
  if (to === null) return toPage(texts, texts.contactDeleted, { brand });
  const hasNewAddress = contact !== null && contact.email !== to;
  const values = {
    project: brand.name,
    email: email ?? (hasNewAddress ? texts.newAddress : maskAddress(to)),
  };
  if (contact === null) {
    return toPage(texts, filled(texts.unsubscribed, values), { brand });
  }
  const topic = name === "manage" || !contact.isSubscribed ? null : recipient.topic;
  if (topic !== null) return topicPage(texts, { name, hasActed, values, topic, recipient });
  const { isSubscribed } = contact;
  const isQuestion = !hasActed && name === (isSubscribed ? "unsubscribe" : "subscribe");
  const state = isSubscribed ? texts.subscribed : texts.unsubscribed;
  const question = isSubscribed ? texts.askUnsubscribe : texts.askSubscribe;
  const isManaging = name === "manage" && !hasActed;
  const shown = isQuestion ? question : isManaging ? { ...state, title: texts.manage } : state;
  return toPage(texts, filled(shown, values), {
    brand,
    action: isSubscribed ? "unsubscribe" : "subscribe",
    isMain: isQuestion || isManaging,
    // On pages about unsubscribing, the note says that transactional mail still arrives.
    hasNote: isQuestion === isSubscribed,
  });
}

/**
 * The page for a contact who gets marketing mail, and may join or leave the topic of the mail, or
 * unsubscribe from everything.
 */
function topicPage(
  texts: Texts,
  view: {
    name: PageName;
    hasActed: boolean;
    values: { project: string; email: string };
    topic: NonNullable<Recipient["topic"]>;
    recipient: Recipient;
  },
): Page {
  const { name, hasActed, topic, recipient } = view;
  const words = topicTexts(texts);
  const values = { ...view.values, topic: topic.name };
  const isQuestion = !hasActed && name === "unsubscribe" && topic.isIn;
  const state = topic.isIn ? words.subscribed : words.unsubscribed;
  const page = toPage(texts, filled(isQuestion ? words.askUnsubscribe : state, values), {
    brand: recipient.brand,
    action: topic.isIn ? "unsubscribe" : "subscribe",
    isMain: isQuestion || (name === "subscribe" && !hasActed),
  });
  return {
    ...page,
    secondButton: { label: words.everything, name: ACTION, value: "unsubscribe-all" },
    note: topic.isIn && !isQuestion ? null : fillPlaceholders(words.others, values),
  };
}

/**
 * The text of the page with the button that was pressed. The address stays a placeholder, so that the
 * wording is the same for all recipients of the project.
 */
export function wordingOf(texts: Texts, name: PageName, recipient: Recipient): string {
  const page = buildPage(texts, name, {
    recipient: { ...recipient, to: recipient.contact?.email ?? recipient.to },
    hasActed: false,
    email: "{email}",
  });
  const labels = [page.button, page.secondButton ?? null].map((each) => each && `[${each.label}]`);
  const lines = [page.title, page.text, ...labels, page.note];
  return lines.filter((line) => line !== null).join("\n\n");
}

function filled({ title, text }: PageText, values: Readonly<Record<string, string>>): PageText {
  return { title: fillPlaceholders(title, values), text: fillPlaceholders(text, values) };
}

function toPage(
  texts: Texts,
  { title, text }: PageText,
  rest: { brand: Brand; action?: "subscribe" | "unsubscribe"; isMain?: boolean; hasNote?: boolean },
): Page {
  const { brand, action, isMain = false, hasNote = false } = rest;
  return {
    language: texts.language,
    title,
    text,
    brand,
    button:
      action === undefined ? null : { label: texts[action], name: ACTION, value: action, isMain },
    note: hasNote ? texts.note : null,
  };
}

const VISIBLE_CHARACTERS = 2;

/** Prevents a line break at its position. */
const WORD_JOINER = "\u2060";

/**
 * Shows enough for the owner to recognise the address, but does not reveal it to a person to whom
 * the mail was forwarded.
 */
export function maskAddress(address: string): string {
  const at = address.lastIndexOf("@");
  const local = Array.from(address.slice(0, at));
  const shown = local.slice(0, Math.min(VISIBLE_CHARACTERS, Math.max(1, local.length - 1)));
  return `${shown.join("")}…${WORD_JOINER}${address.slice(at)}`;
}
