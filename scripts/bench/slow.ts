/** Whether mails to a host that takes its time delay those to another one that came after them. */

import { Type } from "@sinclair/typebox";
import { directTo, removeFolder, startHelper, startServer, temporaryFolder } from "./children.ts";
import { Online } from "./direct.ts";
import { judge, quantile, say, whole } from "./report.ts";
import { openReader, prepareStore } from "./store.ts";

const SLOW_MS = 5_000;
/** Before the fast ones leave, all the slow ones have been looked at. */
const MOST_LATER_MS = 500;
const LIMIT_MS = 120_000;
const POLL_MS = 20;
const Arrived = Type.Object({ arrivals: Type.Array(Type.Array(Type.Number())) });

export async function benchSlow(options: { binary: string | null; isQuick: boolean }) {
  const mails = options.isQuick ? 300 : 1_000;
  console.log(
    `slow: ${whole(mails)} mails to a host that answers after ${SLOW_MS / 1000} s, ` +
      `then ${whole(mails)} to a fast one, all due at once`,
  );
  const alone = await run(options.binary, { slow: 0, fast: mails });
  const beside = await run(options.binary, { slow: mails, fast: mails });
  say("baseline, the fast ones alone", distribution(alone.fast));
  say("the fast ones beside the slow ones", distribution(beside.fast));
  say("the slow ones meanwhile", `${beside.slow.length} arrived, ${beside.underWay} under way`);
  const later = (q: number) => quantile(beside.fast, q) - quantile(alone.fast, q);
  const aims = [0.5, 0.99, 1].map((q, i) => ({
    name: `${["median", "p99", "last"][i] ?? ""} of the fast ones`,
    isMet: later(q) <= MOST_LATER_MS,
    measured: `${whole(later(q))} ms later`,
    wanted: `≤ ${MOST_LATER_MS} ms`,
  }));
  return judge([
    ...aims,
    {
      name: "fast ones that arrived",
      isMet: beside.fast.length === mails && alone.fast.length === mails,
      measured: whole(beside.fast.length),
      wanted: whole(mails),
    },
    {
      name: "attempts counted of slow ones that waited",
      isMet: beside.counted === 0,
      measured: whole(beside.counted),
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
  await untilDelivered(reader, fast);
  const waiting = "emails WHERE to_address LIKE '%@slow.test' AND status = 'QUEUED'";
  const underWay = reader.count("emails WHERE status = 'SENDING'");
  const counted = reader.count(`${waiting} AND attempts > 0`);
  await server.stop();
  internet.finish();
  const { arrivals } = await internet.next(Arrived);
  const [slowOnes = [], fastOnes = []] = arrivals;
  reader.close();
  removeFolder(data);
  // From the first arrival of all on: starting the process is measured elsewhere.
  const start = Math.min(...slowOnes, ...fastOnes);
  return { slow: slowOnes, fast: fastOnes.map((moment) => moment - start), underWay, counted };
}

async function untilDelivered(reader: ReturnType<typeof openReader>, mails: number) {
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
