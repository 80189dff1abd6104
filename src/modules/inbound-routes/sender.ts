/** Verifies the sender of a received message, within a limited time (checks/authentication.ts). */

import { type Authentication, readClaims } from "../../checks/authentication.ts";
import type { Clock } from "../../lib/clock.ts";
import { describeError, type Log } from "../../lib/log.ts";
import type { Dns } from "../../protocols/dns/client.ts";
import type { Author } from "../../protocols/mime/from-field.ts";
import type { ReceivedEnvelope } from "./storing.ts";

/** Longest time of the look-ups for one message; those that take longer fail. */
const AUTHENTICATION_MS = 20_000;

/** A message as it is stored: its beginning, all of its pieces, and its author. */
type StoredMessage = { head: Uint8Array; pieces: Iterable<Uint8Array>; author: Author };

/**
 * Resolves when the message was read, to the function that verifies its sender. That takes no
 * memory of the size of the message. It ends early if the session ends.
 */
export type SenderReader = (
  message: StoredMessage,
  envelope: Pick<ReceivedEnvelope, "sender" | "peer" | "helo" | "signal">,
) => Promise<() => Promise<Authentication>>;

export function createSenderReader(deps: {
  clock: Clock;
  dns: Dns;
  log: Log;
  /** Name of this server. */
  hostname: string;
}): SenderReader {
  const { clock, dns, log, hostname: mta } = deps;

  return async (message, { sender, peer: ip, helo, signal }) => {
    const limit = new AbortController();
    const evaluate = await readClaims({ ...message, sender, ip, helo }, dns, {
      mta,
      signal: AbortSignal.any([signal, limit.signal]),
      onFailure: (error) =>
        log.warn("the sender of a message could not be verified", { error: describeError(error) }),
    });
    return async () => {
      const cancel = clock.after(AUTHENTICATION_MS, () => limit.abort());
      return evaluate().finally(cancel);
    };
  };
}
