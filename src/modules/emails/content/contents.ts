/**
 * The contents of stored mails, for people who look at them. They are rendered again without
 * tracking, because an open or a click of such a person is not one of the recipient.
 */

import type { Detail } from "../../../checks/detail.ts";
import type { App } from "../../../core/app.ts";
import { AppError, notFound } from "../../../lib/errors.ts";
import { senderOfProject } from "../../../lib/message-senders.ts";
import type { MailCopies, StoredMail } from "../../../outbox/copies.ts";
import { transportOf } from "../../../outbox/transports/create-transport.ts";
import { checkMails } from "../../content-work/content-work.ts";
import { hideConfirmations } from "./hidden-links.ts";
import type { EmailContent } from "./model.ts";
import { recipientLinks } from "../../../render/links.ts";
import type { RequestMails } from "../../../render/request-mails.ts";
import { type InlineImage, shownImages } from "../../../render/preview-document.ts";

/** Longest HTML and longest text that are returned, in UTF-16 units. */
const LONGEST_SHOWN = 1024 * 1024;
const RETRY_SECONDS = 5;

/** A file of a message, or an inline part of it. */
type MessagePart = {
  partId: string;
  filename: string;
  contentType: string;
  contentId: string;
  size: number;
  isInline: boolean;
};

/** Parses messages in a thread. */
type MessageReader = {
  /** Null if the message cannot be parsed. */
  read(message: Uint8Array, sender: string): Promise<(Detail & { parts: MessagePart[] }) | null>;
  part(message: Uint8Array, partId: string, sender: string): Promise<Uint8Array | null>;
};

/** A mail, its message without tracking, and the parsed message. */
export type OpenedMail = StoredMail & { raw: Uint8Array; detail: Detail; parts: MessagePart[] };

export type EmailContents = ReturnType<typeof createEmailContents>;

export function createEmailContents(deps: {
  app: App;
  copies: MailCopies;
  messages: MessageReader;
}) {
  const { app, copies, messages } = deps;

  async function messageOf(
    stored: StoredMail,
    tracking: { isTracked: boolean },
  ): Promise<Uint8Array> {
    const prepared = await copies.prepare(stored, tracking);
    if (prepared.kind === "busy") throw busy(prepared.reason);
    if (prepared.kind !== "prepared") throw notRendered(prepared.reason);
    return prepared.message;
  }

  /** The rendered subject; null if it cannot be rendered. */
  async function subjectOf({ mail, hasSubjectTemplate }: StoredMail): Promise<string | null> {
    if (!hasSubjectTemplate) return mail.subject;
    const mails: RequestMails = {
      source: { subject: mail.subject, body: "" },
      given: { subject: false, body: false },
      isLenient: true,
      project: { name: mail.projectName, language: mail.language },
      recipients: [
        {
          id: mail.contactId ?? "",
          email: mail.to ?? "",
          data: mail.variables,
          links: recipientLinks(app.url, app.linkKey, mail.id),
        },
      ],
    };
    const [checked] = await checkMails(app, mail.projectSeq, mails, { isUrgent: false }).catch(
      (error: unknown) => {
        if (error instanceof AppError && error.status === 422) return [];
        throw error;
      },
    );
    return checked?.kind === "rendered" ? checked.subject : null;
  }

  /** The mail with its rendered subject, or with the template of one that cannot be rendered. */
  async function withSubject(stored: StoredMail): Promise<StoredMail> {
    const { mail } = stored;
    return { ...stored, mail: { ...mail, subject: (await subjectOf(stored)) ?? mail.subject } };
  }

  /** The message of a mail with its subject, and its parts. */
  async function read(stored: StoredMail): Promise<OpenedMail> {
    const raw = await messageOf(stored, { isTracked: false });
    const parsed = await messages.read(raw, senderOfProject(stored.mail.projectSeq));
    if (parsed === null) throw notRendered("The message cannot be parsed.");
    const { html, text, headers, parts } = parsed;
    return { ...stored, raw, detail: { html: html.toWellFormed(), text, headers }, parts };
  }

  function find(projectSeq: number, id: string): StoredMail {
    const stored = copies.find(projectSeq, id);
    if (stored === null) throw notFound("EMAIL");
    if (!stored.hasContent) throw contentPurged();
    return stored;
  }

  return {
    /** A mail that has its content. Throws 404 without such a mail, or if its content was removed. */
    find,

    /**
     * The same for readers other than the recipient. Caught mail keeps its links, so that they can be
     * tried.
     */
    findShown(projectSeq: number, id: string): StoredMail {
      const stored = find(projectSeq, id);
      if (transportOf(app).name === "capture") return stored;
      const { mail } = stored;
      return { ...stored, mail: { ...mail, variables: hideConfirmations(mail.variables) } };
    },

    subjectOf,
    withSubject,
    read,
    open: async (stored: StoredMail): Promise<OpenedMail> => read(await withSubject(stored)),

    /** The inline images of the message, as far as a document may contain them. */
    async images({ raw, parts, mail }: OpenedMail): Promise<InlineImage[]> {
      const images: InlineImage[] = [];
      for (const { partId, contentId, contentType } of shownImages(parts)) {
        const content = await messages.part(raw, partId, senderOfProject(mail.projectSeq));
        if (content !== null) images.push({ contentId, contentType, content });
      }
      return images;
    },

    /** The content of a part of the message; null if it has no such part. */
    part: ({ raw, mail }: OpenedMail, partId: string): Promise<Uint8Array | null> =>
      messages.part(raw, partId, senderOfProject(mail.projectSeq)),

    /** The message as it leaves. */
    async source(stored: StoredMail): Promise<Uint8Array> {
      return messageOf(await withSubject(stored), { isTracked: true });
    },
  };
}

export function presentContent({
  mail,
  usesCurrentData,
  raw,
  detail,
  parts,
}: OpenedMail): EmailContent {
  const { html, text, headers } = detail;
  return {
    subject: mail.subject,
    html: html.slice(0, LONGEST_SHOWN),
    text: text.slice(0, LONGEST_SHOWN),
    isShortened: Math.max(html.length, text.length) > LONGEST_SHOWN,
    headers: headers.map(({ name, value }): [string, string] => [name, value]),
    signedHeaders: signedHeaders(headers),
    size: raw.byteLength,
    attachments: parts.map(({ filename, contentType, size }) => ({ filename, contentType, size })),
    isMarketing: mail.isMarketing,
    usesCurrentData,
  };
}

/** The names in the h= tags of the DKIM signatures (RFC 6376 §3.5), each once, in lower case. */
function signedHeaders(headers: Detail["headers"]): string[] {
  const names = headers
    .filter(({ name }) => name.toLowerCase() === "dkim-signature")
    .flatMap(({ value }) => value.split(";"))
    .map((tag) => tag.trim())
    .filter((tag) => tag.startsWith("h="))
    .flatMap((tag) => tag.slice(2).split(":"))
    .map((name) => name.trim().toLowerCase());
  return [...new Set(names)];
}

function contentPurged(): AppError {
  return new AppError(404, "CONTENT_PURGED", "The content of this email is no longer stored.", {
    suggestion:
      "Contents are removed after the number of days in --retain-bodies, and with the contact; " +
      "the record of the email remains.",
  });
}

function notRendered(reason: string): AppError {
  return new AppError(409, "CONFLICT", reason, {
    suggestion: "Correct the template or the data of the contact; see the attempts of the email.",
  });
}

function busy(reason: string): AppError {
  return new AppError(503, "SERVICE_UNAVAILABLE", `The email cannot be shown now: ${reason}.`, {
    headers: { "Retry-After": String(RETRY_SECONDS) },
    suggestion: "Repeat the request in a few seconds.",
  });
}
