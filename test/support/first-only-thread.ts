/** A thread that prepares the first mail of each batch only, like one that has used up its slice. */

import { parentPort, workerData } from "node:worker_threads";
import { createPreparation } from "../../src/outbox/compose/prepare.ts";
import {
  createBatchReader,
  type ThreadBatch,
  type ThreadData,
  writeResults,
} from "../../src/outbox/compose/tasks.ts";
import { templateCache } from "../../src/render/template/cache.ts";

const { keys, renderLimitMs }: ThreadData = workerData;
const readBatch = createBatchReader();
const preparation = createPreparation({
  keys,
  renderLimitMs,
  templateCache: templateCache({ maxEntries: 10, maxBytes: 1_000_000 }),
});

parentPort?.on("message", (batch: ThreadBatch) => {
  const { tasks, signedAt } = readBatch(batch);
  const prepared = tasks
    .slice(0, 1)
    .map(({ mail, signer }) => preparation.prepareSync(mail, { signer, at: new Date(signedAt) }));
  parentPort?.postMessage(writeResults(prepared, { slow: [] }), []);
});
parentPort?.postMessage({ kind: "up", number: null }, []);
