/**
 * The work of erasures, in small steps. One erasure after the other goes through the phases CONTACT to
 * INDEX; then all of them share the phases FILL to LOG, which take long in a large file:
 *
 * 1. CONTACT: a contact with many mails and events is removed in parts (erasures.ts).
 * 2. WAIT: until the mails that were under way have ended and no import of the project runs.
 * 3. SEARCH: each table is searched for the addresses (sweep.ts). Rows with mail that still waits are
 *    searched again later.
 * 4. FILES: files that dry runs of imports have kept are removed.
 * 5. INDEX: the index of caught messages is merged, so that it forgets removed texts.
 * 6. FILL and EMPTY: pages that became free before, for instance when the bodies of old mail were
 *    removed, may still have their former content. Rows of zeros fill all free pages, and are removed
 *    again. Content that an erasure itself removes is cleared at once (secure-delete.ts).
 * 7. LOG: the write-ahead log is copied into the database and emptied.
 * 8. The receipt is written to the file of receipts, and the addresses, which were sealed, are removed.
 */

import { Value } from "@sinclair/typebox/value";
import { eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { erasures } from "../../db/schema/erasures.ts";
import { statement } from "../../db/statement.ts";
import { AppError } from "../../lib/errors.ts";
import { describeError } from "../../lib/log.ts";
import { perApp } from "../../lib/per-app.ts";
import { createWorker } from "../../lib/worker.ts";
import { areUnderWay } from "../../outbox/erase-content.ts";
import { contactJobs } from "../contacts/contacts.ts";
import { createSearchIndex } from "../inboxes/search/index-rows.ts";
import { addressDigest } from "./erased.ts";
import {
  erasedAddresses,
  ErasureCounts,
  type ErasureRow,
  erasePerson,
  erasureWake,
  ErasurePosition,
  removePart,
  START,
} from "./erasures.ts";
import { appendReceipt, readReceipts, type StoredReceipt } from "./receipt-file.ts";
import { clearingFreedPages } from "./secure-delete.ts";
import { spellingsOf } from "../../lib/address-spellings.ts";
import { cleanRows, findRows, lastRow, type Search, searchedTables } from "./sweep.ts";

const PAUSE_AFTER_ERROR_MS = 10_000;
const WAIT_MS = 2_000;
/** Until rows with mail that still waits are searched again. */
const POSTPONED_MS = 10 * 60_000;
/**
 * More than the header of a row, and less than the octets that SQLite keeps in the page of the
 * table.
 */
const SHORT_REST = 64;
/** Pages that one change fills: about 2 ms. */
const FILLED_PAGES = 64;
/** Time for the rows of one change. A row is not divided, and the commit takes about as long again. */
const CLEAN_MS = 4;
const MERGED_PAGES = 50;
/** Erasures that have ended their searches, after which the next searches wait for the phases FILL to LOG. */
const MAX_SHARING = 100;
/** Attempts to empty the log, which fail while another process uses it. */
const MAX_LOG_TRIES = 30;
const LOG_RETRY_MS = 10_000;

type Next = "more" | number | null;

const unfinishedImports = statement<{ found: number }, [number]>(`
  SELECT 1 AS found FROM jobs WHERE project_seq = +? AND status IN ('QUEUED', 'RUNNING')
    AND kind IN ('IMPORT', 'DRY_RUN') LIMIT 1`);
const findRunning = statement<Running, []>(`
  SELECT seq, position ->> '$.phase' AS phase FROM erasures WHERE state = 'RUNNING' ORDER BY seq`);
const insertFill = statement<null, [number]>("INSERT INTO page_fill (bytes) VALUES (zeroblob(?))");
const removeFill = statement<null, []>(
  "DELETE FROM page_fill WHERE seq = (SELECT min(seq) FROM page_fill)",
);

export const erasureWorker = perApp((app: App) => {
  const { clock, log } = app;
  const worker = createWorker({
    clock,
    step: () => step(app),
    onError: (error) => log.error("an erasure could not go on", { error: describeError(error) }),
    pauseMs: PAUSE_AFTER_ERROR_MS,
  });
  erasureWake(app).wake = worker.wake;
  return worker;
});

async function step(app: App): Promise<Next> {
  const own: Running[] = [];
  const shared: Running[] = [];
  for (const each of findRunning(app).all()) (isShared(each.phase) ? shared : own).push(each);
  // Erasures that are requested without a pause do not hold back the others for ever.
  const isFull = shared.length >= MAX_SHARING;
  const [first, second] = isFull ? [stepShared, stepOwn] : [stepOwn, stepShared];
  const next = await first(app, isFull ? shared : own);
  if (next === "more") return next;
  return sooner(next, await second(app, isFull ? own : shared));
}

/** The monotonic times until which erasures that have failed rest, by `seq`. */
const resting = perApp(() => new Map<number, number>());

/** Makes a step of the first erasure that has work. One that fails does not hold back the others. */
async function stepOwn(app: App, running: readonly Running[]): Promise<Next> {
  let soonest: Next = null;
  for (const { seq, phase } of running) {
    if (isShared(phase)) continue;
    const rest = (resting(app).get(seq) ?? 0) - app.clock.elapsed();
    const next = rest > 0 ? rest : await stepOrRest(app, seq, phase);
    if (next === "more") return next;
    soonest = sooner(soonest, next);
  }
  return soonest;
}

async function stepOrRest(app: App, seq: number, phase: OwnPhase): Promise<Next> {
  const { row, position } = readWork(app, seq);
  resting(app).delete(seq);
  try {
    return await PHASES[phase](app, row, position);
  } catch (error) {
    app.log.error("an erasure could not go on", { erasure: row.id, error: describeError(error) });
    resting(app).set(seq, app.clock.elapsed() + PAUSE_AFTER_ERROR_MS);
    return PAUSE_AFTER_ERROR_MS;
  }
}

/** Makes a step that is the same for all erasures in a phase, the first phase first. */
async function stepShared(app: App, running: readonly Running[]): Promise<Next> {
  let soonest: Next = null;
  for (const phase of SHARED) {
    const together = running.filter((each) => each.phase === phase);
    if (together.length === 0) continue;
    const works = together.map(({ seq }) => readWork(app, seq));
    const next = await SHARED_PHASES[phase](app, works);
    if (next === "more") return next;
    soonest = sooner(soonest, next);
  }
  return soonest;
}

function sooner(a: Next, b: Next): Next {
  if (a === "more" || b === "more") return "more";
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

const positionOf = (row: ErasureRow): ErasurePosition =>
  Value.Parse(ErasurePosition, JSON.parse(row.position));

type Running = { seq: number; phase: ErasurePosition["phase"] };
type Work = { row: ErasureRow; position: ErasurePosition };

function readWork({ db }: App, seq: number): Work {
  const row = db.select().from(erasures).where(eq(erasures.seq, seq)).get();
  if (row === undefined) throw new Error("an erasure that runs is missing");
  return { row, position: positionOf(row) };
}

/** The phases that concern the whole file: erasures that have come to one of them share its steps. */
const SHARED = ["FILL", "EMPTY", "LOG"] as const;
type SharedPhase = (typeof SHARED)[number];
const isShared = (phase: ErasurePosition["phase"]): phase is SharedPhase =>
  SHARED.some((shared) => shared === phase);

type Phase = (app: App, row: ErasureRow, position: ErasurePosition) => Promise<Next> | Next;

type OwnPhase = Exclude<ErasurePosition["phase"], SharedPhase>;

const PHASES: Readonly<Record<OwnPhase, Phase>> = {
  async CONTACT(app, row) {
    await app.writer.write(() => removePart(app, row.seq));
    return "more" as const;
  },

  async WAIT(app, row, position) {
    const isWaiting =
      areUnderWay(app, position.underWay) || unfinishedImports(app).get(row.projectSeq) !== null;
    if (isWaiting) return WAIT_MS;
    return advance(app, row, { ...position, phase: "SEARCH", table: 0, after: 0, last: null });
  },

  async SEARCH(app, row, position) {
    const table = searchedTables(app)[position.table];
    if (table === undefined) {
      if (position.postponed === 0) return advance(app, row, { ...position, phase: "FILES" });
      await advance(app, row, { ...position, postponed: 0, table: 0, after: 0, last: null });
      return POSTPONED_MS;
    }
    const last = position.last ?? lastRow(app, table);
    const search = searchOf(app, row);
    const { rows, searchedTo } = await findRows(app, table, {
      ...search,
      after: position.after,
      last,
    });
    const done = {
      counts: Value.Parse(ErasureCounts, JSON.parse(row.counts)),
      postponed: position.postponed,
      left: rows,
    };
    do {
      Object.assign(
        done,
        await app.writer.write(() => {
          const endsAt = app.clock.elapsed() + CLEAN_MS;
          const hasTime = () => app.clock.elapsed() < endsAt;
          const clean = () => cleanRows(app, table, { rows: done.left, search, hasTime });
          const cleaned = clearingFreedPages(app, clean);
          const left = done.left.slice(cleaned.rows);
          const postponed = done.postponed + cleaned.postponed;
          const changed = (done.counts[table.name] ?? 0) + cleaned.changed;
          const counts = changed === 0 ? done.counts : { ...done.counts, [table.name]: changed };
          const to = left.length === 0 ? searchedTo : (done.left[cleaned.rows - 1]?.row ?? null);
          const next: ErasurePosition =
            to === null
              ? { ...position, table: position.table + 1, after: 0, last: null, postponed }
              : { ...position, after: to, last, postponed };
          store(app, row, { counts: JSON.stringify(counts), position: JSON.stringify(next) });
          return { counts, postponed, left };
        }),
      );
    } while (done.left.length > 0);
    return "more";
  },

  async FILES(app, row, position) {
    await contactJobs(app).imports.removeFilesOf(row.projectSeq);
    return advance(app, row, { ...position, phase: "INDEX", after: 0 });
  },

  INDEX: (app, row, position) =>
    app.writer.write(() => {
      const counts = Value.Parse(ErasureCounts, JSON.parse(row.counts));
      const hasRemoved = Object.keys(counts).some((table) => table.startsWith("inbox_"));
      const isFirst = position.after === 0;
      const index = createSearchIndex(app.db.sqlite);
      const isMerging = (hasRemoved || "emails" in counts) && index.merge(MERGED_PAGES, isFirst);
      const next: ErasurePosition = isMerging
        ? { ...position, after: position.after + 1 }
        : { ...position, phase: "FILL", after: 0 };
      store(app, row, { position: JSON.stringify(next) });
      return "more" as const;
    }),

  async DONE(app, row) {
    // Before the row is completed: after a crash in between, the line is only written twice.
    appendReceipt(app, receiptOf(app, row));
    await app.writer.write(() => {
      store(app, row, { state: "COMPLETED", completedAt: app.clock.now(), subject: null });
    });
    app.log.info("a person was erased", { erasure: row.id });
    return "more" as const;
  },
};

/** The steps of all erasures `together` that are in a phase. */
const SHARED_PHASES: Readonly<
  Record<SharedPhase, (app: App, together: readonly Work[]) => Promise<Next>>
> = {
  FILL: (app, together) =>
    app.writer.write(() => {
      const free = pragma(app, "freelist_count");
      // The last row may make the file a page longer.
      const pages = Math.min(FILLED_PAGES, free);
      if (pages > 0) insertFill(app).run(fillBytes(pages, pragma(app, "page_size")));
      else storePhase(app, together, { phase: "EMPTY" });
      return "more" as const;
    }),

  EMPTY: (app, together) =>
    app.writer.write(() => {
      if (removeFill(app).run().changes === 0) storePhase(app, together, { phase: "LOG" });
      return "more" as const;
    }),

  async LOG(app, together) {
    const isLogEmptied = await app.writer.emptyLog();
    const ended = together.filter(
      ({ position }) => isLogEmptied || position.tries + 1 >= MAX_LOG_TRIES,
    );
    const others = together.filter((work) => !ended.includes(work));
    await app.writer.write(() => {
      storePhase(app, ended, { phase: "DONE", isLogEmptied });
      for (const work of others) storePhase(app, [work], { tries: work.position.tries + 1 });
    });
    return ended.length > 0 ? "more" : LOG_RETRY_MS;
  },
};

/** Part of a change. */
function storePhase(
  app: App,
  works: readonly Work[],
  changes: Partial<Pick<ErasurePosition, "phase" | "isLogEmptied" | "tries">>,
): void {
  for (const { row, position } of works) {
    store(app, row, { position: JSON.stringify({ ...position, ...changes }) });
  }
}

/**
 * The length of a blob that fills whole overflow pages, without an end of a page that keeps its old
 * content. SQLite keeps the first part of a long row, at least `least` bytes, in the page of its table
 * and puts the rest into overflow pages of `size - 4` bytes (https://sqlite.org/fileformat2.html §1.6).
 */
function fillBytes(pages: number, size: number): number {
  const least = Math.floor(((size - 12) * 32) / 255) - 23;
  return least + SHORT_REST + pages * (size - 4);
}

async function advance(app: App, row: ErasureRow, position: ErasurePosition): Promise<"more"> {
  await app.writer.write(() => store(app, row, { position: JSON.stringify(position) }));
  return "more";
}

type Changes = Partial<
  Pick<ErasureRow, "counts" | "position" | "state" | "completedAt" | "subject">
>;

function store({ db }: App, { seq }: ErasureRow, changes: Changes): void {
  db.update(erasures).set(changes).where(eq(erasures.seq, seq)).run();
}

function searchOf(app: App, row: ErasureRow): Search {
  const addresses = erasedAddresses(app, row);
  return { projectSeq: row.projectSeq, addresses, spellings: addresses.flatMap(spellingsOf) };
}

function pragma({ db }: App, name: "freelist_count" | "page_size"): number {
  return Number(db.sqlite.query(`PRAGMA ${name}`).values()[0]?.[0]);
}

const projectId = statement<{ id: string }, [number]>("SELECT id FROM projects WHERE seq = +?");
const projectSeqs = statement<{ seq: number }, [string]>("SELECT seq FROM projects WHERE id = +?");
const findReceipt = statement<{ seq: number }, [string]>("SELECT seq FROM erasures WHERE id = +?");

function receiptOf(app: App, row: ErasureRow): StoredReceipt {
  const { id, projectSeq, digest, standing, requestedAt } = row;
  const { contactDigest } = positionOf(row);
  return {
    id,
    projectId: projectId(app).get(projectSeq)?.id ?? "",
    digest,
    ...(contactDigest === undefined ? {} : { contactDigest }),
    standing,
    requestedAt,
  };
}

/** Contacts of one step, each of which takes a digest. */
const COMPARED = 1_000;

/**
 * Erases again the persons who were erased after the backup that this database was restored from.
 * Returns their number. A person whose address the restored project uses itself, as before the erasure,
 * stays until the next start, and the log says so.
 */
export async function eraseAgain(app: App): Promise<number> {
  const missing = new Map<number, StoredReceipt[]>();
  for await (const receipt of readReceipts(app)) {
    const project = projectSeqs(app).get(receipt.projectId);
    if (project === null || findReceipt(app).get(receipt.id) !== null) continue;
    missing.set(project.seq, [...(missing.get(project.seq) ?? []), receipt]);
  }
  let erased = 0;
  for (const [projectSeq, receipts] of missing) {
    const { count, refused } = await eraseContacts(app, projectSeq, receipts);
    erased += count;
    for (const receipt of receipts.filter(({ digest }) => !refused.has(digest))) {
      await app.writer.write(() => keepReceipt(app, projectSeq, receipt));
    }
  }
  if (erased > 0) {
    app.log.warn("persons who had been erased before the backup was restored are erased again", {
      persons: erased,
    });
  }
  return erased;
}

/** The number of erased contacts, and the digests of the receipts whose contacts could not be. */
async function eraseContacts(
  app: App,
  projectSeq: number,
  receipts: readonly StoredReceipt[],
): Promise<{ count: number; refused: Set<string> }> {
  const byDigest = new Map(
    receipts.flatMap((receipt) =>
      [receipt.contactDigest ?? receipt.digest, receipt.digest].map((digest) => [digest, receipt]),
    ),
  );
  const done = { count: 0, refused: new Set<string>() };
  for (let after = 0; ;) {
    const { rows } = await app.reader.find(projectSeq, {
      sql: `SELECT seq, email, id FROM contacts
            WHERE project_seq = ? AND seq > ? AND in_time() ORDER BY seq LIMIT ${COMPARED}`,
      values: [projectSeq, after],
    });
    if (rows.length === 0) return done;
    after = Number(rows.at(-1)?.[0]);
    for (const [, address, id] of rows) {
      const email = String(address);
      const digest = addressDigest(app, projectSeq, email) ?? "";
      const ofContact = addressDigest(app, projectSeq, String(id)) ?? "";
      const receipt = byDigest.get(digest) ?? byDigest.get(ofContact);
      if (receipt === undefined) continue;
      // A contact that had another address before its erasure gets a receipt of its own.
      const former = receipt.digest === digest ? receipt : null;
      if (await eraseOne(app, { projectSeq, email }, former)) done.count++;
      else done.refused.add(receipt.digest);
    }
  }
}

/** False if the project uses the address itself. */
async function eraseOne(
  app: App,
  person: { projectSeq: number; email: string },
  former: StoredReceipt | null,
): Promise<boolean> {
  try {
    await app.writer.write(() => void erasePerson(app, person, { kind: "SYSTEM" }, former));
    return true;
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 409) throw error;
    const fields = { project: projectId(app).get(person.projectSeq)?.id, error: error.message };
    app.log.error("a person of the restored backup could not be erased again", fields);
    return false;
  }
}

/** Part of a change: keeps a receipt whose person is not in the restored database. */
function keepReceipt(app: App, projectSeq: number, receipt: StoredReceipt): void {
  if (findReceipt(app).get(receipt.id) !== null) return;
  const { id, digest, standing, requestedAt } = receipt;
  const position: ErasurePosition = { ...START, phase: "DONE", underWay: [] };
  app.db
    .insert(erasures)
    .values({
      id,
      projectSeq,
      digest,
      standing,
      state: "COMPLETED",
      actorKind: "SYSTEM",
      position: JSON.stringify(position),
      requestedAt,
      completedAt: app.clock.now(),
    })
    .run();
}
