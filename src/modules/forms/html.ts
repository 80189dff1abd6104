/**
 * The HTML of a form: for its own page, and for the HTML of other sites. Both are the same fields, which
 * work without a script: each has a label, its fault is beside it, and the browser checks the fields
 * that it can. Pure.
 */

import type { FormField } from "../../db/schema/forms.ts";
import type { FormTexts } from "../../render/form-texts.ts";
import type { Texts } from "../../render/language.ts";
import type { Faults, Filled } from "./values.ts";

/** A form as people see it. */
export type ShownForm = {
  id: string;
  title: string;
  description: string | null;
  fields: readonly FormField[];
  topics: readonly {
    id: string;
    name: string;
    description: string | null;
    isPreselected: boolean;
  }[];
  consent: { wording: string; hasBox: boolean } | null;
  buttonLabel: string | null;
};

export type FormLanguage = { texts: Texts; form: FormTexts };

/** Filled in by programs alone: people do not see it. */
export const TRAP = "_website";
/** The signed time at which the page was made. */
export const MADE_AT = "_t";

type Options = {
  /** Begins the names of classes, so that they are not those of the site. */
  prefix: string;
  /** Begins the ids, so that several forms fit into one page. */
  idPrefix: string;
  filled: Filled | null;
  faults: Faults;
  /**
   * Other sites hide the trap by a style as well, because their own style may show elements that are
   * `hidden`.
   */
  trapStyle: string;
};

const NO_FAULTS: Faults = new Map();
const text = (value: string): string => Bun.escapeHTML(value);

/** The body of the page of a form. */
export function pageBody(
  form: ShownForm,
  language: FormLanguage,
  { filled = null, faults = NO_FAULTS, madeAt }: Partial<Options> & { madeAt: string },
): string {
  const summary =
    faults.size === 0 ? "" : `<p class="fault" role="alert">${text(language.form.summary)}</p>\n`;
  const options = { prefix: "", idPrefix: "", filled, faults, trapStyle: "" };
  return (
    `<h1>${text(form.title)}</h1>\n${descriptionOf(form)}${summary}` +
    `<form method="post" accept-charset="utf-8">\n${fieldsHtml(form, language, options)}` +
    `<input type="hidden" name="${MADE_AT}" value="${text(madeAt)}">\n` +
    `${buttonHtml(form, language)}</form>\n`
  );
}

/** A plain form for the HTML of another site. */
export function formCode(
  form: ShownForm,
  language: FormLanguage,
  { action, lang }: { action: string; lang: string },
): string {
  const options = {
    prefix: "mailstead-",
    idPrefix: `mailstead-${form.id.slice(-8)}-`,
    filled: null,
    faults: NO_FAULTS,
    trapStyle: ' style="display:none"',
  };
  return (
    `<form method="post" action="${text(action)}" accept-charset="utf-8" lang="${text(lang)}" ` +
    `class="mailstead-form" data-mailstead>\n` +
    `<h2>${text(form.title)}</h2>\n${descriptionOf(form)}` +
    `${fieldsHtml(form, language, options)}${buttonHtml(form, language)}</form>`
  );
}

const descriptionOf = ({ description }: ShownForm): string =>
  description === null || description === "" ? "" : `<p>${text(description)}</p>\n`;

/** The text by which a person agrees: that of the form, or else its title, description and button. */
export function consentWording(form: ShownForm, language: FormLanguage): string {
  if (form.consent !== null) return form.consent.wording;
  const button = form.buttonLabel ?? language.texts.subscribe;
  return [form.title, form.description ?? "", button].filter((part) => part !== "").join("\n");
}

function buttonHtml({ buttonLabel }: ShownForm, { texts }: FormLanguage): string {
  return `<button type="submit">${text(buttonLabel ?? texts.subscribe)}</button>\n`;
}

function fieldsHtml(form: ShownForm, language: FormLanguage, options: Options): string {
  const email: FormField = {
    name: "email",
    label: language.form.email,
    kind: "TEXT",
    isRequired: true,
    maxLength: 320,
  };
  const trap =
    `<p hidden${options.trapStyle}><label>${text(language.form.trap)} ` +
    `<input type="text" name="${TRAP}" tabindex="-1" autocomplete="off"></label></p>\n`;
  return [
    fieldHtml(email, language, options),
    ...form.fields.map((field) => fieldHtml(field, language, options)),
    topicsHtml(form, language, options),
    consentHtml(form, options),
    trap,
  ].join("");
}

function fieldHtml(field: FormField, language: FormLanguage, options: Options): string {
  const { prefix, idPrefix, filled } = options;
  const { name, label, kind, isRequired = false } = field;
  const value = filled?.get(name) ?? "";
  const { attributes, error } = stateOf(name, options);
  const must = isRequired ? " required" : "";
  if (kind === "CHECKBOX") {
    const checked = value === "" ? "" : " checked";
    const box = `<input type="checkbox" name="${name}" value="yes"${must}${checked}${attributes}>`;
    return `<div class="${prefix}choices">${choiceHtml(prefix, { box, label })}${error}</div>\n`;
  }
  const id = `${idPrefix}${name}`;
  const optional = isRequired
    ? ""
    : ` <span class="${prefix}optional">(${text(language.form.optional)})</span>`;
  const given = `id="${id}" name="${name}"${must}${autocompleteOf(name)}${attributes}`;
  const control =
    kind === "CHOICE"
      ? selectHtml(field, { given, value, choose: language.form.choose })
      : `<input ${typeOf(field)} ${given} value="${text(value)}">`;
  return (
    `<div class="${prefix}field"><label for="${id}">${text(label)}${optional}</label>\n` +
    `${control}${error}</div>\n`
  );
}

/** The attributes of a field with a fault, and the fault. The first one gets the focus. */
function stateOf(
  name: string,
  { prefix, idPrefix, faults }: Options,
): { attributes: string; error: string } {
  const fault = faults.get(name);
  if (fault === undefined) return { attributes: "", error: "" };
  const id = `${idPrefix}${name}-error`;
  const isFirst = faults.keys().next().value === name;
  return {
    attributes: ` aria-invalid="true" aria-describedby="${id}"${isFirst ? " autofocus" : ""}`,
    error: `<span class="${prefix}error" id="${id}">${text(fault)}</span>`,
  };
}

function typeOf({ name, kind, maxLength = 200 }: FormField): string {
  if (name === "email") return 'type="email" maxlength="320"';
  if (kind === "NUMBER") return 'type="number" step="any"';
  if (kind === "DATE") return 'type="date"';
  return `type="text" maxlength="${maxLength}"`;
}

/** Browsers fill in values that they know (HTML, section "Autofill"). */
const AUTOCOMPLETE: Readonly<Record<string, string>> = {
  email: "email",
  name: "name",
  first_name: "given-name",
  firstname: "given-name",
  last_name: "family-name",
  lastname: "family-name",
  company: "organization",
  phone: "tel",
  city: "address-level2",
  country: "country-name",
  birthday: "bday",
};

function autocompleteOf(name: string): string {
  const known = AUTOCOMPLETE[name.toLowerCase()];
  return known === undefined ? "" : ` autocomplete="${known}"`;
}

function selectHtml(
  { options = [] }: FormField,
  { given, value, choose }: { given: string; value: string; choose: string },
): string {
  const entries = options.map((option) => {
    const selected = option === value ? " selected" : "";
    return `<option${selected}>${text(option)}</option>`;
  });
  return `<select ${given}>\n<option value="">${text(choose)}</option>\n${entries.join("\n")}\n</select>`;
}

function choiceHtml(
  prefix: string,
  { box, label, hint = null }: { box: string; label: string; hint?: string | null },
): string {
  // The code for other sites has no styles that set the two apart.
  const separator = prefix === "" ? " " : " – ";
  const below =
    hint === null || hint === ""
      ? ""
      : `${separator}<span class="${prefix}hint">${text(hint)}</span>`;
  return `<label class="${prefix}choice">${box} <span>${text(label)}</span>${below}</label>`;
}

function topicsHtml(
  { topics }: ShownForm,
  { form }: FormLanguage,
  { prefix, filled }: Options,
): string {
  if (topics.length === 0) return "";
  const chosen = filled === null ? null : new Set(filled.getAll("topics"));
  const choices = topics.map(({ id, name, description, isPreselected }) => {
    const isChecked = chosen === null ? isPreselected : chosen.has(id);
    const checked = isChecked ? " checked" : "";
    const box = `<input type="checkbox" name="topics" value="${text(id)}"${checked}>`;
    return choiceHtml(prefix, { box, label: name, hint: description });
  });
  return `<fieldset>\n<legend>${text(form.topics)}</legend>\n${choices.join("\n")}\n</fieldset>\n`;
}

function consentHtml({ consent }: ShownForm, options: Options): string {
  if (consent === null) return "";
  const { prefix, filled } = options;
  if (!consent.hasBox) return `<p class="${prefix}hint">${text(consent.wording)}</p>\n`;
  const { attributes, error } = stateOf("consent", options);
  const checked = (filled?.get("consent") ?? "") === "" ? "" : " checked";
  const box = `<input type="checkbox" name="consent" value="yes" required${checked}${attributes}>`;
  const choice = choiceHtml(prefix, { box, label: consent.wording });
  return `<div class="${prefix}choices">${choice}${error}</div>\n`;
}
