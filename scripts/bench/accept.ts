/** Measures how many mails per second the API accepts: stored durably and answered with 200. */

import { Type } from "@sinclair/typebox";
import {
  Listening,
  removeFolder,
  residentMiB,
  startHelper,
  startServer,
  temporaryFolder,
} from "./children.ts";
import { fixed, reportAims, printValue, whole } from "./report.ts";
import { openReader, prepareStore } from "./store.ts";

const CONNECTIONS = 32;
const WARM_UP_REQUESTS = 5_000;
/**
 * Largest accepted ratio of the memory at the end to the memory at half time. The heap grows between
 * two garbage collections, so a difference below this is not a leak.
 */
const MAX_HEAP_GROWTH = 1.2;
const Progress = Type.Object({ done: Type.Number() });
const Result = Type.Object({
  seconds: Type.Number(),
  p50: Type.Number(),
  p99: Type.Number(),
  max: Type.Number(),
});

/**
 * With `event`, each request tracks that event; without it, each request sends a mail. With
 * `bodyBytes`, each mail has a different body of about this size.
 */
type Target = { port: number; path: string; key: string; event?: string; bodyBytes?: number };

export async function benchAccept(options: { binary: string | null; isQuick: boolean }) {
  const requests = options.isQuick ? 20_000 : 200_000;
  console.log(`accept: ${whole(requests)} × POST /v1/send over ${CONNECTIONS} connections`);
  const baseline = await measureEcho(requests);
  printValue("baseline, JSON POST without work", `${whole(requests / baseline.seconds)}/s`);

  const data = temporaryFolder();
  const key = await prepareStore(data, 0);
  // Only one mail per second is sent, so that acceptance is measured and not delivery.
  const args = ["--transport", "capture", "--send-rate", "1", "--api-rate", "0"];
  const server = await startServer({ binary: options.binary, data, args });
  const target = { port: server.port, path: "/v1/send", key };
  await load(target, { requests: WARM_UP_REQUESTS, firstRecipient: requests });
  const memory = [residentMiB(server.pid)];
  const result = await load(target, {
    requests,
    firstRecipient: 0,
    steps: 4,
    onStep: () => memory.push(residentMiB(server.pid)),
  });
  const exitCode = await server.stop();
  const reader = openReader(data);
  const stored = reader.count("emails");
  reader.close();
  removeFolder(data);
  const expected = requests + WARM_UP_REQUESTS;
  if (stored !== expected) throw new Error(`${stored} mails were stored instead of ${expected}`);
  if (exitCode !== 0) throw new Error(`the server exited with code ${exitCode}`);

  const rate = requests / result.seconds;
  const ratio = (rate * baseline.seconds) / requests;
  printValue("accepted", `${whole(rate)}/s`);
  printValue("latency p50 / p99 / max", [result.p50, result.p99, result.max].map(ms).join(" / "));
  printValue(
    "memory after warm-up, each quarter",
    memory.map((mib) => `${whole(mib)} MiB`).join(", "),
  );
  const [, , half = 0] = memory;
  const end = memory.at(-1) ?? 0;
  return reportAims([
    { name: "rate", isMet: rate >= 6000, measured: `${whole(rate)}/s`, wanted: "≥ 6,000/s" },
    { name: "ratio", isMet: ratio >= 0.12, measured: fixed(ratio, 3), wanted: "≥ 0.12" },
    { name: "p99", isMet: result.p99 < 30, measured: ms(result.p99), wanted: "< 30 ms" },
    {
      name: "memory, second half",
      isMet: end < half * MAX_HEAP_GROWTH,
      measured: `${whole(half)} → ${whole(end)} MiB`,
      wanted: "no growth",
    },
  ]);
}

async function measureEcho(requests: number) {
  const echo = startHelper("echo.ts", {});
  const { port } = await echo.next(Listening);
  const target = { port, path: "/echo", key: "none" };
  await load(target, { requests: WARM_UP_REQUESTS, firstRecipient: 0 });
  const result = await load(target, { requests, firstRecipient: 0 });
  echo.kill();
  return result;
}

/**
 * Sends requests over all connections; on each, the next request follows the previous response at
 * once. Calls `onStep` after each of `steps` equal shares of the requests.
 */
export async function load(
  target: Target,
  work: {
    requests: number;
    firstRecipient: number;
    connections?: number;
    steps?: number;
    onStep?: () => void;
  },
) {
  const { requests, firstRecipient, connections = CONNECTIONS, steps = 1, onStep } = work;
  const progressEvery = Math.ceil(requests / steps);
  const settings = { ...target, connections, requests, firstRecipient, progressEvery };
  const helper = startHelper("load.ts", settings);
  for (let step = 0; step < steps; step++) {
    await helper.next(Progress);
    onStep?.();
  }
  return helper.next(Result);
}

function ms(value: number): string {
  return `${fixed(value, 1)} ms`;
}
