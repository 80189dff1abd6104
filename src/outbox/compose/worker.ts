/**
 * A thread that composes and signs mail (pool.ts). It stops a batch early when it has taken long or
 * has written much, so that one expensive mail delays no other, and answers with what it has.
 */

import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../../lib/clock.ts";
import { createGarbage } from "../../lib/garbage.ts";
import { threadCpuMs, threadNumber } from "../../lib/thread-cpu.ts";
import { templateCache } from "../../render/template/cache.ts";
import { createPreparation, type Prepared } from "./prepare.ts";
import {
  type ThreadAnswer,
  type ThreadBatch,
  createBatchReader,
  type ThreadData,
  writeResults,
} from "./tasks.ts";

/** A batch that has taken this long, or has messages of this size, is not continued. */
const SLICE_MS = 100;
const SLICE_BYTES = 8 * 1024 * 1024;
/**
 * The processor time of a mail is reported if it took longer than this. It includes the time of the
 * mails since the last one that was reported.
 */
const NOTED_MS = 2;
/** Copies of a message that are garbage when it is prepared: parts, and the unsigned message. */
const COPIES = 3;

const { keys, renderLimitMs }: ThreadData = workerData;
const garbage = createGarbage({ clock: systemClock });
const readBatch = createBatchReader();
const { prepareSync } = createPreparation({
  keys,
  renderLimitMs,
  templateCache: templateCache({ maxEntries: 200, maxBytes: 16 * 1024 * 1024 }),
});

function run(batch: ThreadBatch): Extract<ThreadAnswer, { kind: "done" }> {
  const startedMs = systemClock.elapsed();
  const { tasks, signedAt } = readBatch(batch);
  const at = new Date(signedAt);
  const prepared: Prepared[] = [];
  const slow: { number: number; ms: number }[] = [];
  let bytes = 0;
  let beganMs = systemClock.elapsed();
  let cpuMs = threadCpuMs();
  for (const { mail, signer } of tasks) {
    const result = prepareSync(mail, { signer, at });
    prepared.push(result);
    const size = result.kind === "prepared" ? result.message.byteLength : 0;
    bytes += size;
    garbage.add(COPIES * size);
    const endedMs = systemClock.elapsed();
    if (endedMs - beganMs > NOTED_MS) {
      const nowMs = threadCpuMs();
      slow.push({ number: prepared.length - 1, ms: nowMs - cpuMs });
      cpuMs = nowMs;
    }
    if (endedMs - startedMs > SLICE_MS || bytes > SLICE_BYTES) break;
    beganMs = endedMs;
  }
  return writeResults(prepared, { slow });
}

function send(answer: ThreadAnswer): void {
  parentPort?.postMessage(answer, answer.kind === "done" ? [answer.messages] : []);
}

parentPort?.on("message", (batch: ThreadBatch) => send(run(batch)));
send({ kind: "up", number: threadNumber() });
