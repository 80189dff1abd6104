import { type Static, Type } from "@sinclair/typebox";
import { described, describedUse, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { PATTERN_TEXT } from "../../http/field-messages.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf } from "../../http/validation.ts";
import { MAX_QUERY, VIEW_PAGES } from "./pages.ts";

const Time = Type.String({ format: "date-time" });
const Name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: "\\S",
  [PATTERN_TEXT]: "must have a visible character",
});
const QueryText = Type.String({ minLength: 1, maxLength: MAX_QUERY });

export const SavedView = named(
  "SavedView",
  described(
    Type.Object({
      id: Type.String(),
      page: OneOf(VIEW_PAGES),
      name: Type.String(),
      query: Type.String(),
      isShared: Type.Boolean(),
      isOwn: Type.Boolean(),
      author: Nullable(Type.String()),
      createdAt: Time,
      updatedAt: Time,
    }),
    {
      id: "Id of the view",
      page: "The list that the view filters",
      name: "Its name",
      query: "The query string of the page's URL, without `?`",
      isShared: "Whether all members of the project see the view",
      isOwn: "Whether the caller is its author",
      author: "Name of the user who saved it; null if the user has no name",
      createdAt: "When the view was saved",
      updatedAt: "When it was last changed",
    },
  ),
  {
    description: "A name for the filters of a list in the dashboard",
    example: {
      id: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e12",
      page: "emails",
      name: "Bounced this week",
      query: "status=bounced&range=7d",
      isShared: true,
      isOwn: true,
      author: "Ada",
      createdAt: EXAMPLE.createdAt,
      updatedAt: EXAMPLE.updatedAt,
    },
  },
);
export type SavedView = Static<typeof SavedView>;

const INPUT = {
  name: Name,
  query: QueryText,
  isShared: Type.Boolean(),
};
const INPUT_TEXTS = {
  name: "A name that no other view of the caller on this page has",
  query: "The filters as a query string such as `status=bounced&range=7d`",
  isShared: "Whether all members see the view, which needs the role EDITOR; default: false",
};

export const SavedViewInput = named(
  "SavedViewInput",
  described(Input({ page: OneOf(VIEW_PAGES), ...INPUT, isShared: Type.Optional(INPUT.isShared) }), {
    page: "The list that the view filters",
    ...INPUT_TEXTS,
  }),
  {
    description: "A view to save",
    example: { page: "emails", name: "Bounced this week", query: "status=bounced&range=7d" },
  },
);
export type SavedViewInput = Static<typeof SavedViewInput>;

export const SavedViewPatch = named(
  "SavedViewPatch",
  described(
    Input({
      name: Type.Optional(INPUT.name),
      query: Type.Optional(INPUT.query),
      isShared: Type.Optional(INPUT.isShared),
    }),
    INPUT_TEXTS,
  ),
  { description: "Changes of a view", example: { isShared: true } },
);
export type SavedViewPatch = Static<typeof SavedViewPatch>;

export const SavedViewQuery = Input({
  ...PageQuery.properties,
  page: Type.Optional(describedUse(OneOf(VIEW_PAGES), "Only views of this list")),
  name: Type.Optional(
    Type.String({ maxLength: 100, description: "Only views whose name contains this text" }),
  ),
});
export type SavedViewQuery = Static<typeof SavedViewQuery>;
