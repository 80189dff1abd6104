/** Measures how fast a full queue is delivered, including every row that is written about it. */

import { Type } from "@sinclair/typebox";
import {
  Listening,
  relayTo,
  removeFolder,
  residentMiB,
  startHelper,
  startServer,
  temporaryFolder,
} from "./children.ts";
import { fixed, reportAims, printValue, whole } from "./report.ts";
import { openReader, prepareStore, waitUntilSent } from "./store.ts";

const CONNECTIONS = 20;
/** Mails per connection; the connection pool of the server uses the same limit (docs/delivery.md#S6). */
const PER_CONNECTION = 100;
const LIMIT_MS = 180_000;
const Received = Type.Object({ count: Type.Number() });
const Result = Type.Object({ seconds: Type.Number() });

export async function benchDeliver(options: { binary: string | null; isQuick: boolean }) {
  const mails = options.isQuick ? 4_000 : 20_000;
  console.log(`deliver: ${whole(mails)} queued mails to an SMTP server on this machine`);
  const baseline = mails / (await sendWithPool(mails));
  printValue(
    "baseline, nodemailer's pool",
    `${whole(baseline)}/s (messages composed before, nothing stored)`,
  );
  const { rate, totalSeconds, memory, counts } = await deliverQueue(options.binary, mails);
  const ratio = rate / baseline;
  printValue(
    "delivered",
    `${whole(rate)}/s (${fixed(totalSeconds, 1)} s including the start of the process)`,
  );
  printValue("memory at the end", `${whole(memory)} MiB`);
  return reportAims([
    { name: "ratio", isMet: ratio >= 0.5, measured: fixed(ratio, 2), wanted: "≥ 0.5" },
    {
      name: "arrived, SENT, attempts, events",
      isMet: counts.every((n) => n === mails),
      measured: counts.map(whole).join(", "),
      wanted: `${whole(mails)} each`,
    },
  ]);
}

/** Delivers a queue that is full when the process starts; returns mails per second and counts. */
export async function deliverQueue(binary: string | null, mails: number) {
  const data = temporaryFolder();
  await prepareStore(data, mails);
  const sink = startHelper("sink.ts", { withTimes: false });
  const { port } = await sink.next(Listening);
  const startedAt = performance.now();
  const server = await startServer({ binary, data, args: relayTo(port, 0) });
  const reader = openReader(data);
  await waitUntilSent(reader, mails, { limitMs: LIMIT_MS });
  const totalSeconds = (performance.now() - startedAt) / 1000;
  const memory = residentMiB(server.pid);
  const exitCode = await server.stop();
  if (exitCode !== 0) throw new Error(`the server exited with code ${exitCode}`);
  sink.finish();
  const { count } = await sink.next(Received);
  // Time counts from the first attempt: another measurement covers the start of the process.
  const [first = 0] = reader.numbers("SELECT min(started_at) AS n FROM attempts");
  const [last = 0] = reader.numbers("SELECT max(sent_at) AS n FROM emails");
  const counts = [
    count,
    reader.count("emails WHERE status = 'SENT' AND attempts = 1 AND next_at IS NULL"),
    reader.count("attempts WHERE outcome = 'accepted'"),
    reader.count("events WHERE name = 'email.sent'"),
  ];
  reader.close();
  removeFolder(data);
  return { rate: mails / ((last - first) / 1000), totalSeconds, memory, counts };
}

/** Returns the seconds that nodemailer's pool needs to send mails that are composed already. */
export async function sendWithPool(mails: number): Promise<number> {
  const sink = startHelper("sink.ts", { withTimes: false });
  const { port } = await sink.next(Listening);
  const settings = { port, mails, connections: CONNECTIONS, perConnection: PER_CONNECTION };
  const { seconds } = await startHelper("pool.ts", settings).next(Result);
  sink.kill();
  return seconds;
}
