/** The search parameters of the page of images. */

import { textsOf } from "../../../ui/search-texts.ts";

const KEYS = ["q"] as const;

export type ImageSearch = { [Key in (typeof KEYS)[number]]?: string };

export const readImageSearch = (given: Readonly<Record<string, unknown>>): ImageSearch =>
  textsOf(given, KEYS);
