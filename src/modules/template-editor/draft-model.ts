/** The schemas of templates that are being written: what is rendered, and the result. */

import { type Static, Type } from "@sinclair/typebox";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { Input } from "../../http/validation.ts";
import {
  CONTENT_TEXTS,
  Design,
  PLACEHOLDER_EXAMPLES,
  PreheaderSource,
  TemplateType,
  TemplateVariable,
} from "../templates/model.ts";

export const DraftInput = named(
  "TemplateDraft",
  described(
    Input({
      subject: Type.String({ maxLength: 10_000 }),
      preheader: Type.Optional(Nullable(PreheaderSource)),
      body: Type.String(),
      design: Type.Optional(Nullable(Design)),
      layoutId: Type.Optional(Nullable(Type.String())),
      type: TemplateType,
      contactId: Type.Optional(Nullable(Type.String())),
      data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    }),
    {
      subject: CONTENT_TEXTS.subject,
      preheader: CONTENT_TEXTS.preheader,
      body: CONTENT_TEXTS.body,
      design: "Ignored: the body is what is sent",
      layoutId: CONTENT_TEXTS.layoutId,
      type: CONTENT_TEXTS.type,
      contactId: "Id of the contact to render for; sample data if omitted",
      data: "Variables that replace those of the contact",
    },
  ),
  {
    description: "A template that is not stored, and whom it is rendered for",
    example: {
      subject: "Your order {{ order }}",
      preheader: null,
      body: "<p>Thank you, {{ name ?? friend }}.</p>",
      layoutId: null,
      type: "TRANSACTIONAL",
      data: { order: 1001 },
    },
  },
);
export type DraftInput = Static<typeof DraftInput>;

const TemplateFault = named(
  "TemplateFault",
  described(
    Type.Object({
      field: Type.String(),
      line: Nullable(Type.Integer()),
      column: Nullable(Type.Integer()),
      message: Type.String(),
    }),
    {
      field: "subject, preheader, body or layoutId",
      line: "Line in the field, from 1; null for a fault of the whole field",
      column: "Column in the line, from 1, in UTF-16 units",
      message: "What is wrong; for the syntax of another language, also the right form",
    },
  ),
  { description: "A fault of a template" },
);

export const DraftPreview = named(
  "TemplateDraftPreview",
  described(
    Type.Object({
      subject: Nullable(Type.String()),
      preheader: Nullable(Type.String()),
      html: Nullable(Type.String()),
      text: Nullable(Type.String()),
      sizeBytes: Nullable(Type.Integer()),
      errors: Type.Array(TemplateFault),
      variables: Type.Array(TemplateVariable),
      documentUrl: Nullable(Type.String()),
    }),
    {
      subject: "The rendered subject; null if it has errors",
      preheader: "The rendered preheader as text; null without one, or if it has errors",
      html: "The rendered HTML part, without tracking; null if it has errors",
      text: "The plain-text alternative; null if there is no HTML",
      sizeBytes: "Length of the HTML in bytes; Gmail shows only the first 102 kB",
      errors:
        "The faults of the syntax, and of rendering for this contact; empty if there are none",
      variables: "The variables of subject, preheader and body in their order, at most 200",
      documentUrl:
        "Path of the mail as a document for a frame, with the parameters of GET " +
        "/templates/{id}/preview. It is kept for ten minutes, for the author. null without HTML.",
    },
  ),
  {
    description: "A template that is not stored, rendered as it would be sent",
    example: {
      subject: "Your order 1001",
      preheader: null,
      html: "<p>Thank you, friend.</p>",
      text: "Thank you, friend.",
      sizeBytes: 25,
      errors: [],
      variables: PLACEHOLDER_EXAMPLES,
      documentUrl: "/template-previews/0199f2a47c1e7d359a612f4b8c0d1e03",
    },
  },
);
export type TemplateDraftPreview = Static<typeof DraftPreview>;
