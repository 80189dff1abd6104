/**
 * What recipients read, in the languages there are: the footer of marketing mail and the pages
 * behind its links. A new language is one file in `languages/` and one line here.
 */

import { de } from "./languages/de.ts";
import { en } from "./languages/en.ts";
import { es } from "./languages/es.ts";
import { fr } from "./languages/fr.ts";
import { it } from "./languages/it.ts";
import { ja } from "./languages/ja.ts";
import { nl } from "./languages/nl.ts";
import { pl } from "./languages/pl.ts";
import { pt } from "./languages/pt.ts";

export type PageText = { title: string; text: string };

/** `{project}` and `{email}` stand for the project's name and the recipient's address. */
export type Texts = {
  /** BCP 47. */
  language: string;
  /** Words on buttons and links. */
  unsubscribe: string;
  subscribe: string;
  askUnsubscribe: PageText;
  askSubscribe: PageText;
  /** How it is, whether it has just become so or was so before. */
  unsubscribed: PageText;
  subscribed: PageText;
  /** Title of the page that shows how it is and offers to change it. */
  manage: string;
  /** Goes with the end of a subscription: other mail may still come. */
  note: string;
  /** The contact was deleted. */
  gone: PageText;
  /** The link is not one of ours, or not all of it. */
  badLink: PageText;
  /** A fault of ours. */
  trouble: PageText;
  /** Why this mail came; goes with a link `unsubscribe`. */
  footer: string;
};

const ALL: readonly Texts[] = [en, de, fr, es, nl, pt, it, pl, ja];
const BY_LANGUAGE: ReadonlyMap<string, Texts> = new Map(
  ALL.map((texts) => [texts.language, texts]),
);

/** Languages there are texts in. */
export const LANGUAGES: readonly string[] = ALL.map((texts) => texts.language);

/** Texts in a language such as `pt-BR`, by its first part; null where there are none. */
export function textsIn(language: string): Texts | null {
  return BY_LANGUAGE.get(language.toLowerCase().split("-", 1)[0] ?? "") ?? null;
}

/**
 * The language of the project, which is that of its mail. Where that is not known: the one that
 * the reader likes best (RFC 9110 §12.5.4), else English.
 */
export function chooseTexts(language: string | null, acceptLanguage: string | null): Texts {
  const own = language === null ? null : textsIn(language);
  return own ?? accepted(acceptLanguage ?? "") ?? en;
}

const LONGEST_HEADER = 500;

function accepted(header: string): Texts | null {
  const wishes = header
    .slice(0, LONGEST_HEADER)
    .split(",")
    .map((wish) => {
      const [range = "", ...parameters] = wish.split(";").map((part) => part.trim());
      return { texts: textsIn(range), quality: qualityIn(parameters) };
    })
    .filter(({ texts, quality }) => texts !== null && quality > 0);
  // Sorting is stable: of equal wishes the first counts.
  return wishes.sort((a, b) => b.quality - a.quality)[0]?.texts ?? null;
}

function qualityIn(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith("q="));
  const quality = given === undefined ? 1 : Number(given.slice(2));
  return Number.isNaN(quality) ? 0 : quality;
}

/** Puts values in place of `{project}` and `{email}`; what a value contains is not looked at again. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}
