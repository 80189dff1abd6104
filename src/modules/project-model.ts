/** Requests and responses of projects. */

import { type Static, Type } from "@sinclair/typebox";
import { MEMBER_ROLES } from "../db/schema/accounts.ts";
import { TRACKING_MODES } from "../db/schema/projects.ts";
import { described, named } from "../http/documented.ts";
import { Nullable } from "../http/envelope.ts";
import { EXAMPLE } from "../http/example-values.ts";
import { PATTERN_TEXT } from "../http/field-messages.ts";
import { EmailAddress } from "../http/formats.ts";
import { Input, OneOf } from "../http/validation.ts";
import { LANGUAGES } from "../render/language.ts";
import * as retention from "./project-retention.ts";

const NameText = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: "\\S",
  [PATTERN_TEXT]: "must have a visible character",
});
const Tracking = OneOf(TRACKING_MODES);
const Language = OneOf(LANGUAGES);
const BrandColor = Type.String({
  pattern: "^#[0-9a-fA-F]{6}$",
  maxLength: 7,
  [PATTERN_TEXT]: "must be a colour such as #1d56c4",
});

const DefaultSender = named(
  "ProjectSender",
  described(
    Input({
      address: EmailAddress,
      name: Type.Optional(Nullable(Type.String({ format: "display-name", maxLength: 200 }))),
    }),
    {
      address: "The address of the sender",
      name: "The name that recipients see; null for none",
    },
  ),
  {
    description: "The sender of mail that names none",
    example: { address: "shop@acme.example", name: "Acme" },
  },
);

const PROJECT_EXAMPLE = {
  id: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e11",
  name: "acme",
  role: "ADMIN",
  isEnabled: true,
  sender: { address: "shop@acme.example", name: "Acme" },
  tracking: "MARKETING_ONLY",
  language: "en",
  logoImageId: EXAMPLE.imageId,
  brandColor: "#1d56c4",
  ...retention.RETENTION_EXAMPLE,
  createdAt: EXAMPLE.createdAt,
};

export const ProjectDetails = named(
  "Project",
  described(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      role: OneOf(["OWNER", ...MEMBER_ROLES] as const),
      isEnabled: Type.Boolean(),
      sender: Nullable(DefaultSender),
      tracking: Tracking,
      language: Language,
      logoImageId: Nullable(Type.String()),
      brandColor: Nullable(Type.String()),
      ...retention.RETENTION_TYPES,
      retentionLimits: retention.RetentionLimits,
      createdAt: Type.String({ format: "date-time" }),
    }),
    {
      id: "Id of the project",
      name: "Its name, unique in the installation",
      role: "The role of the user in the project",
      isEnabled: "False if its keys are refused",
      sender: "The sender of mail that names none; null if each mail must name its sender",
      tracking: "The mail in which opens and clicks are tracked",
      language: "The language of the pages for recipients",
      logoImageId: "Id of the image that the pages for recipients show as the logo; null for none",
      brandColor: "The colour of the pages for recipients; null for that of the program",
      ...retention.RETENTION_TEXTS,
      retentionLimits: "The periods of the installation, which no project exceeds",
      createdAt: "When the project was created",
    },
  ),
  { description: "A project and its settings", example: PROJECT_EXAMPLE },
);
export type ProjectDetails = Static<typeof ProjectDetails>;

export const ProjectInput = named(
  "ProjectInput",
  described(Input({ name: NameText }), { name: "Its name, unique in the installation" }),
  { description: "A project to create", example: { name: "acme" } },
);

export const ProjectPatch = named(
  "ProjectPatch",
  described(
    Input({
      name: Type.Optional(NameText),
      sender: Type.Optional(Nullable(DefaultSender)),
      tracking: Type.Optional(Tracking),
      language: Type.Optional(Language),
      logoImageId: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 100 }))),
      brandColor: Type.Optional(Nullable(BrandColor)),
      ...retention.RETENTION_PATCH_TYPES,
      isEnabled: Type.Optional(Type.Boolean()),
    }),
    {
      name: "Its new name",
      sender: "The sender of mail that names none; null removes it",
      tracking: "The mail in which opens and clicks are tracked",
      language: "The language of the pages for recipients",
      logoImageId: "Id of an uploaded image that these pages show as the logo; null removes it",
      brandColor: "The colour of these pages, such as #1d56c4; null removes it",
      ...retention.RETENTION_TEXTS,
      isEnabled: "False refuses the keys of the project; only owners may change this",
    },
  ),
  { description: "The settings to change", example: { tracking: "DISABLED" } },
);
export type ProjectPatch = Static<typeof ProjectPatch>;
