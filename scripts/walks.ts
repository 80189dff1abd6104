/**
 * Counts the files that run new code for one mail, one event or one captured message: code that did not
 * run while the server started. A reader has to follow these files, other than the wiring. The runtime
 * counts it (precise coverage), so files of `lib/` are included; threads are not.
 *
 * `bun scripts/walks.ts NAME` prints the files, in the order of the alphabet, and their number.
 */

import { type Profiler, Session } from "node:inspector/promises";
import { Cron } from "croner";
import { silentLog } from "../src/lib/log.ts";
import { threadCpuMs } from "../src/lib/thread-cpu.ts";
import { relayTransport } from "../src/outbox/transports/relay.ts";
import { graph, step, trigger } from "../test/modules/workflows/graphs.ts";
import { type TestApp, testApp } from "../test/support/app.ts";
import { startAutomation } from "../test/support/automation.ts";
import { manualClock } from "../test/support/clock.ts";
import { waitUntil } from "../test/support/eventually.ts";
import { inboxApp } from "../test/support/inbox.ts";
import { startSink } from "../test/support/smtp-sink.ts";

/** Starts a server and returns the walk. */
type Start = () => Promise<() => Promise<void>>;

const WALKS: Readonly<Record<string, Start>> = {
  /** From `POST /v1/send` to the reply of the relay. */
  async send() {
    const sink = await startSink();
    const clock = manualClock();
    const relay = { host: "127.0.0.1", port: sink.port, tls: "none" } as const;
    const transport = relayTransport({ relay, hostname: "sender.test", clock, log: silentLog });
    const t = await testApp({ transport, clock });
    await t.start();
    return async () => {
      await t.call("POST", "/v1/send", {
        to: "ada@example.net",
        from: "hello@acme.test",
        subject: "Hello {{ name }}",
        body: "<p>Hello {{ name }}</p>",
        data: { name: "Ada" },
      });
      await waitUntil(() => isFound(t, "emails WHERE status = 'SENT'"));
    };
  },

  /** From `POST /v1/track` to a CONDITION step of a workflow. */
  async event() {
    const a = await startAutomation();
    const isPro = { field: "data.plan", operator: "equals", value: "pro" };
    const steps = [trigger(), step("ask", "CONDITION", isPro), step("yes", "EXIT")];
    await a.workflow(graph(steps, ["start>ask", "ask>yes:yes"]));
    await shareCommit(a.t);
    return async () => {
      await a.track("signed-up", { plan: "pro" });
      await waitUntil(() => isFound(a.t, "workflow_executions WHERE status = 'EXITED'"));
    };
  },

  /** From the SMTP connection of a captured message to the list of messages. */
  async capture() {
    const t = await inboxApp();
    return async () => {
      const attachments = [{ filename: "a.txt", content: "x" }];
      await t.mail({ html: "<p>Hello</p>", attachments });
      await t.inboxes.indexer.caughtUp();
      await t.call("GET", "/inboxes/default/messages?limit=1");
      await waitUntil(() => isFound(t, "inbox_messages"));
    };
  },
};

/** Several changes share a commit. Whether those of a walk do depends on the load of the machine. */
async function shareCommit({ app: { app } }: TestApp): Promise<void> {
  const change = () => app.writer.write(() => null);
  await Promise.all([change(), change(), change()]);
  await change();
}

const isFound = ({ db }: Pick<TestApp, "db">, rows: string): boolean =>
  db.sqlite.query(`SELECT 1 FROM ${rows}`).get() !== null;

const SRC = new URL("../src/", import.meta.url).href;
/** They run by timers of their own, in a walk or before it. */
const BY_TIMERS = ["heap-growth", "intervals", "loop-watch", "recurring"].map(
  (name) => `lib/${name}.ts`,
);
const QUIET_MS = 20;
const QUIET_TIMES = 3;

/** For each file, whether each of its characters, as transpiled, ran. */
type Coverage = Map<string, Uint8Array>;

/** Returns the code that ran since the last call. */
async function takeCoverage(session: Session): Promise<Coverage> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const scripts = result.filter(({ url }) => url.startsWith(SRC));
  return new Map(scripts.map((script) => [script.url.slice(SRC.length), ranCharacters(script)]));
}

/** Inner ranges follow the outer ones that contain them. */
function ranCharacters({ functions }: Profiler.ScriptCoverage): Uint8Array {
  const ranges = functions.flatMap((each) => each.ranges);
  const characters = new Uint8Array(Math.max(...ranges.map(({ endOffset }) => endOffset)));
  for (const { startOffset, endOffset, count } of ranges)
    characters.fill(Number(count > 0), startOffset, endOffset);
  return characters;
}

function filesWithNewCode(coverage: Coverage, known: Coverage): string[] {
  const isNew = ([file, ran]: [string, Uint8Array]) =>
    ran.some((hasRun, i) => hasRun === 1 && known.get(file)?.[i] !== 1);
  return [...coverage].filter(isNew).map(([file]) => file);
}

function addCoverage(to: Coverage, from: Coverage): void {
  for (const [file, ran] of from) {
    const before = to.get(file);
    to.set(file, before === undefined ? ran : ran.map((hasRun, i) => hasRun | (before[i] ?? 0)));
  }
}

/** Collects the code that runs until none is new for a while. */
async function untilQuiet(session: Session): Promise<Coverage> {
  const collected: Coverage = new Map();
  for (let times = 0; times < QUIET_TIMES;) {
    const taken = await takeCoverage(session);
    times = filesWithNewCode(taken, collected).length === 0 ? times + 1 : 0;
    addCoverage(collected, taken);
    await Bun.sleep(QUIET_MS);
  }
  return collected;
}

async function measure(start: Start): Promise<string[]> {
  // On a busy machine, nothing takes another way because it lasted long.
  performance.now = threadCpuMs;
  // Recurring work is no part of a walk.
  Cron.prototype.schedule = function schedule() {
    return this;
  };
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  const walk = await start();
  const startup = await untilQuiet(session);
  await walk();
  const files = filesWithNewCode(await untilQuiet(session), startup);
  return files.filter((file) => !BY_TIMERS.includes(file)).toSorted();
}

const start = WALKS[process.argv[2] ?? ""];
if (start === undefined) {
  console.error(`usage: bun scripts/walks.ts ${Object.keys(WALKS).join("|")}`);
  process.exit(2);
}
const files = await measure(start);
console.log(`${files.join("\n")}\n${files.length} files`);
process.exit(0);
