/** A thread that has no processor for a second before its first batch, as on a busy machine. */

import { parentPort } from "node:worker_threads";

parentPort?.once("message", () => Bun.sleepSync(1_000));
void import("../../../../src/outbox/compose/worker.ts");
