/** How fast mail is accepted: durably queued, answered with 200. */

import { Type } from "@sinclair/typebox";
import {
  Listening,
  removeFolder,
  residentMiB,
  startHelper,
  startServer,
  temporaryFolder,
} from "./children.ts";
import { fixed, judge, say, whole } from "./report.ts";
import { openReader, prepareStore } from "./store.ts";

const CONNECTIONS = 32;
const WARM_UP = 5_000;
/** Between two collections the heap grows; only what stays counts. */
const HEAP_BREATH = 1.2;
const Progress = Type.Object({ done: Type.Number() });
const Result = Type.Object({
  seconds: Type.Number(),
  p50: Type.Number(),
  p99: Type.Number(),
  max: Type.Number(),
});

/** With an event it is that what is posted. */
type Target = { port: number; path: string; key: string; event?: string };

export async function benchAccept(options: { binary: string | null; isQuick: boolean }) {
  const requests = options.isQuick ? 20_000 : 200_000;
  console.log(`accept: ${whole(requests)} × POST /v1/send over ${CONNECTIONS} connections`);
  const baseline = await measureEcho(requests);
  say("baseline, JSON POST without work", `${whole(requests / baseline.seconds)}/s`);

  const data = temporaryFolder();
  const key = await prepareStore(data, 0);
  // One mail a second leaves: acceptance is measured, not delivery.
  const args = ["--transport", "capture", "--send-rate", "1", "--api-rate", "0"];
  const server = await startServer({ binary: options.binary, data, args });
  const target = { port: server.port, path: "/v1/send", key };
  await load(target, { requests: WARM_UP, firstRecipient: requests });
  const memory = [residentMiB(server.pid)];
  const result = await load(target, {
    requests,
    firstRecipient: 0,
    steps: 4,
    onStep: () => memory.push(residentMiB(server.pid)),
  });
  const stop = await server.stop();
  const reader = openReader(data);
  const stored = reader.count("emails");
  reader.close();
  removeFolder(data);
  if (stored !== requests + WARM_UP) throw new Error(`${stored} mails were stored`);
  if (stop !== 0) throw new Error(`the server ended with ${stop}`);

  const rate = requests / result.seconds;
  const ratio = (rate * baseline.seconds) / requests;
  say("accepted", `${whole(rate)}/s`);
  say("latency p50 / p99 / max", [result.p50, result.p99, result.max].map(ms).join(" / "));
  say("memory after warm-up, each quarter", memory.map((mib) => `${whole(mib)} MiB`).join(", "));
  const [, , half = 0] = memory;
  const end = memory.at(-1) ?? 0;
  return judge([
    { name: "rate", isMet: rate >= 6000, measured: `${whole(rate)}/s`, wanted: "≥ 6,000/s" },
    { name: "ratio", isMet: ratio >= 0.12, measured: fixed(ratio, 3), wanted: "≥ 0.12" },
    { name: "p99", isMet: result.p99 < 30, measured: ms(result.p99), wanted: "< 30 ms" },
    {
      name: "memory, second half",
      isMet: end < half * HEAP_BREATH,
      measured: `${whole(half)} → ${whole(end)} MiB`,
      wanted: "no growth",
    },
  ]);
}

async function measureEcho(requests: number) {
  const echo = startHelper("echo.ts", {});
  const { port } = await echo.next(Listening);
  const target = { port, path: "/echo", key: "none" };
  await load(target, { requests: WARM_UP, firstRecipient: 0 });
  const result = await load(target, { requests, firstRecipient: 0 });
  echo.kill();
  return result;
}

/** Requests over all connections, as fast as they are answered. */
export async function load(
  target: Target,
  work: { requests: number; firstRecipient: number; steps?: number; onStep?: () => void },
) {
  const { requests, firstRecipient, steps = 1, onStep } = work;
  const progressEvery = Math.ceil(requests / steps);
  const settings = { ...target, connections: CONNECTIONS, requests, firstRecipient, progressEvery };
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
