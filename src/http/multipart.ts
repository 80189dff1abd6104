/**
 * Receives one file of a multipart form (RFC 7578). The file is passed to `store` in pieces as it
 * arrives, and no more is read while `store` runs. Only small fields are held in memory.
 */

import type { BusboyInstance } from "@fastify/busboy";
import { AppError, fieldError, REQUIRED } from "../lib/errors.ts";
import { refuseEncoded } from "./body.ts";
import { sizeText } from "./body-limits.ts";

type FileForm = {
  /** Name of the file's field. */
  name: string;
  maxBytes: number;
  /** The advice in the error about a file that is too large. */
  advice?: string;
  store: (bytes: Uint8Array) => Promise<void>;
  /** Called with the name that the client gives to the file, if it gives one. */
  named?: (fileName: string) => void;
};

/** Limit for boundaries, part headers and the other fields together. */
export const FORM_OVERHEAD_BYTES = 256 * 1024;
const MAX_FIELD_BYTES = 64 * 1024;
const MAX_FIELDS = 20;

/**
 * A request with a form. `pieces` resolves to its body when the memory budget allows reading it.
 */
export type Upload = { request: Request; pieces: () => Promise<AsyncGenerator<Uint8Array>> };

/** Resolves to the form's other fields after the whole file was stored. */
export async function receiveFile(
  { request, pieces }: Upload,
  form: FileForm,
): Promise<ReadonlyMap<string, string>> {
  refuseEncoded(request);
  const contentType = request.headers.get("content-type") ?? "";
  if (request.body === null) throw noFile(form);
  if (!/^multipart\/form-data\s*;/i.test(contentType)) throw notMultipart();
  const announced = Number(request.headers.get("content-length") ?? 0);
  if (announced > form.maxBytes + FORM_OVERHEAD_BYTES) throw tooLarge(form);
  const parser = await createParser(contentType, form);
  try {
    await parser.read(await pieces());
    return parser.fields;
  } catch (error) {
    // After an abort the client reads no response, so the error is not an internal one.
    throw request.signal.aborted ? malformed() : error;
  } finally {
    parser.close();
  }
}

async function createParser(contentType: string, form: FileForm) {
  const fields = new Map<string, string>();
  const failure = Promise.withResolvers<never>();
  const finished = Promise.withResolvers<void>();
  // `read` reports the failure. Without this, a failure after it has returned would be unhandled.
  failure.promise.catch(() => undefined);
  let stored: Promise<void> | null = null;
  let isClosed = false;
  let resumeWriting = () => {};
  const busboy = await open(contentType, form);
  busboy.on("error", () => failure.reject(malformed()));
  busboy.on("finish", () => finished.resolve());
  busboy.on("drain", () => resumeWriting());
  busboy.on("close", () => resumeWriting());
  busboy.on("field", (name, value, _, isCut) => {
    if (isCut) failure.reject(fieldError(name, "too_big", "must be at most 64 KiB long"));
    else fields.set(name, value);
  });
  busboy.on("file", (_, part, fileName: unknown) => {
    if (typeof fileName === "string") form.named?.(fileName);
    part.on("error", () => failure.reject(malformed()));
    if (stored !== null) failure.reject(twoFiles(form));
    stored = storeAll(part, form);
    stored.catch(failure.reject);
  });

  /** Resolves when the parser accepts more bytes, or was closed. */
  function waitForDrain(): Promise<void> {
    return new Promise((resolve) => {
      resumeWriting = resolve;
    });
  }

  async function feed(pieces: AsyncGenerator<Uint8Array>): Promise<void> {
    for await (const bytes of pieces) {
      if (!busboy.write(Buffer.from(bytes))) await waitForDrain();
      if (isClosed) return;
    }
    busboy.end();
    await finished.promise;
    if (stored === null) throw noFile(form);
    await stored;
  }

  return {
    fields,
    read: (pieces: AsyncGenerator<Uint8Array>): Promise<void> =>
      Promise.race([feed(pieces), failure.promise]),
    close(): void {
      isClosed = true;
      busboy.destroy();
    },
  };
}

async function open(contentType: string, form: FileForm): Promise<BusboyInstance> {
  // Loaded with the first form: it takes 3 ms and 3 MiB.
  const { Busboy } = await import("@fastify/busboy");
  try {
    return new Busboy({
      headers: { "content-type": contentType },
      isPartAFile: (name) => name === form.name,
      limits: { fields: MAX_FIELDS, fieldSize: MAX_FIELD_BYTES },
    });
  } catch {
    throw malformed(); // For example, the boundary is missing.
  }
}

async function storeAll(part: AsyncIterable<Uint8Array>, form: FileForm): Promise<void> {
  let sizeBytes = 0;
  for await (const bytes of part) {
    sizeBytes += bytes.byteLength;
    if (sizeBytes > form.maxBytes) throw tooLarge(form);
    await form.store(bytes);
  }
}

function notMultipart(): AppError {
  return new AppError(400, "BAD_REQUEST", "The body is not a multipart form.", {
    suggestion: "Send the file as multipart/form-data, as curl -F file=@contacts.csv does.",
  });
}

function malformed(): AppError {
  return new AppError(400, "BAD_REQUEST", "The multipart form is malformed or incomplete.");
}

function tooLarge({ maxBytes: capBytes, advice }: FileForm): AppError {
  const message = `The file is larger than ${sizeText(capBytes)}.`;
  return new AppError(413, "PAYLOAD_TOO_LARGE", message, {
    suggestion: advice ?? "Split the file and send the pieces one after the other.",
  });
}

function noFile({ name }: FileForm): AppError {
  return fieldError(name, "required", REQUIRED);
}

function twoFiles({ name }: FileForm): AppError {
  return fieldError(name, "invalid_value", "must be a single file");
}
