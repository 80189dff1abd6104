/**
 * Imports of contacts from CSV files. The request stores the file (`files.ts`), detects its
 * encoding and delimiter (`records.ts`), checks its header (`columns.ts`) and stores a job. The job
 * worker then runs it (`run.ts`): it parses each row (`rows.ts`, `cells.ts`,
 * `standing.ts`), sorts the rows in
 * batches (`batches.ts`) and creates or updates the contacts (`write.ts`).
 */

import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { App } from "../../../core/app.ts";
import type { Change, Writer } from "../../../db/writer.ts";
import { Nullable } from "../../../http/envelope.ts";
import { MAX_IMPORT_BYTES } from "../../../http/body-limits.ts";
import { receiveFile, type Upload } from "../../../http/multipart.ts";
import { type Clock, isoTimeOrNull } from "../../../lib/clock.ts";
import { AppError, type FieldError, fieldError, validationError } from "../../../lib/errors.ts";
import { newId } from "../../../lib/id.ts";
import { encodingNamed, guessEncoding } from "../../../lib/text-encoding.ts";
import type { CsvItem, Delimiter } from "../../../lib/csv.ts";
import { ensureStorage } from "../../quotas.ts";
import { unknownTopics } from "./columns.ts";
import type { ImportFiles, Receiving } from "./files.ts";
import { encodingError, examineSample, nameError, readFormat } from "./format.ts";
import {
  DATE_ORDERS,
  DECIMAL_SEPARATORS,
  DELIMITER_NAMES,
  type ImportError,
  IMPORTED_REASONS,
  type ImportJob,
  type ImportProgress,
  type ImportQuery,
  type ImportRun,
  Statuses,
  type SuppressionImportQuery,
} from "./model.ts";
import { SAMPLED_ROWS } from "./records.ts";
import { importResults } from "./results.ts";
import { STANDINGS } from "./standing.ts";
import { notesOnColumns, notesOnDropped } from "./survey.ts";
import { FILE_GONE, type JobFile, readInput } from "./job-file.ts";
import type { ImportFaults } from "./faults.ts";
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
  kind: ImportKind;
  job: ImportJob;
  sizeBytes: number;
  identity: unknown;
  /** The dry run whose file it was. */
  taken?: JobRow;
  endUpload: () => void;
};

const LONGEST_FILE_NAME = 200;
const KINDS = ["IMPORT", "DRY_RUN"] as const;
type ImportKind = (typeof KINDS)[number];

/** Time for which the file of a dry run is kept. */
const KEPT_MS = 24 * 60 * 60 * 1000;
const MappingText = Type.Record(Type.String(), Nullable(Type.String()));

export function createImports(deps: {
  files: ImportFiles;
  jobs: Jobs;
  quota: JobQuota;
  app: App;
  clock: Clock;
  jobFile: JobFile;
  faults: ImportFaults;
  writer: Pick<Writer, "write">;
  isTopic: (projectSeq: number, key: string) => boolean;
}) {
  const { app, files, jobs, quota, clock, jobFile, faults, writer, isTopic } = deps;

  /** Counts an upload against the quota of concurrent jobs while it is received. */
  async function begin(projectSeq: number, receive: () => Promise<Omit<Received, "endUpload">>) {
    ensureStorage(app, projectSeq);
    const endUpload = quota.begin(projectSeq);
    try {
      return { ...(await receive()), endUpload };
    } catch (error) {
      endUpload();
      throw error;
    }
  }

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

  /** Throws 422 with all errors of the header. A dry run shows them, unless nothing can be read. */
  async function checkHeader(
    { id, kind, projectSeq }: { id: string; kind: ImportKind; projectSeq: number },
    job: ImportJob,
  ): Promise<void> {
    const errors = await jobFile.open({ id }, job, async ({ header, rest }) => {
      const unreadable = headerErrors(header);
      if (unreadable.length > 0 || kind === "DRY_RUN") return unreadable;
      const unclear = encodingError(job);
      if (unclear !== null) return [unclear];
      const topics = unknownTopics(readFormat(header, job).format.columns, (key) =>
        isTopic(projectSeq, key),
      );
      return [...topics, ...(await errorsOfSample(header, rest, job))];
    });
    if (errors === null) throw fileGone();
    if (errors.length > 0) throw validationError(errors);
  }

  async function storeAndCheckFile(projectSeq: number, upload: Upload, read: ReadOptions) {
    const id = newId(clock.now());
    const receiving = await files.create(id).catch(refuseFullStorage);
    try {
      const { fields, fileName, guessed, digest, sizeBytes } = await storeFile(upload, receiving);
      const { saysSubscribed, kind, encoding: named, ...options } = read(fields);
      const { encoding, doubt } = named === undefined ? guessed : { encoding: named, doubt: null };
      const file = { fileName: fileName.slice(0, LONGEST_FILE_NAME), saysSubscribed };
      const unclear = doubt === null ? {} : { encodingDoubt: doubt };
      const job = {
        encoding,
        hasNamedEncoding: named !== undefined,
        ...unclear,
        ...file,
        ...options,
      };
      await checkHeader({ id, kind, projectSeq }, job);
      return { id, kind, job, sizeBytes, identity: { digest, kind, encoding, ...options } };
    } catch (error) {
      await receiving.abandon();
      throw error;
    }
  }

  return {
    /** Stores and checks the file of a request. If it is refused, the file is removed. */
    async receive(projectSeq: number, upload: Upload, read: ReadOptions): Promise<Received> {
      return begin(projectSeq, () => storeAndCheckFile(projectSeq, upload, read));
    },

    /** Takes the file of a dry run, to import it, or to try it again with other options. */
    async take(projectSeq: number, dryRunId: string, body: ImportRun): Promise<Received> {
      const tried = jobs.get(projectSeq, KINDS, dryRunId);
      if (tried.kind !== "DRY_RUN") throw notDryRun();
      const {
        encoding: read,
        hasNamedEncoding = true,
        fileName = "",
        encodingDoubt,
      } = readInput(tried);
      return begin(projectSeq, async () => {
        const id = newId(clock.now());
        const { kind, encoding: named, ...options } = optionsOfRun(body);
        const job = {
          encoding: named ?? read,
          hasNamedEncoding: named !== undefined || hasNamedEncoding,
          fileName,
          ...(named !== undefined || encodingDoubt === undefined ? {} : { encodingDoubt }),
          ...options,
        };
        if (!(await files.copy(dryRunId, id))) throw fileGone();
        try {
          await checkHeader({ id, kind, projectSeq }, job);
        } catch (error) {
          await files.remove(id);
          throw error;
        }
        return { id, kind, job, sizeBytes: tried.fileBytes, identity: null, taken: tried };
      });
    },

    /** The file of a dry run belongs to the new job from then on. */
    create(projectSeq: number, { id, kind, job, sizeBytes, taken }: Received): Change<void> {
      const create = jobs.create({ id, projectSeq, kind, fileBytes: sizeBytes }, job);
      return () => {
        quota.ensureJobOfUpload(projectSeq);
        create();
        if (taken === undefined) return;
        // Another request may have taken the file meanwhile.
        if (jobs.get(projectSeq, KINDS, taken.id).fileBytes === 0) throw fileGone();
        jobs.dropFile(taken.seq);
      };
    },

    /** Removes the name of a file under which a dry run knew it. */
    async forgetTaken({ taken }: Received): Promise<void> {
      if (taken !== undefined) await files.remove(taken.id);
    },

    /** Removes a received file for which no job was stored. */
    discard: ({ id }: Received): Promise<void> => files.remove(id),

    progress(projectSeq: number, id: string): ImportProgress {
      const job = jobs.get(projectSeq, KINDS, id);
      return present(job, faults.first(job.seq));
    },

    faultsAsCsv: (projectSeq: number, id: string): string =>
      faults.csv(jobs.get(projectSeq, KINDS, id).seq),

    /** Removes files that no job needs. Called before any job runs. */
    removeUnneededFiles: (): Promise<void> => files.removeAllExcept(jobs.idsWithFile()),

    /** Removes the files that dry runs of a project have kept. */
    async removeFilesOf(projectSeq: number): Promise<void> {
      for (const job of jobs.keptFiles(Infinity, projectSeq)) {
        await writer.write(() => jobs.dropFile(job.seq));
        await files.remove(job.id);
      }
    },

    /** Removes the files of dry runs after a day. */
    async removeKeptFiles(): Promise<void> {
      for (const job of jobs.keptFiles(clock.now() - KEPT_MS)) {
        await writer.write(() => jobs.dropFile(job.seq));
        await files.remove(job.id);
      }
    },
  };
}

/** Reads the options of a request from the fields of its form. */
type ReadOptions = (fields: ReadonlyMap<string, string>) => Omit<ImportJob, "encoding"> & {
  kind: ImportKind;
  encoding: string | undefined;
  saysSubscribed: boolean;
};

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
    ...delimiterNamed(
      readChoice("delimiter", fields.get("delimiter") ?? query.delimiter, DELIMITER_NAMES)
        .delimiter,
    ),
    kind: readFlag("dryRun", fields.get("dryRun") ?? query.dryRun ?? "false")
      ? "DRY_RUN"
      : "IMPORT",
    saysSubscribed: (fields.get("subscribed") ?? query.subscribed) !== undefined,
    subscribesNew: readFlag("subscribed", fields.get("subscribed") ?? query.subscribed ?? "true"),
    resubscribes: readFlag(
      "resubscribe",
      fields.get("resubscribe") ?? query.resubscribe ?? "false",
    ),
  });
}

/** The options of an import whose file was tried before. */
function optionsOfRun(body: ImportRun) {
  const { subscribed, resubscribe = false, dryRun = false, encoding, delimiter } = body;
  const { mapping = {}, statuses = {}, dateOrder, decimalSeparator } = body;
  const kind: ImportKind = dryRun ? "DRY_RUN" : "IMPORT";
  return {
    kind,
    mapping,
    statuses,
    encoding: readEncoding(encoding),
    ...(dateOrder === undefined ? {} : { dateOrder }),
    ...(decimalSeparator === undefined ? {} : { decimalSeparator }),
    ...delimiterNamed(delimiter),
    saysSubscribed: subscribed !== undefined,
    subscribesNew: subscribed ?? true,
    resubscribes: resubscribe,
  };
}

/** The options of an import that only suppresses addresses. */
export function suppressionOptions(query: SuppressionImportQuery): ReadOptions {
  return (fields) => ({
    kind: "IMPORT",
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

/** The errors of a header that is no text. */
function headerErrors(header: readonly string[]): FieldError[] {
  if (header.length === 0) {
    return [{ field: "file", message: "has an unreadable first line", code: "invalid_format" }];
  }
  if (header.some((name) => /[\0\u{fffd}]/u.test(name))) {
    const message = "must be text: name its encoding if it is not UTF-8";
    return [{ field: "file", message, code: "invalid_format" }];
  }
  return [];
}

/** The errors of the rows that stand in the first bytes of the file. */
async function errorsOfSample(
  header: readonly string[],
  rest: AsyncGenerator<CsvItem[]>,
  job: ImportJob,
): Promise<FieldError[]> {
  const { format, errors: ofHeader } = readFormat(header, job);
  if (ofHeader.length > 0) return ofHeader;
  const sample: (readonly string[])[] = [];
  for await (const items of rest) {
    for (const item of items) if (item.kind === "record") sample.push(item.cells);
    if (sample.length >= SAMPLED_ROWS) break;
  }
  const misnamed = nameError(job, format);
  const { errors } = examineSample(format, sample.slice(0, SAMPLED_ROWS));
  return [...errors, ...(misnamed === null ? [] : [misnamed])];
}

function present(job: JobRow, faults: readonly ImportError[]): ImportProgress {
  const { created, updated, failed } = job;
  // An earlier version stored the first faults in the job.
  const earlier: ImportError[] = JSON.parse(job.errors);
  const input = readInput(job);
  const { encoding, columns = [], preview = [], problems = [] } = input;
  const { fileName = "", questions = [] } = input;
  const counts = { created, updated, failed, ...importResults(input, created) };
  const dropped = input.suppressAs === undefined ? notesOnDropped(columns, input.mapping) : [];
  const notes = [...notesOnEncoding(input), ...dropped, ...notesOnColumns(columns)];
  const dryRun = job.kind === "DRY_RUN";
  const hasFile = dryRun && job.fileBytes > 0;
  const fileExpiresAt = hasFile && job.finishedAt !== null ? job.finishedAt + KEPT_MS : null;
  const file = { fileName, fileExpiresAt: isoTimeOrNull(fileExpiresAt), options: optionsOf(input) };
  const read = { dryRun, ...file, encoding, delimiter: nameOf(input.foundDelimiter), columns };
  const shown = { notes, preview, problems, questions, errors: [...earlier, ...faults] };
  return { ...presentJob(job), ...counts, ...read, ...shown };
}

/** The options of a job, as the request to run it again would name them. */
function optionsOf(input: ImportJob): ImportRun {
  const { mapping, statuses = {}, dateOrder, decimalSeparator, delimiter } = input;
  const { encoding, hasNamedEncoding = true, saysSubscribed = false } = input;
  const name = nameOf(delimiter);
  return {
    mapping,
    statuses,
    resubscribe: input.resubscribes ?? false,
    ...(saysSubscribed ? { subscribed: input.subscribesNew } : {}),
    ...(hasNamedEncoding ? { encoding } : {}),
    ...(name === null ? {} : { delimiter: name }),
    ...(dateOrder === undefined ? {} : { dateOrder }),
    ...(decimalSeparator === undefined ? {} : { decimalSeparator }),
  };
}

function notesOnEncoding({ encoding, hasNamedEncoding = true }: ImportJob): string[] {
  if (hasNamedEncoding || encoding.startsWith("utf-")) return [];
  return [
    `The file is not in UTF-8. It was read as ${encoding}, which is a guess: if letters are wrong, ` +
      "import it again and name its encoding.",
  ];
}

const DELIMITER_OF_NAME = { comma: ",", semicolon: ";", tab: "\t", pipe: "|" } as const;

function delimiterNamed(name: keyof typeof DELIMITER_OF_NAME | undefined) {
  return name === undefined ? {} : { delimiter: DELIMITER_OF_NAME[name] };
}

const nameOf = (delimiter: Delimiter | undefined) =>
  DELIMITER_NAMES.find((name) => DELIMITER_OF_NAME[name] === delimiter) ?? null;

function notDryRun(): AppError {
  return new AppError(409, "CONFLICT", "This import is no dry run.", {
    suggestion: "Upload the file with dryRun=true first.",
  });
}

function fileGone(): AppError {
  return new AppError(409, "CONFLICT", FILE_GONE, {
    suggestion: "The file of a dry run is kept for a day, and until it is imported.",
  });
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
