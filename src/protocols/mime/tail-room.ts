/**
 * Memory of messages with free octets behind them, so that the SMTP client ends the message and adds
 * the commands of the next one in place, and writes all of it at once.
 */

/** Free octets behind a message: the final dot and the commands of one envelope fit. */
export const TAIL_ROOM = 1_024;

/** A buffer of this length, behind which its memory has TAIL_ROOM free octets. */
export function allocateWithRoom(length: number): Buffer {
  return Buffer.allocUnsafeSlow(length + TAIL_ROOM).subarray(0, length);
}
