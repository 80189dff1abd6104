/**
 * Decides whether a project may record the opens and clicks of a contact. A contact that refused is
 * never tracked; one that has not chosen is tracked unless the project asks for consent (`tracking` of
 * projects).
 */

import type { App } from "../../core/app.ts";
import type { TrackingMode } from "../../db/schema/projects.ts";
import { statement } from "../../db/statement.ts";
import { recordConsent } from "../consents/record.ts";
import type { ConsentCause, ContactRow } from "./service.ts";

const store = statement<null, [number | null, number, number]>(
  "UPDATE contacts SET tracking = ?, updated_at = ? WHERE seq = +?",
);

/** True if a project may record opens and clicks of a contact; null if it never records them. */
export function isTrackingAllowed(
  project: TrackingMode,
  { tracking }: Pick<ContactRow, "tracking">,
): boolean | null {
  if (project === "DISABLED") return null;
  return tracking ?? project !== "CONSENT";
}

/** Part of a change: stores the choice; null for none. A choice is kept in the ledger of consents. */
export function setTracking(
  app: App,
  contact: ContactRow,
  tracking: boolean | null,
  cause: ConsentCause,
): ContactRow {
  if (contact.tracking === tracking) return contact;
  const now = app.clock.now();
  store(app).run(tracking === null ? null : Number(tracking), now, contact.seq);
  recordConsent(app, {
    contact,
    purpose: "TRACKING",
    kind: tracking === true ? "GIVEN" : "WITHDRAWN",
    topicSeq: null,
    clientAddress: null,
    wording: null,
    ...cause,
  });
  return { ...contact, tracking, updatedAt: now };
}
