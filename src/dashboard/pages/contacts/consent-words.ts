/** The entries of the ledger of consents in words. */

import type { Consent } from "../../../modules/consents/model.ts";

const KINDS = { GIVEN: "Agreed", CONFIRMED: "Confirmed", WITHDRAWN: "Withdrew" } as const;

const SOURCES: Readonly<Record<Consent["source"]["type"], string>> = {
  FORM: "by a sign-up form",
  PREFERENCES: "on the preference page",
  UNSUBSCRIBE_LINK: "on the unsubscribe page",
  SUBSCRIBE_LINK: "on the subscribe page",
  ONE_CLICK: "by the button of the mail program",
  MAIL: "by a mail to the unsubscribe address",
  COMPLAINT: "by a report as spam",
  API: "by the API",
  PUBLIC_KEY: "on a website, with a public key",
  DASHBOARD: "in the dashboard",
  IMPORT: "by an import",
  BULK: "by a bulk action",
  WORKFLOW: "by a workflow",
};

/** "Withdrew: all newsletters". */
export function decisionOf({ kind, purpose, topic, isTopicDeleted }: Consent): string {
  const subject =
    purpose === "TRACKING"
      ? "tracking"
      : isTopicDeleted
        ? "a deleted topic"
        : (topic?.name ?? "all newsletters");
  return `${KINDS[kind]}: ${subject}`;
}

export const sourceOf = ({ source }: Consent): string => SOURCES[source.type];
