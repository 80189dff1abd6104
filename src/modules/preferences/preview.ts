/** The preference page as a contact would see it, for a frame of the dashboard. */

import { type Static, Type } from "@sinclair/typebox";
import type { App } from "../../core/app.ts";
import { PATTERN_TEXT } from "../../http/field-messages.ts";
import { operations, read } from "../../http/operations.ts";
import { documentResponse } from "../../http/page.ts";
import { PreviewDocument } from "../../http/preview-query.ts";
import { Input, OneOf } from "../../http/validation.ts";
import { previewHeaders } from "../../render/preview-document.ts";
import { chooseTexts, LANGUAGES } from "../../render/language.ts";
import { brandOf } from "../branding.ts";
import { isTrackingAllowed } from "../contacts/tracking.ts";
import type { Noun } from "../module.ts";
import { resolveProject } from "../projects.ts";
import { maskAddress } from "../subscription/view.ts";
import { topicsOf } from "../topics/choices.ts";
import { preferencePage } from "./preference-page.ts";

const SAMPLE_ADDRESS = "ada@example.com";

const PreferencePreviewQuery = Input({
  language: Type.Optional({
    ...OneOf(LANGUAGES),
    description: "The language of the page; that of the project if omitted",
  }),
  brandColor: Type.Optional(
    Type.String({
      pattern: "^(#[0-9a-fA-F]{6})?$",
      maxLength: 7,
      [PATTERN_TEXT]: "must be a colour such as #1d56c4",
      description: "A colour that is not stored yet; empty for none",
    }),
  ),
  logoImageId: Type.Optional(
    Type.String({
      maxLength: 100,
      description: "Id of an image that is not stored as the logo yet; empty for none",
    }),
  ),
});

export const preferencePreviewNoun: Noun = {
  name: "preview of the preference page",
  operations: operations("Projects", {}, [
    read("GET /preference-page/preview", {
      id: "previewPreferencePage",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "The preference page of recipients as a document",
      description:
        "As a new contact sees it, with a sample address. A document for a frame: its buttons do nothing.",
      query: PreferencePreviewQuery,
      answer: PreviewDocument,
      run: (app, { project, query }) => showSample(app, project, query),
    }),
  ]),
};

function showSample(
  app: App,
  project: { seq: number; id: string; language: string },
  { language, brandColor, logoImageId }: Static<typeof PreferencePreviewQuery>,
): Response {
  const brand = brandOf(app, project.seq, {
    ...(brandColor === undefined ? {} : { color: brandColor.toLowerCase() || null }),
    ...(logoImageId === undefined ? {} : { logoImageId: logoImageId || null }),
  });
  const { tracking } = resolveProject(app, project.id);
  if (brand === null) throw new Error(`there is no project ${project.seq}`);
  const topics = topicsOf(app, project.seq)
    .filter(({ visibility }) => visibility === "PUBLIC")
    .map(({ id, name, description, defaultState }) => ({
      id,
      name,
      description,
      isSubscribed: defaultState === "SUBSCRIBED",
    }));
  const page = preferencePage({
    texts: chooseTexts(language ?? project.language, null),
    brand,
    email: maskAddress(SAMPLE_ADDRESS),
    isSubscribed: true,
    topics,
    pausedUntil: null,
    isTrackingAllowed: isTrackingAllowed(tracking, { tracking: null }),
    now: app.clock.now(),
    notices: [],
    fault: null,
  });
  return documentResponse({ ...page, headers: previewHeaders("text/html", "", "'self'") });
}
