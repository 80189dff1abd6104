/** Which page a recipient sees. Pure. */

import type { Page } from "../../http/page.ts";
import { fill, type PageText, type Texts } from "../../mail/language.ts";
import type { Holder } from "./service.ts";

export type PageName = "unsubscribe" | "subscribe" | "manage";

/** Name of the form's field; its values. */
export const ACTION = "action";
export type Action = "subscribe" | "unsubscribe";

/** `hasActed`: the page answers a decision; it says how it is now and offers the way back. */
export function viewOf(
  texts: Texts,
  name: PageName,
  { holder, hasActed }: { holder: Holder; hasActed: boolean },
): Page {
  const { contact, projectName } = holder;
  if (contact === null) return pageOf(texts, texts.gone, { sender: projectName });
  const { isSubscribed } = contact;
  const values = { project: projectName, email: maskAddress(contact.email) };
  const isAsking = !hasActed && name === (isSubscribed ? "unsubscribe" : "subscribe");
  const state = isSubscribed ? texts.subscribed : texts.unsubscribed;
  const question = isSubscribed ? texts.askUnsubscribe : texts.askSubscribe;
  const isManaging = name === "manage" && !hasActed;
  const shown = isAsking ? question : isManaging ? { ...state, title: texts.manage } : state;
  return pageOf(
    texts,
    { title: shown.title, text: fill(shown.text, values) },
    {
      sender: projectName,
      action: isSubscribed ? "unsubscribe" : "subscribe",
      isMain: isAsking || isManaging,
      // Where it ends or has ended: that is not all of the mail there is.
      hasNote: isAsking === isSubscribed,
    },
  );
}

function pageOf(
  texts: Texts,
  { title, text }: PageText,
  rest: { sender: string; action?: Action; isMain?: boolean; hasNote?: boolean },
): Page {
  const { sender, action, isMain = false, hasNote = false } = rest;
  return {
    language: texts.language,
    title,
    text,
    sender,
    button:
      action === undefined ? null : { label: texts[action], name: ACTION, value: action, isMain },
    note: hasNote ? texts.note : null,
  };
}

const SHOWN_CHARACTERS = 2;

/** Keeps a line from being broken where it stands. */
const WORD_JOINER = "\u2060";

/** Enough to know which of one's addresses it is, not enough for whom the mail was forwarded to. */
export function maskAddress(address: string): string {
  const at = address.lastIndexOf("@");
  const local = Array.from(address.slice(0, at));
  const shown = local.slice(0, Math.min(SHOWN_CHARACTERS, Math.max(1, local.length - 1)));
  return `${shown.join("")}…${WORD_JOINER}${address.slice(at)}`;
}
