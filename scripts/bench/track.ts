/**
 * Measures how many events per second are tracked at full size: contact, event and summaries are
 * stored durably before the response. Contacts are picked at random, so that caches hardly help; one
 * contact in fifty is new.
 */

import { Type } from "@sinclair/typebox";
import { Listening, loopSeconds, removeFolder, residentMiB, startHelper } from "./children.ts";
import { startProbedServer } from "./loop.ts";
import { fixed, reportAims, printValue, whole } from "./report.ts";
import { type SeedOptions, seededFolder } from "./seeded.ts";
import { openReader } from "./store.ts";

const CONNECTIONS = 32;
const WARM_UP_REQUESTS = 20_000;
const ROUNDS = 3;
const MIN_RATE = 8_000;
const ARGUMENTS = ["--transport", "capture", "--api-rate", "0"];

const Result = Type.Object({
  seconds: Type.Number(),
  p50: Type.Number(),
  p99: Type.Number(),
  max: Type.Number(),
});
type Load = { port: number; path: string; key: string; data: string; requests: number };

export async function benchTrack(options: SeedOptions & { binary: string | null }) {
  const requests = options.isQuick ? 20_000 : 100_000;
  console.log(
    `track: ${ROUNDS} × ${whole(requests)} × POST /v1/track over ${CONNECTIONS} connections`,
  );
  const { data, key } = await seededFolder(options);
  const echo = startHelper("echo.ts", {});
  const { port: echoPort } = await echo.next(Listening);
  const baseline = await load({ port: echoPort, path: "/echo", key, data, requests });
  echo.kill();
  printValue("baseline, JSON POST without work", `${whole(requests / baseline.seconds)}/s`);

  const server = await startProbedServer({ binary: options.binary, data, args: ARGUMENTS });
  const target = { port: server.port, path: "/v1/track", key, data };
  await load({ ...target, requests: WARM_UP_REQUESTS });
  await server.reportLoop("warming up");
  const before = eventsIn(data);
  const rates: number[] = [];
  const costs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = loopSeconds(server.pid);
    const result = await load({ ...target, requests, round });
    rates.push(requests / result.seconds);
    const times = [result.p50, result.p99, result.max].map((ms) => `${fixed(ms, 1)} ms`);
    printValue("tracked; p50 / p99 / max", `${whole(rates.at(-1) ?? 0)}/s; ${times.join(" / ")}`);
    costs.push((loopSeconds(server.pid) - startedAt) / requests);
  }
  const loop = await server.reportLoop("tracking");
  const memory = residentMiB(server.pid);
  await server.stop();
  const written = eventsIn(data) - before;
  removeFolder(data);
  const best = Math.max(...rates);
  const cost = Math.min(...costs);
  printValue(
    "processor time of the event loop",
    `${fixed(cost * 1e6, 0)} µs per event, at most ${whole(1 / cost)}/s`,
  );
  return reportAims([
    {
      name: "rate, best round",
      isMet: best >= MIN_RATE,
      measured: `${whole(best)}/s`,
      wanted: `≥ ${whole(MIN_RATE)}/s`,
    },
    {
      name: "events in the log",
      isMet: written >= ROUNDS * requests,
      measured: whole(written),
      wanted: `≥ ${whole(ROUNDS * requests)}`,
    },
    ...loop,
    {
      name: "memory",
      isMet: memory < 350,
      measured: `${whole(memory)} MiB`,
      wanted: "< 350 MiB",
    },
  ]);
}

function load(target: Load & { round?: number }) {
  const settings = { round: 0, ...target, connections: CONNECTIONS };
  return startHelper("load-track.ts", settings).next(Result);
}

function eventsIn(data: string): number {
  const reader = openReader(data);
  const [total = 0] = reader.numbers("SELECT sum(count) AS n FROM event_names");
  reader.close();
  return total;
}
