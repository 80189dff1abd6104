/** The thread that parses messages, so that a large or hostile one does not hold the event loop. */

import { parentPort } from "node:worker_threads";
import { parseDetail, parseForIndex, parsePart } from "./parse.ts";
import type { IndexResult, ParserRequest, ParserResult, ParserTask, Unparsed } from "./tasks.ts";

async function run(task: ParserTask): Promise<ParserResult> {
  if (task.kind === "index") return { index: await Promise.all(task.messages.map(indexOne)) };
  if (task.kind === "detail") return { detail: await parseDetail(task.raw) };
  return { part: await parsePart(task.raw, task.partId) };
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
