/** The texts of sign-up forms, of their confirmation mails and of the pages behind them. */

import { chooseTexts, type PageText, type Texts } from "./language.ts";
import { deForm } from "./languages/forms/de.ts";
import { enForm } from "./languages/forms/en.ts";
import { esForm } from "./languages/forms/es.ts";
import { frForm } from "./languages/forms/fr.ts";
import { itForm } from "./languages/forms/it.ts";
import { jaForm } from "./languages/forms/ja.ts";
import { nlForm } from "./languages/forms/nl.ts";
import { plForm } from "./languages/forms/pl.ts";
import { ptForm } from "./languages/forms/pt.ts";

/** In a text, `{project}` is the name of the project, `{email}` an address and `{max}` a number. */
export type FormTexts = {
  email: string;
  /** After the label of a field that may stay empty. */
  optional: string;
  /** The first entry of a choice. */
  choose: string;
  topics: string;
  /** Label of the field that only programs fill in. It is hidden from people. */
  trap: string;
  /** Above the fields, if one of them has an error. */
  summary: string;
  errors: Readonly<
    Record<
      "required" | "email" | "tooLong" | "number" | "date" | "choice" | "checkbox" | "consent",
      string
    >
  >;
  /** The page after a submission that waits for its confirmation. */
  checkInbox: PageText;
  /** The page after a submission to a form that subscribes at once. */
  thanks: PageText;
  /** A form that is disabled, was deleted, or whose project is disabled. */
  closed: PageText;
  tooMany: PageText;
  /** A page of another site that may not use the form. */
  foreign: PageText;
  askConfirm: PageText;
  confirm: string;
  confirmed: PageText;
  alreadyConfirmed: PageText;
  expired: PageText;
  mail: { subject: string; text: string; button: string; ignore: string };
};

const BY_LANGUAGE: ReadonlyMap<string, FormTexts> = new Map(
  Object.entries({
    en: enForm,
    de: deForm,
    fr: frForm,
    es: esForm,
    nl: nlForm,
    pt: ptForm,
    it: itForm,
    pl: plForm,
    ja: jaForm,
  }),
);

/** The texts of forms beside the other texts, in a language or, if it is null, that of the browser. */
export function chooseFormTexts(
  language: string | null,
  acceptLanguage: string | null,
): { texts: Texts; form: FormTexts } {
  const texts = chooseTexts(language, acceptLanguage);
  return { texts, form: BY_LANGUAGE.get(texts.language) ?? enForm };
}
