/**
 * Reads the bodies of requests. A hostile body stays bounded in five ways, checked in this order:
 *
 * 1. Each route limits the bytes of its body (body-limits.ts): 413.
 * 2. All bodies in memory share pools of bytes, of which one project gets a part. A request waits for
 *    its share up to 15 s, and gets 503 if too many wait. It returns its shares after the response.
 * 3. After a grace period the bytes must arrive at 64 KiB per second: 408.
 * 4. Values, levels of nesting and escape sequences are counted as the bytes arrive (json-checks.ts),
 *    because a parsed document takes up to thirty times the memory of its bytes: 422.
 * 5. Values that cannot be stored unchanged are refused: 422.
 *
 * The schema of the route is checked after all of them.
 */

import type { Clock } from "../lib/clock.ts";
import { AppError, fieldError, validationError } from "../lib/errors.ts";
import { createFairPool, type FairPool, PoolExhaustedError, type Share } from "../lib/fair-pool.ts";
import { freeMemory } from "../lib/free-memory.ts";
import { createGarbage } from "../lib/garbage.ts";
import { trimBlanks } from "../lib/trim.ts";
import { createYield } from "../lib/yield.ts";
import { BODY_LIMITS, type BodyLimit, limitOf, sizeText } from "./body-limits.ts";
import { createJsonBounds, refuseUnstorable, type UsedPart, usedPartOf } from "./json-checks.ts";
import { isRecord } from "./validation.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * Memory of all requests. The pools are separate, so that small bodies never wait for large ones, nor
 * secret keys for public ones, and so that a request which holds a share of one pool waits only for a
 * later one: two requests can never wait for each other.
 */
const POOLS = {
  publicKeys: 16 * MIB,
  small: 16 * MIB,
  large: 76 * MIB,
  /** JSON values, which take about 100 bytes each. */
  values: 60 * MIB,
  /** Copies of the data of a request for each of its recipients. */
  copies: 48 * MIB,
};
type PoolName = keyof typeof POOLS;

/** The part of a pool that one project may take. */
const PROJECT_SHARE = 2 / 3;
const WAIT_MS = 15_000;
const RETRY_SECONDS = 5;
/** Bun buffers about this much of a body that is not read yet, and then stops reading its socket. */
const UNREAD_BYTES = 1.25 * MIB;
/** Limit of the unread bytes that the requests waiting for one pool hold together. */
const MAX_UNREAD_BYTES = 48 * MIB;

/** A body of up to this size is within the limits of every route. */
const TINY_BYTES = 4 * KIB;
/** Largest body of the small pool. */
const SMALL_BYTES = 64 * KIB;
/** A larger document is processed in steps, between which other requests are answered. */
const LARGE_BYTES = 256 * KIB;
/** Memory of a body that is written to disk piece by piece. */
const STREAM_BYTES = 2 * MIB;
/** Documents with fewer values take no share for them. */
const FREE_VALUES = 1_000;
const VALUE_BYTES = 100;
/** Limit of the copies that one request makes. Two requests can make this much at the same time. */
export const COPIES_BYTES = 24 * MIB;

/** Time until the minimum rate applies. */
const GRACE_MS = 10_000;
/** With a public key it is shorter, because an event fits into one packet. */
const PUBLIC_GRACE_MS = 5_000;
/** 64 KiB per second. */
const MIN_BYTES_PER_MS = (64 * KIB) / 1000;

/** The project that a body is counted for. */
type BodyHolder = { projectSeq: number; isPublic: boolean };
/** The route of a request, as the router names it, and the project that sent it. */
export type Origin = { method: string; route: string; holder: BodyHolder };
export type ReadJson = (request: Request, origin: Origin) => Promise<unknown>;
export type Arrivals = ReturnType<typeof createArrivals>;
export type Bodies = ReturnType<typeof createBodies>;

type Route = { method: string; path: string; hooks: object };
type Rules = { limit: BodyLimit; used: UsedPart };

/** Rules of routes without a body schema: the body is read and then ignored. */
const UNUSED: Rules = { limit: BODY_LIMITS.none, used: { members: new Map(), items: null } };

export function createBodies(deps: {
  clock: Clock;
  /** Called with the route whose body is processed next, for the watchdog of the event loop. */
  beginWork: (name: string) => void;
}) {
  const { clock, beginWork } = deps;
  const rules = new Map<string, Rules>();
  const arrivals = createArrivals(clock);
  const shares = createShares(clock);
  const yieldIfBusy = createYield();

  /**
   * Receives a body of a known or unknown length. One of unknown length first takes a share for 64 KiB,
   * and if it is longer, one for the limit of the route.
   */
  async function receive(
    request: Request,
    announced: number | null,
    limit: BodyLimit,
    holder: BodyHolder,
  ): Promise<{ bytes: Uint8Array; values: number }> {
    const bounds = createJsonBounds(limit.values);
    let bytes = Buffer.allocUnsafeSlow(announced ?? Math.min(SMALL_BYTES, limit.bytes));
    let share = await shares.take(request, bytes.length, holder);
    let size = 0;
    for await (const piece of arrivals.pieces(request, holder)) {
      const needed = size + piece.byteLength;
      if (needed > limit.bytes) throw tooLarge(limit.bytes);
      if (announced === null || announced > SMALL_BYTES) await yieldIfBusy();
      bounds.add(piece);
      if (needed > bytes.length) {
        const larger = await shares.take(request, limit.bytes, holder);
        share.release();
        share = larger;
        bytes = enlarge(bytes, limit.bytes);
      }
      bytes.set(piece, size);
      freeMemory(piece);
      size = needed;
    }
    share.shrinkTo(size);
    return { bytes: bytes.subarray(0, size), values: bounds.values() };
  }

  /**
   * Each step takes up to a tenth of a second, as can the handler of the route after the last one. So
   * each step begins in an iteration of the event loop that was not used for another large body.
   */
  async function parse(bytes: Uint8Array, used: UsedPart, isLarge: boolean): Promise<unknown> {
    let text = decodeUtf8(bytes);
    if (isLarge) {
      freeMemory(bytes);
      await yieldIfBusy();
    }
    const value = parseJson(text);
    text = "";
    if (isLarge) await yieldIfBusy();
    refuseUnstorable(value, used);
    if (isLarge) await yieldIfBusy();
    return ensureObject(value);
  }

  async function readReceived(
    request: Request,
    announced: number | null,
    { limit, used, name, holder }: Rules & { name: string; holder: BodyHolder },
  ): Promise<unknown> {
    const { bytes, values } = await receive(request, announced, limit, holder);
    if (bytes.length === 0) return undefined;
    if (values > FREE_VALUES) {
      await shares.takeFrom("values", request, values * VALUE_BYTES, holder);
    }
    const isLarge = bytes.length > LARGE_BYTES;
    if (isLarge) await yieldIfBusy();
    beginWork(name);
    return parse(bytes, used, isLarge);
  }

  return {
    takenBytes: shares.takenBytes,
    takenValues: shares.takenValues,
    arrivals,

    /** Reads the limits that the routes declare with `limited`; called once, with all routes. */
    registerRoutes(routes: readonly Route[]): void {
      for (const { method, path, hooks } of routes) {
        const schema: unknown = Reflect.get(hooks, "body");
        if (!isRecord(schema)) continue;
        const limit = limitOf(schema);
        if (limit === null) throw new Error(`${method} ${path} declares no body limit`);
        rules.set(`${method} ${path}`, { limit, used: usedPartOf(schema) });
      }
    },

    /** Resolves to the parsed JSON body of a request, or to undefined if there is none. */
    async readJson(request: Request, { method, route, holder }: Origin): Promise<unknown> {
      const name = `${method} ${route}`;
      const { limit, used } = rules.get(name) ?? UNUSED;
      refuseEncoded(request);
      const announced = announcedBytes(request);
      if (announced !== null && announced > limit.bytes) throw tooLarge(limit.bytes);
      if (announced === 0 || (announced === null && request.body === null)) return undefined;
      try {
        // So few bytes cannot contain many values or levels, so they are not counted.
        if (announced !== null && announced <= Math.min(TINY_BYTES, limit.values)) {
          const share = await shares.take(request, announced, holder);
          const bytes = await arrivals.whole(request, holder);
          share.release();
          return await parse(bytes, used, false);
        }
        return await readReceived(request, announced, { limit, used, name, holder });
      } catch (error) {
        shares.returnAll(request);
        throw error;
      }
    },

    /** Resolves to the pieces of a body that is not held in memory as a whole. */
    async pieces(request: Request, holder: BodyHolder): Promise<AsyncGenerator<Uint8Array>> {
      await shares.take(request, STREAM_BYTES, holder);
      return arrivals.pieces(request, holder);
    },

    /** Awaited before a request copies its data for many recipients. */
    takeCopies: (request: Request, holder: BodyHolder): Promise<unknown> =>
      shares.takeFrom("copies", request, COPIES_BYTES, holder),

    /** Returns the shares of a request; called after its response. */
    returnShares: shares.returnAll,
  };
}

/** The shares of the pools that each request holds. */
function createShares(clock: Clock) {
  const pools = new Map<PoolName, FairPool>();
  for (const name of ["publicKeys", "small", "large", "values", "copies"] as const) {
    const options = {
      clock,
      capacity: POOLS[name],
      waitMs: WAIT_MS,
      maxShareOfOne: name === "copies" ? 1 / 2 : PROJECT_SHARE,
      waitingCost: (bytes: number) => Math.min(bytes, UNREAD_BYTES),
      maxWaitingCost: name === "values" ? Infinity : MAX_UNREAD_BYTES,
    };
    pools.set(name, createFairPool(options));
  }
  const held = new WeakMap<Request, Share[]>();
  const heldBytes = new WeakMap<Request, number>();
  const garbage = createGarbage({ clock });

  const takenFrom = (name: PoolName): number => pools.get(name)?.taken() ?? 0;

  async function takeFrom(
    name: PoolName,
    request: Request,
    bytes: number,
    { projectSeq, isPublic }: BodyHolder,
  ): Promise<Share> {
    const holder = isPublic ? -projectSeq : projectSeq;
    try {
      const ask = { amount: Math.max(bytes, KIB), holder, signal: () => request.signal };
      const taken = pools.get(name)?.take(ask);
      if (taken === undefined) throw new Error(`there is no pool ${name}`);
      const share = taken instanceof Promise ? await taken : taken;
      held.set(request, [...(held.get(request) ?? []), share]);
      heldBytes.set(request, (heldBytes.get(request) ?? 0) + bytes);
      return share;
    } catch (error) {
      if (request.signal.aborted) throw clientDisconnected();
      throw error instanceof PoolExhaustedError ? tooMany() : error;
    }
  }

  return {
    takeFrom,
    /** Awaited before bytes of a body are received. */
    take: (request: Request, bytes: number, holder: BodyHolder): Promise<Share> =>
      takeFrom(poolFor(bytes, holder), request, bytes, holder),

    returnAll(request: Request): void {
      for (const share of held.get(request) ?? []) share.release();
      held.delete(request);
      garbage.add(heldBytes.get(request) ?? 0);
      heldBytes.delete(request);
    },

    takenBytes: (): number => takenFrom("publicKeys") + takenFrom("small") + takenFrom("large"),
    takenValues: (): number => takenFrom("values"),
  };
}

function poolFor(bytes: number, { isPublic }: BodyHolder): PoolName {
  if (isPublic) return "publicKeys";
  return bytes <= SMALL_BYTES ? "small" : "large";
}

const graceOf = ({ isPublic }: BodyHolder): number => (isPublic ? PUBLIC_GRACE_MS : GRACE_MS);

/** Waits for the bytes of bodies, which must arrive at a minimum rate after a grace period. */
export function createArrivals(clock: Clock) {
  return {
    /** Resolves to a small body after all of it has arrived. */
    async whole(request: Request, holder: BodyHolder): Promise<Uint8Array> {
      try {
        return await withinLimit(request.bytes(), graceOf(holder), clock);
      } catch (error) {
        throw request.signal.aborted ? clientDisconnected() : error;
      }
    },

    /** Yields the pieces of a body as they arrive. Only time spent waiting for the client counts. */
    async *pieces(request: Request, holder: BodyHolder): AsyncGenerator<Uint8Array> {
      const reader = request.body?.getReader();
      if (reader === undefined) return;
      let receivedBytes = 0;
      let waitedMs = 0;
      try {
        for (;;) {
          const allowedMs = graceOf(holder) + receivedBytes / MIN_BYTES_PER_MS - waitedMs;
          const askedAt = clock.elapsed();
          const { done, value } = await withinLimit(reader.read(), allowedMs, clock);
          waitedMs += clock.elapsed() - askedAt;
          if (done) return;
          receivedBytes += value.byteLength;
          yield value;
        }
      } catch (error) {
        throw request.signal.aborted ? clientDisconnected() : error;
      } finally {
        // This makes Bun discard the rest of the body. It fails if the connection is already closed.
        reader.cancel().catch(() => undefined);
      }
    },
  };
}

async function withinLimit<T>(arriving: Promise<T>, limitMs: number, clock: Clock): Promise<T> {
  const late = Promise.withResolvers<never>();
  const cancel = clock.after(Math.max(0, limitMs), () => late.reject(tooSlow()));
  try {
    return await Promise.race([arriving, late.promise]);
  } finally {
    cancel();
  }
}

/** This response closes the connection, which would otherwise wait for the rest of the body. */
function tooSlow(): AppError {
  return new AppError(408, "REQUEST_TIMEOUT", "The body did not arrive in time.", {
    suggestion: "Send the request again, at 64 KiB per second or faster.",
    headers: { Connection: "close" },
  });
}

/** The client cannot read this response: it closed the connection, or sent malformed chunks. */
function clientDisconnected(): AppError {
  const message = "The connection was closed before the body was complete.";
  return new AppError(400, "BAD_REQUEST", message);
}

/** Throws 415 for a body with a content coding, which is not decoded (RFC 9110 §8.4, §15.5.16). */
export function refuseEncoded(request: Request): void {
  const encoding = trimBlanks(request.headers.get("content-encoding") ?? "").toLowerCase();
  if (encoding === "" || encoding === "identity") return;
  throw new AppError(415, "UNSUPPORTED_MEDIA_TYPE", "A compressed body is not accepted.", {
    suggestion: "Send the body as it is, without Content-Encoding.",
    headers: { "Accept-Encoding": "identity" },
  });
}

function enlarge(bytes: Uint8Array, size: number) {
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

function tooMany(): AppError {
  const message = "The server is receiving too many request bodies at the same time.";
  return new AppError(503, "SERVICE_UNAVAILABLE", message, {
    suggestion: "Nothing was stored. Send the request again after the seconds in Retry-After.",
    headers: { "Retry-After": String(RETRY_SECONDS) },
  });
}

const decoder = new TextDecoder("utf-8", { fatal: true });

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalidJson("The body is not UTF-8.");
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidJson(error instanceof SyntaxError ? error.message : "The body is not JSON.");
  }
}

/**
 * Throws 422 for JSON that is not an object. The schema of an optional body would not refuse it.
 */
function ensureObject(value: unknown): unknown {
  if (value === null || isRecord(value)) return value;
  throw validationError([{ field: "", message: "must be an object", code: "invalid_type" }]);
}

function invalidJson(message: string): AppError {
  return new AppError(400, "INVALID_JSON", message, {
    suggestion: "Send a JSON document in UTF-8 with Content-Type: application/json.",
  });
}
