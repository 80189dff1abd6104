/** A thread that starts and answers no batch, as if it had no processor. */

import { parentPort } from "node:worker_threads";
import { threadNumber } from "../../../../src/lib/thread-cpu.ts";

parentPort?.on("message", () => {});
parentPort?.postMessage({ kind: "up", number: threadNumber() });
