/**
 * Measures how many messages per second the listener for captured mail takes, from the first MAIL
 * until a search finds the last message. The baseline is the package smtp-server, which answers 250
 * and stores nothing. Text is measured once more with the default limit of an inbox, so that each
 * message replaces an older one. With `--mailpit=PATH`, Mailpit takes the same load in the same run; it does not
 * sync its messages to disk, this program does.
 */

import { Type } from "@sinclair/typebox";
import type { MessageKind } from "./capture-messages.ts";
import { subjectOf } from "./capture-messages.ts";
import { startMailpit, startOwn, type Target } from "./capture-targets.ts";
import { Listening, loopSeconds, processorMs, residentMiB, startHelper } from "./children.ts";
import {
  type Aim,
  fixed,
  ms,
  msAim,
  printLatencies,
  reportAims,
  whole,
  printValue,
} from "./report.ts";

const CONNECTIONS = 10;
const SAMPLE_MS = 20;
const FOUND_LIMIT_MS = 60_000;
/** Wanted ratio to Mailpit's rate. */
const RATIO = 3;
/** The default of `--capture-max-messages`. */
const DEFAULT_LIMIT = 500;
/** Wanted ratio of the rate with that limit to the rate without one. */
const LIMITED_RATIO = 1;

type Load = {
  name: string;
  kind: MessageKind;
  messages: number;
  /** Messages before the measurement, so that it measures the steady rate of each program. */
  warmUp: number;
  aimPerSecond: number;
};
type Measured = { rate: number; p50: number; p99: number; max: number; lagMs: number; mib: number };

const Result = Type.Object({
  startedAt: Type.Number(),
  endedAt: Type.Number(),
  p50: Type.Number(),
  p99: Type.Number(),
  max: Type.Number(),
});

function loads(isQuick: boolean): Load[] {
  return [
    {
      name: "2 kB text",
      kind: "text",
      messages: isQuick ? 3_000 : 20_000,
      warmUp: isQuick ? 500 : 10_000,
      aimPerSecond: 3_000,
    },
    {
      name: "mix, 59 kB",
      kind: "mix",
      messages: isQuick ? 500 : 2_500,
      warmUp: 500,
      aimPerSecond: 600,
    },
  ];
}

export async function benchCapture(options: {
  binary: string | null;
  isQuick: boolean;
  mailpit: string | null;
}): Promise<boolean> {
  const { binary, isQuick, mailpit } = options;
  console.log(`capture: messages over ${CONNECTIONS} kept-open SMTP connections`);
  const aims: Aim[] = [];
  for (const load of loads(isQuick)) {
    const other = mailpit === null ? null : await measure(await startMailpit(mailpit), load);
    const own = await measure(await startOwn(binary), load);
    await measureBare(load, own);
    aims.push(...aimsOf(load, own, other));
    if (load.kind === "text") aims.push(await measureLimited(load, own, binary));
  }
  return reportAims(aims);
}

function aimsOf(load: Load, own: Measured, other: Measured | null): Aim[] {
  const { name, kind, aimPerSecond } = load;
  const rate = {
    name: `${name}, rate`,
    isMet: own.rate >= aimPerSecond,
    measured: `${whole(own.rate)}/s`,
    wanted: `≥ ${whole(aimPerSecond)}/s`,
  };
  const ratio = other === null ? 0 : own.rate / other.rate;
  const toMailpit = {
    name: `${name}, ratio to Mailpit`,
    isMet: ratio >= RATIO,
    measured: fixed(ratio, 2),
    wanted: `≥ ${RATIO}`,
  };
  const memory = {
    name: `${name}, largest memory`,
    isMet: own.mib < 200,
    measured: `${whole(own.mib)} MiB`,
    wanted: "< 200 MiB",
  };
  return [
    rate,
    ...(other === null ? [] : [toMailpit]),
    msAim(`${name}, p99 of the 250`, own.p99, 50),
    msAim(`${name}, last message found after its 250`, own.lagMs, 1_000),
    ...(kind === "mix" ? [memory] : []),
  ];
}

async function measureLimited(load: Load, own: Measured, binary: string | null): Promise<Aim> {
  const target = await startOwn(binary, { hasDefaultLimit: true });
  const name = `${load.name}, at most ${DEFAULT_LIMIT} kept`;
  const limited = await measure(target, { ...load, name }, DEFAULT_LIMIT);
  const ratio = limited.rate / own.rate;
  return {
    name: `${name}, ratio to all kept`,
    isMet: ratio >= LIMITED_RATIO,
    measured: fixed(ratio, 2),
    wanted: `≥ ${LIMITED_RATIO}`,
  };
}

async function measure(target: Target, load: Load, limit = Infinity): Promise<Measured> {
  await send(target, load, { messages: load.warmUp, run: "w" });
  const loopBefore = loopSeconds(target.pid);
  const allBefore = processorMs(target.pid);
  let mib = 0;
  const sampling = setInterval(() => {
    mib = Math.max(mib, residentMiB(target.pid));
  }, SAMPLE_MS);
  const sent = await send(target, load, { messages: load.messages, run: "m" });
  const foundAt = await waitUntilFound(target, subjectOf(load.messages - 1, "m"));
  clearInterval(sampling);
  // Unlike the rate, processor time is comparable on a machine that does other work.
  const loopUs = ((loopSeconds(target.pid) - loopBefore) * 1e6) / load.messages;
  const allUs = ((processorMs(target.pid) - allBefore) * 1000) / load.messages;
  const all = await target.count("Order m");
  await target.stop();
  const kept = Math.min(load.messages, limit);
  if (all !== kept) throw new Error(`${target.name}: ${all} of ${kept} are found`);
  const rate = (load.messages * 1000) / (foundAt - sent.startedAt);
  printValue(`${load.name}, ${target.name}`, `${whole(rate)}/s, largest memory ${whole(mib)} MiB`);
  printValue(
    `${load.name}, ${target.name}, processor`,
    `${whole(allUs)} µs per message, ${whole(loopUs)} µs of it on the main thread`,
  );
  printLatencies({ name: `${load.name}, ${target.name}, 250`, ...sent });
  printValue(`${load.name}, ${target.name}, last one found`, `after ${ms(foundAt - sent.endedAt)}`);
  return { ...sent, rate, lagMs: foundAt - sent.endedAt, mib };
}

/** Prints the baseline. The load generator uses the same processors, so this is the machine's limit. */
async function measureBare(load: Load, own: Measured): Promise<void> {
  const bare = startHelper("capture-bare.ts", {});
  const target = { smtpPort: (await bare.next(Listening)).port };
  await send(target, load, { messages: load.warmUp, run: "w" });
  const before = processorMs(bare.pid);
  const sent = await send(target, load, { messages: load.messages, run: "m" });
  const us = ((processorMs(bare.pid) - before) * 1000) / load.messages;
  bare.kill();
  const rate = (load.messages * 1000) / (sent.endedAt - sent.startedAt);
  printValue(
    `${load.name}, smtp-server alone`,
    `${whole(rate)}/s, ${whole(us)} µs per message; ratio to it ${fixed(own.rate / rate, 2)}`,
  );
}

function send(
  target: Pick<Target, "smtpPort">,
  { kind }: Load,
  { messages, run }: { messages: number; run: string },
) {
  const settings = { port: target.smtpPort, connections: CONNECTIONS, messages, kind, run };
  return startHelper("capture-load.ts", settings).next(Result);
}

/** Resolves to the time in epoch milliseconds. */
async function waitUntilFound(target: Target, subject: string): Promise<number> {
  const deadline = performance.now() + FOUND_LIMIT_MS;
  while ((await target.count(subject)) === 0) {
    if (performance.now() > deadline) throw new Error(`${target.name} does not find ${subject}`);
    await Bun.sleep(1);
  }
  return performance.timeOrigin + performance.now();
}
