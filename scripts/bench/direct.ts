/**
 * How fast a full queue is signed and delivered straight to a server behind many domains. The speed
 * of a machine changes from minute to minute: what the signatures alone take is measured seven times
 * on the way, while everything else is stopped.
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
import { fixed, judge, quantile, say, whole } from "./report.ts";
import { openReader, prepareStore, untilSent } from "./store.ts";

const DOMAINS = 50;
const HOST = "mx.sink.test";
/** As many as the transport has under way. */
const AT_ONCE = 50;
const SIGNATURES = 2_500;
const STEPS = 8;
/** Between two collections the heap grows; only what stays counts. */
const HEAP_BREATH = 1.2;
const LIMIT_MS = 20 * 60_000;
export const Online = Type.Object({ port: Type.Number(), dns: Type.String() });
const Arrived = Type.Object({ counts: Type.Array(Type.Number()) });
const Signed = Type.Object({ seconds: Type.Number(), processorMs: Type.Number() });

export async function benchDirect(options: {
  binary: string | null;
  isQuick: boolean;
  mails: number;
}) {
  const usual = options.isQuick ? 10_000 : 200_000;
  const mails = options.mails === 0 ? usual : options.mails;
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
  const baseline = startBaseline();
  await baseline.round(); // Its code is compiled then, and counts no more.
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
  await untilSent(reader, mails, {
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
  const stop = await server.stop();
  internet.finish();
  const { counts } = await internet.next(Arrived);
  const [first = 0] = reader.numbers("SELECT min(started_at) AS n FROM attempts");
  const moments = reader.numbers("SELECT delivered_at AS n FROM emails ORDER BY n");
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
  const seconds = activeMs(signed, first, moments.at(-1) ?? 0) / 1000;
  const rate = mails / seconds;
  const ratio = rate / alone.rate;
  say("baseline, the signatures alone", `${whole(alone.rate)}/s, both cores for them`);
  say("delivered", `${whole(rate)}/s`);
  say("the same by quarters of the mails", ratesOf(signed, moments, first).map(whole).join(", "));
  say(
    "processor time a mail",
    `${fixed(processor.server, 2)} ms, the receiving side ${fixed(processor.receiver, 2)} ms; ` +
      `signatures alone ${fixed(alone.processorMs, 2)} ms`,
  );
  const share = alone.processorMs / (processor.server + processor.receiver);
  say("ratio by processor time", fixed(share, 2));
  say("memory after each eighth", memory.map((mib) => `${whole(mib)} MiB`).join(", "));
  const half = Math.max(...memory.slice(0, STEPS / 2));
  const end = quantile(memory.slice(STEPS / 2), 0.5);
  const found = [...counts, ...Object.values(written)];
  return judge([
    { name: "rate", isMet: rate >= 800, measured: `${whole(rate)}/s`, wanted: "≥ 800/s" },
    { name: "ratio", isMet: ratio >= 0.5, measured: fixed(ratio, 2), wanted: "≥ 0.5" },
    {
      name: "memory, second half",
      isMet: end <= half * HEAP_BREATH,
      measured: `${whole(half)} → ${whole(end)} MiB`,
      wanted: "no growth",
    },
    {
      name: "arrived, DELIVERED, attempts, events",
      isMet: found.every((n) => n === mails) && stop === 0,
      measured: found.map(whole).join(", "),
      wanted: `${whole(mails)} each`,
    },
  ]);
}

/** A round of signatures of both kinds, and when it was. */
type Round = Static<typeof Signed> & { from: number; to: number };

function startBaseline() {
  const helper = startHelper("signatures.ts", { mails: SIGNATURES, atOnce: AT_ONCE });
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

/** Between two moments, without the rounds. */
function activeMs(rounds: readonly Round[], start: number, end: number): number {
  const stopped = rounds.map(({ from, to }) => Math.min(to, end) - Math.max(from, start));
  return end - start - sum(stopped.filter((ms) => ms > 0));
}

function ratesOf(rounds: readonly Round[], moments: readonly number[], first: number): number[] {
  const quarter = Math.floor(moments.length / 4);
  const ends = [first, ...[1, 2, 3, 4].map((n) => moments[n * quarter - 1] ?? Number.NaN)];
  return ends
    .slice(1)
    .map((end, i) => (quarter * 1000) / activeMs(rounds, ends[i] ?? Number.NaN, end));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
