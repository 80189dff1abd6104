/** Reads the reports of other mail servers. Pure. */

import { readComplaint } from "../arf/feedback.ts";
import { readMessage } from "../mime/read-parts.ts";
import { type DsnReport, readDsn, type RecipientFinding } from "./report.ts";

export type Complaint = NonNullable<ReturnType<typeof readComplaint>>;
export type Delivery = DsnReport & { kind: "delivery" };

type MessageKind =
  Exclude<DsnReport["kind"], "delivery"> | "complaint" | "bounce" | "delay" | "delivery";

/** The values by which the reported mail is found. */
type MessageClues = Pick<Complaint, "envelopeId" | "original"> & {
  /** The header of the report. */
  fields: ReturnType<typeof readMessage>["fields"];
  /** The recipients that the report names. */
  recipients: readonly string[];
};

/** The report in a message. It has only plain values, so that a thread can send it. */
export type Report =
  | { kind: MessageKind; clues: null }
  | {
      kind: MessageKind;
      clues: MessageClues;
      complaint: Complaint;
    }
  | {
      kind: MessageKind;
      clues: MessageClues;
      complaint: null;
      delivery: Delivery;
    };

/** Reads a complaint (protocols/arf), or a bounce (protocols/dsn). */
export function readReport(raw: Uint8Array): Report {
  const message = readMessage(raw);
  const { fields } = message;
  const complaint = readComplaint(message);
  if (complaint !== null) {
    const { envelopeId, original, recipients } = complaint;
    return { kind: "complaint", clues: { fields, envelopeId, original, recipients }, complaint };
  }
  const delivery = readDsn(message);
  if (delivery.kind !== "delivery") return { kind: delivery.kind, clues: null };
  const { envelopeId, original, findings } = delivery;
  const kind = kindOf(findings[0] ?? null);
  const recipients = findings
    .flatMap(({ recipient, originalRecipient }) => [originalRecipient, recipient])
    .filter((address) => address !== null);
  const clues = { fields, envelopeId, original, recipients };
  return { kind, clues, complaint: null, delivery };
}

export function kindOf(finding: RecipientFinding | null): MessageKind {
  if (finding === null) return "unknown";
  if (finding.action === "failed") return "bounce";
  return finding.action === "delayed" ? "delay" : "delivery";
}
