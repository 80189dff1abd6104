/**
 * Measures how fast a full queue is signed and delivered directly to one server that receives mail
 * for many domains. The speed of a machine changes from minute to minute, so the baseline, which is
 * signing alone, is measured seven times during the delivery while all other processes are stopped.
 */

import { type Static, Type } from "@sinclair/typebox";
import {
  directTo,
  processorMs,
  removeFolder,
  residentMiB,
  startHelper,
  startServer,
  temporaryFolder,
} from "./children.ts";
import { fixed, reportAims, quantile, printValue, whole } from "./report.ts";
import { openReader, prepareStore, waitUntilSent } from "./store.ts";

const DOMAINS = 50;
const HOST = "mx.sink.test";
/** Concurrent signatures; the transport has as many mails under way. */
const CONCURRENCY = 50;
const SIGNATURES = 2_500;
const STEPS = 8;
/**
 * Largest accepted ratio of the memory in the second half to the first half. The heap grows between
 * two garbage collections, so a difference below this is not a leak.
 */
const MAX_HEAP_GROWTH = 1.2;
const LIMIT_MS = 20 * 60_000;
export const Online = Type.Object({ port: Type.Number(), dns: Type.String() });
const Received = Type.Object({ counts: Type.Array(Type.Number()) });
const Signed = Type.Object({ seconds: Type.Number(), processorMs: Type.Number() });

export async function benchDirect(options: {
  binary: string | null;
  isQuick: boolean;
  mails: number;
}) {
  const defaultMails = options.isQuick ? 10_000 : 200_000;
  const mails = options.mails === 0 ? defaultMails : options.mails;
  console.log(
    `deliver-direct: ${whole(mails)} queued mails to ${DOMAINS} domains of one server, ` +
      `signed with RSA-2048 and Ed25519`,
  );
  const domains = Array.from({ length: DOMAINS }, (_, i) => `domain-${i}.test`);
  const data = temporaryFolder();
  await prepareStore(data, mails, {
    isSigned: true,
    recipientOf: (number) => `person-${number}@domain-${number % DOMAINS}.test`,
  });
  const baseline = startBaseline("signatures.ts", {
    mails: SIGNATURES,
    concurrency: CONCURRENCY,
  });
  await baseline.round(); // The first round also compiles the code, so it is not counted.
  const internet = startHelper("internet.ts", {
    domains: Object.fromEntries(domains.map((domain) => [domain, HOST])),
    hosts: { [HOST]: { address: "127.0.0.1", answerAfterMs: 0 } },
    withTimes: false,
  });
  const at = await internet.next(Online);
  const server = await startServer({ binary: options.binary, data, args: directTo(at) });
  const reader = openReader(data);
  const memory: number[] = [];
  const signed: Round[] = [];
  await waitUntilSent(reader, mails, {
    limitMs: LIMIT_MS,
    async onStep(ended) {
      if (ended < (mails / STEPS) * (memory.length + 1)) return;
      memory.push(residentMiB(server.pid));
      if (ended < mails)
        signed.push(await whileStopped([server.pid, internet.pid], baseline.round));
    },
  });
  baseline.end();
  const processor = {
    server: processorMs(server.pid) / mails,
    receiver: processorMs(internet.pid) / mails,
  };
  const exitCode = await server.stop();
  internet.finish();
  const { counts } = await internet.next(Received);
  const [first = 0] = reader.numbers("SELECT min(started_at) AS n FROM attempts");
  const deliveredAt = reader.numbers("SELECT delivered_at AS n FROM emails ORDER BY n");
  const written = {
    delivered: reader.count("emails WHERE status = 'DELIVERED' AND attempts = 1"),
    attempts: reader.count("attempts WHERE outcome = 'accepted'"),
    events: reader.count("events WHERE name = 'email.delivered'"),
  };
  reader.close();
  removeFolder(data);

  const alone = {
    rate: (SIGNATURES * signed.length) / sum(signed.map(({ seconds }) => seconds)),
    processorMs: sum(signed.map((each) => each.processorMs)) / (SIGNATURES * signed.length),
  };
  const seconds = activeMs(signed, first, deliveredAt.at(-1) ?? 0) / 1000;
  const rate = mails / seconds;
  const ratio = rate / alone.rate;
  printValue("baseline, the signatures alone", `${whole(alone.rate)}/s on all cores`);
  printValue("delivered", `${whole(rate)}/s`);
  printValue(
    "delivered, by quarter of the mails",
    ratesOf(signed, deliveredAt, first).map(whole).join(", "),
  );
  printValue(
    "processor time per mail",
    `${fixed(processor.server, 2)} ms, the receiving side ${fixed(processor.receiver, 2)} ms; ` +
      `signatures alone ${fixed(alone.processorMs, 2)} ms`,
  );
  const share = alone.processorMs / (processor.server + processor.receiver);
  printValue("ratio by processor time", fixed(share, 2));
  printValue("memory after each eighth", memory.map((mib) => `${whole(mib)} MiB`).join(", "));
  const half = Math.max(...memory.slice(0, STEPS / 2));
  const end = quantile(memory.slice(STEPS / 2), 0.5);
  const found = [...counts, ...Object.values(written)];
  return reportAims([
    { name: "rate", isMet: rate >= 800, measured: `${whole(rate)}/s`, wanted: "≥ 800/s" },
    { name: "ratio", isMet: ratio >= 0.5, measured: fixed(ratio, 2), wanted: "≥ 0.5" },
    {
      name: "memory, second half",
      isMet: end <= half * MAX_HEAP_GROWTH,
      measured: `${whole(half)} → ${whole(end)} MiB`,
      wanted: "no growth",
    },
    {
      name: "arrived, DELIVERED, attempts, events",
      isMet: found.every((n) => n === mails) && exitCode === 0,
      measured: found.map(whole).join(", "),
      wanted: `${whole(mails)} each`,
    },
  ]);
}

/** Result of a round of signatures, with its start and end as epoch milliseconds. */
export type Round = Static<typeof Signed> & { from: number; to: number };

/** Starts a helper that signs in rounds and does nothing else. */
export function startBaseline(script: string, settings: object) {
  const helper = startHelper(script, settings);
  return {
    async round(): Promise<Round> {
      const from = Date.now();
      helper.again();
      return { ...(await helper.next(Signed)), from, to: Date.now() };
    },
    end: () => helper.kill(),
  };
}

async function whileStopped<T>(pids: readonly number[], work: () => Promise<T>): Promise<T> {
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  try {
    return await work();
  } finally {
    for (const pid of pids) process.kill(pid, "SIGCONT");
  }
}

/** Returns the milliseconds between two moments, without those in which the server was stopped. */
function activeMs(rounds: readonly Round[], start: number, end: number): number {
  const stopped = rounds.map(({ from, to }) => Math.min(to, end) - Math.max(from, start));
  return end - start - sum(stopped.filter((ms) => ms > 0));
}

function ratesOf(
  rounds: readonly Round[],
  deliveredAt: readonly number[],
  first: number,
): number[] {
  const quarter = Math.floor(deliveredAt.length / 4);
  const ends = [first, ...[1, 2, 3, 4].map((n) => deliveredAt[n * quarter - 1] ?? Number.NaN)];
  return ends
    .slice(1)
    .map((end, i) => (quarter * 1000) / activeMs(rounds, ends[i] ?? Number.NaN, end));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
