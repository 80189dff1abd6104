/**
 * Reads the bodies of Mailpit's interface. The keys of JSON objects are compared without regard to
 * case, as in Mailpit, so they are read in lower case; those of `Headers` stay as they are.
 */

import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Bodies } from "../../../http/body.ts";
import { badRequest, MailpitRefusal } from "./answers.ts";

const MIB = 1024 * 1024;
/** Longest body, except those of `/send`. */
export const API_BODY_BYTES = 5 * MIB;
const MAX_DEPTH = 32;

export type ReadBody = ReturnType<typeof createReadBody>;

export function createReadBody(bodies: Pick<Bodies, "pieces">) {
  /** The whole body. Throws 413 if it is longer than `limit` bytes. */
  return async (request: Request, projectSeq: number, limit: number): Promise<Buffer> => {
    if (request.body === null) return Buffer.alloc(0);
    const announced = Number(request.headers.get("content-length") ?? 0);
    if (announced > limit) throw tooLarge();
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of await bodies.pieces(request, { projectSeq, isPublic: false })) {
      size += piece.byteLength;
      if (size > limit) throw tooLarge();
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  };
}

function tooLarge(): MailpitRefusal {
  return new MailpitRefusal(413, "http: request body too large");
}

/** Parses JSON with keys in lower case. Throws 400. */
export function readLowerJson(text: string): unknown {
  return withLowerKeys(parseText(text), 0);
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) {
      throw badRequest(`invalid JSON: ${error.message}`);
    }
    throw error;
  }
}

function withLowerKeys(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) throw badRequest("invalid JSON: it is nested too deeply");
  if (Array.isArray(value)) return value.map((item: unknown) => withLowerKeys(item, depth + 1));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, member]: [string, unknown]) => {
    const lower = key.toLowerCase();
    return [lower, lower === "headers" ? member : withLowerKeys(member, depth + 1)];
  });
  return Object.fromEntries(entries);
}

/** A value of the schema. Throws 400 that names the first member that is not valid. */
export function validated<T extends TSchema>(schema: T, value: unknown): Static<T> {
  if (Value.Check(schema, value)) return value;
  const first = Value.Errors(schema, value).First();
  throw badRequest(`invalid JSON: ${first?.path ?? ""}: ${first?.message ?? "is not valid"}`);
}
