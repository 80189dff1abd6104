/**
 * The messages between the event loop and a thread that composes. A batch goes to the thread as JSON
 * in one string, which is faster than a structured copy of its objects; all messages come back in one
 * buffer, which is moved without a copy, with a second string about them.
 */

import type { KeyObject } from "node:crypto";
import type { DkimAlgorithm, Signer } from "../../protocols/dkim/sign.ts";
import { readPrivateKey } from "../../protocols/dkim/keys.ts";
import { TAILROOM_BYTES } from "../../protocols/mime/tailroom.ts";
import type { TokenKeys } from "../../render/letter/tokens.ts";
import type { MailRow, Prepared } from "./prepare.ts";

/** A mail to prepare; null if the domain of its sender has no keys. */
export type Task = { mail: MailRow; signer: Signer | null };

/** The data that a thread gets at its start. */
export type ThreadData = { keys: TokenKeys; renderLimitMs: number };

/** The batch as JSON. Contents of attachments are beside it, and are copied. */
export type ThreadBatch = { text: string; contents: readonly Uint8Array[] };

export type ThreadAnswer =
  /** `number` is that of the thread in the kernel, or null (lib/thread-cpu.ts). */
  | { kind: "up"; number: number | null }
  /** Results of the first mails of the batch, as JSON, and their messages one after the other. */
  | { kind: "done"; text: string; messages: ArrayBuffer };

type PlainSigner = {
  id: number;
  domain: string;
  keys: readonly { algorithm: DkimAlgorithm; selector: string; privateKey: string }[];
};

/** Bodies, signers and attachments are written once and named by their number. */
type PlainMail = Omit<MailRow, "html" | "attachments" | "submitted"> & {
  html: number;
  submitted: number | null;
  attachments: readonly (Omit<MailRow["attachments"][number], "content"> & { content: number })[];
  signer: number | null;
};

type PlainBatch = {
  signedAt: number;
  /** Signers that the thread does not know yet; if `isFirst`, it forgets those that it knows. */
  signers: readonly PlainSigner[];
  isFirst: boolean;
  bodies: readonly string[];
  mails: readonly PlainMail[];
};

/** The results of a batch: fewer than its mails if the thread stopped before the end. */
type PlainResults = {
  results: readonly PlainResult[];
  /** Processor times of the mails that took long, by their number in the batch. */
  slow: readonly { number: number; ms: number }[];
};

/** A prepared mail has the place of its message in the buffer. */
type PlainResult =
  | { start: number; end: number; subject: string; hasTailroom: boolean }
  | Exclude<Prepared, { kind: "prepared" }>;

/** Most signers that a thread knows. */
const MAX_SIGNERS = 500;

/** Returns the function that writes batches for one thread, and remembers the signers that it knows. */
export function createBatchWriter(): (tasks: readonly Task[], signedAt: number) => ThreadBatch {
  let known = new Map<Signer, number>();

  return function writeBatch(tasks, signedAt) {
    const isFirst = known.size === 0 || known.size + tasks.length > MAX_SIGNERS;
    if (isFirst) known = new Map();
    const signers: PlainSigner[] = [];
    const contents: Uint8Array[] = [];
    const bodies = new Map<string, number>();

    function signerNumber(signer: Signer | null): number | null {
      if (signer === null) return null;
      const id = known.get(signer) ?? known.size;
      if (!known.has(signer)) signers.push(plainSigner(signer, id));
      known.set(signer, id);
      return id;
    }

    const mails = tasks.map(({ mail, signer }) => {
      const html = bodies.get(mail.html) ?? bodies.size;
      bodies.set(mail.html, html);
      const attachments = mail.attachments.map((each) => ({
        ...each,
        content: contents.push(each.content) - 1,
      }));
      const submitted = mail.submitted === null ? null : contents.push(mail.submitted) - 1;
      return { ...rowOf(mail), html, attachments, submitted, signer: signerNumber(signer) };
    });
    const batch: PlainBatch = { signedAt, signers, isFirst, bodies: [...bodies.keys()], mails };
    return { text: JSON.stringify(batch), contents };
  };
}

/** A leased mail has more than the row, among it a slot with functions. */
function rowOf(mail: MailRow): Omit<MailRow, "html" | "attachments" | "submitted"> {
  return {
    id: mail.id,
    groupId: mail.groupId,
    projectId: mail.projectId,
    projectName: mail.projectName,
    tracking: mail.tracking,
    trackingHost: mail.trackingHost,
    language: mail.language,
    contactId: mail.contactId,
    to: mail.to,
    toName: mail.toName,
    subject: mail.subject,
    campaignSeq: mail.campaignSeq,
    variables: mail.variables,
    acceptedAt: mail.acceptedAt,
    messageSeq: mail.messageSeq,
    fromAddress: mail.fromAddress,
    fromName: mail.fromName,
    replyTo: mail.replyTo,
    text: mail.text,
    recipients: mail.recipients,
    headers: mail.headers,
    utm: mail.utm,
    isMarketing: mail.isMarketing,
    topicName: mail.topicName,
    listLabel: mail.listLabel,
    bounceHost: mail.bounceHost,
  };
}

function plainSigner({ domain, keys }: Signer, id: number): PlainSigner {
  return {
    id,
    domain,
    keys: keys.map((key) => ({ ...key, privateKey: exported(key.privateKey) })),
  };
}

function exported(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "der" }).toString("base64");
}

/** Returns the function with which the thread reads its batches. */
export function createBatchReader(): (batch: ThreadBatch) => { tasks: Task[]; signedAt: number } {
  const known = new Map<number, Signer>();

  return function readBatch({ text, contents }) {
    const batch: PlainBatch = JSON.parse(text);
    if (batch.isFirst) known.clear();
    for (const { id, domain, keys } of batch.signers) {
      known.set(id, { domain, keys: keys.map(readKey) });
    }
    const tasks = batch.mails.map(({ html, attachments, submitted, signer, ...row }) => ({
      mail: {
        ...row,
        html: required(batch.bodies[html]),
        attachments: attachments.map((each) => ({
          ...each,
          content: required(contents[each.content]),
        })),
        submitted: submitted === null ? null : required(contents[submitted]),
      },
      signer: signer === null ? null : required(known.get(signer)),
    }));
    return { tasks, signedAt: batch.signedAt };
  };
}

function readKey({ privateKey, ...key }: PlainSigner["keys"][number]) {
  return { ...key, privateKey: readPrivateKey(Buffer.from(privateKey, "base64")) };
}

/** Throws instead of sending an unsigned or empty message. */
function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a part of a batch is missing");
  return value;
}

/** Writes the results of a batch; each message has room behind it (protocols/mime/tailroom.ts). */
export function writeResults(
  prepared: readonly Prepared[],
  rest: Omit<PlainResults, "results">,
): Extract<ThreadAnswer, { kind: "done" }> {
  const length = (each: Prepared) =>
    each.kind === "prepared" ? each.message.byteLength + TAILROOM_BYTES : 0;
  const bytes = new Uint8Array(prepared.reduce((sum, each) => sum + length(each), 0));
  let start = 0;
  const results = prepared.map((each): PlainResult => {
    if (each.kind !== "prepared") return each;
    const { message, subject, hasTailroom } = each;
    const end = start + message.byteLength;
    bytes.set(message, start);
    const result = { start, end, subject, hasTailroom };
    start = end + TAILROOM_BYTES;
    return result;
  });
  const plain: PlainResults = { results, ...rest };
  return { kind: "done", text: JSON.stringify(plain), messages: bytes.buffer };
}

export function readResults({ text, messages }: Extract<ThreadAnswer, { kind: "done" }>) {
  const { results, ...rest }: PlainResults = JSON.parse(text);
  const prepared = results.map((each): Prepared => {
    if (!("end" in each)) return each;
    const { start, end, subject, hasTailroom } = each;
    const message = new Uint8Array(messages, start, end - start);
    return { kind: "prepared", subject, message, hasTailroom };
  });
  return { prepared, ...rest };
}
