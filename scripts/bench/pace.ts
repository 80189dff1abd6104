/** Whether mail leaves at the rate that was set: never faster, and hardly slower. */

import { Type } from "@sinclair/typebox";
import {
  Listening,
  relayTo,
  removeFolder,
  startHelper,
  startServer,
  temporaryFolder,
} from "./children.ts";
import { judge, mostInAnySecond, say } from "./report.ts";
import { openReader, prepareStore } from "./store.ts";

const RATE = 14;
const Sunk = Type.Object({ arrivals: Type.Array(Type.Number()) });

export async function benchPace(options: { binary: string | null; isQuick: boolean }) {
  const seconds = options.isQuick ? 10 : 60;
  const full = RATE * seconds;
  console.log(`pace: ${RATE} mails a second for ${seconds} s`);
  const data = temporaryFolder();
  await prepareStore(data, full + 5 * RATE);
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
  const { arrivals } = await sink.next(Sunk);
  const reader = openReader(data);
  const starts = reader.numbers("SELECT started_at AS n FROM attempts");
  reader.close();
  removeFolder(data);

  const within = (moments: readonly number[]) => {
    const first = Math.min(...moments);
    return moments.filter((moment) => moment < first + seconds * 1000).length;
  };
  say("baseline, exactly the rate", `${full} in ${seconds} s`);
  say("started", `${within(starts)}, most in any second ${mostInAnySecond(starts)}`);
  say("arrived", `${within(arrivals)}, most in any second ${mostInAnySecond(arrivals)}`);
  const most = mostInAnySecond(arrivals);
  const least = Math.ceil(0.99 * full);
  return judge([
    {
      name: "most in any second",
      isMet: most <= RATE,
      measured: String(most),
      wanted: `≤ ${RATE}`,
    },
    {
      name: `in ${seconds} s`,
      isMet: within(arrivals) >= least,
      measured: String(within(arrivals)),
      wanted: `≥ ${least}`,
    },
  ]);
}
