/** The schemas of templates and of their versions. */

import { type Static, Type } from "@sinclair/typebox";
import { TEMPLATE_FORMATS, TEMPLATE_TYPES } from "../../db/schema/templates.ts";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { DisplayName, EmailAddress } from "../../http/formats.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, isRecord, OneOf, withChecks } from "../../http/validation.ts";
import type { FieldError } from "../../lib/errors.ts";
import { quickTemplateErrors } from "../../render/request-mails.ts";

/**
 * Source of a subject: one line of Liquid. The length of the rendered subject is checked
 * separately.
 */
export const SubjectSource = Type.String({
  format: "header-text",
  minLength: 1,
  maxLength: 10_000,
});
/** Source of a preheader: one line of Liquid. */
export const PreheaderSource = Type.String({ format: "header-text", maxLength: 2_000 });
/** Source of an HTML body: Liquid. */
export const BodySource = Type.String({ minLength: 1 });
/** The JSON of the visual editor, which only the editor reads. */
export const Design = Type.Record(Type.String(), Type.Unknown());

const MAX_DESIGN_BYTES = 1024 * 1024;

export const TemplateType = named("TemplateType", OneOf(TEMPLATE_TYPES), {
  description: "MARKETING mail goes only to subscribed contacts and offers to unsubscribe",
});
const TemplateFormat = named("TemplateFormat", OneOf(TEMPLATE_FORMATS), {
  description: "How the body is edited: as code, or in the visual editor, which keeps its design",
});

/** Descriptions of the fields that callers set. */
export const CONTENT_TEXTS = {
  name: "Name of the template, which recipients do not see",
  description: "Note about the template, which recipients do not see",
  subject: "Liquid template of the subject, one line",
  preheader:
    "Liquid template of the text that programs show beside the subject in the list of mails. It is " +
    "hidden at the start of the body. null for none.",
  body:
    "Liquid template of the HTML body. {{ First Name }} outputs the key First Name of the data; " +
    "{{ a ?? b ?? text }} outputs the first of a and b that has a value, or else the text.",
  design: "JSON of the visual editor, at most 1 MiB; null without one. The body is what is sent.",
  format: "CODE, or VISUAL, which needs a design",
  layoutId: "Id of the layout into which the body is put; null for none",
  from: "Address of the sender, at a verified domain of the project; null for the project's sender",
  fromName: "Display name of the sender",
  replyTo: "Address to which replies go, with or without a display name",
  type: "MARKETING mail goes only to subscribed contacts and offers to unsubscribe",
  topicId: "Id of the topic of its mails, which go only to contacts in it; only for MARKETING",
} as const;

const CONTENT_EXAMPLE = {
  name: "Receipt",
  subject: "Your order {{ order }}",
  body: "<p>Thank you, {{ name ?? friend }}.</p>",
  type: "TRANSACTIONAL",
};

const SHOWN_EXAMPLE = {
  id: EXAMPLE.templateId,
  description: null,
  preheader: "It leaves our shop today.",
  format: "CODE",
  layoutId: null,
  from: null,
  fromName: null,
  replyTo: null,
  ...CONTENT_EXAMPLE,
  topicId: null,
  revision: 3,
};

/** The members of a template, of an item in the list of templates, and of a version. */
const CONTENT_MEMBERS = {
  name: Type.String(),
  description: Nullable(Type.String()),
  subject: Type.String(),
  preheader: Nullable(Type.String()),
  body: Type.String(),
  format: TemplateFormat,
  layoutId: Nullable(Type.String()),
  from: Nullable(Type.String()),
  fromName: Nullable(Type.String()),
  replyTo: Nullable(Type.String()),
  type: TemplateType,
  topicId: Nullable(Type.String()),
};

const LISTED_MEMBERS = {
  id: Type.String(),
  ...CONTENT_MEMBERS,
  revision: Type.Integer(),
  createdAt: Type.String({ format: "date-time" }),
  updatedAt: Type.String({ format: "date-time" }),
};

const { design: designText, ...otherTexts } = CONTENT_TEXTS;
const LISTED_TEXTS = {
  id: "Id of the template",
  ...otherTexts,
  revision: "Number of the last change, from 1; also the ETag",
  createdAt: "When the template was created",
  updatedAt: "When the template was changed last",
};

/** A template in responses (docs/specification.md#s2.2 and docs/interface.md#templates). */
export const Template = named(
  "Template",
  described(Type.Object({ ...LISTED_MEMBERS, design: Nullable(Design) }), {
    ...LISTED_TEXTS,
    design: designText,
  }),
  {
    description: "The content of a kind of mail",
    example: {
      ...SHOWN_EXAMPLE,
      design: null,
      createdAt: EXAMPLE.createdAt,
      updatedAt: EXAMPLE.updatedAt,
    },
  },
);
export type Template = Static<typeof Template>;

/** Without the design, which may be large. */
export const ListedTemplate = named(
  "ListedTemplate",
  described(Type.Object(LISTED_MEMBERS), LISTED_TEXTS),
  {
    description: "A template in the list of templates, without its design",
    example: { ...SHOWN_EXAMPLE, createdAt: EXAMPLE.createdAt, updatedAt: EXAMPLE.updatedAt },
  },
);
export type ListedTemplate = Static<typeof ListedTemplate>;

const Fields = described(
  Input({
    name: Type.String({ minLength: 1, maxLength: 255 }),
    description: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
    subject: SubjectSource,
    preheader: Type.Optional(Nullable(PreheaderSource)),
    body: BodySource,
    design: Type.Optional(Nullable(Design)),
    format: Type.Optional(TemplateFormat),
    layoutId: Type.Optional(Nullable(Type.String())),
    from: Type.Optional(Nullable(EmailAddress)),
    fromName: Type.Optional(Nullable(DisplayName)),
    replyTo: Type.Optional(Nullable(EmailAddress)),
    type: TemplateType,
    topicId: Type.Optional(Nullable(Type.String({ maxLength: 100 }))),
  }),
  CONTENT_TEXTS,
);

function templateErrors(
  fields: Readonly<Record<string, unknown>>,
  options: { isLenient: boolean },
): FieldError[] {
  return [...quickTemplateErrors(fields, options), ...designErrors(fields)];
}

function designErrors({ design }: Readonly<Record<string, unknown>>): FieldError[] {
  const isTooLong =
    isRecord(design) && Buffer.byteLength(JSON.stringify(design)) > MAX_DESIGN_BYTES;
  if (!isTooLong) return [];
  return [{ field: "design", code: "too_big", message: "must be at most 1 MiB as JSON" }];
}

export const TemplateInput = named("TemplateInput", withChecks(Fields, templateErrors), {
  description: "A template to create",
  example: CONTENT_EXAMPLE,
});
export type TemplateInput = Static<typeof TemplateInput>;

export const TemplatePatch = named(
  "TemplatePatch",
  withChecks(Type.Partial(Fields), templateErrors),
  {
    description: "Changes of a template; omitted fields stay as they are",
    example: { subject: "Your receipt for order {{ order }}" },
  },
);
export type TemplatePatch = Static<typeof TemplatePatch>;

export const TemplateQuery = Input({
  ...PageQuery.properties,
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: "Only templates whose name contains this text; case matters beyond ASCII",
    }),
  ),
});
export type TemplateQuery = Static<typeof TemplateQuery>;

const TemplateUser = named(
  "TemplateUser",
  described(
    Type.Object({
      kind: OneOf(["workflow", "campaign", "form"]),
      id: Type.String(),
      name: Type.String(),
    }),
    { kind: "What it is", id: "Its id", name: "Its name" },
  ),
  { description: "An object that sends a template" },
);

export const TemplateVariable = named(
  "Placeholder",
  described(
    Type.Object({
      name: Type.String(),
      isRequired: Type.Boolean(),
      isProvided: Type.Boolean(),
    }),
    {
      name: "The variable, as the template writes it",
      isRequired: "Whether one of its uses renders as nothing if the variable has no value",
      isProvided: "Whether the service gives it a value, such as email and unsubscribeUrl",
    },
  ),
  { description: "A variable that a template outputs or tests" },
);

export const PLACEHOLDER_EXAMPLES = [
  { name: "order", isRequired: true, isProvided: false },
  { name: "name", isRequired: false, isProvided: false },
];

const ApiSends = named(
  "TemplateApiSends",
  described(
    Type.Object({
      count: Type.Integer(),
      isComplete: Type.Boolean(),
      lastAt: Nullable(Type.String({ format: "date-time" })),
    }),
    {
      count: "Mails of requests that named the template, at most 100",
      isComplete: "False if there may be more, because the search ended at 100 or after a second",
      lastAt: "When the latest of them was accepted; null if none was found",
    },
  ),
  { description: "The mails of a template that requests to /v1/send made" },
);

export const TemplateUsage = named(
  "TemplateUsage",
  described(
    Type.Object({
      users: Type.Array(TemplateUser),
      apiSends: ApiSends,
      placeholders: Type.Array(TemplateVariable),
    }),
    {
      users: "The workflows that send the template; it cannot be deleted while there are any",
      apiSends: "The mails that requests made of it",
      placeholders: "The variables of subject, preheader and body in their order, at most 200",
    },
  ),
  {
    description: "Where a template is used, and the variables that it needs",
    example: {
      users: [{ kind: "workflow", id: EXAMPLE.workflowId, name: "Welcome" }],
      apiSends: { count: 2, isComplete: true, lastAt: EXAMPLE.updatedAt },
      placeholders: PLACEHOLDER_EXAMPLES,
    },
  },
);
export type TemplateUsage = Static<typeof TemplateUsage>;

export const VersionAuthor = named(
  "VersionAuthor",
  described(Type.Object({ kind: OneOf(["USER", "KEY"]), name: Type.String() }), {
    kind: "A user of the dashboard, or an API key",
    name: "Address of the user, or name and last characters of the key",
  }),
  { description: "Who made a version" },
);

const VERSION_TEXTS = {
  revision: "The revision of the template that the version has",
  createdAt: "When the last change of the version was made",
  author: "Who changed the template; null for what it was before versions were stored",
  changed: "Names of the fields that differ from the version before; empty for the first one",
};
const VERSION_MEMBERS = {
  revision: Type.Integer(),
  createdAt: Type.String({ format: "date-time" }),
  author: Nullable(VersionAuthor),
  changed: Type.Array(Type.String()),
};
const VERSION_EXAMPLE = {
  revision: 3,
  createdAt: EXAMPLE.updatedAt,
  author: { kind: "USER", name: "ada@acme.example" },
  changed: ["subject"],
};

export const ListedVersion = named(
  "ListedVersion",
  described(Type.Object({ ...VERSION_MEMBERS, subject: Type.String() }), {
    ...VERSION_TEXTS,
    subject: CONTENT_TEXTS.subject,
  }),
  {
    description: "A version in the list of versions of a template",
    example: { ...VERSION_EXAMPLE, subject: CONTENT_EXAMPLE.subject },
  },
);
export type ListedVersion = Static<typeof ListedVersion>;

const { id: _, ...shownContent } = SHOWN_EXAMPLE;

export const TemplateVersion = named(
  "TemplateVersion",
  described(Type.Object({ ...VERSION_MEMBERS, ...CONTENT_MEMBERS, design: Nullable(Design) }), {
    ...VERSION_TEXTS,
    ...CONTENT_TEXTS,
    layoutId: "Id of the layout at that time, which may have been deleted since; null for none",
  }),
  {
    description: "What a template was at a revision",
    example: { ...shownContent, ...VERSION_EXAMPLE, design: null },
  },
);
export type TemplateVersion = Static<typeof TemplateVersion>;
