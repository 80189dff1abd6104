/**
 * Measures how many reports per second POST /v1/bounces reads and stores: each is a standard report
 * about another mail, to its signed return path. The baseline is a JSON POST without work.
 */

import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { openDatabase } from "../../src/db/open.ts";
import {
  Listening,
  loopSeconds,
  removeFolder,
  residentMiB,
  startHelper,
  startServer,
  temporaryFolder,
} from "./children.ts";
import { fixed, msAim, printLatencies, printValue, reportAims, whole } from "./report.ts";
import { openReader, prepareStore } from "./store.ts";

const CONNECTIONS = 10;
const REPORTS_PER_SECOND = 1_000;

const Result = Type.Object({
  seconds: Type.Number(),
  p50: Type.Number(),
  p99: Type.Number(),
  max: Type.Number(),
});

export async function benchBounces(options: { binary: string | null; isQuick: boolean }) {
  const reports = options.isQuick ? 3_000 : 20_000;
  console.log(`bounces: ${whole(reports)} × POST /v1/bounces over ${CONNECTIONS} connections`);
  const echo = startHelper("echo.ts", {});
  const { port: echoPort } = await echo.next(Listening);
  const settings = { connections: CONNECTIONS, reports };
  const baseline = await load({ ...settings, port: echoPort, key: "none", data: null });
  echo.kill();
  printValue("baseline, the same POST without work", `${whole(reports / baseline.seconds)}/s`);

  const data = temporaryFolder();
  const key = await prepareStore(data, reports);
  markSent(data);
  const args = ["--transport", "capture", "--api-rate", "0"];
  const server = await startServer({ binary: options.binary, data, args });
  const loopBefore = loopSeconds(server.pid);
  const result = await load({ ...settings, port: server.port, key, data });
  const loopUs = ((loopSeconds(server.pid) - loopBefore) * 1e6) / reports;
  const mib = residentMiB(server.pid);
  const exitCode = await server.stop();
  const reader = openReader(data);
  const bounced = reader.count("emails WHERE status = 'BOUNCED'");
  const suppressed = reader.count("suppressions");
  reader.close();
  removeFolder(data);
  if (bounced !== reports) throw new Error(`${bounced} mails bounced instead of ${reports}`);
  if (suppressed !== reports) throw new Error(`${suppressed} addresses are suppressed`);
  if (exitCode !== 0) throw new Error(`the server exited with code ${exitCode}`);

  const rate = reports / result.seconds;
  const ratio = (rate * baseline.seconds) / reports;
  printValue("processed", `${whole(rate)}/s; ratio to the baseline ${fixed(ratio, 2)}`);
  printValue("main thread", `${whole(loopUs)} µs per report`);
  printValue("memory", `${whole(mib)} MiB`);
  printLatencies({ name: "200", ...result });
  return reportAims([
    {
      name: "rate",
      isMet: rate >= REPORTS_PER_SECOND,
      measured: `${whole(rate)}/s`,
      wanted: `≥ ${whole(REPORTS_PER_SECOND)}/s`,
    },
    msAim("p99", result.p99, 100),
  ]);
}

/** Marks all queued mails as accepted by a server, as those are about which reports arrive. */
function markSent(data: string): void {
  const { sqlite } = openDatabase(join(data, "mailstead.db"));
  sqlite.run("UPDATE emails SET status = 'SENT', sent_at = created_at, next_at = NULL");
  sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  sqlite.close();
}

function load(settings: object) {
  return startHelper("bounces-load.ts", settings).next(Result);
}
