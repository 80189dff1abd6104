/** Measures how fast events are delivered to a webhook, and how much webhooks slow down tracking. */

import { Type } from "@sinclair/typebox";
import { load } from "./accept.ts";
import { Listening, removeFolder, startHelper, startServer, temporaryFolder } from "./children.ts";
import { fixed, reportAims, printValue, whole } from "./report.ts";
import { openStore, openReader, prepareStore } from "./store.ts";

/** Concurrent requests; the dispatcher of webhooks allows one webhook as many. */
const CONCURRENCY = 16;
const EVENT = "bought";
const WARM_UP_REQUESTS = 2_000;
const ROUNDS = 3;
const LIMIT_MS = 120_000;
const Seconds = Type.Object({ seconds: Type.Number() });
const Received = Type.Object({ count: Type.Number(), seconds: Type.Number() });
const RATES = ["--send-rate", "1", "--api-rate", "0"];
const FLAGS = ["--transport", "capture", ...RATES, "--allow-private-addresses", "true"];

/** The webhook of the project while events are tracked: none, one for other events, one for these. */
type Subscription = "none" | "other" | "all";

type Options = { binary: string | null; isQuick: boolean };

export async function benchWebhooks(options: Options): Promise<boolean> {
  const events = options.isQuick ? 5_000 : 20_000;
  console.log(
    `webhooks: ${whole(events)} events to a local receiver, the best of ${ROUNDS} rounds`,
  );
  let baseline = 0;
  let delivered = 0;
  // The rounds alternate, so that other work on the machine affects all equally; the best counts.
  for (let round = 0; round < ROUNDS; round++) {
    baseline = Math.max(baseline, await measureClient(events));
    delivered = Math.max(delivered, await measureDelivery(options, events));
  }
  printValue("baseline, the guarded client alone", `${whole(baseline)}/s`);
  printValue("delivered, all state stored", `${whole(delivered)}/s`);

  const requests = options.isQuick ? 10_000 : 40_000;
  console.log(`webhooks: ${whole(requests)} × POST /v1/track`);
  const rates = { none: 0, other: 0, all: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    for (const listening of ["none", "other", "all"] as const) {
      const rate = await measureTracking(options, requests, listening);
      rates[listening] = Math.max(rates[listening], rate);
    }
  }
  printValue("accepted, no webhook (baseline)", `${whole(rates.none)}/s`);
  printValue("accepted, one for other events", `${whole(rates.other)}/s`);
  printValue("accepted, one for these events", `${whole(rates.all)}/s while delivering`);

  const deliveredShare = delivered / baseline;
  const acceptedShare = rates.other / rates.none;
  return reportAims([
    {
      name: "delivered",
      isMet: deliveredShare >= 0.4,
      measured: fixed(deliveredShare, 2),
      wanted: "≥ 0.4 of the baseline",
    },
    {
      name: "accepted",
      isMet: acceptedShare >= 0.85,
      measured: fixed(acceptedShare, 2),
      wanted: "≥ 0.85 of the baseline",
    },
  ]);
}

/** Returns requests per second of the HTTP client alone. */
async function measureClient(requests: number): Promise<number> {
  const sink = startHelper("webhook-sink.ts", { expected: requests });
  const { port } = await sink.next(Listening);
  const client = startHelper("webhook-client.ts", { port, requests, concurrency: CONCURRENCY });
  const { seconds } = await client.next(Seconds);
  sink.kill();
  return requests / seconds;
}

/**
 * Delivers events that are in the log when the process starts. Returns deliveries per second, from
 * the first to the last.
 */
async function measureDelivery({ binary }: Options, events: number): Promise<number> {
  const sink = startHelper("webhook-sink.ts", { expected: events });
  const { port } = await sink.next(Listening);
  const data = temporaryFolder();
  const key = await prepareStore(data, 0);
  const { post, close } = openStore(data, { allowPrivateAddresses: true });
  await post(key, "/webhooks", { url: `http://127.0.0.1:${port}/`, events: [EVENT] });
  for (let first = 0; first < events; first += 100) {
    const emails = Array.from({ length: 100 }, (_, i) => `person-${first + i}@example.net`);
    await Promise.all(emails.map((email) => post(key, "/v1/track", { event: EVENT, email })));
  }
  await close();
  const server = await startServer({ binary, data, args: FLAGS });
  const { seconds } = await sink.next(Received);
  await waitUntilDelivered(data, events);
  if ((await server.stop()) !== 0) throw new Error("the server exited with an error");
  sink.kill();
  removeFolder(data);
  return events / seconds;
}

async function waitUntilDelivered(data: string, events: number): Promise<void> {
  const reader = openReader(data);
  const deadline = performance.now() + LIMIT_MS;
  const count = () =>
    reader.count("webhook_deliveries WHERE status = 'SUCCEEDED' AND attempts = 1");
  while (count() < events) {
    if (performance.now() > deadline) {
      throw new Error(`only ${count()} of ${events} deliveries succeeded in ${LIMIT_MS} ms`);
    }
    await Bun.sleep(20);
  }
  reader.close();
}

/** Returns events accepted per second. */
async function measureTracking(
  { binary }: Options,
  requests: number,
  listening: Subscription,
): Promise<number> {
  const sink = startHelper("webhook-sink.ts", { expected: requests + WARM_UP_REQUESTS });
  const { port } = await sink.next(Listening);
  const data = temporaryFolder();
  const key = await prepareStore(data, 0);
  const { post, close } = openStore(data, { allowPrivateAddresses: true });
  const events = [listening === "all" ? EVENT : "another"];
  const hook = { url: `http://127.0.0.1:${port}/`, events };
  if (listening !== "none") await post(key, "/webhooks", hook);
  await close();
  const server = await startServer({ binary, data, args: FLAGS });
  const target = { port: server.port, path: "/v1/track", key, event: EVENT };
  await load(target, { requests: WARM_UP_REQUESTS, firstRecipient: requests });
  const { seconds } = await load(target, { requests, firstRecipient: 0 });
  if (listening === "all") await waitUntilDelivered(data, requests + WARM_UP_REQUESTS);
  await server.stop();
  sink.kill();
  removeFolder(data);
  return requests / seconds;
}
