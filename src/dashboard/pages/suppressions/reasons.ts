/** The reasons of suppressions in words. */

import type { Suppression } from "../../../modules/suppressions.ts";
import type { Tone } from "../../ui/status.tsx";

export type SuppressionReason = Suppression["reason"];

type Words = {
  label: string;
  tone: Tone;
  /** The reason why no mail is sent to the address. */
  meaning: string;
  /** A sentence about the effect of removing the entry. */
  warning: string;
};

export const REASONS: Readonly<Record<SuppressionReason, Words>> = {
  HARD_BOUNCE: {
    label: "Hard bounce",
    tone: "failed",
    meaning: "A mail server answered that this address does not exist.",
    warning:
      "The next mail will probably bounce too, and each bounce harms the reputation of your " +
      "domain. Remove it only if the mailbox exists now.",
  },
  SOFT_BOUNCE: {
    label: "Soft bounces",
    tone: "held",
    meaning: "Several mails to this address bounced, for instance because the mailbox is full.",
    warning: "The next mail may bounce too. The entry ends by itself, so you need not remove it.",
  },
  COMPLAINT: {
    label: "Spam report",
    tone: "complained",
    meaning: "The recipient reported your mail as spam.",
    warning:
      "Another report harms the reputation of your domain more than any bounce. Remove it only if " +
      "the recipient asked you for mail.",
  },
  MANUAL: {
    label: "Added by hand",
    tone: "waiting",
    meaning: "Somebody, or one of your programs, added this address.",
    warning:
      "Mail is sent to this address again, including campaigns if the contact is subscribed.",
  },
};

/** The label of a reason; the given text if it is none. */
export const reasonLabel = (text: string): string =>
  Object.entries(REASONS).find(([reason]) => reason === text)?.[1].label ?? text;

/** The URL has the reasons in lower case. */
export const REASON_CHOICES = Object.entries(REASONS).map(([value, { label }]) => ({
  value: value.toLowerCase(),
  label,
}));
