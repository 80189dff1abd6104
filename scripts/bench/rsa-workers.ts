/**
 * Helper, the baseline of signed campaigns: makes RSA-2048 signatures and does nothing else, in
 * several worker threads. It runs one round for each line of its standard input and prints
 * `{seconds, processorMs}` after it.
 */

import { generateKeyPairSync } from "node:crypto";
import { Type } from "@sinclair/typebox";
import { parse } from "./children.ts";

const Settings = Type.Object({ signatures: Type.Number(), workers: Type.Number() });

const { signatures, workers: count } = parse(Settings, JSON.parse(Bun.argv[2] ?? "{}"));
const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});
const workers = Array.from(
  { length: count },
  () => new Worker(new URL("rsa-worker.ts", import.meta.url)),
);
await Promise.all(workers.map((worker) => next(worker, "open")));

function next(worker: Worker, event: "open" | "message"): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.addEventListener(event, () => resolve(), { once: true });
    worker.addEventListener("error", ({ message }) => reject(new Error(message)), { once: true });
  });
}

async function signAll(worker: Worker): Promise<void> {
  const done = next(worker, "message");
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A worker has no origin.
  worker.postMessage({ privateKey, signatures: Math.ceil(signatures / count) });
  return done;
}

for await (const _ of console) {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  await Promise.all(workers.map(signAll));
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(before);
  console.log(JSON.stringify({ seconds, processorMs: (user + system) / 1000 }));
}
process.exit(0);
