/** Measures whether mails to a slow host delay mails to a fast host that were queued after them. */

import { Type } from "@sinclair/typebox";
import { directTo, removeFolder, startHelper, startServer, temporaryFolder } from "./children.ts";
import { Online } from "./direct.ts";
import { reportAims, quantile, printValue, whole } from "./report.ts";
import { openReader, prepareStore } from "./store.ts";

const SLOW_MS = 5_000;
/** Longest accepted delay of the fast mails: the dispatcher leases all slow mails before them. */
const MAX_DELAY_MS = 500;
const LIMIT_MS = 120_000;
const POLL_MS = 20;
const Received = Type.Object({ arrivals: Type.Array(Type.Array(Type.Number())) });

export async function benchSlow(options: { binary: string | null; isQuick: boolean }) {
  const mails = options.isQuick ? 300 : 1_000;
  console.log(
    `slow: ${whole(mails)} mails to a host that responds after ${SLOW_MS / 1000} s, ` +
      `then ${whole(mails)} to a fast host, all due at once`,
  );
  const alone = await run(options.binary, { slow: 0, fast: mails });
  const beside = await run(options.binary, { slow: mails, fast: mails });
  printValue("baseline, fast mails alone", distribution(alone.fast));
  printValue("fast mails beside slow mails", distribution(beside.fast));
  printValue("slow mails meanwhile", `${beside.slow.length} arrived, ${beside.underWay} under way`);
  const delayMs = (q: number) => quantile(beside.fast, q) - quantile(alone.fast, q);
  const aims = [0.5, 0.99, 1].map((q, i) => ({
    name: `${["median", "p99", "last"][i] ?? ""} of the fast mails`,
    isMet: delayMs(q) <= MAX_DELAY_MS,
    measured: `${whole(delayMs(q))} ms later`,
    wanted: `≤ ${MAX_DELAY_MS} ms`,
  }));
  return reportAims([
    ...aims,
    {
      name: "fast mails that arrived",
      isMet: beside.fast.length === mails && alone.fast.length === mails,
      measured: whole(beside.fast.length),
      wanted: whole(mails),
    },
    {
      name: "waiting slow mails with an attempt",
      isMet: beside.attempted === 0,
      measured: whole(beside.attempted),
      wanted: "0",
    },
  ]);
}

async function run(binary: string | null, { slow, fast }: { slow: number; fast: number }) {
  const data = temporaryFolder();
  await prepareStore(data, slow + fast, {
    recipientOf: (n) => `person-${n}@${n < slow ? "slow" : "fast"}.test`,
  });
  const internet = startHelper("internet.ts", {
    domains: { "slow.test": "mx.slow.test", "fast.test": "mx.fast.test" },
    hosts: {
      "mx.slow.test": { address: "127.0.0.2", answerAfterMs: SLOW_MS },
      "mx.fast.test": { address: "127.0.0.3", answerAfterMs: 0 },
    },
    withTimes: true,
  });
  const at = await internet.next(Online);
  const server = await startServer({ binary, data, args: directTo(at) });
  const reader = openReader(data);
  await waitUntilDelivered(reader, fast);
  const waiting = "emails WHERE to_address LIKE '%@slow.test' AND status = 'QUEUED'";
  const underWay = reader.count("emails WHERE status = 'SENDING'");
  const attempted = reader.count(`${waiting} AND attempts > 0`);
  await server.stop();
  internet.finish();
  const { arrivals } = await internet.next(Received);
  const [slowArrivals = [], fastArrivals = []] = arrivals;
  reader.close();
  removeFolder(data);
  // Time counts from the first arrival: another measurement covers the start of the process.
  const start = Math.min(...slowArrivals, ...fastArrivals);
  return {
    slow: slowArrivals,
    fast: fastArrivals.map((time) => time - start),
    underWay,
    attempted,
  };
}

async function waitUntilDelivered(reader: ReturnType<typeof openReader>, mails: number) {
  const deadline = performance.now() + LIMIT_MS;
  const delivered = () =>
    reader.count("emails WHERE to_address LIKE '%@fast.test' AND status = 'DELIVERED'");
  while (delivered() < mails) {
    if (performance.now() > deadline) throw new Error(`only ${delivered()} of ${mails} arrived`);
    await Bun.sleep(POLL_MS);
  }
}

function distribution(values: readonly number[]): string {
  const at = [0, 0.5, 0.9, 0.99, 1].map((q) => `${whole(quantile(values, q))} ms`);
  return `first / p50 / p90 / p99 / last: ${at.join(" / ")}`;
}
