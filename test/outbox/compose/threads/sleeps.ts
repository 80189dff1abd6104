/** A thread that starts and answers no batch, as if it had no processor. */

import { parentPort } from "node:worker_threads";

parentPort?.on("message", () => {});
parentPort?.postMessage({ kind: "up" });
