/** A real session with the relay before its URL is written: connection, TLS, login, and a test mail. */

import { newId } from "../../lib/id.ts";
import { testRelay } from "../../outbox/transports/relay-test.ts";
import { messageIdOf } from "../../protocols/mime/message-id.ts";
import type { Relay } from "../../protocols/smtp/relay-url.ts";
import type { MailObject } from "../../protocols/smtp/stream.ts";
import { conversationPrinter } from "../conversation.ts";

type RelayTrialOptions = {
  relay: Relay;
  hostname: string;
  /** Sent after the login; null to only log in. */
  mail: MailObject | null;
};

/** `problem` is null if everything worked; it says what failed and what to do. */
export async function tryRelaySession(
  options: RelayTrialOptions,
): Promise<{ problem: string | null; conversation: string[] }> {
  const { problem, conversation } = await testRelay(options);
  const lines: string[] = [];
  conversationPrinter((line) => void lines.push(line)).printRest([conversation]);
  if (problem === null) return { problem: null, conversation: lines };
  return { problem: `${problem.reason}. To do: ${problem.fix}.`, conversation: lines };
}

/** The mail that proves the relay. It is not signed: the domain has no keys here yet. */
export async function relayTestMail(
  { from, to, relay }: { from: string; to: string; relay: string },
  now: number,
): Promise<MailObject> {
  // Loaded only for this mail: with the encoders of nodemailer it takes 4 ms and 2 MiB.
  const { composeMessage } = await import("../../protocols/mime/message.ts");
  const text = `This mail came through the relay ${relay}.\n`;
  const composed = composeMessage({
    from: { name: null, address: from },
    to: { name: null, address: to },
    replyTo: null,
    subject: "Mailstead: a test of the relay",
    html: `<p>${Bun.escapeHTML(text)}</p>`,
    text,
    headers: [],
    attachments: [],
    messageId: messageIdOf(newId(now), from),
    date: new Date(now),
  });
  if (!composed.ok) throw new Error(composed.reason);
  return { envelope: { from, to }, message: composed.message };
}
