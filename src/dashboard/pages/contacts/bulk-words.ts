/** The actions on many contacts in words. */

import type { BulkAction, BulkProgress } from "../../../modules/contacts/bulk/model.ts";

type Words = {
  verb: string;
  done: string;
  /** Says why the action did not change one contact, and several. */
  before: readonly [one: string, many: string];
  meaning: string;
};

export const BULK_WORDS: Readonly<Record<BulkAction, Words>> = {
  subscribe: {
    verb: "Subscribe",
    done: "subscribed",
    before: ["was subscribed before", "were subscribed before"],
    meaning:
      "They will get campaigns again, also those who unsubscribed. Do this only for people who asked for it.",
  },
  unsubscribe: {
    verb: "Unsubscribe",
    done: "unsubscribed",
    before: ["was not subscribed before", "were not subscribed before"],
    meaning: "They get no more campaigns. Mail that your programs send them is not changed.",
  },
  addToSegment: {
    verb: "Add to a segment",
    done: "added",
    before: ["was in the segment before", "were in the segment before"],
    meaning: "They become members of the segment, which is a list of its own members.",
  },
  removeFromSegment: {
    verb: "Remove from a segment",
    done: "removed",
    before: ["was not in the segment", "were not in the segment"],
    meaning: "The contacts themselves stay.",
  },
  joinTopic: {
    verb: "Add to a topic",
    done: "added",
    before: ["was in the topic before", "were in the topic before"],
    meaning:
      "They get the mail of the topic while they are subscribed. Do this only for people who asked for it.",
  },
  leaveTopic: {
    verb: "Remove from a topic",
    done: "removed",
    before: ["was not in the topic", "were not in the topic"],
    meaning: "They get no more mail of the topic, and keep the rest of their mail.",
  },
  set: {
    verb: "Set a value",
    done: "changed",
    before: ["had the value before", "had the value before"],
    meaning: "The value replaces the one that they have.",
  },
  delete: {
    verb: "Delete",
    done: "deleted",
    before: ["did not exist any more", "did not exist any more"],
    meaning:
      "Their data and their place in lists and workflows are removed. This cannot be undone. Suppressed addresses stay suppressed.",
  },
};

/** `1 contact`; `1,200 contacts`. */
export const contactsText = (count: number): string =>
  count === 1 ? "1 contact" : `${count.toLocaleString("en-US")} contacts`;

/** The result of an action that has ended: how many contacts it changed, and why not the others. */
export function doneText(job: BulkProgress): string {
  const { action, updated, unchanged, failed, status, errors } = job;
  if (status === "FAILED") return errors.at(-1)?.message ?? "The action failed.";
  const { done, before } = BULK_WORDS[action];
  const sentences = [`${contactsText(updated)} ${done}.`];
  if (unchanged > 0) {
    sentences.push(`${contactsText(unchanged)} ${before[unchanged === 1 ? 0 : 1]}.`);
  }
  const [first] = errors;
  if (failed > 0 && first !== undefined) {
    sentences.push(`${contactsText(failed)} could not be changed: ${first.message}`);
  }
  return sentences.join(" ");
}
