/** A thread that starts and ends by itself at its first batch. */

import { parentPort } from "node:worker_threads";

parentPort?.on("message", () => process.exit(0));
parentPort?.postMessage({ kind: "up", number: null });
