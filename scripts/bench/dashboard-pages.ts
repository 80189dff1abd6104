/**
 * Measures the requests of every page of the dashboard in a process that has just started: the time
 * of the first load of each page, the median of later ones, and how long the event loop was held.
 * The requests of a page are sent one after the other, so a browser needs less time than this.
 */

import { metricValue } from "../../src/lib/metrics.ts";
import { freePort } from "./children.ts";
import type { PageRequests } from "./dashboard-requests.ts";
import { startProbedServer } from "./loop.ts";
import { type Aim, median, ms, msAim, printValue } from "./report.ts";

const LATER_LOADS = 5;
const MAX_FIRST_CONTENT_MS = 300;
const HOLDS = "mailstead_event_loop_held_seconds";

type Request = (base: string, path: string) => Promise<unknown>;

export async function benchPages(options: {
  binary: string | null;
  data: string;
  args: readonly string[];
  pages: readonly PageRequests[];
  request: Request;
}): Promise<Aim[]> {
  const { binary, data, pages, request } = options;
  const metricsPort = freePort();
  const args = [...options.args, "--metrics", `127.0.0.1:${metricsPort}`];
  const server = await startProbedServer({ binary, data, args });
  const base = `http://127.0.0.1:${server.port}`;
  const load = (page: PageRequests) => timesOf(page, (path) => request(base, path));
  const aims: Aim[] = [];
  const before = await readHolds(metricsPort);
  for (const page of pages) {
    const first = await load(page);
    const later: number[] = [];
    for (let i = 0; i < LATER_LOADS; i++) later.push(sumOf(await load(page)));
    const slowest = first.toSorted((a, b) => b.tookMs - a.tookMs)[0];
    const middle = median(later);
    const requests = `${first.length} requests, slowest ${slowest?.path ?? "none"}`;
    const times = `first ${ms(sumOf(first))}, median ${ms(middle)}`;
    printValue(page.name, `${times} (${requests} ${ms(slowest?.tookMs ?? 0)})`);
    aims.push(msAim(`first load of ${page.name}`, sumOf(first), MAX_FIRST_CONTENT_MS));
    aims.push(msAim(`${page.name}, p50`, middle, MAX_FIRST_CONTENT_MS));
    aims.push(...(await server.reportLoop(page.name)));
  }
  const after = await readHolds(metricsPort);
  await server.stop();
  return [...aims, holdAim(before, after)];
}

type Taken = { path: string; tookMs: number };

async function timesOf(
  { paths }: PageRequests,
  request: (path: string) => Promise<unknown>,
): Promise<Taken[]> {
  const taken: Taken[] = [];
  for (const path of paths) {
    const startedAt = performance.now();
    await request(path);
    taken.push({ path, tookMs: performance.now() - startedAt });
  }
  return taken;
}

const sumOf = (taken: readonly Taken[]): number =>
  taken.reduce((sum, { tookMs }) => sum + tookMs, 0);

type Holds = { count: number; sumMs: number };

/**
 * The number and length of the times that the watchdog of the server saw the loop held for more than 50
 * ms.
 */
async function readHolds(port: number): Promise<Holds> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const [count, sumSeconds] = ["_count", "_sum"].map((part) => metricValue(text, HOLDS + part));
  if (typeof count !== "number" || typeof sumSeconds !== "number") {
    throw new Error("the metrics have no histogram of holds");
  }
  return { count, sumMs: sumSeconds * 1000 };
}

function holdAim(before: Holds, after: Holds): Aim {
  const count = after.count - before.count;
  return {
    name: "event loop held for more than 50 ms, during all pages",
    isMet: count === 0,
    measured: `${count} times, ${ms(after.sumMs - before.sumMs)} together`,
    wanted: "0 times",
  };
}
