/** Runs the rounds of scripts/hostile-template.ts. */

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { recountUsage } from "../../src/db/usage-recount.ts";
import { createProject } from "../../src/modules/projects.ts";
import { startSink } from "../../test/support/smtp-sink.ts";
import { type Api, createApi } from "../bench/api.ts";
import { relayTo, residentMiB } from "../bench/children.ts";
import { type ProbedServer, startProbedServer } from "../bench/loop.ts";
import { BODY } from "../bench/mail.ts";
import { type Aim, limitAim, presenceAim, whole } from "../bench/report.ts";
import { addDomain, openReader, openStore } from "../bench/store.ts";
import { HOSTILE, ITEMS } from "./templates.ts";
import { createKey } from "../../src/modules/keys.ts";

const RATE = 20;
const HOSTILE_CONTACTS = 200;
const WARM_UP_SECONDS = 2;
const WARM_UP_MS = 1_000;
const SAMPLE_MS = 100;
const RESUME_MS = 500;
const ARRIVAL_LIMIT_MS = 30_000;
const LIMIT_MS = 5 * 60_000;
const MAX_MORE_MIB = 256;

const TOO_SLOW = "status = 'FAILED' AND last_error LIKE '%longer than % ms%'";

/** Times until B's mails arrived, in milliseconds. */
export type Round = { acceptedMs: number[]; requestedMs: number[] };

export type HostileReport = {
  alone: Round[];
  attacked: Round[];
  ordinaryPeakMiB: number;
  attackedPeakMiB: number;
  loopAims: Aim[];
  /**
   * Failed mails of the campaigns, how many of these computed for too long, how often the campaigns
   * were resumed, and B's mails that did not arrive.
   */
  attack: { failed: number; tooSlow: number; resumed: number; lost: number };
};

const Created = Type.Object({ data: Type.Object({ id: Type.String() }) });
const Shown = Type.Object({ data: Type.Object({ status: Type.String() }) });
const Stats = Type.Object({ data: Type.Object({ sent: Type.Integer() }) });
const Accepted = Type.Object({ emails: Type.Array(Type.Object({ email: Type.String() })) });

export async function runHostile(options: {
  data: string;
  binary: string | null;
  rounds: number;
  seconds: number;
  /** Recipients of the ordinary campaign. */
  recipients: number;
}): Promise<HostileReport> {
  const { data, binary, rounds, seconds, recipients } = options;
  const keys = await prepare(data, recipients);
  const arrivals = new Map<string, number>();
  const sink = await startSink({
    onMessage({ data: message }) {
      arrivals.set(idOf(message), performance.now());
      sink.messages.length = 0;
    },
  });
  const server = await startProbedServer({ binary, data, args: relayTo(sink.port, 0) });
  const [attacker, sender] = [createApi(server, keys.a), createApi(server, keys.b)];
  const memory = { ordinary: 0, attacked: 0 };
  const attack = { failed: 0, tooSlow: 0, resumed: 0, lost: 0 };
  const report: Pick<HostileReport, "alone" | "attacked" | "loopAims"> = {
    alone: [],
    attacked: [],
    loopAims: [],
  };

  memory.ordinary = await peakWhile(server, () =>
    sendOrdinary(createApi(server, keys.ordinary), recipients),
  );
  // Compiles the code.
  await measure({ api: sender, arrivals, seconds: Math.min(seconds, WARM_UP_SECONDS), attack });
  await server.reportLoop("before the rounds");
  for (let round = 0; round < rounds; round++) {
    report.alone.push(await measure({ api: sender, arrivals, seconds, attack }));
    if (round === 0) await server.reportLoop("alone");
    const campaigns = await startAttack(attacker);
    memory.attacked = Math.max(
      memory.attacked,
      await peakWhile(server, async () => {
        await Bun.sleep(WARM_UP_MS);
        report.attacked.push(await measure({ api: sender, arrivals, seconds, attack }));
        await untilTooSlow(data);
      }),
    );
    attack.resumed += await campaigns.stop();
    if (round === 0) report.loopAims.push(...(await server.reportLoop("attacked")));
  }
  // A server that stops would first compute the mails that it has leased.
  await server.crash();
  await sink.close();
  attack.failed = countEmails(data, "status = 'FAILED'");
  attack.tooSlow = countEmails(data, TOO_SLOW);
  return { ...report, ordinaryPeakMiB: memory.ordinary, attackedPeakMiB: memory.attacked, attack };
}

function countEmails(data: string, where: string): number {
  const reader = openReader(data);
  try {
    return reader.count(`emails WHERE ${where}`);
  } finally {
    reader.close();
  }
}

/** A mail may use its processor time slowly, where other processes have the processors. */
async function untilTooSlow(data: string): Promise<void> {
  const deadline = performance.now() + ARRIVAL_LIMIT_MS;
  while (countEmails(data, TOO_SLOW) === 0 && performance.now() < deadline) {
    await Bun.sleep(RESUME_MS);
  }
}

/** The aims that hold on a busy machine as well; scripts/hostile-template.ts adds those for times. */
export function hostileAims(report: HostileReport): Aim[] {
  const { attacked, ordinaryPeakMiB, attackedPeakMiB, attack } = report;
  const most = ordinaryPeakMiB + MAX_MORE_MIB;
  return [
    {
      name: "memory, highest while attacked",
      isMet: attackedPeakMiB <= most,
      measured: `${whole(attackedPeakMiB)} MiB`,
      wanted: `≤ ${whole(most)} MiB`,
    },
    presenceAim("mails of the hostile campaigns that computed for too long", attack.tooSlow),
    presenceAim("those that failed because they wrote too much", attack.failed - attack.tooSlow),
    presenceAim("transactional mails", attacked.flatMap(({ acceptedMs }) => acceptedMs).length),
    limitAim("transactional mails that did not arrive", attack.lost),
  ];
}

/** Creates the three projects with their contacts, and returns their keys. */
async function prepare(data: string, recipients: number) {
  const { app, close } = openStore(data);
  async function create(name: string) {
    const created = await app.writer.write(() => {
      const { seq } = createProject(app.app, name);
      const { text } = createKey(app.app, seq, { kind: "SECRET", name, expiresAt: null });
      return { seq, key: text };
    });
    await addDomain(app, created.seq, `${name}.test`);
    return created;
  }
  const [a, b, ordinary] = [await create("a"), await create("b"), await create("ordinary")];
  await close();
  addContacts(data, a.seq, HOSTILE_CONTACTS);
  addContacts(data, ordinary.seq, recipients);
  return { a: a.key, b: b.key, ordinary: ordinary.key };
}

function addContacts(data: string, projectSeq: number, count: number): void {
  const sqlite = new Database(join(data, "mailstead.db"));
  const insert = sqlite.prepare<unknown, [string, number, string, string]>(
    `INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
     VALUES (?, ?, ?, 1, ?, 0, 0)`,
  );
  const contactData = JSON.stringify({ name: "Ada", order: "A-1", items: ITEMS });
  sqlite.transaction(() => {
    for (let i = 0; i < count; i++) {
      insert.run(`${projectSeq}-${i}`, projectSeq, `reader-${i}@example.net`, contactData);
    }
  })();
  recountUsage(sqlite);
  sqlite.close();
}

async function createCampaign(api: Api, from: string, body: string): Promise<string> {
  const content = { name: "News", subject: "News", body, from, audienceType: "ALL" };
  const { data } = await api.read(Created, "POST", "/campaigns", content);
  await api.send("POST", `/campaigns/${data.id}/send`);
  return data.id;
}

const statusOf = async (api: Api, id: string): Promise<string> =>
  (await api.read(Shown, "GET", `/campaigns/${id}`)).data.status;

/** Sends an ordinary campaign, whose memory is the baseline, to so many recipients. */
async function sendOrdinary(api: Api, recipients: number): Promise<void> {
  const id = await createCampaign(api, "news@ordinary.test", BODY);
  const deadline = performance.now() + LIMIT_MS;
  while ((await api.read(Stats, "GET", `/campaigns/${id}/stats`)).data.sent < recipients) {
    if (performance.now() > deadline) throw new Error("the ordinary campaign did not end");
    await Bun.sleep(SAMPLE_MS);
  }
}

/** Starts the hostile campaigns, and resumes each that the server pauses. */
async function startAttack(api: Api): Promise<{ stop(): Promise<number> }> {
  const ids = await Promise.all(
    HOSTILE.map(([, body]) => createCampaign(api, "news@a.test", body)),
  );
  const abort = new AbortController();
  const { signal } = abort;
  let resumed = 0;

  async function resumePaused(): Promise<void> {
    while (!signal.aborted) {
      await Bun.sleep(RESUME_MS);
      for (const id of ids) {
        if (signal.aborted || (await statusOf(api, id)) !== "PAUSED") continue;
        const response = await api.request("POST", `/campaigns/${id}/resume`);
        await response.arrayBuffer();
        if (response.ok) resumed++;
      }
    }
  }

  const resuming = resumePaused();
  return {
    async stop() {
      abort.abort();
      await resuming;
      // A campaign that has ended cannot be cancelled.
      for (const id of ids) await (await api.request("POST", `/campaigns/${id}/cancel`)).text();
      await Bun.sleep(WARM_UP_MS);
      return resumed;
    },
  };
}

/** Sends B's mails at the fixed rate, without waiting for earlier ones. */
async function measure(options: {
  api: Api;
  arrivals: Map<string, number>;
  seconds: number;
  attack: { lost: number };
}): Promise<Round> {
  const { api, arrivals, seconds, attack } = options;
  const startedAt = performance.now();
  const round: Round = { acceptedMs: [], requestedMs: [] };

  async function sendOne(number: number): Promise<void> {
    await Bun.sleep(startedAt + (number * 1000) / RATE - performance.now());
    const requestedAt = performance.now();
    const { emails } = await api.read(Accepted, "POST", "/v1/send", {
      to: `person-${number}@example.net`,
      from: "hello@b.test",
      subject: `Order ${number}`,
      body: BODY,
      data: { name: "Ada", order: `A-${number}` },
    });
    const acceptedAt = performance.now();
    const arrivedAt = await arrivalOf(emails[0]?.email ?? "", arrivals);
    if (arrivedAt === null) return void attack.lost++;
    // A mail may arrive before the answer to its request does.
    round.acceptedMs.push(Math.max(0, arrivedAt - acceptedAt));
    round.requestedMs.push(arrivedAt - requestedAt);
  }

  await Promise.all(Array.from({ length: seconds * RATE }, (_, number) => sendOne(number)));
  return round;
}

async function arrivalOf(id: string, arrivals: Map<string, number>): Promise<number | null> {
  const deadline = performance.now() + ARRIVAL_LIMIT_MS;
  while (performance.now() < deadline) {
    const at = arrivals.get(id);
    if (arrivals.delete(id) && at !== undefined) return at;
    await Bun.sleep(5);
  }
  return null;
}

function idOf(message: Uint8Array): string {
  return /^Message-ID: <([^>@]+)@/im.exec(Buffer.from(message).toString("latin1"))?.[1] ?? "";
}

/** Returns the highest resident memory of the server while the work runs. */
async function peakWhile(server: ProbedServer, work: () => Promise<void>): Promise<number> {
  let peak = residentMiB(server.pid);
  const sampling = setInterval(() => {
    peak = Math.max(peak, residentMiB(server.pid));
  }, SAMPLE_MS);
  await work();
  clearInterval(sampling);
  return peak;
}
