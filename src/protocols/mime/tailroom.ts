/**
 * Memory of messages with free octets behind them, so that the SMTP client ends the message and adds
 * the commands of the next one in place, and writes all of it at once.
 */

/** Free octets behind a message, into which the final dot and the commands of one envelope fit. */
export const TAILROOM_BYTES = 1_024;

/** A buffer of this length, behind which its memory has TAILROOM_BYTES free octets. */
export function allocateWithTailroom(length: number): Buffer {
  return Buffer.allocUnsafeSlow(length + TAILROOM_BYTES).subarray(0, length);
}
