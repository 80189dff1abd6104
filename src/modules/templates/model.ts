/** Requests and responses of templates, and the fields that campaigns share with them. */

import { type Static, Type } from "@sinclair/typebox";
import { TEMPLATE_TYPES } from "../../db/schema/templates.ts";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { EmailAddress } from "../../http/formats.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf, withChecks } from "../../http/validation.ts";
import type { FieldError } from "../../lib/errors.ts";
import { checkTemplate } from "../../render/template/template.ts";

/** Text that can be the value of a mail header: one line without control characters. */
export const HeaderText = Type.String({ format: "header-text", maxLength: 255 });

/**
 * Source of a subject: one line of Liquid. The length of the rendered subject is checked
 * separately.
 */
export const SubjectSource = Type.String({
  format: "header-text",
  minLength: 1,
  maxLength: 10_000,
});
/** Source of an HTML body: Liquid. */
export const BodySource = Type.String({ minLength: 1 });

const TemplateType = named("TemplateType", OneOf(TEMPLATE_TYPES), {
  description: "MARKETING mail goes only to subscribed contacts and offers to unsubscribe",
});

/** Descriptions of the fields that callers set. */
const CONTENT_TEXTS = {
  name: "Name of the template, which recipients do not see",
  description: "Note about the template, which recipients do not see",
  subject: "Liquid template of the subject, one line",
  body:
    "Liquid template of the HTML body. {{ First Name }} outputs the key First Name of the data; " +
    "{{ a ?? b ?? text }} outputs the first of a and b that has a value, or else the text.",
  from: "Address of the sender, at a verified domain of the project; null for the project's sender",
  fromName: "Display name of the sender",
  replyTo: "Address to which replies go",
  type: "MARKETING mail goes only to subscribed contacts and offers to unsubscribe",
} as const;

const CONTENT = {
  name: "Receipt",
  subject: "Your order {{ order }}",
  body: "<p>Thank you, {{ name ?? friend }}.</p>",
  type: "TRANSACTIONAL",
};

/** A template in responses (docs/specification.md#s2.2 and docs/interface.md#templates). */
export const Template = named(
  "Template",
  described(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      description: Nullable(Type.String()),
      subject: Type.String(),
      body: Type.String(),
      from: Nullable(Type.String()),
      fromName: Nullable(Type.String()),
      replyTo: Nullable(Type.String()),
      type: TemplateType,
      createdAt: Type.String({ format: "date-time" }),
      updatedAt: Type.String({ format: "date-time" }),
    }),
    {
      id: "Id of the template",
      ...CONTENT_TEXTS,
      createdAt: "When the template was created",
      updatedAt: "When the template was changed last",
    },
  ),
  {
    description: "The content of a kind of mail",
    example: {
      id: EXAMPLE.templateId,
      description: null,
      from: null,
      fromName: null,
      replyTo: null,
      ...CONTENT,
      createdAt: EXAMPLE.createdAt,
      updatedAt: EXAMPLE.updatedAt,
    },
  },
);
export type Template = Static<typeof Template>;

const Fields = described(
  Input({
    name: Type.String({ minLength: 1, maxLength: 255 }),
    description: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
    subject: SubjectSource,
    body: BodySource,
    from: Type.Optional(Nullable(EmailAddress)),
    fromName: Type.Optional(Nullable(HeaderText)),
    replyTo: Type.Optional(Nullable(EmailAddress)),
    type: TemplateType,
  }),
  CONTENT_TEXTS,
);

export const TemplateInput = named("TemplateInput", withChecks(Fields, templateErrors), {
  description: "A template to create",
  example: CONTENT,
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

/** Input of a preview (docs/interface.md#campaigns). */
export const PreviewInput = named(
  "PreviewInput",
  described(
    Input({
      contactId: Type.Optional(Type.String()),
      data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    }),
    {
      contactId: "Id of the contact to render for; sample data if omitted",
      data: "Variables that replace those of the contact",
    },
  ),
  {
    description: "The contact and the variables of a preview",
    example: { contactId: EXAMPLE.contactId, data: { order: 1001 } },
  },
);
export type PreviewInput = Static<typeof PreviewInput>;

export const Preview = named(
  "Preview",
  described(Type.Object({ subject: Type.String(), html: Type.String(), text: Type.String() }), {
    subject: "The rendered subject",
    html: "The rendered HTML body, with the footer of marketing mail",
    text: "The plain-text alternative",
  }),
  {
    description: "A rendered mail that was not sent",
    example: {
      subject: "Your order 1001",
      html: "<p>Thank you, Ada.</p>",
      text: "Thank you, Ada.",
    },
  },
);
export type Preview = Static<typeof Preview>;

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
      kind: OneOf(["workflow", "campaign"]),
      id: Type.String(),
      name: Type.String(),
    }),
    { kind: "What it is", id: "Its id", name: "Its name" },
  ),
  { description: "An object that sends a template" },
);

const Placeholder = named(
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

export const TemplateUsage = named(
  "TemplateUsage",
  described(
    Type.Object({ users: Type.Array(TemplateUser), placeholders: Type.Array(Placeholder) }),
    {
      users: "The workflows that send the template; it cannot be deleted while there are any",
      placeholders: "The variables of subject and body in their order, at most 200",
    },
  ),
  {
    description: "Where a template is used, and the variables that it needs",
    example: {
      users: [{ kind: "workflow", id: EXAMPLE.workflowId, name: "Welcome" }],
      placeholders: [
        { name: "order", isRequired: true, isProvided: false },
        { name: "name", isRequired: false, isProvided: false },
      ],
    },
  },
);
export type TemplateUsage = Static<typeof TemplateUsage>;

/** The syntax errors of `subject` and `body`; fields that are not text are skipped. */
export function templateErrors(value: Readonly<Record<string, unknown>>): FieldError[] {
  const { subject, body } = value;
  return [
    ...(typeof subject === "string" ? checkTemplate(subject, "subject", "text") : []),
    ...(typeof body === "string" ? checkTemplate(body, "body", "html") : []),
  ];
}
