/**
 * The shares of the memory budget that each request holds: it takes them while its body is received
 * and parsed, and returns them after its response.
 */

import type { Share } from "../lib/fair-pool.ts";
import { freeMemory } from "../lib/free-memory.ts";
import type { Garbage } from "../lib/garbage.ts";
import { clientDisconnected } from "./body-arrival.ts";
import { type BodyBudget, type BodyHolder, COPIES_BYTES } from "./body-budget.ts";

/** A received body and the number of its JSON values. */
export type Received = { bytes: Uint8Array; values: number };

/** Shares that a request holds, and the memory that becomes garbage after its response. */
type Held = { bytes: Share | null; others: Share[]; garbageBytes: number };

export type BodyShares = ReturnType<typeof createBodyShares>;

/** Larger documents are parsed in steps, and only a few at the same time. */
export const LARGE_BYTES = 256 * 1024;
/** Documents with fewer values take no share of the values. */
const FREE_VALUES = 1_000;
/** Approximate memory of one JSON value. */
const VALUE_BYTES = 100;

export function createBodyShares({ budget, garbage }: { budget: BodyBudget; garbage: Garbage }) {
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

  return {
    /** Takes a share that the caller releases itself, before the response. */
    takeBriefly(request: Request, bytes: number, holder: BodyHolder): Share | Promise<Share> {
      const taking = budget.takeBytes(bytes, holder, signalOf(request));
      return taking instanceof Promise ? awaitShare(request, taking) : taking;
    },

    /** Awaited before `bytes` of the body are received; replaces the share for fewer bytes. */
    takeBytes: (request: Request, bytes: number, holder: BodyHolder): Promise<Share> =>
      replaceShare(request, budget.takeBytes(bytes, holder, signalOf(request))),

    /** Awaited before the first bytes of a body of unknown length are received. */
    takeUnknown: (request: Request, holder: BodyHolder): Promise<Share> =>
      replaceShare(request, budget.takeUnknown(holder, signalOf(request))),

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
        freeMemory(bytes);
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

    /** Notes that a request holds memory that becomes garbage after its response. */
    addGarbage(request: Request, bytes: number): void {
      heldBy(request).garbageBytes += bytes;
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

/** A function, because reading `signal` creates it and only the few requests that wait need it. */
const signalOf = (request: Request) => (): AbortSignal => request.signal;

async function awaitShare(request: Request, taking: Share | Promise<Share>): Promise<Share> {
  try {
    return await taking;
  } catch (error) {
    throw request.signal.aborted ? clientDisconnected() : error;
  }
}
