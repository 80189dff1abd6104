/**
 * Receives the bytes of request bodies within the memory budget, and returns their shares of it.
 */

import { AppError } from "../lib/errors.ts";
import type { Share } from "../lib/fair-pool.ts";
import type { Garbage } from "../lib/garbage.ts";
import { type Arrivals, clientDisconnected } from "./body-arrival.ts";
import {
  type BodyBudget,
  type BodyHolder,
  COPIES_BYTES,
  grownShare,
  SMALL_BYTES,
  UNREAD_BYTES,
} from "./body-budget.ts";
import { type BodyLimit, sizeText } from "./body-limits.ts";
import { createJsonBounds } from "./json-bounds.ts";

/** A received body and the number of its JSON values. */
export type Received = { bytes: Uint8Array; values: number };

type BodyRequest = { limit: BodyLimit; holder: BodyHolder };
/** Shares that a request holds, and the memory that becomes garbage after its response. */
type Held = { bytes: Share | null; others: Share[]; garbageBytes: number };

export type BodyBytes = ReturnType<typeof createBodyBytes>;

/** A body of up to this size is within the limits of every route. */
export const TINY_BYTES = 4 * 1024;
/** Memory of a body that is written to disk piece by piece. */
const STREAM_BYTES = 2 * 1024 * 1024;

/** Larger documents are parsed in steps, and only a few at the same time. */
export const LARGE_BYTES = 256 * 1024;
/** Documents with fewer values take no share of the values. */
const FREE_VALUES = 1_000;
/** Approximate memory of one JSON value. */
const VALUE_BYTES = 100;

/** Time until the minimum rate applies. A client that sends nothing holds a share for this long. */
const GRACE_MS = 10_000;
/** Grace period with a public key: it is shorter because an event fits into one packet. */
const PUBLIC_GRACE_MS = 5_000;

const NOTHING: Received = { bytes: new Uint8Array(), values: 0 };

export function createBodyBytes(deps: {
  budget: BodyBudget;
  arrivals: Arrivals;
  /** Awaited before many bytes are processed, so that other requests are answered in between. */
  yieldIfBusy: () => Promise<void>;
  garbage: Garbage;
}) {
  const { budget, arrivals, yieldIfBusy, garbage } = deps;
  const held = new WeakMap<Request, Held>();

  function heldBy(request: Request): Held {
    const known = held.get(request);
    if (known !== undefined) return known;
    const none: Held = { bytes: null, others: [], garbageBytes: 0 };
    held.set(request, none);
    return none;
  }

  /** Takes a new share, and then returns the one that the request held before. */
  async function replaceShare(request: Request, taking: Share | Promise<Share>): Promise<Share> {
    const before = held.get(request)?.bytes;
    const share = await awaitShare(request, taking);
    heldBy(request).bytes = share;
    before?.release();
    return share;
  }

  const takeBytes = (request: Request, bytes: number, holder: BodyHolder): Promise<Share> =>
    replaceShare(request, budget.takeBytes(bytes, holder, signalOf(request)));

  async function receiveWhole(
    request: Request,
    bytes: number,
    bodyRequest: BodyRequest,
  ): Promise<Received> {
    await takeBytes(request, bytes, bodyRequest.holder);
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
        ? await replaceShare(request, budget.takeUnknown(holder, signalOf(request)))
        : await takeBytes(request, announced, holder);
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
          share = await takeBytes(request, larger, holder);
          bytes = enlarge(bytes, larger);
        }
        bytes.set(piece, size);
        free(piece);
        size = needed;
      }
    } catch (error) {
      free(bytes);
      free(last);
      heldBy(request).garbageBytes += UNREAD_BYTES;
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
      const taking = budget.takeBytes(bytes, holder, signalOf(request));
      const share = taking instanceof Promise ? await awaitShare(request, taking) : taking;
      try {
        return await arrivals.whole(request, graceOf(holder));
      } finally {
        share.release();
      }
    },

    /** Awaited before a body is parsed. */
    async beforeParsing(request: Request, received: Received, holder: BodyHolder): Promise<void> {
      const { bytes, values } = received;
      const { byteLength } = bytes;
      const signal = signalOf(request);
      try {
        const { others } = heldBy(request);
        if (values > FREE_VALUES) {
          others.push(await awaitShare(request, budget.takeValues(values, holder, signal)));
        }
        if (byteLength > LARGE_BYTES) {
          others.push(await awaitShare(request, budget.takeWork(byteLength, holder, signal)));
        }
      } catch (error) {
        free(bytes);
        throw error;
      }
      heldBy(request).garbageBytes += byteLength + values * VALUE_BYTES;
    },

    /** Awaited before a request copies its data for many recipients. */
    async takeCopies(request: Request, holder: BodyHolder): Promise<void> {
      const share = await awaitShare(request, budget.takeCopies(holder, signalOf(request)));
      heldBy(request).others.push(share);
      heldBy(request).garbageBytes += COPIES_BYTES;
    },

    /** Resolves to the pieces of a body that is not held in memory as a whole. */
    async pieces(request: Request, holder: BodyHolder): Promise<AsyncGenerator<Uint8Array>> {
      await takeBytes(request, STREAM_BYTES, holder);
      return arrivals.pieces(request, graceOf(holder));
    },

    /** Returns all shares of a request; called after its response. */
    giveBack(request: Request): void {
      const known = held.get(request);
      if (known === undefined) return;
      held.delete(request);
      known.bytes?.release();
      for (const share of known.others) share.release();
      garbage.add(known.garbageBytes);
    },
  };
}

const graceOf = ({ isPublic }: BodyHolder): number => (isPublic ? PUBLIC_GRACE_MS : GRACE_MS);

/** A function, because reading `signal` creates it and only the few requests that wait need it. */
const signalOf = (request: Request) => (): AbortSignal => request.signal;

async function awaitShare(request: Request, taking: Share | Promise<Share>): Promise<Share> {
  try {
    return await taking;
  } catch (error) {
    throw request.signal.aborted ? clientDisconnected() : error;
  }
}

function enlarge(bytes: Uint8Array, size: number): Uint8Array {
  const larger = Buffer.allocUnsafeSlow(size);
  larger.set(bytes);
  free(bytes);
  return larger;
}

/** Frees the memory of a large array at once instead of at the next garbage collection. */
export function free({ buffer, byteOffset }: Uint8Array): void {
  const isLarge = buffer.byteLength > SMALL_BYTES;
  if (isLarge && byteOffset === 0 && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/** The Content-Length of a request; null if its body comes in chunks, or if it has none. */
export function announcedBytes(request: Request): number | null {
  const text = request.headers.get("content-length");
  return text === null ? null : Number(text);
}

/** The refusal of a body that exceeds the limit of its route. */
export function tooLarge(bytes: number): AppError {
  return new AppError(413, "PAYLOAD_TOO_LARGE", `The body is larger than ${sizeText(bytes)}.`, {
    suggestion: `This route accepts at most ${sizeText(bytes)}. Send less at once.`,
  });
}
