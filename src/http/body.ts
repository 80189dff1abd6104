/** Reads request bodies: bounded, UTF-8 and JSON as they must be, before any schema sees them. */

import { AppError, type FieldError, validationError } from "../lib/errors.ts";
import { DEEPEST_NESTING } from "../lib/nesting.ts";
import { isRecord, MOST_ERRORS } from "./validation.ts";

/** Interface decision A: 20 MiB. */
export const BODY_CAP_BYTES = 20 * 1024 * 1024;

/** The parsed JSON body, or undefined where there is none. */
export async function readJson(request: Request): Promise<unknown> {
  const bytes = await readBounded(request);
  if (bytes.byteLength === 0) return undefined;
  const value = parseJson(decodeUtf8(bytes));
  refuseUnfaithful(value);
  if (value !== null && !isRecord(value)) throw notAnObject();
  return value;
}

async function readBounded(request: Request): Promise<Uint8Array> {
  const announced = Number(request.headers.get("content-length") ?? Number.NaN);
  if (announced > BODY_CAP_BYTES) throw tooLarge();
  if (request.body === null) return new Uint8Array();
  if (Number.isFinite(announced)) return request.bytes();
  return readChunked(request.body);
}

/** No length was announced: count what arrives, and stop at the cap. */
async function readChunked(body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > BODY_CAP_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
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
 * What cannot be stored or sent faithfully: U+0000 and lone surrogates, in names and values, and
 * numbers that no double holds. Parsing makes 1e400 infinite, and storing would make that null.
 */
export function refuseUnfaithful(value: unknown): void {
  const errors: FieldError[] = [];
  collectUnfaithful(value, [], errors);
  if (errors.length > 0) throw validationError(errors);
}

type Path = (string | number)[];

/** `path` is where `value` stands; it is the same array all the way down. */
function collectUnfaithful(value: unknown, path: Path, errors: FieldError[]): void {
  if (errors.length >= MOST_ERRORS) return;
  if (typeof value === "string") {
    if (isBadText(value)) errors.push(badText(path));
  } else if (typeof value === "number") {
    if (!Number.isFinite(value)) errors.push(tooLargeNumber(path));
  } else if (typeof value === "object" && value !== null) {
    if (path.length >= DEEPEST_NESTING) throw tooDeep();
    const members = Array.isArray(value) ? value.entries() : Object.entries(value);
    for (const [name, inner] of members) {
      if (typeof name === "string" && isBadText(name)) errors.push(badText(path));
      path.push(name);
      collectUnfaithful(inner, path, errors);
      path.pop();
    }
  }
}

function isBadText(text: string): boolean {
  return text.includes("\0") || !text.isWellFormed();
}

function badText(path: Path): FieldError {
  const message = "must not contain NUL characters or lone surrogates";
  return { field: dotted(path), message, code: "invalid_format" };
}

function tooLargeNumber(path: Path): FieldError {
  const message = "must be a number between -1.8e308 and 1.8e308";
  return { field: dotted(path), message, code: "invalid_type" };
}

function dotted(path: Path): string {
  return path.map((part) => String(part).toWellFormed().replaceAll("\0", "\u{fffd}")).join(".");
}

/** No endpoint takes anything else; where a body is optional, its schema would not be asked. */
function notAnObject(): AppError {
  return validationError([{ field: "", message: "must be an object", code: "invalid_type" }]);
}

function tooLarge(): AppError {
  return new AppError(413, "PAYLOAD_TOO_LARGE", "The body is larger than 20 MiB.", {
    suggestion: "Send less at once: split the recipients or shrink the attachments.",
  });
}

function tooDeep(): AppError {
  const message = `The body is nested more than ${DEEPEST_NESTING} levels deep.`;
  return invalidJson(message, "Send a document with fewer levels; nothing here needs so many.");
}

function invalidJson(
  message: string,
  suggestion = "Send a JSON document in UTF-8 with Content-Type: application/json.",
): AppError {
  return new AppError(400, "INVALID_JSON", message, { suggestion });
}
