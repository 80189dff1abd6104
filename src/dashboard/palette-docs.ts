/** The pages of the documentation that this server serves at /docs, for the command palette. */

/**
 * The chapters of the documentation of the interface, which are the tags of its OpenAPI document
 * (test/dashboard/palette-logic.test.ts compares them).
 */
export const DOCS_CHAPTERS = [
  "Health",
  "Emails",
  "Contacts",
  "Templates",
  "Layouts",
  "Images",
  "Domains",
  "Suppressions",
  "Delivery",
  "Bounces",
  "Inbound",
  "Statistics",
  "Events",
  "Verification",
  "Segments",
  "Topics",
  "Forms",
  "Privacy",
  "Campaigns",
  "Workflows",
  "Webhooks",
  "Inboxes",
  "Projects",
  "API keys",
  "Saved views",
  "Team",
  "Recipients",
  "System",
] as const;

/** The documentation opened at a chapter, as the page at /docs reads it from the address. */
export const docsPath = (chapter: string): string => `/docs#/${encodeURIComponent(chapter)}`;
