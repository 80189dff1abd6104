/** Receives the bytes of request bodies within the budget, and gives back what they took from it. */

import { AppError } from "../lib/errors.ts";
import type { Share } from "../lib/fair-pool.ts";
import type { Garbage } from "../lib/garbage.ts";
import { type Arrivals, brokenOff } from "./body-arrival.ts";
import { type BodyBudget, type BodyHolder, stepFor } from "./body-budget.ts";
import { type BodyLimit, sizeText } from "./body-limits.ts";
import { createJsonBounds } from "./json-bounds.ts";

/** A body, and how many JSON values it has at most. */
export type Received = { bytes: Uint8Array; values: number };

type Ask = { limit: BodyLimit; holder: BodyHolder };
type Held = { bytes: Share; values: Share | null; garbageBytes: number };

export type BodyBytes = ReturnType<typeof createBodyBytes>;

/** Up to here a body of known length is read in one piece. */
const SMALL_BYTES = 64 * 1024;
/** Such bodies are within the limits of every route. */
export const TINY_BYTES = 4 * 1024;
/** What a body that goes to the disk piece by piece holds in memory. */
const STREAM_BYTES = 2 * 1024 * 1024;

/** How long the first bytes may take. What is stalled on purpose keeps its share for as long. */
const GRACE_MS = 10_000;
/** Events come in one packet, and a public key is in the hands of strangers. */
const PUBLIC_GRACE_MS = 5_000;

const NOTHING: Received = { bytes: new Uint8Array(), values: 0 };

export function createBodyBytes(deps: {
  budget: BodyBudget;
  arrivals: Arrivals;
  /** To be awaited before work on many bytes. */
  breathe: () => Promise<void>;
  garbage: Garbage;
}) {
  const { budget, arrivals, breathe, garbage } = deps;
  const held = new WeakMap<Request, Held>();

  /** Takes more, and then gives back what the request held before. */
  async function takeBytes(request: Request, bytes: number, holder: BodyHolder): Promise<Share> {
    const before = held.get(request);
    const taking = budget.takeBytes(bytes, holder, () => request.signal);
    const share = taking instanceof Promise ? await orBrokenOff(request, taking) : taking;
    held.set(request, { bytes: share, values: null, garbageBytes: 0 });
    before?.bytes.release();
    return share;
  }

  async function receiveWhole(request: Request, bytes: number, ask: Ask): Promise<Received> {
    await takeBytes(request, bytes, ask.holder);
    const whole = await arrivals.whole(request, graceOf(ask.holder));
    if (whole.byteLength > ask.limit.bytes) throw tooLarge(ask.limit.bytes);
    const bounds = createJsonBounds(ask.limit.values);
    bounds.add(whole);
    return { bytes: whole, values: bounds.values() };
  }

  /** Counts the values of each piece, so that a body with too many is not even read to its end. */
  async function receivePieces(
    request: Request,
    announced: number | null,
    { limit, holder }: Ask,
  ): Promise<Received> {
    const bounds = createJsonBounds(limit.values);
    const first = announced ?? stepFor(0, limit.bytes, holder);
    let share = await takeBytes(request, first, holder);
    let bytes: Uint8Array = Buffer.allocUnsafeSlow(first);
    let size = 0;
    try {
      for await (const piece of arrivals.pieces(request, graceOf(holder))) {
        const needed = size + piece.byteLength;
        if (needed > limit.bytes) throw tooLarge(limit.bytes);
        await breathe();
        bounds.add(piece);
        if (needed > bytes.length) {
          const step = stepFor(needed, limit.bytes, holder);
          share = await takeBytes(request, step, holder);
          bytes = enlarged(bytes, step);
        }
        bytes.set(piece, size);
        size = needed;
      }
    } catch (error) {
      free(bytes);
      throw error;
    }
    share.shrinkTo(size);
    return { bytes: bytes.subarray(0, size), values: bounds.values() };
  }

  return {
    /** The whole body of a request; empty where there is none. */
    async receive(request: Request, announced: number | null, ask: Ask): Promise<Received> {
      if (announced !== null && announced > ask.limit.bytes) throw tooLarge(ask.limit.bytes);
      if (announced === 0 || (announced === null && request.body === null)) return NOTHING;
      return announced !== null && announced <= SMALL_BYTES
        ? receiveWhole(request, announced, ask)
        : receivePieces(request, announced, ask);
    },

    /**
     * The body of almost every request: one that can have neither many values nor many levels. It
     * gives back its share as soon as it is there, since what is made of it takes little memory.
     */
    async receiveTiny(request: Request, bytes: number, holder: BodyHolder): Promise<Uint8Array> {
      const share = budget.takeBytes(bytes, holder, () => request.signal);
      const taken = share instanceof Promise ? await orBrokenOff(request, share) : share;
      try {
        return await arrivals.whole(request, graceOf(holder));
      } finally {
        taken.release();
      }
    },

    /** To be awaited before a document with many values is parsed. */
    async takeValues(request: Request, values: number, holder: BodyHolder): Promise<void> {
      const share = await budget.takeValues(values, holder, () => request.signal);
      const shares = held.get(request);
      if (shares === undefined) share.release();
      else shares.values = share;
    },

    /** So many bytes of texts are made of a body. */
    noteGarbage(request: Request, bytes: number): void {
      const shares = held.get(request);
      if (shares !== undefined) shares.garbageBytes += bytes;
    },

    /** The pieces of a body that is not kept in memory. */
    async pieces(request: Request, holder: BodyHolder): Promise<AsyncGenerator<Uint8Array>> {
      await takeBytes(request, STREAM_BYTES, holder);
      return arrivals.pieces(request, graceOf(holder));
    },

    /** Gives back what a request took, once it was answered or refused. */
    giveBack(request: Request): void {
      const shares = held.get(request);
      if (shares === undefined) return;
      held.delete(request);
      shares.bytes.release();
      shares.values?.release();
      garbage.add(shares.garbageBytes);
    },
  };
}

const graceOf = ({ isPublic }: BodyHolder): number => (isPublic ? PUBLIC_GRACE_MS : GRACE_MS);

async function orBrokenOff<T>(request: Request, taking: Promise<T>): Promise<T> {
  try {
    return await taking;
  } catch (error) {
    throw request.signal.aborted ? brokenOff() : error;
  }
}

function enlarged(bytes: Uint8Array, size: number): Uint8Array {
  const larger = Buffer.allocUnsafeSlow(size);
  larger.set(bytes);
  free(bytes);
  return larger;
}

/** Gives back the memory of a large buffer now: a collection may be far away. */
export function free({ buffer, byteLength }: Uint8Array): void {
  if (byteLength > SMALL_BYTES && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/** What Content-Length says; null for a body in chunks, or none. */
export function announcedBytes(request: Request): number | null {
  const text = request.headers.get("content-length");
  return text === null ? null : Number(text);
}

function tooLarge(bytes: number): AppError {
  return new AppError(413, "PAYLOAD_TOO_LARGE", `The body is larger than ${sizeText(bytes)}.`, {
    suggestion: `This route takes at most ${sizeText(bytes)}: send less at once.`,
  });
}
