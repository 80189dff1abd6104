/** Texts of the pages that recipients open for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

const parameters = { token: "The signed token in the link of a mail" };
const SHOWS = "Changes nothing, so that programs that follow links do no harm.";
const ACTS = "The button of the page; it can be pressed again without harm.";

export const pageOperations = describeOperations(
  { tag: "Recipients" },
  {
    showUnsubscribePage: {
      summary: "Page that offers to unsubscribe",
      description: SHOWS,
      parameters,
      security: [],
    },
    unsubscribe: {
      summary: "Unsubscribe, or subscribe again",
      description: `${ACTS} Mail programs send the same request for one-click unsubscription.`,
      parameters,
      security: [],
    },
    showSubscribePage: {
      summary: "Page that offers to subscribe",
      description: SHOWS,
      parameters,
      security: [],
    },
    subscribe: {
      summary: "Subscribe, or unsubscribe again",
      description: ACTS,
      parameters,
      security: [],
    },
    showSubscription: {
      summary: "Page that shows the subscription",
      description: SHOWS,
      parameters,
      security: [],
    },
    changeSubscription: {
      summary: "Subscribe or unsubscribe",
      description: ACTS,
      parameters,
      security: [],
    },
  },
);
