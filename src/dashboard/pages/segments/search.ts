/** The search parameters of a segment: the open tab. */

import { textsOf } from "../../ui/search-texts.ts";

export const readSegmentSearch = (given: Readonly<Record<string, unknown>>) =>
  textsOf(given, ["tab"]);
