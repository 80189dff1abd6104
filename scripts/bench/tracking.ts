/** Measures how fast opens and clicks are answered and counted, and how fast links are rewritten. */

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { openDatabase } from "../../src/db/open.ts";
import { redirectUrl } from "../../src/render/links.ts";
import { rewriteHtml } from "../../src/render/rewrite.ts";
import { Listening, removeFolder, startHelper, startServer, temporaryFolder } from "./children.ts";
import { fixed, reportAims, quantile, printValue, whole } from "./report.ts";
import { openReader, prepareStore } from "./store.ts";

const RATE = 1_000;
const CONNECTIONS = 32;
const MAILS = 5_000;
const Result = Type.Object({
  answered: Type.Number(),
  p50: Type.Number(),
  p99: Type.Number(),
  max: Type.Number(),
});

export async function benchTracking(options: { binary: string | null; isQuick: boolean }) {
  const requests = RATE * (options.isQuick ? 5 : 15);
  console.log(`tracking: ${whole(requests)} opens and clicks, ${whole(RATE)} a second`);
  const data = temporaryFolder();
  await prepareStore(data, MAILS);
  markAsSent(data);
  const work = { connections: CONNECTIONS, requests, rate: RATE, warmUp: 2 * RATE };
  const sendHits = (port: number) => startHelper("hits.ts", { port, data, ...work }).next(Result);
  const pixel = startHelper("pixel.ts", {});
  const baseline = await sendHits((await pixel.next(Listening)).port);
  pixel.kill();
  printValue("baseline, a pixel without work", latencies(baseline));

  const commits = measureCommits(data);
  printValue(
    "baseline, one commit on this disk",
    `p50 / p99 ${commits.map(formatMs).join(" / ")} ms`,
  );

  const server = await startServer({ binary: options.binary, data, args: [] });
  const result = await sendHits(server.port);
  await server.stop();
  printValue("answered and counted", latencies(result));
  const reader = openReader(data);
  const counted = reader.count("emails WHERE clicked_at IS NOT NULL");
  const expected = Math.min(MAILS, Math.floor(requests / 3));
  reader.close();
  removeFolder(data);

  const rewriting = measureRewriting();
  printValue("rewriting 2 KB, 3 links and a pixel", `${fixed(rewriting, 1)} µs`);
  return reportAims([
    {
      name: "p99",
      isMet: result.p99 < 5,
      measured: `${formatMs(result.p99)} ms`,
      wanted: "< 5 ms",
    },
    {
      name: "mails clicked",
      isMet: counted === expected,
      measured: whole(counted),
      wanted: whole(expected),
    },
    {
      name: "rewriting",
      isMet: rewriting < 100,
      measured: `${fixed(rewriting, 1)} µs`,
      wanted: "< 100 µs",
    },
  ]);
}

/** Measures durable commits: a counted hit takes at least one, and so do requests at that moment. */
function measureCommits(data: string): [p50: number, p99: number] {
  const { sqlite } = openDatabase(join(data, "commits.db"));
  sqlite.run("CREATE TABLE t (x)");
  const durations = Array.from({ length: 300 }, () => {
    const startedAt = performance.now();
    sqlite.run("INSERT INTO t VALUES (1)");
    return performance.now() - startedAt;
  });
  sqlite.close();
  return [quantile(durations, 0.5), quantile(durations, 0.99)];
}

/** Dates the mails back: hits soon after sending count as those of machines. */
function markAsSent(data: string): void {
  const sqlite = new Database(join(data, "mailstead.db"));
  sqlite.run("UPDATE emails SET status = 'SENT', sent_at = 0, next_at = NULL");
  sqlite.close();
}

function latencies({ p50, p99, max }: { p50: number; p99: number; max: number }): string {
  return `p50 / p99 / max ${[p50, p99, max].map(formatMs).join(" / ")} ms`;
}

function formatMs(value: number): string {
  return fixed(value, 2);
}

/** Returns the median time to rewrite one mail, in microseconds, over 100 runs of 100 mails. */
function measureRewriting(): number {
  const key = new Uint8Array(32).fill(1);
  const emailId = crypto.randomUUID();
  const link = `<p><a href="https://shop.example/a?b=1&amp;c=2" style="color:#123456">Sale</a></p>`;
  const text = "<p>All of it is on sale until Sunday, and shipping is free.</p>";
  const html = `<!doctype html><html><body>${link.repeat(3)}${text.repeat(28)}</body></html>`;
  const redirect = (target: string) => redirectUrl("https://go.example", key, { emailId, target });
  const runs = Array.from({ length: 100 }, () => {
    const startedAt = performance.now();
    for (let i = 0; i < 100; i++) rewriteHtml(html, { redirect, ending: "<img>" });
    return (performance.now() - startedAt) * 10;
  });
  return quantile(runs, 0.5);
}
