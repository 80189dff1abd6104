/**
 * Measures whether mail leaves at the configured rate: never faster, and at most 1 % slower, also
 * after the first second, which may begin with a burst.
 */

import { Type } from "@sinclair/typebox";
import {
  Listening,
  relayTo,
  removeFolder,
  startHelper,
  startServer,
  temporaryFolder,
} from "./children.ts";
import { fixed, maxPerSecond, printValue, reportAims } from "./report.ts";
import { openReader, prepareStore } from "./store.ts";

const RATE = 14;
const Received = Type.Object({ arrivals: Type.Array(Type.Number()) });

export async function benchPace(options: { binary: string | null; isQuick: boolean }) {
  const seconds = options.isQuick ? 10 : 60;
  const expected = RATE * seconds;
  console.log(`pace: ${RATE} mails a second for ${seconds} s`);
  const data = temporaryFolder();
  await prepareStore(data, expected + 5 * RATE);
  const sink = startHelper("sink.ts", { withTimes: true });
  const { port } = await sink.next(Listening);
  const server = await startServer({
    binary: options.binary,
    data,
    args: relayTo(port, RATE),
  });
  await Bun.sleep((seconds + 2) * 1000);
  await server.stop();
  sink.finish();
  const { arrivals } = await sink.next(Received);
  const reader = openReader(data);
  const starts = reader.numbers("SELECT started_at AS n FROM attempts");
  reader.close();
  removeFolder(data);

  const countWithin = (times: readonly number[]) => {
    const first = Math.min(...times);
    return times.filter((time) => time < first + seconds * 1000).length;
  };
  printValue("baseline, exactly at the rate", `${expected} in ${seconds} s`);
  printValue("started", `${countWithin(starts)}, peak in any second ${maxPerSecond(starts)}`);
  printValue("arrived", `${countWithin(arrivals)}, peak in any second ${maxPerSecond(arrivals)}`);
  const peak = maxPerSecond(arrivals);
  const sustained = sustainedRate(arrivals, seconds) / RATE;
  printValue("arrived after the first second", `${fixed(sustained * RATE, 2)}/s`);
  const minimum = Math.ceil(0.99 * expected);
  return reportAims([
    {
      name: "arrived, most in any sliding second",
      isMet: peak <= RATE,
      measured: String(peak),
      wanted: `≤ ${RATE}`,
    },
    {
      name: "rate after the first second, to the configured one",
      isMet: sustained >= 0.99,
      measured: fixed(sustained, 3),
      wanted: "≥ 0.99",
    },
    {
      name: `in ${seconds} s`,
      isMet: countWithin(arrivals) >= minimum,
      measured: String(countWithin(arrivals)),
      wanted: `≥ ${minimum}`,
    },
  ]);
}

/** Returns the mails per second in `seconds` after the first second of the arrivals. */
function sustainedRate(arrivals: readonly number[], seconds: number): number {
  const from = Math.min(...arrivals) + 1000;
  const inTime = arrivals.filter((time) => time >= from && time < from + seconds * 1000);
  return inTime.length / seconds;
}
