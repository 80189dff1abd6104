/**
 * The support of mail programs for HTML and CSS, from Can I email (https://www.caniemail.com, MIT,
 * the licence is in assets/caniemail; `SUPPORT_DATE` is the date of the data). The file has the
 * results of the latest version of each program.
 */

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import text from "../../../assets/caniemail/data.txt" with { type: "text" };

const Texts = Type.Record(Type.String(), Type.String());

const Feature = Type.Object({
  slug: Type.String(),
  title: Type.String(),
  description: Type.String(),
  url: Type.String(),
  category: Type.String(),
  tags: Type.Array(Type.String()),
  keywords: Type.String(),
  /** By family and platform: the version, and its support: y, a, n or u, with numbers of notes. */
  stats: Type.Record(
    Type.String(),
    Type.Record(Type.String(), Type.Tuple([Type.String(), Type.String()])),
  ),
  notes: Texts,
});
export type SupportFeature = Static<typeof Feature>;

const SupportData = Type.Object({
  /** Date of the data: YYYY-MM-DD. */
  date: Type.String(),
  families: Texts,
  platforms: Texts,
  features: Type.Array(Feature),
});
type SupportData = Static<typeof SupportData>;

let read: SupportData | null = null;

/** The data, read at the first use. */
export function supportData(): SupportData {
  read ??= Value.Parse(SupportData, JSON.parse(text));
  return read;
}
