/**
 * Texts that recipients read, in all supported languages: the footer of marketing mail and the
 * pages that its links open. To add a language, add one file to `languages/` and list it in `ALL`.
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

/** In each text, `{project}` is the project's name and `{email}` is the recipient's address. */
export type Texts = {
  /** Language tag (BCP 47). */
  language: string;
  /** Label of the button or link that unsubscribes. */
  unsubscribe: string;
  /** Label of the button that subscribes. */
  subscribe: string;
  /**
   * Used for `{email}` if the contact has another address than the mail with the link, because only
   * the owner of that address may read a part of it.
   */
  newAddress: string;
  /** Page that asks for confirmation. */
  askUnsubscribe: PageText;
  /** Page that asks for confirmation. */
  askSubscribe: PageText;
  /** Page that states the contact's state, whether it changed just now or earlier. */
  unsubscribed: PageText;
  /** Page that states the contact's state, whether it changed just now or earlier. */
  subscribed: PageText;
  /** Title of the page that shows the contact's state and offers to change it. */
  manage: string;
  /** Note for a contact who unsubscribes: transactional mail may still arrive. */
  note: string;
  /**
   * Page for a mail whose contact was deleted. The address may belong to a new contact, which cannot
   * be found, because the address of the mail was deleted with the contact.
   */
  contactDeleted: PageText;
  /** Page for a link that is incomplete or was not signed by this installation. */
  invalidLink: PageText;
  /** Page for an error of the server. */
  serverError: PageText;
  /** Reason why the recipient gets this mail; a link labelled `unsubscribe` follows it. */
  footer: string;
};

const ALL: readonly Texts[] = [en, de, fr, es, nl, pt, it, pl, ja];
const BY_LANGUAGE: ReadonlyMap<string, Texts> = new Map(
  ALL.map((texts) => [texts.language, texts]),
);

/** Tags of all supported languages. */
export const LANGUAGES: readonly string[] = ALL.map((texts) => texts.language);

/** The texts in a language such as `pt-BR`, found by its first subtag; null if there are none. */
export function textsIn(language: string): Texts | null {
  return BY_LANGUAGE.get(language.toLowerCase().split("-", 1)[0] ?? "") ?? null;
}

/**
 * The texts in the project's language, which its mail is written in. If that language is null or
 * not supported: in the first choice of the `Accept-Language` header (RFC 9110 §12.5.4), else in
 * English.
 */
export function chooseTexts(language: string | null, acceptLanguage: string | null): Texts {
  const own = language === null ? null : textsIn(language);
  return own ?? preferredTexts(acceptLanguage ?? "") ?? en;
}

const MAX_HEADER_LENGTH = 500;

function preferredTexts(header: string): Texts | null {
  const preferences = header
    .slice(0, MAX_HEADER_LENGTH)
    .split(",")
    .map((preference) => {
      const [range = "", ...parameters] = preference.split(";").map((part) => part.trim());
      return { texts: textsIn(range), quality: qualityIn(parameters) };
    })
    .filter(({ texts, quality }) => texts !== null && quality > 0);
  // The sort is stable, so the first of several languages with equal quality is chosen.
  return preferences.sort((a, b) => b.quality - a.quality)[0]?.texts ?? null;
}

function qualityIn(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith("q="));
  const quality = given === undefined ? 1 : Number(given.slice(2));
  return Number.isNaN(quality) ? 0 : quality;
}

/**
 * Replaces `{project}` and `{email}` by their values. Braces inside of a value are not replaced.
 */
export function fillPlaceholders(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}
