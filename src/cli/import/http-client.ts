/**
 * JSON over HTTP, for the interface of another product and for that of the server. A refusal because of
 * too many requests is waited for; another one ends the command.
 */

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value, type ValueError } from "@sinclair/typebox/value";
import { AppError } from "../../lib/errors.ts";

const ANSWER_LIMIT_MS = 60_000;
/** For the file of an import, which may be 100 MiB. */
const UPLOAD_LIMIT_MS = 20 * 60_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const MAX_REPEATS = 20;
const LONGEST_WAIT_SECONDS = 60;
const DEFAULT_WAIT_SECONDS = 1;
const LONGEST_REASON = 500;

type Request = { method?: string; body?: string | FormData; headers?: Record<string, string> };

export type HttpClient = ReturnType<typeof createHttpClient>;

/** `name` says in messages who is asked. */
export function createHttpClient({
  name,
  url,
  credentials,
}: {
  name: string;
  url: string;
  /** The header field with the key. */
  credentials: Readonly<Record<string, string>>;
}) {
  const base = url.endsWith("/") ? url.slice(0, -1) : url;

  async function send(path: string, { method = "GET", body, headers }: Request): Promise<Response> {
    for (let repeats = 0; ; repeats++) {
      const response = await fetch(base + path, {
        method,
        headers: { ...credentials, ...headers },
        // A redirect could lead the key to another server.
        redirect: "error",
        signal: AbortSignal.timeout(body instanceof FormData ? UPLOAD_LIMIT_MS : ANSWER_LIMIT_MS),
        ...(body === undefined ? {} : { body }),
      }).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        throw new AppError(503, "UNREACHABLE", `${name} at ${base} gives no answer: ${reason}`);
      });
      const mayRepeat = response.status === 429 || response.status === 503;
      if (!mayRepeat || repeats === MAX_REPEATS) return response;
      await response.body?.cancel();
      await Bun.sleep(1000 * secondsToWait(response));
    }
  }

  async function request(path: string, options: Request = {}): Promise<string> {
    const response = await send(path, options);
    const text = await readBounded(response, name);
    if (response.ok) return text;
    const reason = reasonIn(text) ?? `it answered with status ${response.status}`;
    throw new AppError(response.status, "REFUSED", `${name}, ${path}: ${reason}`);
  }

  return {
    text: request,
    get: async (path: string): Promise<unknown> => parseAnswer(await request(path), name),
    post: async (path: string, body: unknown): Promise<unknown> =>
      parseAnswer(
        await request(path, {
          method: "POST",
          body: JSON.stringify(body),
          headers: { "content-type": "application/json" },
        }),
        name,
      ),
    postForm: async (path: string, body: FormData): Promise<unknown> =>
      parseAnswer(await request(path, { method: "POST", body }), name),
  };
}

function secondsToWait(response: Response): number {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0
    ? Math.min(seconds, LONGEST_WAIT_SECONDS)
    : DEFAULT_WAIT_SECONDS;
}

async function readBounded(response: Response, name: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) {
      throw new AppError(502, "TOO_LARGE", `An answer of ${name} is larger than 64 MiB.`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseAnswer(text: string, name: string): unknown {
  const value = parseOrNull(text);
  if (value !== null) return value;
  throw new AppError(502, "INVALID_ANSWER", `${name} answered with something that is no JSON.`);
}

/** Null if the text is no JSON, such as the HTML of a proxy. */
function parseOrNull(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return null;
  }
}

const Message = Type.Object({ message: Type.String() });
const Refused = Type.Union([
  Type.Object({ error: Message }),
  Message,
  Type.Object({ error: Type.String() }),
]);

/** The reason in a refusal: this server, Plunk and Resend, and listmonk write it in their ways. */
function reasonIn(text: string): string | null {
  const body = parseOrNull(text);
  if (!Value.Check(Refused, body)) return null;
  const reason =
    "message" in body
      ? body.message
      : typeof body.error === "string"
        ? body.error
        : body.error.message;
  return reason.slice(0, LONGEST_REASON);
}

/** Reads an answer whose shape is known; `what` names it in the error. */
export function parseShape<T extends TSchema>(schema: T, value: unknown, what: string): Static<T> {
  if (Value.Check(schema, value)) return value;
  const first = Value.Errors(schema, value).First();
  const fault = first === undefined ? undefined : innermost(first);
  const at = fault === undefined ? "" : ` at ${fault.path || "/"}: ${fault.message}`;
  throw new AppError(502, "INVALID_ANSWER", `${what} has an unknown form${at}.`);
}

/** Errors of a variant that are counted. */
const MAX_COUNTED = 20;

/**
 * The error inside the variant of a union that fits best: the one whose first error is deepest in the
 * value, and among several the one with the fewest errors.
 */
function innermost(error: ValueError): ValueError {
  const variants = error.errors.flatMap((errors) => {
    const counted = Iterator.from(errors).take(MAX_COUNTED).toArray();
    const [first] = counted;
    if (first === undefined) return [];
    return [{ first, depth: first.path.split("/").length, count: counted.length }];
  });
  const [best] = variants.toSorted((a, b) => b.depth - a.depth || a.count - b.count);
  return best === undefined ? error : innermost(best.first);
}

/** All items of a list of the server, which is read page by page. */
export async function listAll<T extends TSchema>(
  server: Pick<HttpClient, "get">,
  path: string,
  item: T,
): Promise<Static<T>[]> {
  const List = Type.Object({
    data: Type.Object({
      items: Type.Array(item),
      nextCursor: Type.Union([Type.String(), Type.Null()]),
    }),
  });
  const all: Static<T>[] = [];
  let cursor: string | null = null;
  do {
    const after: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { data }: Static<typeof List> = parseShape(
      List,
      await server.get(`${path}${path.includes("?") ? "&" : "?"}limit=100${after}`),
      `The server's answer to ${path}`,
    );
    all.push(...data.items);
    cursor = data.nextCursor;
  } while (cursor !== null);
  return all;
}
