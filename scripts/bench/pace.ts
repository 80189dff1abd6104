/** Measures whether mail leaves at the configured rate: never faster, and at most 1 % slower. */

import { Type } from "@sinclair/typebox";
import {
  Listening,
  relayTo,
  removeFolder,
  startHelper,
  startServer,
  temporaryFolder,
} from "./children.ts";
import { reportAims, maxPerSecond, printValue } from "./report.ts";
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
  await Bun.sleep((seconds + 1) * 1000);
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
  const minimum = Math.ceil(0.99 * expected);
  return reportAims([
    {
      name: "peak in any second",
      isMet: peak <= RATE,
      measured: String(peak),
      wanted: `≤ ${RATE}`,
    },
    {
      name: `in ${seconds} s`,
      isMet: countWithin(arrivals) >= minimum,
      measured: String(countWithin(arrivals)),
      wanted: `≥ ${minimum}`,
    },
  ]);
}
