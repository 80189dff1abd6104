/** The search parameters of the page of a webhook. */

const KEYS = ["tab", "status", "delivery"] as const;

export type WebhookSearch = { [Key in (typeof KEYS)[number]]?: string };

/** Parameters with other names, and those without a text, are left out. */
export function readWebhookSearch(given: Readonly<Record<string, unknown>>): WebhookSearch {
  const search: WebhookSearch = {};
  for (const key of KEYS) {
    const value = given[key];
    if (typeof value === "string" && value !== "") search[key] = value;
  }
  return search;
}
