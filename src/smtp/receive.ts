/** Receives the message of a transaction into an inbox. */

import type { SMTPServerDataStream, SMTPServerSession } from "smtp-server";
import type { Clock } from "../lib/clock.ts";
import { describeError, type Log } from "../lib/log.ts";
import type { CaptureInbox } from "./capture.ts";
import { receiveMessage } from "./receive-message.ts";
import { envelopeOf, senderOf, userOf } from "./session.ts";
import type { AtStage } from "./stages.ts";
import { traceFields } from "./trace.ts";

/** Bytes of a message that are kept for rules until its end. */
const MAX_HEAD_BYTES = 64 * 1024;

export function createReceive(deps: {
  inbox: Pick<CaptureInbox, "resolve" | "open" | "hasRules">;
  clock: Clock;
  log: Log;
  hostname: string;
  at: AtStage;
}) {
  const { inbox, clock, log, at } = deps;

  /**
   * Resolves to the text of the reply. Rejects with the refusal of the message. It begins to read
   * before it returns, as `MessageStream` requires.
   */
  async function receive(
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
  ): Promise<string> {
    const { rcptTo } = session.envelope;
    const recipients = rcptTo.map(({ address }) => address);
    const user = userOf(session);
    const target = inbox.resolve(user, recipients);
    // A failure matters when the message is complete; until then nothing awaits the promise.
    target.catch(() => {});
    const arrival = inbox.open(target);
    try {
      const trace = arrival.add(traceOf(session, recipients));
      const { hasBareLf, head } = await readAll(stream, arrival.add);
      await trace;
      const facts = { from: senderOf(session), recipients, head };
      await at("dot", session, facts);
      const { id } = await arrival.complete({
        inboxSeq: await target,
        envelope: envelopeOf(session, hasBareLf),
        username: user,
        emailId: null,
      });
      return `2.0.0 Ok: queued as ${id}`;
    } catch (error) {
      await arrival
        .discard()
        .catch((reason: unknown) =>
          log.warn("a partial message was not removed", { error: describeError(reason) }),
        );
      throw error;
    }
  }

  function traceOf(session: SMTPServerSession, recipients: readonly string[]): Uint8Array {
    const { hostNameAppearsAs, remoteAddress, secure, id } = session;
    return traceFields({
      from: senderOf(session),
      recipients,
      helo: typeof hostNameAppearsAs === "string" ? hostNameAppearsAs : "unknown",
      peer: remoteAddress,
      hasTls: secure,
      hasUser: userOf(session) !== "",
      hostname: deps.hostname,
      id,
      at: clock.now(),
    });
  }

  /** Keeps the beginning of the message for rules. */
  async function readAll(
    stream: SMTPServerDataStream,
    add: (piece: Uint8Array) => Promise<void> | null,
  ): Promise<{ hasBareLf: boolean; head: () => Uint8Array }> {
    const pieces: Uint8Array[] = [];
    // Without rules nothing reads the head.
    let missingBytes = inbox.hasRules() ? MAX_HEAD_BYTES : 0;
    const read = await receiveMessage(stream, clock, (piece) => {
      if (missingBytes > 0) pieces.push(Buffer.from(piece.subarray(0, missingBytes)));
      missingBytes -= piece.byteLength;
      return add(piece);
    });
    return { ...read, head: () => Buffer.concat(pieces) };
  }

  return receive;
}
