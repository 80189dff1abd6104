/** Sends mails over an open session of the SMTP client as promises. */

import type { Conversation } from "../../src/protocols/smtp/conversation.ts";
import type { Delivery } from "../../src/protocols/smtp/decision.ts";
import type { Session } from "../../src/protocols/smtp/session.ts";
import type { MailObject, Stream } from "../../src/protocols/smtp/stream.ts";

type End = { delivery: Delivery; conversation: Conversation };

type SentMail = { object: MailObject; end: (end: End) => void };

type OpenStream = {
  stream: Stream<SentMail>;
  /** Resolves if the session ends while no mail is under way. */
  lost: Promise<void>;
};

const streams = new WeakMap<Session, OpenStream>();

/** The stream of a session that is open; a session has only one. */
export function streamOf(session: Session): OpenStream {
  const known = streams.get(session);
  if (known !== undefined) return known;
  const { promise: lost, resolve } = Promise.withResolvers<void>();
  const stream = session.stream<SentMail>({
    takeFollower: () => null,
    ended: (mail, delivery, conversation) => mail.end({ delivery, conversation }),
    returned: () => {
      throw new Error("a mail was returned, but none followed another");
    },
    lost: resolve,
  });
  const created = { stream, lost };
  streams.set(session, created);
  return created;
}

/** Sends a mail over a session that is open and sends no other mail. */
export function transact(session: Session, object: MailObject): Promise<End> {
  return new Promise((end) => streamOf(session).stream.send({ object, end }));
}
