/** The language of a contact: a key of its data, which templates and conditions can read as well. */

import { textsIn } from "../../render/language.ts";
import { parseData } from "./data.ts";
import type { ContactRow } from "./service.ts";

export const LANGUAGE_KEY = "language";

/** The language that a contact has chosen, or that was stored for it; null if the pages lack it. */
export function contactLanguage({ data }: Pick<ContactRow, "data">): string | null {
  const stored = parseData(data)[LANGUAGE_KEY];
  return typeof stored === "string" ? (textsIn(stored)?.language ?? null) : null;
}
