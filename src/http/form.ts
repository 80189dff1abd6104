/**
 * Reads the small forms that recipients and their mail programs post. Their size and time are
 * limited, and an invalid form is not an error.
 */

import type { Arrivals } from "./body-arrivals.ts";
import { MAX_FORM_BYTES } from "./body-limits.ts";

type Form =
  | {
      isTooLarge: false;
      isEmpty: boolean;
      /** The last value of each name. */
      fields: ReadonlyMap<string, string>;
      /** All values, in their order. */
      all: URLSearchParams;
    }
  | { isTooLarge: true };

/**
 * Resolves to the fields of a multipart body, or of a urlencoded one of any other content type and
 * with line breaks around it, as some mail programs send. An invalid or incomplete body has none.
 */
export async function readForm(
  request: Request,
  arrivals: Arrivals,
  limitBytes = MAX_FORM_BYTES,
): Promise<Form> {
  const announced = Number(request.headers.get("content-length") ?? 0);
  if (announced > limitBytes) return { isTooLarge: true };
  try {
    const bytes = await readUpTo(request, limitBytes, arrivals);
    if (bytes === null) return { isTooLarge: true };
    const isEmpty = bytes.byteLength === 0;
    const all = await fieldsOf(bytes, request.headers.get("content-type") ?? "");
    return { isTooLarge: false, isEmpty, fields: new Map(all), all };
  } catch {
    return { isTooLarge: false, isEmpty: false, fields: new Map(), all: new URLSearchParams() };
  }
}

/** Resolves to null if the body is longer than the limit; the rest is left unread. */
async function readUpTo(
  request: Request,
  limitBytes: number,
  arrivals: Arrivals,
): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of arrivals.pieces(request, { isPublic: false })) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > limitBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, sizeBytes);
}

async function fieldsOf(bytes: Uint8Array, contentType: string): Promise<URLSearchParams> {
  if (!/^multipart\//i.test(contentType)) {
    return new URLSearchParams(Buffer.from(bytes).toString("utf8").trim());
  }
  const fields = new URLSearchParams();
  const headers = { "content-type": contentType };
  const form = await new Response(Buffer.from(bytes), { headers }).formData();
  form.forEach((value, name) => {
    if (typeof value === "string") fields.append(name, value);
  });
  return fields;
}
