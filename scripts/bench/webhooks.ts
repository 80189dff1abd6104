/** How fast events reach a webhook, and what webhooks cost those who send events in. */

import { Type } from "@sinclair/typebox";
import { load } from "./accept.ts";
import { Listening, removeFolder, startHelper, startServer, temporaryFolder } from "./children.ts";
import { fixed, judge, say, whole } from "./report.ts";
import { openStore, openReader, prepareStore } from "./store.ts";

/** As many requests at once as one webhook gets (modules/webhooks/dispatcher.ts). */
const AT_ONCE = 16;
const EVENT = "bought";
const WARM_UP = 2_000;
const ROUNDS = 3;
const LIMIT_MS = 120_000;
const Seconds = Type.Object({ seconds: Type.Number() });
const Arrived = Type.Object({ count: Type.Number(), seconds: Type.Number() });
const RATES = ["--send-rate", "1", "--api-rate", "0"];
const FLAGS = ["--transport", "capture", ...RATES, "--allow-private-addresses", "true"];

/** What listens while events are tracked: nobody, one webhook for other events, one for these. */
type Audience = "nobody" | "others" | "all";

type Options = { binary: string | null; isQuick: boolean };

export async function benchWebhooks(options: Options): Promise<boolean> {
  const events = options.isQuick ? 5_000 : 20_000;
  console.log(`webhooks: ${whole(events)} events to a receiver here, the best of ${ROUNDS}`);
  let baseline = 0;
  let delivered = 0;
  // In turns, so that whatever else the machine does is everybody's; the best of each counts.
  for (let round = 0; round < ROUNDS; round++) {
    baseline = Math.max(baseline, await measureClient(events));
    delivered = Math.max(delivered, await measureDelivery(options, events));
  }
  say("baseline, the guarded client alone", `${whole(baseline)}/s`);
  say("delivered, all states written", `${whole(delivered)}/s`);

  const requests = options.isQuick ? 10_000 : 40_000;
  console.log(`webhooks: ${whole(requests)} × POST /v1/track`);
  const rates = { nobody: 0, others: 0, all: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    for (const listening of ["nobody", "others", "all"] as const) {
      const rate = await measureTracking(options, requests, listening);
      rates[listening] = Math.max(rates[listening], rate);
    }
  }
  say("accepted, no webhook (baseline)", `${whole(rates.nobody)}/s`);
  say("accepted, one for other events", `${whole(rates.others)}/s`);
  say("accepted, one for each of them", `${whole(rates.all)}/s, delivering meanwhile`);

  const ratio = delivered / baseline;
  const kept = rates.others / rates.nobody;
  return judge([
    { name: "delivered", isMet: ratio >= 0.4, measured: fixed(ratio, 2), wanted: "≥ 0.4 of it" },
    { name: "accepted", isMet: kept >= 0.85, measured: fixed(kept, 2), wanted: "≥ 0.85 of it" },
  ]);
}

/** Requests per second. */
async function measureClient(requests: number): Promise<number> {
  const sink = startHelper("hook-sink.ts", { expected: requests });
  const { port } = await sink.next(Listening);
  const client = startHelper("hook-client.ts", { port, requests, atOnce: AT_ONCE });
  const { seconds } = await client.next(Seconds);
  sink.kill();
  return requests / seconds;
}

/** The log is full when the process starts; deliveries per second from the first to the last. */
async function measureDelivery({ binary }: Options, events: number): Promise<number> {
  const sink = startHelper("hook-sink.ts", { expected: events });
  const { port } = await sink.next(Listening);
  const data = temporaryFolder();
  const key = await prepareStore(data, 0);
  const { post, close } = openStore(data, { allowPrivateAddresses: true });
  await post(key, "/webhooks", { url: `http://127.0.0.1:${port}/`, events: [EVENT] });
  for (let first = 0; first < events; first += 100) {
    const some = Array.from({ length: 100 }, (_, i) => `person-${first + i}@example.net`);
    await Promise.all(some.map((email) => post(key, "/v1/track", { event: EVENT, email })));
  }
  await close();
  const server = await startServer({ binary, data, args: FLAGS });
  const { seconds } = await sink.next(Arrived);
  await untilWritten(data, events);
  if ((await server.stop()) !== 0) throw new Error("the server did not end well");
  sink.kill();
  removeFolder(data);
  return events / seconds;
}

async function untilWritten(data: string, events: number): Promise<void> {
  const reader = openReader(data);
  const deadline = performance.now() + LIMIT_MS;
  const count = () =>
    reader.count("webhook_deliveries WHERE status = 'SUCCEEDED' AND attempts = 1");
  while (count() < events) {
    if (performance.now() > deadline) throw new Error(`${count()} deliveries are written`);
    await Bun.sleep(20);
  }
  reader.close();
}

/** Events accepted per second. */
async function measureTracking(
  { binary }: Options,
  requests: number,
  listening: Audience,
): Promise<number> {
  const sink = startHelper("hook-sink.ts", { expected: requests + WARM_UP });
  const { port } = await sink.next(Listening);
  const data = temporaryFolder();
  const key = await prepareStore(data, 0);
  const { post, close } = openStore(data, { allowPrivateAddresses: true });
  const events = [listening === "all" ? EVENT : "another"];
  const hook = { url: `http://127.0.0.1:${port}/`, events };
  if (listening !== "nobody") await post(key, "/webhooks", hook);
  await close();
  const server = await startServer({ binary, data, args: FLAGS });
  const target = { port: server.port, path: "/v1/track", key, event: EVENT };
  await load(target, { requests: WARM_UP, firstRecipient: requests });
  const { seconds } = await load(target, { requests, firstRecipient: 0 });
  if (listening === "all") await untilWritten(data, requests + WARM_UP);
  await server.stop();
  sink.kill();
  removeFolder(data);
  return requests / seconds;
}
