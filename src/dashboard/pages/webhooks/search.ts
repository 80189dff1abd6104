/** The search parameters of the page of a webhook. */

import { textsOf } from "../../ui/search-texts.ts";

const KEYS = ["tab", "status", "delivery"] as const;

export type WebhookSearch = { [Key in (typeof KEYS)[number]]?: string };

export const readWebhookSearch = (given: Readonly<Record<string, unknown>>): WebhookSearch =>
  textsOf(given, KEYS);
