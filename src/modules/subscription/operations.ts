/** Texts of the pages that recipients open, and their form, for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";
import { MAX_FORM_BYTES } from "../../http/body-limits.ts";

/** The form of the pages, which mail programs also send for one click (RFC 8058 §3.1). */
export const PAGE_FORM = {
  required: true,
  content: {
    "application/x-www-form-urlencoded": {
      schema: {
        "x-name": "SubscriptionForm",
        "x-max-body-bytes": MAX_FORM_BYTES,
        type: "object" as const,
        description: "The button that a recipient pressed; one of both fields",
        additionalProperties: true,
        properties: {
          action: {
            type: "string" as const,
            enum: ["subscribe", "unsubscribe"],
            description: "The change, from a button of a page",
          },
          "List-Unsubscribe": {
            type: "string" as const,
            enum: ["One-Click"],
            description: "Unsubscribes; sent by mail programs",
          },
        },
        examples: [{ action: "unsubscribe" }],
      },
    },
  },
};

const parameters = { token: "The signed token in the link of a mail" };
const SHOWS = "Changes nothing, so that programs that follow links do no harm.";
const ACTS = "The button of the page; it can be pressed again without harm.";

export const pageOperations = describeOperations(
  { tag: "Recipients" },
  {
    showUnsubscribePage: {
      role: "ANYONE",
      summary: "Page that offers to unsubscribe",
      description: SHOWS,
      parameters,
      security: [],
    },
    unsubscribe: {
      role: "ANYONE",
      summary: "Unsubscribe, or subscribe again",
      description: `${ACTS} Mail programs send the same request for one-click unsubscription.`,
      parameters,
      security: [],
    },
    showSubscribePage: {
      role: "ANYONE",
      summary: "Page that offers to subscribe",
      description: SHOWS,
      parameters,
      security: [],
    },
    subscribe: {
      role: "ANYONE",
      summary: "Subscribe, or unsubscribe again",
      description: ACTS,
      parameters,
      security: [],
    },
    showSubscription: {
      role: "ANYONE",
      summary: "Page that shows the subscription",
      description: SHOWS,
      parameters,
      security: [],
    },
    changeSubscription: {
      role: "ANYONE",
      summary: "Subscribe or unsubscribe",
      description: ACTS,
      parameters,
      security: [],
    },
  },
);
