/**
 * Measures an inbox of 100,000 captured messages: reads and searches, a removal of half of them
 * while messages arrive, and 200 clients that read live events.
 */

import { Type } from "@sinclair/typebox";
import { startOwn, type OwnTarget } from "./capture-targets.ts";
import { parse, residentMiB, startHelper } from "./children.ts";
import {
  type Aim,
  fixed,
  ms,
  msAim,
  printLatencies,
  printValue,
  reportAims,
  whole,
} from "./report.ts";
import { sendAll } from "./requests.ts";

const FILL_CONNECTIONS = 10;
const CLIENTS = 200;
const EVENTS_PER_SECOND = 500;
/** Messages per second that arrive during the removal. */
const ARRIVALS_PER_SECOND = 200;

type Sizes = { messages: number; reads: number; arrivals: number; events: number };

const FULL: Sizes = { messages: 100_000, reads: 1_000, arrivals: 4_000, events: 5_000 };
const QUICK: Sizes = { messages: 10_000, reads: 200, arrivals: 500, events: 1_000 };

const Sent = Type.Object({ p50: Type.Number(), p99: Type.Number(), max: Type.Number() });
const Received = Type.Composite([
  Sent,
  Type.Object({ received: Type.Integer(), seconds: Type.Number() }),
]);
const Deleted = Type.Object({ data: Type.Object({ deleted: Type.Integer() }) });

export async function benchInbox(options: {
  binary: string | null;
  isQuick: boolean;
}): Promise<boolean> {
  const sizes = options.isQuick ? QUICK : FULL;
  console.log(`inbox: ${whole(sizes.messages)} captured messages`);
  const target = await startOwn(options.binary);
  await fill(target, sizes);
  const aims = [
    ...(await measureReads(target, sizes)),
    await measureRemoval(target, sizes),
    await measureEvents(target, sizes),
  ];
  printValue("memory", `${whole(residentMiB(target.pid))} MiB`);
  await target.stop();
  return reportAims(aims);
}

/** One half of the messages has the run "a", the other one "b". */
async function fill(target: OwnTarget, { messages }: Sizes): Promise<void> {
  for (const run of ["a", "b"]) await send(target, { messages: messages / 2, run });
  while ((await target.total('subject:"Order b"')) < messages / 2) await Bun.sleep(50);
}

function send(target: OwnTarget, load: { messages: number; run: string; perSecond?: number }) {
  const settings = { port: target.smtpPort, connections: FILL_CONNECTIONS, kind: "text", ...load };
  return startHelper("capture-load.ts", settings).next(Sent);
}

async function measureReads(target: OwnTarget, { messages, reads }: Sizes): Promise<Aim[]> {
  const numberOf = (i: number) => (i * 7_919) % (messages / 2);
  const search = (text: string) => `?limit=50&query=${encodeURIComponent(text)}`;
  const kinds: [name: string, limitMs: number, path: (i: number) => string][] = [
    ["a page of the list", 10, () => "?limit=50"],
    ["the latest message", 10, () => "/latest"],
    ["search for to:", 10, (i) => search(`to:"person-${numberOf(i)}@example.net"`)],
    ["search for free text", 50, (i) => search(`a${numberOf(i)}x`)],
  ];
  const aims: Aim[] = [];
  for (const [name, limitMs, path] of kinds) {
    const measured = await sendAll({
      port: target.port,
      connections: 1,
      requests: reads,
      request: (i) =>
        `GET /inboxes/default/messages${path(i)} HTTP/1.1\r\nHost: localhost\r\n` +
        `Authorization: ${target.authorization}\r\n\r\n`,
    });
    printLatencies({ name, ...measured });
    aims.push(msAim(`${name}, p99`, measured.p99, limitMs));
  }
  const startedAt = performance.now();
  const all = await target.total("train");
  printValue(`free text of all ${whole(all)} messages`, ms(performance.now() - startedAt));
  return aims;
}

async function measureRemoval(target: OwnTarget, { messages, arrivals }: Sizes): Promise<Aim> {
  const load = { messages: arrivals, run: "c", perSecond: ARRIVALS_PER_SECOND };
  const arriving = send(target, load);
  const startedAt = performance.now();
  const answer = await target.call("DELETE", "/messages", { query: 'subject:"Order a"' });
  const { deleted } = parse(Deleted, answer).data;
  const seconds = (performance.now() - startedAt) / 1000;
  if (deleted !== messages / 2) throw new Error(`${deleted} messages were removed`);
  printValue(`${whole(deleted)} removed by a search`, `${fixed(seconds, 1)} s`);
  const measured = await arriving;
  printLatencies({ name: `the 250 meanwhile, ${ARRIVALS_PER_SECOND}/s`, ...measured });
  return msAim("longest 250 during the removal", measured.max, 100);
}

async function measureEvents(target: OwnTarget, { events }: Sizes): Promise<Aim> {
  const { port, smtpPort, authorization } = target;
  const load = { clients: CLIENTS, perSecond: EVENTS_PER_SECOND, messages: events };
  const helper = startHelper("inbox-live.ts", { port, smtpPort, authorization, ...load });
  const measured = await helper.next(Received);
  const rate = whole(events / measured.seconds);
  printLatencies({ name: `events of ${CLIENTS} clients, ${rate} messages/s`, ...measured });
  const missing = events * CLIENTS - measured.received;
  if (missing !== 0) throw new Error(`${missing} events were missed`);
  return msAim(`longest time to an event, ${CLIENTS} clients`, measured.max, 200);
}
