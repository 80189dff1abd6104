/** A thread that starts and fails at its first batch. */

import { parentPort } from "node:worker_threads";

parentPort?.on("message", () => {
  throw new Error("this thread always fails");
});
parentPort?.postMessage({ kind: "up", number: null });
