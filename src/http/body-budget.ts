/**
 * Limits the memory that request bodies take in the whole process. A request takes a share for the
 * bytes of its body before they are read and a share for its JSON values before they are parsed. It
 * returns both after the response. There are separate pools for bodies of up to 64 KiB, of up to 1
 * MiB, larger bodies, bodies of unknown length, and bodies sent with a public key. Therefore small
 * bodies never wait for large ones, and requests with a public key never delay those with a secret
 * key.
 */

import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { createFairPool, type FairPool, PoolExhaustedError, type Share } from "../lib/fair-pool.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** The project that a body is counted for, because one project may not take all of a pool. */
export type BodyHolder = { projectSeq: number; isPublic: boolean };

type Signal = () => AbortSignal;

export type BodyBudget = {
  /**
   * Awaited before `bytes` are read. It rejects with 503 if too many requests wait, or for too
   * long.
   */
  takeBytes(bytes: number, holder: BodyHolder, signal: Signal): Share | Promise<Share>;
  /** Awaited before the first bytes of a body of unknown length are read. */
  takeUnknown(holder: BodyHolder, signal: Signal): Share | Promise<Share>;
  /**
   * Awaited before a large document is parsed, which takes several times the memory of its bytes.
   */
  takeWork(bytes: number, holder: BodyHolder, signal: Signal): Share | Promise<Share>;
  /** Awaited before a document with this many JSON values is parsed. */
  takeValues(values: number, holder: BodyHolder, signal: Signal): Share | Promise<Share>;
  /** Awaited before a request copies its data for many recipients, up to COPIES_BYTES. */
  takeCopies(holder: BodyHolder, signal: Signal): Share | Promise<Share>;
  /** Bytes taken by all requests. */
  takenBytes(): number;
  /** JSON values taken by all requests. */
  takenValues(): number;
};

/** Largest body of the small and of the medium pool. */
export const SMALL_BYTES = 64 * KIB;
const MEDIUM_BYTES = 1 * MIB;

/** Limit of the copies that one request makes. Two projects can make this much at the same time. */
export const COPIES_BYTES = 24 * MIB;

/** Bytes of the large documents that are parsed and handled at the same time. */
const MAX_PARSING_BYTES = 24 * MIB;

/** JSON values in memory at the same time; each takes about 100 bytes. */
const MAX_VALUES = 600_000;

/** Smallest share: even a request with an empty body takes some memory. */
const MIN_SHARE_BYTES = 1 * KIB;

/**
 * Bun buffers about this much of a body that is not read yet, and then stops reading its socket.
 */
export const UNREAD_BYTES = 1.25 * MIB;
/** Bodies of unknown length that are received at the same time, before they grow. */
const MAX_UNKNOWN = 100;
/** Limit of the unread bytes that the requests waiting for one pool hold together. */
const MAX_UNREAD_BYTES = 48 * MIB;

/** Requests that wait to copy more data; each has made up to 256 KiB of copies already. */
const MAX_WAITING_FOR_COPIES = 200;

/** Longest wait for a share. */
const WAIT_MS = 15_000;
const RETRY_SECONDS = 5;
/** Fraction of each pool that one project may take, so that other projects never find it full. */
const PROJECT_SHARE = 2 / 3;

export function createBodyBudget(clock: Clock): BodyBudget {
  const common = { clock, waitMs: WAIT_MS, maxShareOfOne: PROJECT_SHARE };
  const pool = (capacity: number) =>
    createFairPool({
      ...common,
      capacity,
      waitingCost: (bytes) => Math.min(bytes, UNREAD_BYTES),
      maxWaitingCost: MAX_UNREAD_BYTES,
    });
  const small = pool(16 * MIB);
  const medium = pool(16 * MIB);
  const large = pool(60 * MIB);
  const unknown = pool(MAX_UNKNOWN * UNREAD_BYTES);
  const publicKeys = pool(16 * MIB);
  /**
   * Requests that wait for these pools hold a share of bytes already, which bounds their number.
   */
  const unbounded = { waitingCost: () => 0, maxWaitingCost: 0 };
  const work = createFairPool({
    ...common,
    ...unbounded,
    capacity: MAX_PARSING_BYTES,
    maxShareOfOne: 1,
  });
  const values = createFairPool({ ...common, ...unbounded, capacity: MAX_VALUES });
  const copies = createFairPool({
    ...common,
    capacity: 2 * COPIES_BYTES,
    maxShareOfOne: 1 / 2,
    waitingCost: () => 1,
    maxWaitingCost: MAX_WAITING_FOR_COPIES,
  });
  const pools = [small, medium, large, unknown, publicKeys];

  function poolFor(bytes: number, { isPublic }: BodyHolder): FairPool {
    if (isPublic) return publicKeys;
    return bytes <= SMALL_BYTES ? small : bytes <= MEDIUM_BYTES ? medium : large;
  }

  return {
    takeBytes(bytes, holder, signal) {
      const amount = Math.max(bytes, MIN_SHARE_BYTES);
      return orRefuse(poolFor(bytes, holder).take({ amount, holder: holder.projectSeq, signal }));
    },
    takeUnknown({ projectSeq, isPublic }, signal) {
      const from = isPublic ? publicKeys : unknown;
      return orRefuse(from.take({ amount: UNREAD_BYTES, holder: projectSeq, signal }));
    },
    takeWork: (amount, { projectSeq }, signal) =>
      orRefuse(work.take({ amount, holder: projectSeq, signal })),
    takeValues: (amount, { projectSeq, isPublic }, signal) =>
      orRefuse(values.take({ amount, holder: isPublic ? -projectSeq : projectSeq, signal })),
    takeCopies: ({ projectSeq }, signal) =>
      orRefuse(copies.take({ amount: COPIES_BYTES, holder: projectSeq, signal })),
    takenBytes: () => pools.reduce((sum, { taken }) => sum + taken(), 0),
    takenValues: values.taken,
  };
}

/**
 * Share of a body of unknown length that has grown to `bytes`: the largest body of the medium or of
 * the large pool. A growing body waits only for a later pool while it holds a share of an earlier
 * one, so two growing bodies cannot wait for each other.
 */
export function grownShare(bytes: number, limitBytes: number): number {
  return Math.min(bytes <= MEDIUM_BYTES ? MEDIUM_BYTES : limitBytes, limitBytes);
}

function orRefuse(share: Share | Promise<Share>): Share | Promise<Share> {
  if (!(share instanceof Promise)) return share;
  return share.catch((error: unknown) => {
    throw error instanceof PoolExhaustedError ? tooMany() : error;
  });
}

function tooMany(): AppError {
  const message = "The server is receiving too many request bodies at the same time.";
  return new AppError(503, "SERVICE_UNAVAILABLE", message, {
    suggestion: "Nothing was stored. Send the request again after the seconds in Retry-After.",
    headers: { "Retry-After": String(RETRY_SECONDS) },
  });
}
