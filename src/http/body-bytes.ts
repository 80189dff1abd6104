/** Receives the bytes of request bodies within the memory budget. */

import { freeMemory } from "../lib/free-memory.ts";
import { AppError, fieldError } from "../lib/errors.ts";
import type { Arrivals } from "./body-arrival.ts";
import { type BodyHolder, grownShare, SMALL_BYTES, UNREAD_BYTES } from "./body-budget.ts";
import { type BodyLimit, sizeText } from "./body-limits.ts";
import type { BodyShares, Received } from "./body-shares.ts";
import { createJsonBounds } from "./json-bounds.ts";

type BodyRequest = { limit: BodyLimit; holder: BodyHolder };

export type BodyBytes = ReturnType<typeof createBodyBytes>;

/** A body of up to this size is within the limits of every route. */
export const TINY_BYTES = 4 * 1024;
/** Memory of a body that is written to disk piece by piece. */
const STREAM_BYTES = 2 * 1024 * 1024;

/** Time until the minimum rate applies. A client that sends nothing holds a share for this long. */
const GRACE_MS = 10_000;
/** Grace period with a public key: it is shorter because an event fits into one packet. */
const PUBLIC_GRACE_MS = 5_000;

const NOTHING: Received = { bytes: new Uint8Array(), values: 0 };

export function createBodyBytes(deps: {
  shares: BodyShares;
  arrivals: Arrivals;
  /** Awaited before many bytes are processed, so that other requests are answered in between. */
  yieldIfBusy: () => Promise<void>;
}) {
  const { shares, arrivals, yieldIfBusy } = deps;

  async function receiveWhole(
    request: Request,
    bytes: number,
    bodyRequest: BodyRequest,
  ): Promise<Received> {
    await shares.takeBytes(request, bytes, bodyRequest.holder);
    const whole = await arrivals.whole(request, graceOf(bodyRequest.holder));
    if (whole.byteLength > bodyRequest.limit.bytes) throw tooLarge(bodyRequest.limit.bytes);
    const bounds = createJsonBounds(bodyRequest.limit.values);
    bounds.add(whole);
    return { bytes: whole, values: bounds.values() };
  }

  /**
   * Counts the values of each piece on arrival, so a body with too many values is not read further.
   */
  async function receivePieces(
    request: Request,
    announced: number | null,
    { limit, holder }: BodyRequest,
  ): Promise<Received> {
    const bounds = createJsonBounds(limit.values);
    let share =
      announced === null
        ? await shares.takeUnknown(request, holder)
        : await shares.takeBytes(request, announced, holder);
    // The share of a public key covers the whole body.
    const first = holder.isPublic ? limit.bytes : Math.min(SMALL_BYTES, limit.bytes);
    let bytes: Uint8Array = Buffer.allocUnsafeSlow(announced ?? first);
    let size = 0;
    let last: Uint8Array = NOTHING.bytes;
    try {
      for await (const piece of arrivals.pieces(request, graceOf(holder))) {
        last = piece;
        const needed = size + piece.byteLength;
        if (needed > limit.bytes) throw tooLarge(limit.bytes);
        await yieldIfBusy();
        bounds.add(piece);
        if (needed > bytes.length) {
          const larger = grownShare(needed, limit.bytes);
          share = await shares.takeBytes(request, larger, holder);
          bytes = enlarge(bytes, larger);
        }
        bytes.set(piece, size);
        freeMemory(piece);
        size = needed;
      }
    } catch (error) {
      freeMemory(bytes);
      freeMemory(last);
      shares.addGarbage(request, UNREAD_BYTES);
      throw error;
    }
    share.shrinkTo(size);
    return { bytes: bytes.subarray(0, size), values: bounds.values() };
  }

  return {
    /** Resolves to the whole body of a request, which is empty if there is none. */
    async receive(
      request: Request,
      announced: number | null,
      bodyRequest: BodyRequest,
    ): Promise<Received> {
      if (announced !== null && announced > bodyRequest.limit.bytes)
        throw tooLarge(bodyRequest.limit.bytes);
      if (announced === 0 || (announced === null && request.body === null)) return NOTHING;
      return announced !== null && announced <= SMALL_BYTES
        ? receiveWhole(request, announced, bodyRequest)
        : receivePieces(request, announced, bodyRequest);
    },

    /**
     * The fast path for almost every request: so few bytes cannot contain many values or levels.
     * The share is returned when the bytes have arrived, because parsing them takes little memory.
     */
    async receiveTiny(request: Request, bytes: number, holder: BodyHolder): Promise<Uint8Array> {
      const taking = shares.takeBriefly(request, bytes, holder);
      const share = taking instanceof Promise ? await taking : taking;
      try {
        return await arrivals.whole(request, graceOf(holder));
      } finally {
        share.release();
      }
    },

    /** Resolves to the pieces of a body that is not held in memory as a whole. */
    async pieces(request: Request, holder: BodyHolder): Promise<AsyncGenerator<Uint8Array>> {
      await shares.takeBytes(request, STREAM_BYTES, holder);
      return arrivals.pieces(request, graceOf(holder));
    },
  };
}

const graceOf = ({ isPublic }: BodyHolder): number => (isPublic ? PUBLIC_GRACE_MS : GRACE_MS);

function enlarge(bytes: Uint8Array, size: number): Uint8Array {
  const larger = Buffer.allocUnsafeSlow(size);
  larger.set(bytes);
  freeMemory(bytes);
  return larger;
}

/** The Content-Length of a request; null if its body comes in chunks, or if it has none. */
export function announcedBytes(request: Request): number | null {
  const text = request.headers.get("content-length");
  return text === null ? null : Number(text);
}

/** The refusal of an empty body of a route that takes a message. */
export function emptyBody(): AppError {
  return fieldError("", "required", "must not be empty");
}

/** The refusal of a body that exceeds the limit of its route. */
export function tooLarge(bytes: number): AppError {
  return new AppError(413, "PAYLOAD_TOO_LARGE", `The body is larger than ${sizeText(bytes)}.`, {
    suggestion: `This route accepts at most ${sizeText(bytes)}. Send less at once.`,
  });
}
