/** Composes the messages of one call, and limits their sizes and the number of their recipients. */

import { type Attachment, bytesOf } from "../../../protocols/mime/parts.ts";
import { composeSent, type SentMailbox, type SentMessage } from "../mailpit/compose.ts";
import { invalidField, ProviderFault } from "./provider.ts";

/** A message that can be stored. */
export type CaughtMail = {
  /** The sender of the envelope. */
  from: string;
  recipients: readonly string[];
  raw: Buffer;
};

type ProviderMail = Pick<SentMessage, "from" | "messageId"> &
  Partial<Omit<SentMessage, "from" | "messageId" | "tags" | "date">>;

/** Greatest size of the messages of one call together, each of which repeats the attachments. */
const MAX_COMPOSED_BYTES = 64 * 1024 * 1024;

/** SendGrid takes 1,000 in each of to, cc and bcc. */
const MAX_RECIPIENTS = 3_000;

export type ProviderComposer = ReturnType<typeof createProviderComposer>;

export function createProviderComposer(now: number) {
  let composedBytes = 0;

  /** Throws for too many recipients, and if the messages of the call together are too large. */
  function counted(mail: CaughtMail): CaughtMail {
    if (mail.recipients.length > MAX_RECIPIENTS) {
      throw invalidField("to", `a message has more than ${MAX_RECIPIENTS} recipients`);
    }
    composedBytes += mail.raw.byteLength;
    if (composedBytes > MAX_COMPOSED_BYTES) throw tooLarge();
    return mail;
  }

  return {
    /** Throws if the files alone make the messages too large, before any is composed. */
    requireRoom(files: readonly Attachment[], messages: number): void {
      const bytes = files.reduce((sum, { content }) => sum + content.byteLength, 0);
      if (bytes * messages > MAX_COMPOSED_BYTES) throw tooLarge();
    },

    compose(mail: ProviderMail): CaughtMail {
      const { from, to = [], cc = [], bcc = [] } = mail;
      const recipients = distinctAddresses([...to, ...cc, ...bcc]);
      if (recipients.length === 0) throw invalidField("to", "has no recipient");
      const raw = composeSent({ ...EMPTY, ...mail, bcc: [], date: new Date(now) });
      return counted({ from: from.address, recipients, raw });
    },

    /** Puts headers in front of a message of the caller, whose lines then end with CRLF. */
    composeRaw(mail: {
      from: string;
      recipients: readonly SentMailbox[];
      headers: readonly string[];
      message: Uint8Array;
    }): CaughtMail {
      const { from, recipients, headers, message } = mail;
      const lines = Buffer.from(message)
        .toString("latin1")
        .replace(/\r\n?|\n/g, "\r\n");
      const head = bytesOf(headers.map((line) => `${line}\r\n`));
      return counted({
        from,
        recipients: distinctAddresses(recipients),
        raw: Buffer.concat([head, Buffer.from(lines, "latin1")]),
      });
    },
  };
}

function tooLarge(): ProviderFault {
  const message = "The messages of this call are larger than 64 MiB together.";
  return new ProviderFault(413, "", message);
}

function distinctAddresses(mailboxes: readonly SentMailbox[]): string[] {
  return [...new Set(mailboxes.map(({ address }) => address))];
}

const EMPTY = {
  to: [],
  cc: [],
  replyTo: [],
  subject: "",
  text: "",
  html: "",
  headers: [],
  tags: [],
  attachments: [],
};
