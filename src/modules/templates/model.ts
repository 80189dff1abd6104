/** Requests and responses of templates, and the fields that campaigns share with them. */

import { type Static, Type } from "@sinclair/typebox";
import { TEMPLATE_TYPES } from "../../db/schema/templates.ts";
import { Nullable } from "../../http/envelope.ts";
import { EmailAddress } from "../../http/formats.ts";
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
export const BodySource = Type.String({
  minLength: 1,
  description:
    "A Liquid template of HTML. {{ First Name }} outputs the key First Name of the data; " +
    "{{ a ?? b ?? text }} outputs the first of a and b that has a value, or else the text.",
});

const TemplateType = OneOf(TEMPLATE_TYPES);

/** A template in responses (docs/specification.md#s2.2 and docs/interface.md#templates). */
export const Template = Type.Object({
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
});
export type Template = Static<typeof Template>;

const fields = {
  name: Type.String({ minLength: 1, maxLength: 255 }),
  description: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
  subject: SubjectSource,
  body: BodySource,
  from: Type.Optional(Nullable(EmailAddress)),
  fromName: Type.Optional(Nullable(HeaderText)),
  replyTo: Type.Optional(Nullable(EmailAddress)),
  type: TemplateType,
};

export const TemplateInput = withChecks(Input(fields), templateErrors);
export type TemplateInput = Static<typeof TemplateInput>;

export const TemplatePatch = withChecks(Type.Partial(Input(fields)), templateErrors);
export type TemplatePatch = Static<typeof TemplatePatch>;

/** Input of a preview (docs/interface.md#campaigns). */
export const PreviewInput = Input({
  contactId: Type.Optional(Type.String()),
  data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
export type PreviewInput = Static<typeof PreviewInput>;

export const Preview = Type.Object({
  subject: Type.String(),
  html: Type.String(),
  text: Type.String({ description: "The plain-text alternative" }),
});
export type Preview = Static<typeof Preview>;

/** The syntax errors of `subject` and `body`; fields that are not text are skipped. */
export function templateErrors(value: Readonly<Record<string, unknown>>): FieldError[] {
  const { subject, body } = value;
  return [
    ...(typeof subject === "string" ? checkTemplate(subject, "subject", "text") : []),
    ...(typeof body === "string" ? checkTemplate(body, "body", "html") : []),
  ];
}
