/**
 * Imports of contacts from CSV files. The request stores the file (`files.ts`), detects its
 * encoding and delimiter (`records.ts`), checks its header (`columns.ts`) and stores a job. The job
 * worker then runs it (`run.ts`): it parses each row (`rows.ts`, `cells.ts`,
 * `standing.ts`), sorts the rows in
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
import { encodingNamed, guessEncoding } from "../../../lib/text-encoding.ts";
import type { FairScheduler } from "../../../lib/slice-queue.ts";
import type { Quotas } from "../../quotas/service.ts";
import type { CsvItem } from "../../../lib/csv.ts";
import type { ImportFiles, Receiving } from "./files.ts";
import { nameError, readFormat, sampleErrors } from "./format.ts";
import {
  DATE_ORDERS,
  DECIMAL_SEPARATORS,
  type ImportError,
  IMPORTED_REASONS,
  ImportJob,
  type ImportProgress,
  type ImportQuery,
  Statuses,
  type SuppressionImportQuery,
} from "./model.ts";
import { readRecords, splitHeader } from "./records.ts";
import { STANDINGS } from "./standing.ts";
import { notesOnColumns } from "./survey.ts";
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

/** Rows that are examined while the request waits; the job examines all others. */
const SAMPLED_ROWS = 5_000;

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
    let fileName = "";
    const fields = await receiveFile(upload, {
      name: "file",
      maxBytes: MAX_IMPORT_BYTES,
      named: (name) => (fileName = name),
      async store(bytes) {
        guess.see(bytes);
        digest.update(bytes);
        sizeBytes += bytes.byteLength;
        await receiving.write(bytes).catch(refuseFullStorage);
      },
    });
    await receiving.finish().catch(refuseFullStorage);
    const guessed = guess.result();
    return { fields, fileName, guessed, digest: digest.digest("hex"), sizeBytes };
  }

  /** Throws 422 with all errors of the header. */
  async function checkHeader(
    projectSeq: number,
    { id, fileName }: { id: string; fileName: string },
    job: ImportJob,
  ): Promise<void> {
    const { encoding } = job;
    const bytes = await files.read(id);
    if (bytes === null) throw new Error("a received file no longer exists");
    const records = readRecords({ bytes, encoding }, scheduler.queueOf(projectSeq));
    try {
      const { header, rest } = await splitHeader(records);
      const errors =
        headerErrors(header, job) ?? (await errorsOfSample(header, { rest, fileName }, job));
      if (errors.length > 0) throw validationError(errors);
    } finally {
      await records.return(undefined);
    }
  }

  async function storeAndCheckFile(projectSeq: number, upload: Upload, read: ReadOptions) {
    const id = newId(clock.now());
    const receiving = await files.create(id).catch(refuseFullStorage);
    try {
      const { fields, fileName, guessed, digest, sizeBytes } = await storeFile(upload, receiving);
      const { saysSubscribed, encoding: named, ...options } = read(fields);
      const encoding = named ?? guessed;
      const file = { id, fileName: saysSubscribed ? "" : fileName };
      await checkHeader(projectSeq, file, { encoding, ...options });
      const job = { encoding, hasNamedEncoding: named !== undefined, ...options };
      return { id, job, sizeBytes, identity: { digest, encoding, ...options } };
    } catch (error) {
      await receiving.abandon();
      throw error;
    }
  }

  return {
    /** Stores and checks the file of a request. If it is refused, the file is removed. */
    async receive(projectSeq: number, upload: Upload, read: ReadOptions): Promise<Received> {
      if (!files.hasFreeSpace()) throw storageFull();
      quotas.ensureStorage(projectSeq);
      const endUpload = quota.begin(projectSeq);
      try {
        return { ...(await storeAndCheckFile(projectSeq, upload, read)), endUpload };
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

/** Reads the options of a request from the fields of its form. */
type ReadOptions = (
  fields: ReadonlyMap<string, string>,
) => Omit<ImportJob, "encoding"> & { encoding: string | undefined; saysSubscribed: boolean };

/** The options of an import. A field of the form wins over a query parameter. */
export function contactOptions(query: ImportQuery): ReadOptions {
  return (fields) => ({
    mapping: readMapping(fields.get("mapping") ?? query.mapping),
    statuses: readStatuses(fields.get("statuses") ?? query.statuses),
    encoding: readEncoding(fields.get("encoding") ?? query.encoding),
    ...readChoice("dateOrder", fields.get("dateOrder") ?? query.dateOrder, DATE_ORDERS),
    ...readChoice(
      "decimalSeparator",
      fields.get("decimalSeparator") ?? query.decimalSeparator,
      DECIMAL_SEPARATORS,
    ),
    saysSubscribed: (fields.get("subscribed") ?? query.subscribed) !== undefined,
    subscribesNew: readFlag("subscribed", fields.get("subscribed") ?? query.subscribed ?? "true"),
    resubscribes: readFlag(
      "resubscribe",
      fields.get("resubscribe") ?? query.resubscribe ?? "false",
    ),
  });
}

/** The options of an import that only suppresses addresses. */
export function suppressionOptions(query: SuppressionImportQuery): ReadOptions {
  return (fields) => ({
    mapping: readMapping(fields.get("mapping") ?? query.mapping),
    statuses: readStatuses(fields.get("statuses") ?? query.statuses),
    encoding: readEncoding(fields.get("encoding") ?? query.encoding),
    saysSubscribed: false,
    subscribesNew: false,
    suppressAs: readReason(fields.get("reason") ?? query.reason ?? "MANUAL"),
  });
}

/** The name of the encoding as WHATWG Encoding §4.2 gives it. */
function readEncoding(text: string | undefined): string | undefined {
  if (text === undefined || text === "") return undefined;
  const encoding = encodingNamed(text);
  if (encoding !== null) return encoding;
  const message = "must be an encoding such as utf-8, windows-1250, windows-1251 or shift_jis";
  throw fieldError("encoding", "invalid_value", message);
}

function readChoice<const Name extends string, Choice extends string>(
  field: Name,
  text: string | undefined,
  choices: readonly Choice[],
): { [Key in Name]?: Choice } {
  if (text === undefined || text === "") return {};
  const choice = choices.find((one) => one === text);
  if (choice === undefined) {
    throw fieldError(field, "invalid_value", `must be one of ${choices.join(" ")}`);
  }
  const result: { [Key in Name]?: Choice } = {};
  result[field] = choice;
  return result;
}

function readFlag(field: string, text: string): boolean {
  if (text === "true") return true;
  if (text === "false") return false;
  throw fieldError(field, "invalid_type", "must be true or false");
}

function readReason(text: string): NonNullable<ImportJob["suppressAs"]> {
  const reason = IMPORTED_REASONS.find((one) => one === text);
  if (reason !== undefined) return reason;
  throw fieldError("reason", "invalid_value", `must be one of ${IMPORTED_REASONS.join(", ")}`);
}

function readStatuses(text: string | undefined): NonNullable<ImportJob["statuses"]> {
  if (text === undefined || text === "") return {};
  const value = parseJson(text);
  if (Value.Check(Statuses, value)) return value;
  const message =
    'must be a JSON object such as {"gone": "UNSUBSCRIBED", "vip": null}; its values are null, ' +
    STANDINGS.join(", ");
  throw fieldError("statuses", "invalid_type", message);
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

/** The errors of a header; null if it has none. */
function headerErrors(header: readonly string[], job: ImportJob): FieldError[] | null {
  if (header.length === 0) {
    return [{ field: "file", message: "has an unreadable first line", code: "invalid_format" }];
  }
  if (header.some((name) => /[\0\u{fffd}]/u.test(name))) {
    const message = "must be text: name its encoding if it is not UTF-8";
    return [{ field: "file", message, code: "invalid_format" }];
  }
  const read = readFormat(header, job);
  return read.ok ? null : read.errors;
}

/** The errors of the rows that stand in the first bytes of the file. */
async function errorsOfSample(
  header: readonly string[],
  { rest, fileName }: { rest: AsyncGenerator<CsvItem[]>; fileName: string },
  job: ImportJob,
): Promise<FieldError[]> {
  const read = readFormat(header, job);
  if (!read.ok) return read.errors;
  const sample: (readonly string[])[] = [];
  for await (const items of rest) {
    for (const item of items) if (item.kind === "record") sample.push(item.cells);
    if (sample.length >= SAMPLED_ROWS) break;
  }
  const misnamed = nameError(fileName, read.format);
  const errors = sampleErrors(read.format, sample.slice(0, SAMPLED_ROWS));
  return [...errors, ...(misnamed === null ? [] : [misnamed])];
}

function present(job: JobRow): ImportProgress {
  const { created, updated, failed } = job;
  const errors: ImportError[] = JSON.parse(job.errors);
  const input = Value.Parse(ImportJob, JSON.parse(job.input));
  const { encoding, columns = [], suppressed = 0, keptUnsubscribed = 0 } = input;
  const counts = { created, updated, failed, suppressed, keptUnsubscribed };
  const notes = [...notesOnEncoding(input), ...notesOnColumns(columns)];
  return { ...presentJob(job), ...counts, encoding, columns, notes, errors };
}

function notesOnEncoding({ encoding, hasNamedEncoding = true }: ImportJob): string[] {
  if (hasNamedEncoding || encoding.startsWith("utf-")) return [];
  return [
    `The file is not in UTF-8. It was read as ${encoding}, which is a guess: if letters are wrong, ` +
      "import it again and name its encoding.",
  ];
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
