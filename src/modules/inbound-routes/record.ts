/** The record of a received mail: everything that is stored besides its bytes. */

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

const Verdict = Type.Object({
  result: Type.String(),
  domain: Type.Union([Type.String(), Type.Null()]),
  info: Type.String(),
});

const StoredAuthentication = Type.Object({
  spf: Verdict,
  dkim: Type.Array(Verdict),
  dmarc: Verdict,
  arc: Verdict,
});

const StoredPart = Type.Object({
  partId: Type.String(),
  filename: Type.String(),
  contentType: Type.String(),
  size: Type.Number(),
  isInline: Type.Boolean(),
  /** Without angle brackets; empty without one. Absent in mails that an older version stored. */
  contentId: Type.Optional(Type.String()),
});

/** Mailboxes of the header fields, each as text. */
const Addressees = Type.Object({
  to: Type.Array(Type.String()),
  cc: Type.Array(Type.String()),
  replyTo: Type.Array(Type.String()),
});

const ReceivedContent = Type.Object({
  /** The recipients of the envelope. */
  to: Type.Array(Type.String()),
  /** Absent in mails that an older version stored. */
  addressees: Type.Optional(Addressees),
  from: Type.Union([Type.String(), Type.Null()]),
  fromName: Type.Union([Type.String(), Type.Null()]),
  subject: Type.String(),
  /** With angle brackets; null if the message has none. */
  messageId: Type.Union([Type.String(), Type.Null()]),
  isAutomatic: Type.Boolean(),
  /** False if the message cannot be parsed. */
  isReadable: Type.Boolean(),
  parts: Type.Array(StoredPart),
  /** Null for a report that came back to forwarded mail. */
  authentication: Type.Union([StoredAuthentication, Type.Null()]),
  /** Ids of the mails by which it was forwarded. */
  forwarded: Type.Array(Type.String()),
});

export type ReceivedContent = Static<typeof ReceivedContent>;
export type StoredPart = Static<typeof StoredPart>;
export type Addressees = Static<typeof Addressees>;

/** A received mail as its row has it. */
export type ReceivedRow = {
  seq: number;
  id: string;
  receivedAt: number;
  size: number;
  sender: string;
  content: string;
  emailId: string | null;
  contactId: string | null;
};

export function receivedContent({ content }: Pick<ReceivedRow, "content">): ReceivedContent {
  return Value.Parse(ReceivedContent, JSON.parse(content));
}
