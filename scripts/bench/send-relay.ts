/**
 * Measures how many mails per second are accepted with POST /v1/send and at the same time delivered
 * through a relay, as by an application that sends one mail after another on each connection.
 */

import { load } from "./accept.ts";
import {
  Listening,
  processorMs,
  relayTo,
  removeFolder,
  residentMiB,
  startHelper,
  startServer,
  temporaryFolder,
} from "./children.ts";
import { sendWithPool } from "./deliver.ts";
import { fixed, printValue, reportAims, whole } from "./report.ts";
import { openReader, prepareStore, waitUntilSent } from "./store.ts";

const CONNECTIONS = 16;
const WARM_UP_REQUESTS = 1_000;
const LIMIT_MS = 5 * 60_000;
/** Wanted ratio to nodemailer's pool, which sends composed messages and stores nothing. */
const RATIO = 0.6;

export async function benchSendRelay(options: { binary: string | null; isQuick: boolean }) {
  const requests = options.isQuick ? 5_000 : 40_000;
  console.log(
    `send-relay: ${whole(requests)} × POST /v1/send over ${CONNECTIONS} connections, delivered at once`,
  );
  const baseline = requests / (await sendWithPool(requests));
  const data = temporaryFolder();
  const key = await prepareStore(data, 0);
  const sink = startHelper("sink.ts", { withTimes: false });
  const { port } = await sink.next(Listening);
  const server = await startServer({ binary: options.binary, data, args: relayTo(port, 0) });
  const reader = openReader(data);
  const target = { port: server.port, path: "/v1/send", key };
  const connections = CONNECTIONS;
  await load(target, { requests: WARM_UP_REQUESTS, firstRecipient: requests, connections });
  await waitUntilSent(reader, WARM_UP_REQUESTS, { limitMs: LIMIT_MS });
  const cpuBefore = processorMs(server.pid);
  const { p50, p99, seconds } = await load(target, { requests, firstRecipient: 0, connections });
  await waitUntilSent(reader, requests, { limitMs: LIMIT_MS });
  const cpu = (processorMs(server.pid) - cpuBefore) / requests;
  const memory = residentMiB(server.pid);
  await server.stop();
  sink.kill();
  const measured = `seq > ${WARM_UP_REQUESTS}`;
  const [first = 0] = reader.numbers(`SELECT min(created_at) AS n FROM emails WHERE ${measured}`);
  const [last = 0] = reader.numbers(`SELECT max(sent_at) AS n FROM emails WHERE ${measured}`);
  const sent = reader.count(`emails WHERE ${measured} AND status = 'SENT' AND attempts = 1`);
  reader.close();
  removeFolder(data);
  const rate = requests / ((last - first) / 1000);
  printValue("baseline, nodemailer's pool", `${whole(baseline)}/s`);
  printValue(
    "accepted",
    `${whole(requests / seconds)}/s, p50 ${fixed(p50, 1)} ms, p99 ${fixed(p99, 1)} ms`,
  );
  printValue("accepted and delivered", `${whole(rate)}/s`);
  printValue("processor seconds per 1,000 mails", fixed(cpu, 3));
  printValue("memory at the end", `${whole(memory)} MiB`);
  const ratio = rate / baseline;
  return reportAims([
    {
      name: "accepted and delivered, to nodemailer's pool",
      isMet: ratio >= RATIO,
      measured: fixed(ratio, 2),
      wanted: `≥ ${RATIO}`,
    },
    {
      name: "SENT at the first attempt",
      isMet: sent === requests,
      measured: whole(sent),
      wanted: whole(requests),
    },
  ]);
}
