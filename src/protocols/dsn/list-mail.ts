/** Recognises mail of lists and newsletters by its header. */

import { type ReadField, valueOf } from "../mime/read-fields.ts";

const NAMES = ["list-id", "list-unsubscribe", "list-post", "x-campaign-id", "feedback-id"];

/** Whether a list or a newsletter wrote the header; relays add such fields to bounces, too. */
export function hasListField(fields: readonly ReadField[]): boolean {
  return NAMES.some((name) => valueOf(fields, name) !== null);
}
