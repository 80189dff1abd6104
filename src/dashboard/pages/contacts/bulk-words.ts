/** The actions on many contacts in words. */

import type { BulkAction } from "../../../modules/contacts/bulk/model.ts";

type Words = { verb: string; done: string; meaning: string };

export const BULK_WORDS: Readonly<Record<BulkAction, Words>> = {
  subscribe: {
    verb: "Subscribe",
    done: "subscribed",
    meaning:
      "They will get campaigns again, also those who unsubscribed. Do this only for people who asked for it.",
  },
  unsubscribe: {
    verb: "Unsubscribe",
    done: "unsubscribed",
    meaning: "They get no more campaigns. Mail that your programs send them is not changed.",
  },
  addToSegment: {
    verb: "Add to a segment",
    done: "added",
    meaning: "They become members of the segment, which is a list of its own members.",
  },
  removeFromSegment: {
    verb: "Remove from a segment",
    done: "removed",
    meaning: "The contacts themselves stay.",
  },
  set: {
    verb: "Set a value",
    done: "changed",
    meaning: "The value replaces the one that they have.",
  },
  delete: {
    verb: "Delete",
    done: "deleted",
    meaning:
      "Their data and their place in lists and workflows are removed. This cannot be undone. Suppressed addresses stay suppressed.",
  },
};

/** `1 contact`; `1,200 contacts`. */
export const contactsText = (count: number): string =>
  count === 1 ? "1 contact" : `${count.toLocaleString("en-US")} contacts`;
