/**
 * Receives one file of a form (RFC 7578) as it comes in: it goes to `store` piece by piece, and the
 * sender waits while that does. Nothing is held in memory but small fields.
 */

import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { AppError, fieldError, REQUIRED } from "../lib/errors.ts";
import { refuseEncoded } from "./body.ts";
import { sizeText } from "./body-limits.ts";

export type FileForm = {
  /** Name of the file's field. */
  name: string;
  capBytes: number;
  store: (bytes: Uint8Array) => Promise<void>;
};

/** Boundaries, part headers and the other fields. */
export const FORM_OVERHEAD_BYTES = 256 * 1024;
const LONGEST_FIELD_BYTES = 64 * 1024;
const MOST_FIELDS = 20;

/** A request with a form. `pieces` resolves to its body once it may be read. */
export type Upload = { request: Request; pieces: () => Promise<AsyncGenerator<Uint8Array>> };

/** Resolves to the form's other fields when the whole file was stored. */
export async function receiveFile(
  { request, pieces }: Upload,
  form: FileForm,
): Promise<ReadonlyMap<string, string>> {
  refuseEncoded(request);
  const contentType = request.headers.get("content-type") ?? "";
  if (request.body === null) throw noFile(form);
  if (!/^multipart\/form-data\s*;/i.test(contentType)) throw noForm();
  const announced = Number(request.headers.get("content-length") ?? 0);
  if (announced > form.capBytes + FORM_OVERHEAD_BYTES) throw tooLarge(form);
  const parser = createParser(contentType, form);
  try {
    await parser.read(await pieces());
    return parser.fields;
  } catch (error) {
    throw request.signal.aborted ? malformed() : error; // Nobody is there any more to hear it.
  } finally {
    parser.close();
  }
}

function createParser(contentType: string, form: FileForm) {
  const fields = new Map<string, string>();
  const failure = Promise.withResolvers<never>();
  const finished = Promise.withResolvers<void>();
  failure.promise.catch(() => undefined); // Whoever waits hears of it; there may be nobody.
  let stored: Promise<void> | null = null;
  let isClosed = false;
  let goOn = () => {};
  const busboy = open(contentType, form);
  busboy.on("error", () => failure.reject(malformed()));
  busboy.on("finish", () => finished.resolve());
  busboy.on("drain", () => goOn());
  busboy.on("close", () => goOn());
  busboy.on("field", (name, value, _, isCut) => {
    if (isCut) failure.reject(fieldError(name, "too_big", "must take at most 64 KiB"));
    else fields.set(name, value);
  });
  busboy.on("file", (_, part) => {
    part.on("error", () => failure.reject(malformed()));
    if (stored !== null) failure.reject(twoFiles(form));
    stored = storeAll(part, form);
    stored.catch(failure.reject);
  });

  /** Once what was written went on to the file, or never will. */
  function hasRoom(): Promise<void> {
    return new Promise((resolve) => {
      goOn = resolve;
    });
  }

  async function feed(pieces: AsyncGenerator<Uint8Array>): Promise<void> {
    for await (const bytes of pieces) {
      if (!busboy.write(Buffer.from(bytes))) await hasRoom();
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

function open(contentType: string, form: FileForm): BusboyInstance {
  try {
    return new Busboy({
      headers: { "content-type": contentType },
      isPartAFile: (name) => name === form.name,
      limits: { fields: MOST_FIELDS, fieldSize: LONGEST_FIELD_BYTES },
    });
  } catch {
    throw malformed(); // No boundary, for one.
  }
}

async function storeAll(part: AsyncIterable<Uint8Array>, form: FileForm): Promise<void> {
  let sizeBytes = 0;
  for await (const bytes of part) {
    sizeBytes += bytes.byteLength;
    if (sizeBytes > form.capBytes) throw tooLarge(form);
    await form.store(bytes);
  }
}

function noForm(): AppError {
  return new AppError(400, "BAD_REQUEST", "The body is no multipart form.", {
    suggestion: "Send the file as multipart/form-data, as curl -F file=@contacts.csv does.",
  });
}

function malformed(): AppError {
  return new AppError(400, "BAD_REQUEST", "The multipart form is malformed or breaks off.");
}

function tooLarge({ capBytes }: FileForm): AppError {
  const message = `The file is larger than ${sizeText(capBytes)}.`;
  return new AppError(413, "PAYLOAD_TOO_LARGE", message, {
    suggestion: "Split the file and send its parts one after the other.",
  });
}

function noFile({ name }: FileForm): AppError {
  return fieldError(name, "required", REQUIRED);
}

function twoFiles({ name }: FileForm): AppError {
  return fieldError(name, "invalid_value", "must be one file");
}
