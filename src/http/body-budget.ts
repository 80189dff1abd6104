/**
 * Bounds what request bodies take of the process's memory. A body takes a share for its bytes before
 * it is read, one for its JSON values before it is parsed, and gives both back once the request was
 * answered. Small bodies have pools of their own, so they never wait behind large ones; and so have
 * bodies that come with a public key, so that a key that anybody can read never keeps out others.
 */

import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { createFairPool, type FairPool, PoolExhaustedError, type Share } from "../lib/fair-pool.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** Whose body it is: no project takes all of a pool. */
export type BodyHolder = { projectSeq: number; isPublic: boolean };

type Signal = () => AbortSignal;

export type BodyBudget = {
  /** Before `bytes` are read. Rejects with 503 where too many wait, or for too long. */
  takeBytes(bytes: number, holder: BodyHolder, signal: Signal): Share | Promise<Share>;
  /** Before that many JSON values are made. */
  takeValues(values: number, holder: BodyHolder, signal: Signal): Share | Promise<Share>;
  /** Bytes that all bodies have taken. */
  takenBytes(): number;
  takenValues(): number;
};

/** Sizes at which a body of unknown length takes a larger share: those of the pools. */
const SMALL_BYTES = 64 * KIB;
const MEDIUM_BYTES = 1 * MIB;

/** JSON values that exist at once; each takes about a hundred bytes. */
const MOST_VALUES = 600_000;

/** Even an empty request takes some memory. */
const LEAST_BYTES = 1 * KIB;

/** Bun reads this much of a body, about, before it waits for somebody to take it. */
const ARRIVED_BYTES = 1.25 * MIB;
/** What bodies hold that have not been begun with: for each pool. */
const MOST_WAITING_BYTES = 48 * MIB;

const WAIT_MS = 15_000;
const RETRY_SECONDS = 5;
/** So there is always room for a second project. */
const PART_OF_ONE = 2 / 3;

export function createBodyBudget(clock: Clock): BodyBudget {
  const common = { clock, waitMs: WAIT_MS, partOfOne: PART_OF_ONE };
  const pool = (capacity: number) =>
    createFairPool({
      ...common,
      capacity,
      waitingCost: (bytes) => Math.min(bytes, ARRIVED_BYTES),
      mostWaitingCost: MOST_WAITING_BYTES,
    });
  const small = pool(16 * MIB);
  const medium = pool(16 * MIB);
  const large = pool(60 * MIB);
  const ofPublicKeys = pool(16 * MIB);
  /** All that wait here have taken their bytes already, which bounds their number. */
  const values = createFairPool({
    ...common,
    capacity: MOST_VALUES,
    waitingCost: () => 0,
    mostWaitingCost: 0,
  });
  const pools = [small, medium, large, ofPublicKeys];

  function poolFor(bytes: number, { isPublic }: BodyHolder): FairPool {
    if (isPublic) return ofPublicKeys;
    return bytes <= SMALL_BYTES ? small : bytes <= MEDIUM_BYTES ? medium : large;
  }

  return {
    takeBytes(bytes, holder, signal) {
      const amount = Math.max(bytes, LEAST_BYTES);
      return orRefuse(poolFor(bytes, holder).take({ amount, holder: holder.projectSeq, signal }));
    },
    takeValues: (amount, { projectSeq, isPublic }, signal) =>
      orRefuse(values.take({ amount, holder: isPublic ? -projectSeq : projectSeq, signal })),
    takenBytes: () => pools.reduce((sum, { taken }) => sum + taken(), 0),
    takenValues: values.taken,
  };
}

/**
 * What a body of unknown length takes once it needs `bytes`: the largest that its pool has. Each pool
 * comes after the one before it, so bodies that grow cannot wait for each other in a circle.
 */
export function stepFor(bytes: number, limitBytes: number, { isPublic }: BodyHolder): number {
  if (isPublic) return limitBytes;
  const step =
    bytes <= SMALL_BYTES ? SMALL_BYTES : bytes <= MEDIUM_BYTES ? MEDIUM_BYTES : limitBytes;
  return Math.min(step, limitBytes);
}

function orRefuse(share: Share | Promise<Share>): Share | Promise<Share> {
  if (!(share instanceof Promise)) return share;
  return share.catch((error: unknown) => {
    throw error instanceof PoolExhaustedError ? tooMany() : error;
  });
}

function tooMany(): AppError {
  const message = "Too many request bodies are being worked on. This one was not taken.";
  return new AppError(503, "SERVICE_UNAVAILABLE", message, {
    suggestion: "Send the request again after the seconds in Retry-After; nothing was stored.",
    headers: { "Retry-After": String(RETRY_SECONDS) },
  });
}
