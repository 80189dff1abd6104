/** Texts in English. */

import type { Texts } from "../language.ts";

export const en: Texts = {
  language: "en",
  unsubscribe: "Unsubscribe",
  subscribe: "Subscribe",
  newAddress: "your new address",
  askUnsubscribe: {
    title: "Unsubscribe?",
    text: "{project} will no longer send newsletters to {email}.",
  },
  askSubscribe: { title: "Subscribe?", text: "{project} will send its newsletters to {email}." },
  unsubscribed: {
    title: "You are unsubscribed",
    text: "{project} sends no newsletters to {email}.",
  },
  subscribed: { title: "You are subscribed", text: "{project} sends its newsletters to {email}." },
  manage: "Your subscription",
  note: "Messages about your orders or your account may still reach you.",
  contactDeleted: {
    title: "This link no longer works",
    text: "This email was sent to an address that has been deleted since. If you still get newsletters, use the link in the newest one.",
  },
  invalidLink: {
    title: "This link does not work",
    text: "It may be incomplete. Open it again from the email, or copy the whole link.",
  },
  serverError: {
    title: "That did not work",
    text: "Something went wrong on our side. Please try again in a few minutes.",
  },
  footer: "You receive this email because you subscribed to newsletters from {project}.",
};
