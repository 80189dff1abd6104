/**
 * The ledger of consents: `recordConsent` adds a row in the change of its cause. A row is never
 * changed, and leaves with its contact.
 *
 * A consent that came from the person, such as by a form or an unsubscribe link, is an event as well:
 * `consent.given`, `consent.confirmed` or `consent.withdrawn`. A change by the owner of the project
 * (API, dashboard, import) is in the ledger only, because `contact.subscribed` and
 * `contact.unsubscribed` tell of it already.
 */

import type { App } from "../../core/app.ts";
import type { ConsentKind, ConsentPurpose, ConsentSourceType } from "../../db/schema/consents.ts";
import { statement } from "../../db/statement.ts";
import { bytesOfRow } from "../../db/usage.ts";
import { eventLog } from "../../events/log.ts";
import type { RequestActor } from "../../http/admitted-writes.ts";
import { sha256 } from "../../lib/crypto.ts";

export type ConsentSource = {
  type: ConsentSourceType;
  /** Id of the form, mail, key, user or job. */
  id?: string | null;
};

export type ConsentInput = {
  contact: { seq: number; projectSeq: number };
  kind: ConsentKind;
  /** MARKETING if it is left out. */
  purpose?: ConsentPurpose;
  /** Null for all newsletters of the project. */
  topicSeq: number | null;
  source: ConsentSource;
  /** IP address of the person's device; null if it is not known. */
  clientAddress: string | null;
  /**
   * The text that the person saw. It must be equal for all who saw the same page, because it is
   * stored once: leave placeholders such as `{email}` in it.
   */
  wording: string | null;
  /** When the person decided, if that was before this change, as in a form that was confirmed later. */
  at?: number;
};

/** Changes by the owner of the project. */
const OWN_SOURCES: ReadonlySet<ConsentSourceType> = new Set([
  "API",
  "PUBLIC_KEY",
  "DASHBOARD",
  "IMPORT",
  "BULK",
  "WORKFLOW",
]);

export const isOwnSource = ({ type }: ConsentSource): boolean => OWN_SOURCES.has(type);

const EVENT_NAMES: Readonly<Record<ConsentKind, string>> = {
  GIVEN: "consent.given",
  CONFIRMED: "consent.confirmed",
  WITHDRAWN: "consent.withdrawn",
};

/** The source of a change that a user of the dashboard or a key made. */
export function consentBy({ kind, id }: RequestActor): { source: ConsentSource } {
  return { source: { type: kind === "USER" ? "DASHBOARD" : "API", id } };
}

type Row = [
  projectSeq: number,
  contactSeq: number,
  purpose: ConsentPurpose,
  kind: ConsentKind,
  topicSeq: number | null,
  sourceType: ConsentSourceType,
  sourceId: string | null,
  clientAddress: string | null,
  wordingSeq: number | null,
  at: number,
];

const insert = statement<null, Row>(`
  INSERT INTO consents (project_seq, contact_seq, purpose, kind, topic_seq, source_type,
                        source_id, client_address, wording_seq, at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);

const findTopic = statement<{ id: string }, [number]>("SELECT id FROM topics WHERE seq = +?");

const findWording = statement<{ seq: number }, [number, string]>(
  "SELECT seq FROM consent_wordings WHERE project_seq = +? AND digest = +?",
);

const addWording = statement<null, [number, string, string, number]>(`
  INSERT INTO consent_wordings (project_seq, digest, text, created_at) VALUES (?, ?, ?, ?)
  ON CONFLICT (project_seq, digest) DO NOTHING`);

/** Part of a change: keeps that the owner of the project changed a subscription in words. */
export type RecordOwnConsent = (
  contact: ConsentInput["contact"],
  isSubscribed: boolean,
  source: ConsentSource,
) => void;

export function recordOwnConsent(
  app: App,
  ...[contact, isSubscribed, source]: Parameters<RecordOwnConsent>
): void {
  recordConsent(app, {
    contact,
    kind: isSubscribed ? "GIVEN" : "WITHDRAWN",
    topicSeq: null,
    source,
    clientAddress: null,
    wording: null,
  });
}

/** Part of a change: adds a consent to the ledger, and its event if it came from the person. */
export function recordConsent(app: App, input: ConsentInput): void {
  const { contact, kind, purpose = "MARKETING", topicSeq, source, clientAddress, wording } = input;
  const { seq: contactSeq, projectSeq } = contact;
  const at = app.clock.now();
  const shown = wording === null ? null : storeWording(app, { projectSeq, text: wording, at });
  const sourceId = source.id ?? null;
  insert(app).run(
    projectSeq,
    contactSeq,
    purpose,
    kind,
    topicSeq,
    source.type,
    sourceId,
    clientAddress,
    shown?.seq ?? null,
    input.at ?? at,
  );
  const bytes = bytesOfRow("consents", { source_id: sourceId, client_address: clientAddress });
  app.usage.addBytes(projectSeq, bytes);
  if (OWN_SOURCES.has(source.type)) return;
  const data = {
    source: { type: source.type, id: sourceId },
    purpose,
    topicId: topicSeq === null ? null : (findTopic(app).get(topicSeq)?.id ?? null),
    wordingDigest: shown?.digest ?? null,
  };
  eventLog(app).record({ projectSeq, name: EVENT_NAMES[kind], contactSeq, data, at });
}

function storeWording(
  app: App,
  { projectSeq, text, at }: { projectSeq: number; text: string; at: number },
): { seq: number; digest: string } {
  const digest = sha256(text);
  addWording(app).run(projectSeq, digest, text, at);
  const stored = findWording(app).get(projectSeq, digest);
  if (stored === null) throw new Error("the wording of a consent could not be stored");
  return { seq: stored.seq, digest };
}
