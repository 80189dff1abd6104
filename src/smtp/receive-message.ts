/** Reads the message of a transaction, piece by piece, within the time limit of DATA. */

import type { SMTPServerDataStream } from "smtp-server";
import type { Clock } from "../lib/clock.ts";
import { createFraming } from "./framing.ts";
import { MessageStream } from "./message-stream.ts";
import { SmtpRefusal } from "./server.ts";

/** Longest time of DATA. */
const DATA_MS = 10 * 60_000;

/**
 * Gives the message to `add`, with line ends of CRLF. It begins to read before it returns, as
 * `MessageStream` requires. `add` must copy the piece, because its memory is used again. Throws the
 * refusal of a message that is too large or has a bare CR.
 */
export async function receiveMessage(
  stream: SMTPServerDataStream,
  clock: Clock,
  add: (piece: Uint8Array) => Promise<void> | null,
): Promise<{ hasBareLf: boolean }> {
  if (!(stream instanceof MessageStream)) throw new Error("the message has another stream");
  const framing = createFraming();
  const storing: { last: Promise<void> | null } = { last: null };
  const cancel = clock.after(DATA_MS, () => stream.destroy(new Error("DATA took too long")));
  try {
    await stream.readInto((piece) => {
      if (stream.sizeExceeded) return null;
      storing.last = add(framing.add(piece));
      return storing.last;
    });
  } finally {
    cancel();
    // A client may disconnect while a piece is stored; only then can its rows be removed.
    await storing.last?.catch(() => {});
  }
  if (stream.sizeExceeded) throw new SmtpRefusal(552, "5.3.4 The message is too large");
  if (framing.hasBareCr()) throw new SmtpRefusal(550, "5.6.0 The message has a bare CR");
  return { hasBareLf: framing.hasBareLf() };
}
