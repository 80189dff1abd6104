/**
 * Imports of contacts from CSV files. The request stores the file (`files.ts`), detects its
 * encoding and delimiter (`records.ts`), checks its header (`columns.ts`) and stores a job. The job
 * worker then runs it (`run.ts`): it parses each row (`rows.ts`, `cells.ts`), sorts the rows in
 * batches (`batches.ts`) and creates or updates the contacts (`write.ts`).
 */

import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Change } from "../../../db/writer.ts";
import { Nullable } from "../../../http/envelope.ts";
import { MAX_IMPORT_BYTES } from "../../../http/body-limits.ts";
import { receiveFile, type Upload } from "../../../http/multipart.ts";
import type { Clock } from "../../../lib/clock.ts";
import { AppError, type FieldError, fieldError, validationError } from "../../../lib/errors.ts";
import { newId } from "../../../lib/id.ts";
import { guessEncoding } from "../../../lib/text-encoding.ts";
import type { FairScheduler } from "../../../lib/slice-queue.ts";
import type { Quotas } from "../../quotas/service.ts";
import { type Mapping, readHeader } from "./columns.ts";
import type { ImportFiles, Receiving } from "./files.ts";
import type { ImportError, ImportJob, ImportProgress, ImportQuery } from "./model.ts";
import { readRecords, splitHeader } from "./records.ts";
import { presentJob } from "../jobs/model.ts";
import type { JobQuota } from "../jobs/quota.ts";
import type { JobRow, Jobs } from "../jobs/jobs.ts";

export type Imports = ReturnType<typeof createImports>;

/**
 * A file that is stored and can be imported. `identity` is the part of the request that an
 * idempotency key covers. The upload counts against the project's quota until `endUpload` is
 * called.
 */
export type Received = {
  id: string;
  job: ImportJob;
  sizeBytes: number;
  identity: unknown;
  endUpload: () => void;
};

const MappingText = Type.Record(Type.String(), Nullable(Type.String()));

export function createImports(deps: {
  files: ImportFiles;
  jobs: Jobs;
  quota: JobQuota;
  quotas: Pick<Quotas, "ensureStorage">;
  clock: Clock;
  scheduler: FairScheduler;
}) {
  const { files, jobs, quota, quotas, clock, scheduler } = deps;

  async function storeFile(upload: Upload, receiving: Receiving) {
    const guess = guessEncoding();
    const digest = new Bun.CryptoHasher("sha256");
    let sizeBytes = 0;
    const fields = await receiveFile(upload, {
      name: "file",
      maxBytes: MAX_IMPORT_BYTES,
      async store(bytes) {
        guess.see(bytes);
        digest.update(bytes);
        sizeBytes += bytes.byteLength;
        await receiving.write(bytes).catch(refuseFullStorage);
      },
    });
    await receiving.finish().catch(refuseFullStorage);
    return { fields, encoding: guess.result(), digest: digest.digest("hex"), sizeBytes };
  }

  /** Throws 422 with all errors of the header. */
  async function checkHeader(
    projectSeq: number,
    id: string,
    { encoding, mapping }: Pick<ImportJob, "encoding" | "mapping">,
  ): Promise<void> {
    const bytes = await files.read(id);
    if (bytes === null) throw new Error("a received file no longer exists");
    const records = readRecords({ bytes, encoding }, scheduler.queueOf(projectSeq));
    try {
      const { header } = await splitHeader(records);
      const errors = headerErrors(header, mapping);
      if (errors.length > 0) throw validationError(errors);
    } finally {
      await records.return(undefined);
    }
  }

  async function storeAndCheckFile(projectSeq: number, upload: Upload, query: ImportQuery) {
    const id = newId(clock.now());
    const receiving = await files.create(id).catch(refuseFullStorage);
    try {
      const { fields, encoding, digest, sizeBytes } = await storeFile(upload, receiving);
      const options = readOptions(fields, query);
      await checkHeader(projectSeq, id, { encoding, ...options });
      return { id, job: { encoding, ...options }, sizeBytes, identity: { digest, ...options } };
    } catch (error) {
      await receiving.abandon();
      throw error;
    }
  }

  return {
    /** Stores and checks the file of a request. If it is refused, the file is removed. */
    async receive(projectSeq: number, upload: Upload, query: ImportQuery): Promise<Received> {
      if (!files.hasFreeSpace()) throw storageFull();
      quotas.ensureStorage(projectSeq);
      const endUpload = quota.begin(projectSeq);
      try {
        return { ...(await storeAndCheckFile(projectSeq, upload, query)), endUpload };
      } catch (error) {
        endUpload();
        throw error;
      }
    },

    create(projectSeq: number, { id, job, sizeBytes }: Received): Change<void> {
      const create = jobs.create({ id, projectSeq, kind: "IMPORT", fileBytes: sizeBytes }, job);
      return () => {
        quota.ensureJobOfUpload(projectSeq);
        create();
      };
    },

    /** Removes a received file for which no job was stored. */
    discard: ({ id }: Received): Promise<void> => files.remove(id),

    progress: (projectSeq: number, id: string): ImportProgress =>
      present(jobs.get(projectSeq, "IMPORT", id)),

    /** Removes files that no job needs. */
    removeUnneededFiles: (): Promise<void> =>
      files.removeAllExcept(jobs.unfinished("IMPORT").map(({ id }) => id)),
  };
}

/** The options of an import. A field of the form wins over a query parameter. */
function readOptions(
  fields: ReadonlyMap<string, string>,
  query: ImportQuery,
): Omit<ImportJob, "encoding"> {
  return {
    mapping: readMapping(fields.get("mapping") ?? query.mapping),
    subscribesNew: readFlag(fields.get("subscribed") ?? query.subscribed),
  };
}

function readFlag(text: string | undefined): boolean {
  if (text === undefined || text === "true") return true;
  if (text === "false") return false;
  throw fieldError("subscribed", "invalid_type", "must be true or false");
}

function readMapping(text: string | undefined): Record<string, string | null> {
  if (text === undefined || text === "") return {};
  const value = parseJson(text);
  if (Value.Check(MappingText, value)) return value;
  const message = 'must be a JSON object such as {"Column of the file": "data.plan"}';
  throw fieldError("mapping", "invalid_type", message);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The caller refuses it, like JSON that is not an object.
  }
}

function headerErrors(header: readonly string[], mapping: Mapping): FieldError[] {
  if (header.length === 0) {
    return [{ field: "file", message: "has an unreadable first line", code: "invalid_format" }];
  }
  if (header.some((name) => /[\0\u{fffd}]/u.test(name))) {
    const message = "must be text in UTF-8, Windows-1252 or UTF-16 with its byte order mark";
    return [{ field: "file", message, code: "invalid_format" }];
  }
  const read = readHeader(header, mapping);
  return read.ok ? [] : read.errors;
}

function present(job: JobRow): ImportProgress {
  const { created, updated, failed } = job;
  const errors: ImportError[] = JSON.parse(job.errors);
  return { ...presentJob(job), created, updated, failed, errors };
}

function refuseFullStorage(error: unknown): never {
  const code = error instanceof Error && "code" in error ? error.code : null;
  throw code === "ENOSPC" || code === "EDQUOT" || code === "EROFS" ? storageFull(error) : error;
}

function storageFull(cause?: unknown): AppError {
  return new AppError(503, "SERVICE_UNAVAILABLE", "The service cannot store the file right now.", {
    suggestion: "Nothing was changed. Try again in a few minutes.",
    cause,
  });
}
