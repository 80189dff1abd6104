/** The schemas of sign-up forms (docs/forms.md). */

import { type Static, Type } from "@sinclair/typebox";
import { FORM_CONFIRMATIONS, FORM_FIELD_KINDS } from "../../db/schema/forms.ts";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { PATTERN_TEXT } from "../../http/field-messages.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, isRecord, OneOf, QueryInteger, withChecks } from "../../http/validation.ts";
import type { FieldError } from "../../lib/errors.ts";
import { parseUrl } from "../../lib/url.ts";
import { parseWebOrigin } from "../../lib/web-origin.ts";
import { LANGUAGES } from "../../render/language.ts";
import { isReserved } from "../contacts/data.ts";

const MAX_FIELDS = 20;
const MAX_OPTIONS = 50;
const MAX_TOPICS = 50;
const MAX_ORIGINS = 20;
const LONGEST_VALUE = 1_000;

const visible = (maxLength: number) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: "\\S",
    [PATTERN_TEXT]: "must have a visible character",
  });

const FormField = named(
  "FormField",
  described(
    Input({
      name: Type.String({
        pattern: "^[A-Za-z][A-Za-z0-9_-]{0,63}$",
        [PATTERN_TEXT]: "must be a letter and then up to 63 letters, digits, _ or -",
      }),
      label: visible(200),
      kind: OneOf(FORM_FIELD_KINDS),
      isRequired: Type.Optional(Type.Boolean()),
      options: Type.Optional(Type.Array(visible(100), { maxItems: MAX_OPTIONS })),
      maxLength: Type.Optional(Type.Integer({ minimum: 1, maximum: LONGEST_VALUE })),
    }),
    {
      name: "Key of the contact's data that gets the value, and name of the field in HTML",
      label: "Label that people read",
      kind: "The value: a line of text, a number, a date, one of the options, or true and false",
      isRequired: "Whether it must be filled in or ticked; default false",
      options: "The options of a CHOICE",
      maxLength: "Longest TEXT in characters, default 200",
    },
  ),
  {
    description: "A field beside the email address",
    example: { name: "firstName", label: "First name", kind: "TEXT", isRequired: true },
  },
);

const FormTopic = named(
  "FormTopic",
  described(Input({ topicId: Type.String(), isPreselected: Type.Optional(Type.Boolean()) }), {
    topicId: "Id of the topic",
    isPreselected: "Whether its box is ticked at first; default false",
  }),
  {
    description: "A topic that a form offers",
    example: { topicId: EXAMPLE.topicId },
  },
);

const FormConsent = named(
  "FormConsent",
  described(Input({ wording: visible(2_000), hasBox: Type.Optional(Type.Boolean()) }), {
    wording: "The text by which the person agrees. It is kept with the consent as proof",
    hasBox: "Whether the person must tick a box beside the text; default false",
  }),
  {
    description: "The consent that a form asks for",
    example: { wording: "Acme may send me its newsletter. I can unsubscribe at any time." },
  },
);

const Url = Type.String({ maxLength: 2_000 });

const CONTENT = {
  name: visible(255),
  title: visible(200),
  description: Type.Optional(Nullable(Type.String({ maxLength: 2_000 }))),
  fields: Type.Optional(Type.Array(FormField, { maxItems: MAX_FIELDS })),
  topics: Type.Optional(Type.Array(FormTopic, { maxItems: MAX_TOPICS })),
  consent: Type.Optional(Nullable(FormConsent)),
  buttonLabel: Type.Optional(Nullable(visible(100))),
  confirmation: Type.Optional(OneOf(FORM_CONFIRMATIONS)),
  templateId: Type.Optional(Nullable(Type.String())),
  successMessage: Type.Optional(Nullable(visible(1_000))),
  successUrl: Type.Optional(Nullable(Url)),
  confirmedUrl: Type.Optional(Nullable(Url)),
  origins: Type.Optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: MAX_ORIGINS })),
  language: Type.Optional(Nullable(OneOf(LANGUAGES))),
  isEnabled: Type.Optional(Type.Boolean()),
} as const;

const TEXTS = {
  name: "Name of the form, which people do not see",
  title: "Heading of the form",
  description: "Text below the heading; null for none",
  fields: "Fields beside the email address, in their order",
  topics: "The topics that people may choose",
  consent: "The consent that the form asks for; null for none of its own",
  buttonLabel: "Label of the button; null for that of the language",
  confirmation:
    "DOUBLE: a person is subscribed by the link of a mail, which is the default. SINGLE: an " +
    "address that is no contact yet is subscribed at once; others confirm by mail",
  templateId:
    "Template of the confirmation mail, which contains {{ confirmUrl }}; null for the built-in mail",
  successMessage: "What the page after the form says; null for the text of the language",
  successUrl: "Address to which the form leads instead of that page; null for none",
  confirmedUrl: "Address to which a confirmation leads instead of its page; null for none",
  origins: "Web origins whose pages may use the form; empty for all",
  language: "Language of the form and its mail; null for that of the project",
  isEnabled: "Whether the form accepts submissions; default true",
} as const;

const CONTENT_EXAMPLE = {
  name: "Newsletter",
  title: "Our newsletter",
  description: "One letter a month.",
  fields: [{ name: "firstName", label: "First name", kind: "TEXT", isRequired: true }],
  topics: [],
  consent: { wording: "Acme may send me its newsletter.", hasBox: true },
  buttonLabel: null,
  confirmation: "DOUBLE",
  templateId: null,
  successMessage: null,
  successUrl: null,
  confirmedUrl: "https://acme.example/welcome",
  origins: ["https://acme.example"],
  language: null,
  isEnabled: true,
};

/** The rules that the schema cannot express. */
function contentErrors(content: Readonly<Record<string, unknown>>): FieldError[] {
  return [
    ...fieldFaults(content["fields"]),
    ...["successUrl", "confirmedUrl"].flatMap((name) => urlFaults(name, content[name])),
    ...originFaults(content["origins"]),
  ];
}

/**
 * Names that the HTML of a form has for itself, and members of a form in a browser, which a field of the
 * same name would hide from the script (embed.ts).
 */
const OWN_NAMES = new Set([
  "email",
  "topics",
  "consent",
  "action",
  "submit",
  "elements",
  "dataset",
  "prepend",
  "querySelector",
  "querySelectorAll",
  "addEventListener",
  "replaceChildren",
  "setAttribute",
  "removeAttribute",
]);

function fieldFaults(fields: unknown): FieldError[] {
  if (!Array.isArray(fields)) return [];
  const names = new Set<unknown>();
  return fields.flatMap((field: unknown, i) => {
    if (!isRecord(field)) return [];
    const faults = [
      ...nameFaults(field["name"], `fields.${i}.name`, names),
      ...optionFaults(field, i),
    ];
    names.add(field["name"]);
    return faults;
  });
}

function nameFaults(name: unknown, field: string, before: ReadonlySet<unknown>): FieldError[] {
  if (typeof name !== "string") return [];
  if (OWN_NAMES.has(name) || isReserved(name)) {
    return [{ field, message: "is a name that the service uses itself", code: "invalid_value" }];
  }
  return before.has(name)
    ? [{ field, message: "is the name of a field before it", code: "invalid_value" }]
    : [];
}

function optionFaults(field: Readonly<Record<string, unknown>>, i: number): FieldError[] {
  const given = field["options"];
  const options: readonly unknown[] = Array.isArray(given) ? given : [];
  const at = { field: `fields.${i}.options` };
  if (field["kind"] === "CHOICE" && options.length === 0) {
    return [{ ...at, message: "must have an option for the kind CHOICE", code: "required" }];
  }
  return new Set(options).size < options.length
    ? [{ ...at, message: "must not have the same option twice", code: "invalid_value" }]
    : [];
}

function urlFaults(field: string, value: unknown): FieldError[] {
  if (typeof value !== "string" || isWebUrl(value)) return [];
  const message = "must be an address that begins with https:// or http://";
  return [{ field, message, code: "invalid_format" }];
}

function isWebUrl(text: string): boolean {
  const url = parseUrl(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "";
}

function originFaults(origins: unknown): FieldError[] {
  if (!Array.isArray(origins)) return [];
  return origins.flatMap((origin: unknown, i): FieldError[] => {
    if (typeof origin !== "string" || parseWebOrigin(origin) !== null) return [];
    const message = "must be a web origin such as https://shop.example, without a path";
    return [{ field: `origins.${i}`, message, code: "invalid_format" }];
  });
}

export const FormInput = named(
  "FormInput",
  withChecks(described(Input(CONTENT), TEXTS), contentErrors),
  { description: "A form to create", example: { name: "Newsletter", title: "Our newsletter" } },
);
export type FormInput = Static<typeof FormInput>;

export const FormPatch = named(
  "FormPatch",
  withChecks(described(Type.Partial(Input(CONTENT)), TEXTS), contentErrors),
  {
    description: "Changes of a form; omitted fields stay as they are",
    example: { title: "Letters from Acme" },
  },
);
export type FormPatch = Static<typeof FormPatch>;

const EXAMPLE_COUNTS = { shown: 120, submitted: 40, confirmed: 31, withheld: 2 };

const FormCounts = named(
  "FormCounts",
  described(
    Type.Object({
      shown: Type.Integer(),
      submitted: Type.Integer(),
      confirmed: Type.Integer(),
      withheld: Type.Integer(),
    }),
    {
      shown: "How often its page or its script showed it",
      submitted: "How often it was filled in, without robots and those that were withheld",
      confirmed: "How many submissions subscribed a person",
      withheld:
        "How many submissions got no mail, because the address is suppressed, or had a mail of a form " +
        "in the last hour",
    },
  ),
  { description: "Figures of a form", example: EXAMPLE_COUNTS },
);

export const Form = named(
  "Form",
  described(
    Type.Object({
      id: Type.String(),
      ...Type.Required(Type.Object(CONTENT)).properties,
      url: Type.String(),
      counts: FormCounts,
      revision: Type.Integer(),
      createdAt: Type.String({ format: "date-time" }),
      updatedAt: Type.String({ format: "date-time" }),
    }),
    {
      id: "Id of the form",
      ...TEXTS,
      url: "Address of its page, to which the form in the HTML of other sites posts as well",
      counts: "Its figures of all time",
      revision: "Number of the last change, from 1; also the ETag",
      createdAt: "When the form was created",
      updatedAt: "When the form was changed last",
    },
  ),
  {
    description: "A sign-up form",
    example: {
      id: EXAMPLE.formId,
      ...CONTENT_EXAMPLE,
      url: `https://mail.acme.example/f/${EXAMPLE.formId}`,
      counts: EXAMPLE_COUNTS,
      revision: 1,
      createdAt: EXAMPLE.createdAt,
      updatedAt: EXAMPLE.updatedAt,
    },
  },
);
export type Form = Static<typeof Form>;

export const FormQuery = Input({
  ...PageQuery.properties,
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: "Only forms whose name contains this text; case matters beyond ASCII",
    }),
  ),
});

export const FormReportQuery = Input({
  days: Type.Optional(
    QueryInteger({ minimum: 1, maximum: 366, description: "Number of days, default 30" }),
  ),
});

const FormDay = Type.Object({
  day: Type.String({ description: "The day in UTC, such as 2026-03-02" }),
  ...FormCounts.properties,
});

export const FormReport = named(
  "FormReport",
  described(Type.Object({ totals: FormCounts, days: Type.Array(FormDay) }), {
    totals: "The sums of these days",
    days: "Each day, oldest first, also those without figures",
  }),
  {
    description: "The figures of a form by day",
    example: {
      totals: EXAMPLE_COUNTS,
      days: [{ day: "2026-03-02", ...EXAMPLE_COUNTS }],
    },
  },
);
export type FormReport = Static<typeof FormReport>;

export const FormCode = named(
  "FormCode",
  described(Type.Object({ html: Type.String(), script: Type.String() }), {
    html: "A plain HTML form for any site, which works without scripts",
    script: "The line that adds answers and errors in place",
  }),
  {
    description: "What is pasted into a site to show the form there",
    example: {
      html: `<form method="post" action="https://mail.acme.example/f/${EXAMPLE.formId}">…</form>`,
      script: '<script src="https://mail.acme.example/f/embed.js" async></script>',
    },
  },
);

export const FormPreview = named(
  "FormPreview",
  described(Type.Object({ documentUrl: Type.String() }), {
    documentUrl: "Path of the document for a frame, which its author may read for ten minutes",
  }),
  {
    description: "A form that is being written, as people would see it",
    example: { documentUrl: "/template-previews/3f1c9a" },
  },
);
