/**
 * A sandbox: a database in memory with the rows that one workflow needs, in which the engine of
 * workflows runs with a clock that is moved. Simulations and backtests run in it, in a thread that has
 * no connection to the database of the server, so nothing that happens here is stored or sent.
 *
 * 1. `rows.ts` reads the rows in the server. `createSandbox` inserts them into a new database.
 * 2. `moveTo` moves the clock and advances the executions that become due, at their exact times.
 * 3. `record` appends an event to the log of the sandbox, and the engine handles it.
 *
 * It is the code that runs live workflows. Only three things differ: subjects are rendered at once,
 * webhooks are answered by `answerCall`, and no mail leaves.
 */

import type { Database } from "bun:sqlite";
import { buildConfig } from "../../../config/read.ts";
import type { Config } from "../../../config/settings.ts";
import type { App } from "../../../core/app.ts";
import { linkKeysOf } from "../../../core/signed-ids.ts";
import { migrate } from "../../../db/migrate.ts";
import { type Db, openCopy, openDatabase } from "../../../db/open.ts";
import { createDatabaseReader } from "../../../db/reader.ts";
import { createUsageCounter } from "../../../db/usage-counter.ts";
import { createWriter } from "../../../db/writer.ts";
import { eventLog } from "../../../events/log.ts";
import type { Clock } from "../../../lib/clock.ts";
import { randomBase62 } from "../../../lib/crypto.ts";
import type { FieldError } from "../../../lib/errors.ts";
import { silentLog } from "../../../lib/log.ts";
import { createLoopWatch, platformWatch } from "../../../lib/loop-watch.ts";
import { createReferences } from "../../../lib/references.ts";
import { createDns } from "../../../protocols/dns/client.ts";
import { compileSource, renderMails } from "../../../render/request-mails.ts";
import { compiledTemplates } from "../../../render/template/cache.ts";
import type { WorkflowPatch } from "../model.ts";
import type { Occurrence } from "../run/engine.ts";
import { createExecutionRows, type Execution } from "../run/execution-rows.ts";
import { createEngineParts } from "../run/parts.ts";
import { createSlice } from "../run/slice.ts";
import type { RunStep } from "../steps/run-step.ts";
import type { StepSubjects } from "../steps/subjects.ts";
import { workflowService } from "../service.ts";

/** Rows of a table as JSON: a list of the values of each row, in the order of the columns. */
export type TableRows = { table: string; columns: readonly string[]; rows: string };

/** The settings on which the steps of a workflow depend. */
type SandboxConfig = Pick<
  Config,
  "url" | "trackingUrl" | "requireVerifiedDomain" | "allowPrivateAddresses"
>;

export type SandboxInput = {
  config: SandboxConfig;
  /** Base URL of the links in mails. */
  url: string;
  projectSeq: number;
  workflowId: string;
  /** Changes of the stored workflow that are tried. */
  patch: WorkflowPatch;
  tables: readonly TableRows[];
  startAt: number;
};

type SandboxEvent = {
  name: string;
  contactSeq: number;
  /** JSON of an object, or null. */
  json: string | null;
};

type SandboxHooks = {
  /** The result of the call of a WEBHOOK step. */
  answerCall: (execution: Execution) => Occurrence;
  around?: (runStep: RunStep) => RunStep;
};

export type Sandbox = ReturnType<typeof createSandbox>;

/** The same in each run, so that retries of webhooks have the same times. */
const RANDOM = 0.5;

const NEXT_DUE = "SELECT min(due_at) AS at FROM workflow_executions WHERE due_at IS NOT NULL";
const DUE_CALLS = `
  SELECT seq FROM workflow_executions WHERE due_for = 'CALL' AND due_at <= +? ORDER BY due_at, seq`;

export function createSandbox(input: SandboxInput, hooks: SandboxHooks) {
  const { projectSeq, workflowId } = input;
  const clock = movedClock(input.startAt);
  const app = sandboxApp(input, clock);
  const { sqlite } = app.db;
  for (const rows of input.tables) insertRows(sqlite, rows);
  const suppressions = createLaterSuppressions(sqlite, input.startAt);
  const workflows = workflowService(app);
  const executionRows = createExecutionRows(app.db);
  const subjects = createSubjects(app);
  const { around } = hooks;
  const parts = createEngineParts({
    app,
    executionRows,
    workflows,
    subjects,
    ...(around === undefined ? {} : { around }),
  });
  let position = 0;
  const runSlice = createSlice(parts, {
    current: () => position,
    advance(seq) {
      position = seq;
    },
  });
  const dueCalls = sqlite.prepare<{ seq: number }, [number]>(DUE_CALLS);
  const findNextDue = sqlite.prepare<{ at: number | null }, []>(NEXT_DUE);

  const nextDueAt = (): number | null => findNextDue.get()?.at ?? null;

  /** Runs everything that is due now. */
  function settle(): void {
    for (;;) {
      while (runSlice(true)) continue;
      const due = dueCalls.all(clock.now());
      if (due.length === 0) return;
      for (const { seq } of due) {
        const execution = executionRows.find(seq);
        if (execution === null) continue;
        const occurrence = hooks.answerCall(execution);
        const hasTime = () => true;
        parts.advancer.advance(execution, { occurrence, now: clock.now(), hasTime });
      }
    }
  }

  return {
    app,
    clock,
    parts,
    workflows,
    nextDueAt,
    settle,

    /** Part of a change: stores the changes of the workflow, and whether it may start. */
    setWorkflow: (enabled: boolean) =>
      workflows.patch(projectSeq, workflowId, { ...input.patch, enabled })(),

    /**
     * Part of a change: moves the clock to `at`. Steps that become due before it run at their own
     * times. `isEnough` is called before each of these times, and ends the move early.
     */
    moveTo(at: number, isEnough: () => boolean = () => false): void {
      for (let due = nextDueAt(); due !== null && due <= at && !isEnough(); due = nextDueAt()) {
        clock.set(Math.max(due, clock.now()));
        suppressions.addUntil(clock.now());
        settle();
      }
      if (isEnough()) return;
      clock.set(Math.max(at, clock.now()));
      suppressions.addUntil(clock.now());
    },

    /** Part of a change: appends an event of now to the log, which `settle` then handles. */
    record({ name, contactSeq, json }: SandboxEvent): void {
      const data = json === null ? {} : { json };
      eventLog(app).record({ projectSeq, name, contactSeq, ...data, at: clock.now() });
    },

    /** Part of a change: the events that were recorded until now concern no execution. */
    skipEvents(): void {
      position = sqlite.query<{ seq: number | null }, []>(NEWEST_EVENT).get()?.seq ?? 0;
    },

    close: () => sqlite.close(),
  };
}

const NEWEST_EVENT = "SELECT max(seq) AS seq FROM events";

type MovedClock = Clock & { set(at: number): void };

/** Nothing in a sandbox waits for a timer. */
function movedClock(startAt: number): MovedClock {
  let now = startAt;
  return {
    now: () => now,
    elapsed: () => now,
    after: () => () => {},
    set(at) {
      now = at;
    },
  };
}

let image: Uint8Array | null = null;

/** A copy of an empty database takes a twentieth of the time of its migrations. */
function emptyDatabase(): Db {
  if (image === null) {
    const { sqlite } = openDatabase(":memory:");
    migrate(sqlite);
    image = sqlite.serialize();
    sqlite.close();
  }
  return openCopy(image);
}

/** An application whose links, DNS and requests lead nowhere. */
function sandboxApp({ config: given, url }: SandboxInput, clock: Clock): App {
  const db = emptyDatabase();
  // The rows refer to others that are not needed here.
  db.sqlite.run("PRAGMA foreign_keys = OFF");
  const config = buildConfig({}, { defaults: { ...given, quotaStorage: 0, quotaQueuedMails: 0 } });
  const writer = createWriter(db, silentLog, null);
  const secret = randomBase62(43);
  return {
    isApp: true,
    config,
    settings: { given: {}, withStored: () => config },
    folder: null,
    secret,
    clock,
    log: silentLog,
    random: () => RANDOM,
    db,
    reader: createDatabaseReader(db),
    writer,
    usage: createUsageCounter(db, writer),
    references: createReferences(),
    dns: createDns({ servers: [], clock }),
    fetchGuarded: () => Promise.reject(new Error("a sandbox makes no requests")),
    url,
    trackingUrl: given.trackingUrl ?? url,
    ...linkKeysOf(secret),
    loopWatch: createLoopWatch(platformWatch(silentLog)),
    hasOpenInboxes: false,
    makeDkimKeys: () => Promise.resolve([]),
    passwordCost: undefined,
  };
}

function insertRows(sqlite: Database, { table, columns, rows }: TableRows): void {
  const values = columns.map((_, i) => `value ->> ${i}`).join(", ");
  const names = columns.map((name) => `"${name}"`).join(", ");
  sqlite
    .prepare<unknown, [string]>(
      `INSERT OR IGNORE INTO ${table} (${names}) SELECT ${values} FROM json_each(?)`,
    )
    .run(rows);
}

/** Suppressions that were added while the workflow runs; those of earlier times are there already. */
function createLaterSuppressions(sqlite: Database, startAt: number) {
  sqlite.run("CREATE TEMP TABLE later AS SELECT * FROM suppressions WHERE created_at > ?", [
    startAt,
  ]);
  sqlite.run("DELETE FROM suppressions WHERE created_at > ?", [startAt]);
  const times = sqlite
    .query<{ at: number }, []>("SELECT created_at AS at FROM later ORDER BY created_at")
    .all()
    .map(({ at }) => at);
  return {
    addUntil(now: number): void {
      const [next = Infinity] = times;
      if (next > now) return;
      sqlite.run("INSERT OR IGNORE INTO suppressions SELECT * FROM later WHERE created_at <= ?", [
        now,
      ]);
      while ((times[0] ?? Infinity) <= now) times.shift();
    },
  };
}

/** A subject is rendered in the change that runs its step, with the whole time limit of a mail. */
function createSubjects(app: App): StepSubjects {
  return {
    emailIdOf: () => null,
    render(_, __, mails) {
      const source = compileSource(compiledTemplates(app), mails);
      if (!source.ok) return { ok: false, reason: faultOf(source.errors[0]) };
      const [mail] = [...renderMails(source.compiled, mails)];
      if (mail?.kind === "rendered") return { ok: true, text: mail.subject };
      return { ok: false, reason: faultOf(mail?.fault) };
    },
  };
}

const faultOf = (fault: FieldError | undefined): string =>
  `The subject ${fault?.message ?? "cannot be rendered"}.`;
