/** A thread that has no processor for a while before its first batch, as on a busy machine. */

import { parentPort } from "node:worker_threads";

parentPort?.once("message", () => Bun.sleepSync(200));
void import("../../../../src/outbox/compose/worker.ts");
