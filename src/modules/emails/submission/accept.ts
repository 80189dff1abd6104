/**
 * Accepts messages that clients submit over SMTP (docs/smtp-submission.md), for all recipients or for
 * none.
 *
 * 1. `open` starts a message; its bytes arrive in pieces (arrival.ts).
 * 2. `complete` checks the header and the sender, and changes what may not go on as it is
 *    (protocols/mime/submitted-header.ts, encode.ts). Mail with tracking or of the type MARKETING is
 *    composed again (compose.ts).
 * 3. One change then writes the message, and for each recipient a contact and a mail (../commit.ts).
 *    It resolves when they are on disk.
 */

import type { App } from "../../../core/app.ts";
import type { Db } from "../../../db/open.ts";
import type { Writer } from "../../../db/writer.ts";
import type { EventLog } from "../../../events/log.ts";
import type { Project } from "../../../http/admission.ts";
import { idempotencyOf } from "../../../http/idempotency.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId } from "../../../lib/id.ts";
import { PIECE_BYTES } from "../../../lib/piece-buffer.ts";
import type { EmailStore, SharedMessage } from "../../../outbox/enqueue.ts";
import {
  createPieceReader,
  type SubmittedMessage,
  type SubmittedStore,
} from "../../../outbox/submitted.ts";
import { domainOf } from "../../../protocols/mime/address.ts";
import { messageIdOf } from "../../../protocols/mime/message-id.ts";
import {
  readSubmittedHeader,
  type SubmittedHeader,
  writeSubmittedHeader,
} from "../../../protocols/mime/submitted-header.ts";
import type { TemplateCache } from "../../../render/template/cache.ts";
import type { Contacts } from "../../contacts/service.ts";
import { isSenderVerified, senderNotVerified } from "../../domains/domains.ts";
import { ensureQueue, runWithinStorage } from "../../quotas.ts";
import { createCommit } from "../commit.ts";
import { senderRefusal } from "../sender.ts";
import { type ArrivedMessage, createArrivingMessages } from "./arrival.ts";
import { createRecomposition, readOptions, type SubmissionParser } from "./compose.ts";
import { createEncoding } from "./encode.ts";
import { SubmissionRefusal } from "./refusal.ts";
import { perApp } from "../../../lib/per-app.ts";
import { contactService } from "../../contacts/service.ts";
import { eventLog } from "../../../events/log.ts";
import { emailStore, wakeSending } from "../../../outbox/enqueue.ts";
import { submittedStore } from "../../../outbox/submitted.ts";
import { mailParser } from "../../inboxes/parsing/parser.ts";
import { compiledTemplates } from "../../../render/template/cache.ts";
import { arrivalMemory } from "../../inboxes/messages/memory.ts";

export type Submissions = ReturnType<typeof createSubmissions>;

type SubmissionDeps = {
  app: App;
  db: Db;
  writer: Writer;
  clock: Clock;
  contacts: Contacts;
  events: EventLog;
  store: EmailStore;
  submitted: SubmittedStore;
  parser: SubmissionParser;
  templateCache: TemplateCache;
  isSenderVerified: (projectSeq: number, domain: string) => boolean;
  /** Name of this server, by which loops are found. */
  hostname: string;
  /** Told of the bytes of large messages as they arrive. */
  noteArrival: (bytes: number) => void;
};

/** `senderDomains` are the domains to which the key is bound; empty for all of the project. */
type Submitter = { project: Project; senderDomains: readonly string[] };

/** The piece that is stored next: the bytes that follow the stored pieces, from this position on. */
type Prepared = {
  message: SubmittedMessage;
  subject: string;
  recipients: readonly string[];
  head: Buffer | null;
  tail: Buffer;
  stored: ArrivedMessage["stored"];
  /** The first position of `tail`. */
  position: number;
  /** A row that was replaced by an encoded one. */
  replaced: number | null;
  firstId: string;
  tags: string | null;
  scheduledAt: number | null;
  /** The content of a message that is composed again (compose.ts); null for all others. */
  shared: SharedMessage | null;
};

export const submissionsOf = perApp((app: App) =>
  createSubmissions({
    ...app,
    app,
    contacts: contactService(app),
    events: eventLog(app),
    store: emailStore(app),
    submitted: submittedStore(app),
    parser: mailParser(app),
    templateCache: compiledTemplates(app),
    isSenderVerified: (projectSeq, domain) => isSenderVerified(app, projectSeq, domain),
    hostname: app.config.hostname,
    noteArrival: arrivalMemory(app).noteArrival,
  }),
);

function createSubmissions(deps: SubmissionDeps) {
  const { app, writer, clock, submitted } = deps;
  const idempotency = idempotencyOf(app);
  const shared = {
    writer,
    store: submitted,
    withinQuota: <T>(projectSeq: number, change: () => T): T =>
      runWithinStorage(app, projectSeq, change),
    now: clock.now,
    noteArrival: deps.noteArrival,
  };
  const openArrival = createArrivingMessages(shared);
  const readPiece = createPieceReader(deps.db);
  const encode = createEncoding({ ...shared, readPiece });
  const recompose = createRecomposition({ ...deps, readPiece });
  const commit = createSubmissionCommit(deps);

  async function prepare(
    { project, senderDomains }: Submitter,
    arrived: ArrivedMessage,
    recipients: readonly string[],
  ): Promise<Prepared & { key: string | undefined }> {
    const header = readHeader(deps, { project, senderDomains }, arrived.header);
    const now = clock.now();
    const { isMarketing, isTracked, tags, scheduledAt } = readOptions(header.options, now);
    const firstId = newId(now);
    const messageId = header.messageId ?? messageIdOf(firstId, header.from.address);
    const head = writeSubmittedHeader(header, { messageId, at: new Date(now) });
    const { address, name } = header.from;
    const facts = {
      key: header.options.get("idempotency-key"),
      message: { fromAddress: address, fromName: name, messageId, envelopeFrom: null },
      subject: header.subject,
      recipients,
      firstId,
      shared: null,
      tags,
      scheduledAt,
    };
    const { body, stored } = arrived;
    if (isMarketing || isTracked) {
      const shared = await recompose(project.seq, { header, arrived, isMarketing });
      const replaced = stored?.seq ?? null;
      const nothing = { head: null, tail: Buffer.of(), stored: null, position: 0 };
      return { ...facts, ...nothing, replaced, shared };
    }
    const encoded = arrived.isPlain
      ? null
      : await encode(project.seq, { header: head, body, stored });
    if (encoded !== null) {
      const position = encoded.stored?.pieces ?? 0;
      return {
        ...facts,
        head: null,
        tail: encoded.body,
        stored: encoded.stored,
        position,
        replaced: stored?.seq ?? null,
      };
    }
    if (stored === null) {
      const tail = Buffer.concat([head, body]);
      return { ...facts, head: null, tail, stored, position: 0, replaced: null };
    }
    return { ...facts, head, tail: body, stored, position: stored.pieces + 1, replaced: null };
  }

  /** Resolves to the id of the first mail, when all are on disk. */
  async function accept(
    submitter: Submitter,
    arrived: ArrivedMessage,
    recipients: readonly string[],
  ): Promise<{ id: string; isReplay: boolean }> {
    const { project } = submitter;
    const work = await prepare(submitter, arrived, recipients);
    const made = [work.stored?.seq, work.replaced].filter((seq) => typeof seq === "number");
    const removeRows = () => writer.write(() => made.forEach((seq) => submitted.remove(seq)));
    try {
      const answer = await store(project.seq, work);
      if (answer.isReplay && made.length > 0) await removeRows();
      return answer;
    } catch (error) {
      if (made.length > 0) await removeRows();
      throw error;
    }
  }

  async function store(
    projectSeq: number,
    { key, ...work }: Prepared & { key: string | undefined },
  ): Promise<{ id: string; isReplay: boolean }> {
    const run = <T>(change: () => T): T => runWithinStorage(app, projectSeq, change);
    const change = () => ({ status: 250, body: { id: commit(projectSeq, work) } });
    if (key === undefined) {
      const { body } = await writer.write(() => run(change));
      return { ...body, isReplay: false };
    }
    // A client that composes its message again makes another Date, Message-ID and boundary.
    const { recipients, subject, message } = work;
    const same = { from: message.fromAddress, subject, recipients };
    const keyed = { projectSeq, isPublic: false, method: "SMTP", path: "/submission", body: same };
    const { answer, isReplay } = await idempotency.once(key, { ...keyed, run }, () => change);
    return { ...answer.body, isReplay };
  }

  return {
    /**
     * Starts a message. Its `add` takes the bytes; `complete` or `discard` ends it. `senderDomains` are
     * the domains to which the key is bound; empty for all of the project.
     */
    open(project: Project, senderDomains: readonly string[]) {
      const arrival = openArrival(project.seq);
      return {
        add: arrival.add,
        complete: (recipients: readonly string[]) =>
          accept({ project, senderDomains }, arrival.end(), recipients),
        discard: arrival.discard,
      };
    },

    /** Removes messages that had not arrived completely when the process ended. */
    removeIncomplete: () => writer.write(submitted.removeIncomplete),
  };
}

/** Throws the refusal of a header that cannot be accepted. */
function readHeader(
  deps: Pick<SubmissionDeps, "hostname" | "isSenderVerified">,
  { project, senderDomains }: Submitter,
  text: string,
): SubmittedHeader {
  const read = readSubmittedHeader(text, deps.hostname);
  if (!read.ok) throw new SubmissionRefusal(read.code, read.text);
  const { header } = read;
  const domain = domainOf(header.from.address);
  const refusal = senderRefusal(domain, senderDomains);
  if (refusal !== null) throw new SubmissionRefusal(550, `5.7.1 ${refusal.message}`);
  if (!deps.isSenderVerified(project.seq, domain)) {
    throw new SubmissionRefusal(550, `5.7.1 ${senderNotVerified(domain).message}`);
  }
  return header;
}

/** Returns the part of a change that writes a message and its mails, and the id of the first mail. */
function createSubmissionCommit(deps: SubmissionDeps) {
  const { app, clock, submitted, contacts } = deps;
  const commitMail = createCommit(deps);

  function storeMessage(projectSeq: number, work: Prepared, now: number): number {
    const { message, stored, head, tail } = work;
    if (work.replaced !== null) submitted.remove(work.replaced);
    if (work.shared !== null) return deps.store.saveMessage(work.shared, now);
    const messageSeq = stored?.seq ?? submitted.insert(projectSeq, message, now);
    if (stored !== null) submitted.finish(messageSeq, message, now);
    const insert = (position: number, piece: Buffer) =>
      submitted.insertPiece(
        { projectSeq, messageSeq, position },
        Bun.zstdCompressSync(piece, { level: 1 }),
      );
    if (head !== null) insert(0, head);
    for (let at = 0, { position } = work; at < tail.byteLength; at += PIECE_BYTES, position++) {
      insert(position, tail.subarray(at, at + PIECE_BYTES));
    }
    return messageSeq;
  }

  return (projectSeq: number, work: Prepared): string => {
    const now = clock.now();
    ensureQueue(app, projectSeq, work.recipients.length);
    const messageSeq = storeMessage(projectSeq, work, now);
    for (const [n, address] of work.recipients.entries()) {
      const known = contacts.findByEmail(projectSeq, address);
      const draft = {
        address,
        name: null,
        emailId: n === 0 ? work.firstId : newId(now),
        contactId: known?.id ?? newId(now),
        subject: work.subject,
        variables: "{}",
        contactData: {},
      };
      commitMail({
        projectSeq,
        messageSeq,
        groupId: null,
        tags: work.tags,
        scheduledAt: work.scheduledAt,
        isMarketing: work.shared?.isMarketing ?? false,
        templateId: null,
        subscribed: undefined,
        draft,
        now,
      });
    }
    wakeSending(app);
    return work.firstId;
  };
}
