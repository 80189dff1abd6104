/**
 * Reads the JSON bodies of requests. The checks run in this order: content coding, size, memory
 * budget, arrival of the bytes, number of values, UTF-8, JSON, and values that cannot be stored.
 * The schema of the route is checked after all of them. A large body is processed in steps, between
 * which other requests are answered.
 */

import { freeMemory } from "../lib/free-memory.ts";
import { AppError, validationError } from "../lib/errors.ts";
import { trimBlanks } from "../lib/trim.ts";
import type { BodyHolder } from "./body-budget.ts";
import { announcedBytes, type BodyBytes, TINY_BYTES } from "./body-bytes.ts";
import { BODY_LIMITS, type BodyLimit, limitOf } from "./body-limits.ts";
import { type BodyShares, LARGE_BYTES, type Received } from "./body-shares.ts";
import { refuseUnstorable, type UsedPart, usedPartOf } from "./faithful.ts";
import { isRecord } from "./validation.ts";

/** The route of a request, as the router names it, and the project that sent it. */
export type Origin = { method: string; route: string; holder: BodyHolder };

export type ReadJson = (request: Request, origin: Origin) => Promise<unknown>;

type Route = { method: string; path: string; hooks: object };
type Rules = { limit: BodyLimit; used: UsedPart };

/** Rules of routes without a body schema: the body is read and then ignored. */
const UNUSED: Rules = { limit: BODY_LIMITS.none, used: { members: new Map(), items: null } };

export function createJsonBodies(deps: {
  bytes: BodyBytes;
  shares: BodyShares;
  /** Awaited before many bytes are processed, so that other requests are answered in between. */
  yieldIfBusy: () => Promise<void>;
  /** Called with the route whose body is processed next, for the watchdog of the event loop. */
  beginWork: (name: string) => void;
}) {
  const { bytes, shares, yieldIfBusy, beginWork } = deps;
  /** Rules by route, then by method. */
  const rules = new Map<string, Map<string, Rules>>();
  async function parseReceived(
    request: Request,
    received: Received,
    { name, used, holder }: { name: string; used: UsedPart; holder: BodyHolder },
  ): Promise<unknown> {
    const size = received.bytes.byteLength;
    if (size === 0) return undefined;
    await shares.beforeParsing(request, received, holder);
    await yieldIfBusy();
    beginWork(name);
    return size > LARGE_BYTES
      ? parseInSteps(received, used, yieldIfBusy)
      : parse(received.bytes, used);
  }

  return {
    /** Reads the limits that the routes declare with `limited`; called once, with all routes. */
    learn(routes: readonly Route[]): void {
      for (const { method, path, hooks } of routes) {
        const schema: unknown = Reflect.get(hooks, "body");
        if (!isRecord(schema)) continue;
        const limit = limitOf(schema);
        if (limit === null) throw new Error(`${method} ${path} declares no body limit`);
        const ofRoute = rules.get(path) ?? new Map<string, Rules>();
        rules.set(path, ofRoute.set(method, { limit, used: usedPartOf(schema) }));
      }
    },

    /** Resolves to the parsed JSON body, or to undefined if there is none. */
    async read(request: Request, { method, route, holder }: Origin): Promise<unknown> {
      const { limit, used } = rules.get(route)?.get(method) ?? UNUSED;
      refuseEncoded(request);
      const announced = announcedBytes(request);
      // A document never has more values than bytes, so these need not be counted.
      const maxUncounted = Math.min(TINY_BYTES, limit.values);
      if (announced !== null && announced > 0 && announced <= maxUncounted) {
        return parse(await bytes.receiveTiny(request, announced, holder), used);
      }
      try {
        const received = await bytes.receive(request, announced, { limit, holder });
        return await parseReceived(request, received, { name: `${method} ${route}`, used, holder });
      } catch (error) {
        shares.giveBack(request);
        throw error;
      }
    },
  };
}

function parse(bytes: Uint8Array, used: UsedPart): unknown {
  const value = parseJson(decodeUtf8(bytes));
  refuseUnstorable(value, used);
  return ensureObject(value);
}

/**
 * Each step takes up to a tenth of a second, as can the handler of the route after the last one. So
 * each step after the first begins in an iteration that was not used for another large body. Memory
 * is freed as early as possible.
 */
async function parseInSteps(
  { bytes }: Received,
  used: UsedPart,
  yieldIfBusy: () => Promise<void>,
): Promise<unknown> {
  let text = decodeUtf8(bytes);
  freeMemory(bytes);
  await yieldIfBusy();
  const value = parseJson(text);
  text = "";
  await yieldIfBusy();
  refuseUnstorable(value, used);
  await yieldIfBusy();
  return ensureObject(value);
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
