/**
 * The thread that parses messages, so that a large or hostile one does not hold the event loop.
 *
 * Its memory is freed early, because the engine counts buffers and strings late: the buffer of a
 * task after the task, the rest by the garbage collector after a number of bytes. On this thread,
 * the few milliseconds of a collection delay no request.
 */

import { parentPort } from "node:worker_threads";
import { freeMemory } from "../../../lib/free-memory.ts";
import { readReport } from "../../../protocols/dsn/read-report.ts";
import { parseDetail, parseForIndex, parseParts, withLf } from "./parse.ts";
import type { IndexResult, ParserRequest, ParserResult, ParserTask, Unparsed } from "./tasks.ts";

/** Raw bytes of messages after which the garbage collector runs. */
const COLLECT_AFTER_BYTES = 8 * 1024 * 1024;

let uncollectedBytes = 0;

async function run(task: ParserTask): Promise<ParserResult> {
  if (task.kind === "index") {
    const index = await Promise.all(task.messages.map(indexOne));
    freeMessages(task.messages);
    return { index };
  }
  if (task.kind === "report") return { report: readReport(task.raw) };
  if (task.kind === "detail") {
    const detail = await parseDetail(task.raw);
    return { detail: task.hasLineEnds ? detail : withLf(detail) };
  }
  return { parts: await parseParts(task.raw, task.partIds) };
}

/** All messages of a task are in one buffer, which was moved to this thread. */
function freeMessages(messages: readonly Unparsed[]): void {
  const bytes = messages.reduce((sum, { raw }) => sum + raw.byteLength, 0);
  const [first] = messages;
  if (first !== undefined) freeMemory(first.raw);
  uncollectedBytes += bytes;
  if (uncollectedBytes < COLLECT_AFTER_BYTES) return;
  uncollectedBytes = 0;
  setImmediate(() => Bun.gc(true));
}

/** A message that cannot be parsed is a result, too: the others of the batch are kept. */
async function indexOne({ raw, recipients }: Unparsed): Promise<IndexResult> {
  try {
    return { ok: true, parsed: await parseForIndex(raw, recipients) };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

parentPort?.on("message", ({ id, task }: ParserRequest) => {
  run(task).then(
    (result) => parentPort?.postMessage({ id, ok: true, result }),
    (error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      parentPort?.postMessage({ id, ok: false, reason });
    },
  );
});
