/**
 * Reads the bodies of requests. A hostile body stays bounded in five ways, checked in this order:
 *
 * 1. Each route limits the bytes of its body (body-limits.ts): 413.
 * 2. All bodies in memory share pools of bytes, of which one project gets a part. A request waits for
 *    its share up to 15 s, and gets 503 if too many wait. It returns its shares after the response.
 * 3. After a grace period the bytes must arrive at 64 KiB per second (body-arrivals.ts): 408.
 * 4. Values, levels of nesting and escape sequences are counted as the bytes arrive (json-checks.ts),
 *    because a parsed document takes up to thirty times the memory of its bytes: 422.
 * 5. Values that cannot be stored unchanged are refused: 422.
 *
 * The schema of the route is checked after all of them.
 */

import type { App } from "../core/app.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError, fieldError, validationError } from "../lib/errors.ts";
import { createFairPool, PoolExhaustedError, type Share } from "../lib/fair-pool.ts";
import { freeMemory } from "../lib/free-memory.ts";
import { createGarbage } from "../lib/garbage.ts";
import { perApp } from "../lib/per-app.ts";
import { trimBlanks } from "../lib/trim.ts";
import { createYield } from "../lib/yield.ts";
import { clientDisconnected, createArrivals } from "./body-arrivals.ts";
import { BODY_LIMITS, type BodyLimit, limitOf, sizeText } from "./body-limits.ts";
import { createJsonBounds, refuseUnstorable, type UsedPart, usedPartOf } from "./json-checks.ts";
import { isRecord } from "./validation.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** The part of a pool that one project may take. */
const PROJECT_SHARE = 2 / 3;
const WAIT_MS = 15_000;
const RETRY_SECONDS = 5;
/** Bun buffers about this much of a body that is not read yet, and then stops reading its socket. */
const UNREAD_BYTES = 1.25 * MIB;
/** Limit of the unread bytes that the requests waiting for one pool hold together. */
const MAX_UNREAD_BYTES = 48 * MIB;
/** Bodies of unknown length that are received at the same time, before they grow. */
const MAX_UNKNOWN = 100;
/** Requests that wait to copy more data; each has made up to 256 KiB of copies already. */
const MAX_WAITING_FOR_COPIES = 200;

/** A body of up to this size is within the limits of every route. */
const TINY_BYTES = 4 * KIB;
/** Largest body of the small and of the medium pool. */
const SMALL_BYTES = 64 * KIB;
const MEDIUM_BYTES = 1 * MIB;
/** A larger document is processed in steps, between which other requests are answered. */
const LARGE_BYTES = 256 * KIB;
/** Memory of a body that is written to disk piece by piece. */
const STREAM_BYTES = 2 * MIB;
/** Documents with fewer values take no share for them. */
const FREE_VALUES = 1_000;
const VALUE_BYTES = 100;
/** Limit of the copies that one request makes. Two projects can make this much at the same time. */
export const COPIES_BYTES = 24 * MIB;

/** The project that a body is counted for. */
type BodyHolder = { projectSeq: number; isPublic: boolean };
/** The route of a request, as the router names it, and the project that sent it. */
export type Origin = { method: string; route: string; holder: BodyHolder };
export type ReadJson = (request: Request, origin: Origin) => Promise<unknown>;
export type Bodies = ReturnType<typeof createBodies>;

type Route = { method: string; path: string; hooks: object };
type Rules = { limit: BodyLimit; used: UsedPart };
type Reading = Rules & {
  /** Method and path of the route. */
  name: string;
  holder: BodyHolder;
  bounds: ReturnType<typeof createJsonBounds>;
};

/** Rules of routes without a body schema: the body is read and then ignored. */
const UNUSED: Rules = { limit: BODY_LIMITS.none, used: { members: new Map(), items: null } };

export const bodiesOf = perApp(({ clock, loopWatch }: App) =>
  createBodies({ clock, beginWork: (route) => loopWatch.begin("route", route) }),
);

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

  /** Receives a body of more than 64 KiB or of unknown length. */
  async function receivePieces(
    request: Request,
    announced: number | null,
    { limit, holder, bounds }: Reading,
  ): Promise<Uint8Array> {
    const firstBytes = announced ?? unknownBytes(limit, holder);
    let share = await (announced === null
      ? shares.takeUnknown(request, firstBytes, holder)
      : shares.takeBytes(request, announced, holder));
    let bytes = Buffer.allocUnsafeSlow(firstBytes);
    let size = 0;
    let last: Uint8Array = bytes;
    try {
      for await (const piece of arrivals.pieces(request, holder)) {
        last = piece;
        const needed = size + piece.byteLength;
        if (needed > limit.bytes) throw tooLarge(limit.bytes);
        await yieldIfBusy();
        bounds.add(piece);
        if (needed > bytes.length) {
          const larger = grownBytes(needed, limit);
          const before = share;
          share = await shares.takeBytes(request, larger, holder);
          before.release();
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
    return bytes.subarray(0, size);
  }

  async function receiveSmall(
    request: Request,
    announced: number,
    { limit, holder, bounds }: Reading,
  ): Promise<Uint8Array> {
    await shares.takeBytes(request, announced, holder);
    const bytes = await arrivals.whole(request, holder);
    if (bytes.length > limit.bytes) throw tooLarge(limit.bytes);
    bounds.add(bytes);
    return bytes;
  }

  /** Takes the shares for the values of a received body, and for parsing a large one. */
  async function takeForParsing(
    request: Request,
    bytes: Uint8Array,
    { bounds, holder }: Reading,
  ): Promise<void> {
    const values = bounds.values();
    shares.addGarbage(request, bytes.length + values * VALUE_BYTES);
    try {
      if (values > FREE_VALUES) {
        await shares.takeFrom("values", request, { amount: values * VALUE_BYTES, holder });
      }
      if (bytes.length > LARGE_BYTES) {
        await shares.takeFrom("work", request, { amount: bytes.length, holder });
      }
    } catch (error) {
      freeMemory(bytes);
      throw error;
    }
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
    return ensureObject(value, used);
  }

  async function receiveAndParse(
    request: Request,
    announced: number | null,
    reading: Reading,
  ): Promise<unknown> {
    const bytes =
      announced !== null && announced <= SMALL_BYTES
        ? await receiveSmall(request, announced, reading)
        : await receivePieces(request, announced, reading);
    if (bytes.length === 0) return undefined;
    await takeForParsing(request, bytes, reading);
    await yieldIfBusy();
    beginWork(reading.name);
    return parse(bytes, reading.used, bytes.length > LARGE_BYTES);
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
          const share = await shares.takeBytes(request, announced, holder);
          const bytes = await arrivals.whole(request, holder);
          share.release();
          return await parse(bytes, used, false);
        }
        const bounds = createJsonBounds(limit.values);
        return await receiveAndParse(request, announced, { limit, used, name, holder, bounds });
      } catch (error) {
        shares.returnAll(request);
        throw error;
      }
    },

    /**
     * Resolves to the bytes of a JSON document, of which a signature is checked before `parseDocument`
     * parses it. The values are counted already.
     */
    async readBytes(
      request: Request,
      { limit, name, holder }: Pick<Reading, "limit" | "name" | "holder">,
    ): Promise<Uint8Array> {
      refuseEncoded(request);
      const announced = announcedBytes(request);
      if (announced !== null && announced > limit.bytes) throw tooLarge(limit.bytes);
      if (announced === 0 || request.body === null) throw emptyBody();
      const bounds = createJsonBounds(limit.values);
      const reading = { limit, used: UNUSED.used, name, holder, bounds };
      try {
        const bytes =
          announced !== null && announced <= SMALL_BYTES
            ? await receiveSmall(request, announced, reading)
            : await receivePieces(request, announced, reading);
        await takeForParsing(request, bytes, reading);
        await yieldIfBusy();
        beginWork(name);
        return bytes;
      } catch (error) {
        shares.returnAll(request);
        throw error;
      }
    },

    /** Resolves to the pieces of a body that is not held in memory as a whole. */
    async pieces(request: Request, holder: BodyHolder): Promise<AsyncGenerator<Uint8Array>> {
      await shares.takeBytes(request, STREAM_BYTES, holder);
      return arrivals.pieces(request, holder);
    },

    /** Awaited before a request copies its data for many recipients. */
    async takeCopies(request: Request, holder: BodyHolder): Promise<void> {
      await shares.takeFrom("copies", request, { amount: COPIES_BYTES, holder });
      shares.addGarbage(request, COPIES_BYTES);
    },

    /** Returns the shares of a request; called after its response. */
    returnShares: shares.returnAll,
  };
}

/** Bytes that a body of unknown length may have before it grows. With a public key it never grows. */
function unknownBytes(limit: BodyLimit, { isPublic }: BodyHolder): number {
  return isPublic ? limit.bytes : Math.min(SMALL_BYTES, limit.bytes);
}

/** Size to which a body of unknown length grows: the largest of the medium or of the large pool. */
function grownBytes(needed: number, limit: BodyLimit): number {
  return Math.min(needed <= MEDIUM_BYTES ? MEDIUM_BYTES : limit.bytes, limit.bytes);
}

/**
 * The memory of all requests. The pools are separate, so that small bodies never wait for large ones,
 * nor secret keys for public ones. While a request waits for a pool, it holds shares only of the pools
 * above it in this list, so two requests can never wait for each other.
 */
function createPools(clock: Clock) {
  const common = { clock, waitMs: WAIT_MS, maxShareOfOne: PROJECT_SHARE };
  const bytesPool = (capacity: number) =>
    createFairPool({
      ...common,
      capacity,
      waitingCost: (bytes) => Math.min(bytes, UNREAD_BYTES),
      maxWaitingCost: MAX_UNREAD_BYTES,
    });
  /** The requests that wait hold shares of bytes already, which bound their number. */
  const waitFreely = { waitingCost: () => 0, maxWaitingCost: 0 };
  return {
    publicKeys: bytesPool(16 * MIB),
    small: bytesPool(16 * MIB),
    /** Bodies of unknown length until they grow; each share covers what Bun buffers of one. */
    unknown: bytesPool(MAX_UNKNOWN * UNREAD_BYTES),
    medium: bytesPool(16 * MIB),
    large: bytesPool(60 * MIB),
    /** JSON values, which take about 100 bytes each. */
    values: createFairPool({ ...common, ...waitFreely, capacity: 60 * MIB }),
    /** Documents of more than 256 KiB, which take several times their bytes until the response. */
    work: createFairPool({ ...common, ...waitFreely, capacity: 24 * MIB, maxShareOfOne: 1 }),
    /** Copies of the data of a request for each of its recipients. */
    copies: createFairPool({
      ...common,
      capacity: 2 * COPIES_BYTES,
      maxShareOfOne: 1 / 2,
      waitingCost: () => 1,
      maxWaitingCost: MAX_WAITING_FOR_COPIES,
    }),
  };
}
type PoolName = keyof ReturnType<typeof createPools>;

/** The shares that a request holds, and the memory that becomes garbage after its response. */
type Held = { shares: Share[]; garbageBytes: number };

/** The shares of the pools that each request holds. */
function createShares(clock: Clock) {
  const pools = createPools(clock);
  const garbage = createGarbage({ clock });
  const held = new WeakMap<Request, Held>();

  function heldBy(request: Request): Held {
    const known = held.get(request);
    if (known !== undefined) return known;
    const none: Held = { shares: [], garbageBytes: 0 };
    held.set(request, none);
    return none;
  }

  async function takeFrom(
    name: PoolName,
    request: Request,
    { amount, holder: { projectSeq, isPublic } }: { amount: number; holder: BodyHolder },
  ): Promise<Share> {
    try {
      const taken = pools[name].take({
        amount: Math.max(amount, KIB),
        holder: isPublic ? -projectSeq : projectSeq,
        signal: () => request.signal,
      });
      const share = taken instanceof Promise ? await taken : taken;
      heldBy(request).shares.push(share);
      return share;
    } catch (error) {
      if (request.signal.aborted) throw clientDisconnected();
      throw error instanceof PoolExhaustedError ? tooMany() : error;
    }
  }

  return {
    takeFrom,

    /** Awaited before bytes of a body are received. */
    takeBytes: (request: Request, bytes: number, holder: BodyHolder): Promise<Share> =>
      takeFrom(poolFor(bytes, holder), request, { amount: bytes, holder }),

    /** Awaited before the first bytes of a body of unknown length are received. */
    takeUnknown(request: Request, bytes: number, holder: BodyHolder): Promise<Share> {
      const amount = Math.max(bytes, UNREAD_BYTES);
      return takeFrom(holder.isPublic ? "publicKeys" : "unknown", request, { amount, holder });
    },

    /** Records memory of a request that becomes garbage after its response. */
    addGarbage(request: Request, bytes: number): void {
      heldBy(request).garbageBytes += bytes;
    },

    returnAll(request: Request): void {
      const known = held.get(request);
      if (known === undefined) return;
      held.delete(request);
      for (const share of known.shares) share.release();
      garbage.add(known.garbageBytes);
    },

    takenBytes(): number {
      const { publicKeys, small, unknown, medium, large } = pools;
      return [publicKeys, small, unknown, medium, large].reduce(
        (sum, { taken }) => sum + taken(),
        0,
      );
    },
    takenValues: pools.values.taken,
  };
}

function poolFor(bytes: number, { isPublic }: BodyHolder): PoolName {
  if (isPublic) return "publicKeys";
  return bytes <= SMALL_BYTES ? "small" : bytes <= MEDIUM_BYTES ? "medium" : "large";
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

/** Parses the bytes of `readBytes`. Throws 400. */
export function parseDocument(bytes: Uint8Array): unknown {
  return parseJson(decodeUtf8(bytes));
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
 * Throws 422 for JSON that is no object, unless the route takes an array. The schema of an optional
 * body would not refuse it.
 */
function ensureObject(value: unknown, used: UsedPart): unknown {
  if (value === null || isRecord(value)) return value;
  if (Array.isArray(value) && used !== "everything" && used.items !== null) return value;
  throw validationError([{ field: "", message: "must be an object", code: "invalid_type" }]);
}

function invalidJson(message: string): AppError {
  return new AppError(400, "INVALID_JSON", message, {
    suggestion: "Send a JSON document in UTF-8 with Content-Type: application/json.",
  });
}
