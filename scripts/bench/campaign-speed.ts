/**
 * Measures how fast the mails of a campaign are composed, sent through a relay and settled, unsigned
 * and signed. The baseline of unsigned mail is nodemailer's pool, which sends composed messages to
 * the same server. The baseline of signed mail is RSA alone in one worker thread for each processor;
 * it is measured between several campaigns, because the speed of a machine changes from minute to
 * minute.
 */

import { availableParallelism } from "node:os";
import { Type } from "@sinclair/typebox";
import { addContacts } from "../crash/campaign.ts";
import { type Api, createApi } from "./api.ts";
import {
  Listening,
  processorMs,
  relayTo,
  removeFolder,
  residentMiB,
  startHelper,
  temporaryFolder,
} from "./children.ts";
import { sendWithPool } from "./deliver.ts";
import { type Round, startBaseline } from "./direct.ts";
import { type ProbedServer, startProbedServer } from "./loop.ts";
import { BODY, SENDER, SUBJECT } from "./mail.ts";
import { type Latencies, startProbes } from "./probes.ts";
import { type Aim, fixed, printValue, reportAims, whole } from "./report.ts";
import { openReader, prepareStore } from "./store.ts";

type Options = { binary: string | null; isQuick: boolean };

const RECIPIENTS = {
  unsigned: { quick: 10_000, full: 50_000 },
  signed: { quick: 1_000, full: 4_000 },
};
const POOL_MAILS = { quick: 4_000, full: 20_000 };
const SIGNATURES = 2_000;
/** Signed campaigns, each to the same recipients. */
const ROUNDS = 5;
const POLL_MS = 20;
const SAMPLE_MS = 100;
const PROBE_PAUSE_MS = 20;
const LIMIT_MS = 10 * 60_000;
const MAX_HOLD_MS = 30;

const Created = Type.Object({ data: Type.Object({ id: Type.String() }) });

type Sent = {
  rate: number;
  /** Processor time of the whole process, transactional mail included. */
  cpuSecondsPer1000: number;
  peakMiB: number;
};

export async function benchCampaignSpeed(options: Options): Promise<boolean> {
  const size = options.isQuick ? "quick" : "full";
  const isUnsignedMet = await benchUnsigned(options, size);
  const isSignedMet = await benchSigned(options, size);
  return isUnsignedMet && isSignedMet;
}

async function benchUnsigned({ binary }: Options, size: "quick" | "full"): Promise<boolean> {
  const recipients = RECIPIENTS.unsigned[size];
  console.log(`campaign-speed: ${whole(recipients)} recipients, unsigned`);
  const before = await poolRate(POOL_MAILS[size]);
  const campaign = await prepareCampaign({ binary, recipients, isSigned: false });
  const { server, api } = campaign;
  await server.reportLoop("before the campaign");
  const probing = startProbes(
    [{ name: "send", send: (number) => sendOne(api, number) }],
    PROBE_PAUSE_MS,
  );
  const sent = await campaign.send();
  const counts = campaign.counts();
  const [probe] = await probing.stop();
  const loopAims = await server.reportLoop("during the campaign", MAX_HOLD_MS);
  await campaign.close();
  const after = await poolRate(POOL_MAILS[size]);
  const ratio = sent.rate / ((before + after) / 2);
  printValue("baseline, nodemailer's pool", `${whole(before)}/s before, ${whole(after)}/s after`);
  printSent(sent);
  printValue("/v1/send meanwhile, p50 / p99 / max", spread(probe));
  return reportAims([
    atLeast("unsigned, to nodemailer's pool", ratio, 1.6),
    atMost("processor seconds per 1,000 mails", sent.cpuSecondsPer1000, 0.12),
    memoryAim(sent.peakMiB),
    {
      name: "/v1/send meanwhile, p99",
      isMet: (probe?.p99 ?? Infinity) <= 30,
      measured: `${fixed(probe?.p99 ?? 0, 1)} ms`,
      wanted: "≤ 30 ms",
    },
    ...loopAims,
    countsAim(counts, recipients),
  ]);
}

async function benchSigned({ binary }: Options, size: "quick" | "full"): Promise<boolean> {
  const recipients = RECIPIENTS.signed[size];
  const workers = availableParallelism();
  console.log(`campaign-speed: ${whole(recipients)} recipients, signed with RSA-2048 and Ed25519`);
  const baseline = startBaseline("rsa-workers.ts", { signatures: SIGNATURES, workers });
  await baseline.round(); // The first round also starts the threads, so it is not counted.
  const campaign = await prepareCampaign({ binary, recipients, isSigned: true });
  await campaign.send(); // The first campaign also compiles the code, so it is not counted.
  const rounds: Round[] = [];
  const all: Sent[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    rounds.push(await baseline.round());
    all.push(await campaign.send());
  }
  const counts = campaign.counts();
  await campaign.close();
  baseline.end();
  const alone = (SIGNATURES * ROUNDS) / sum(rounds.map(({ seconds }) => seconds));
  const cpu = sum(rounds.map((round) => round.processorMs)) / (SIGNATURES * ROUNDS);
  const sent = {
    // The mails of all campaigns in the time of all campaigns.
    rate: ROUNDS / sum(all.map(({ rate }) => 1 / rate)),
    cpuSecondsPer1000: sum(all.map((each) => each.cpuSecondsPer1000)) / ROUNDS,
    peakMiB: Math.max(...all.map(({ peakMiB }) => peakMiB)),
  };
  printValue(
    `baseline, RSA-2048 alone in ${workers} workers`,
    `${whole(alone)}/s, ${fixed(cpu, 2)} processor seconds per 1,000`,
  );
  printSent(sent);
  printValue("sent, by campaign", all.map(({ rate }) => `${whole(rate)}/s`).join(", "));
  return reportAims([
    atLeast("signed, to RSA alone", sent.rate / alone, 0.7),
    atMost("processor seconds per 1,000 mails", sent.cpuSecondsPer1000, 0.85),
    memoryAim(sent.peakMiB),
    countsAim(counts, recipients * (ROUNDS + 1)),
  ]);
}

async function prepareCampaign(options: {
  binary: string | null;
  recipients: number;
  isSigned: boolean;
}) {
  const { binary, recipients, isSigned } = options;
  const data = temporaryFolder();
  const key = await prepareStore(data, 0, { isSigned });
  addContacts(data, recipients);
  const sink = startHelper("sink.ts", { withTimes: false });
  const { port } = await sink.next(Listening);
  const server = await startProbedServer({ binary, data, args: relayTo(port, 0) });
  const api = createApi(server, key);
  const reader = openReader(data);
  /** Number of the latest campaign. */
  let seq = 0;
  const readSent = () =>
    reader.numbers(`SELECT sent AS n FROM campaign_counts WHERE campaign_seq = ${seq}`)[0] ?? 0;
  const countAccepted = () => reader.count("attempts WHERE outcome = 'accepted'");

  return {
    server,
    api,

    /** Sends a campaign to all recipients. */
    async send(): Promise<Sent> {
      seq++;
      const sampling = startSampling(server);
      const before = { cpuMs: processorMs(server.pid), accepted: countAccepted() };
      await startCampaign(api);
      const deadline = performance.now() + LIMIT_MS;
      for (let sent = 0; sent < recipients; sent = readSent()) {
        if (performance.now() > deadline) throw new Error(`only ${sent} mails were sent`);
        await Bun.sleep(POLL_MS);
      }
      const cpuMs = processorMs(server.pid) - before.cpuMs;
      const [first = 0, last = 0] = ["min", "max"].flatMap((edge) =>
        reader.numbers(`SELECT ${edge}(sent_at) AS n FROM emails WHERE campaign_seq = ${seq}`),
      );
      return {
        rate: recipients / ((last - first) / 1000),
        // Milliseconds per mail are seconds per 1,000 mails.
        cpuSecondsPer1000: cpuMs / (countAccepted() - before.accepted),
        peakMiB: sampling.stop(),
      };
    },

    counts: () => countsOf(reader),

    async close(): Promise<void> {
      reader.close();
      await server.stop();
      sink.kill();
      removeFolder(data);
    },
  };
}

async function startCampaign(api: Api): Promise<void> {
  const created = await api.read(Created, "POST", "/campaigns", {
    name: "News",
    subject: SUBJECT,
    body: BODY,
    from: SENDER,
    audienceType: "ALL",
  });
  await api.send("POST", `/campaigns/${created.data.id}/send`);
}

function sendOne(api: Api, number: number): Promise<Response> {
  const mail = { from: SENDER, subject: "Now", body: BODY, to: `now-${number}@example.net` };
  return api.request("POST", "/v1/send", mail);
}

/** The states that each mail of the campaigns must have written. */
function countsOf(reader: ReturnType<typeof openReader>): number[] {
  return [
    reader.count("emails WHERE campaign_seq IS NOT NULL AND status = 'SENT' AND attempts = 1"),
    reader.count(
      "attempts JOIN emails ON emails.seq = email_seq WHERE campaign_seq IS NOT NULL AND outcome = 'accepted'",
    ),
    reader.count(
      "events JOIN emails ON emails.seq = email_seq WHERE campaign_seq IS NOT NULL AND name = 'email.sent'",
    ),
  ];
}

function startSampling(server: ProbedServer): { stop(): number } {
  let peak = 0;
  const sampling = setInterval(() => {
    peak = Math.max(peak, residentMiB(server.pid));
  }, SAMPLE_MS);
  return {
    stop() {
      clearInterval(sampling);
      return peak;
    },
  };
}

const poolRate = async (mails: number): Promise<number> => mails / (await sendWithPool(mails));

function printSent({ rate, cpuSecondsPer1000, peakMiB }: Sent): void {
  printValue("sent", `${whole(rate)}/s`);
  printValue("processor seconds per 1,000 mails", fixed(cpuSecondsPer1000, 3));
  printValue("memory, highest", `${whole(peakMiB)} MiB`);
}

function atLeast(name: string, measured: number, wanted: number): Aim {
  return { name, isMet: measured >= wanted, measured: fixed(measured, 2), wanted: `≥ ${wanted}` };
}

function atMost(name: string, measured: number, wanted: number): Aim {
  return { name, isMet: measured <= wanted, measured: fixed(measured, 3), wanted: `≤ ${wanted}` };
}

function memoryAim(peakMiB: number): Aim {
  const measured = `${whole(peakMiB)} MiB`;
  return { name: "memory, highest", isMet: peakMiB <= 260, measured, wanted: "≤ 260 MiB" };
}

function countsAim(counts: readonly number[], recipients: number): Aim {
  return {
    name: "SENT, attempts, events",
    isMet: counts.every((count) => count === recipients),
    measured: counts.map(whole).join(", "),
    wanted: `${whole(recipients)} each`,
  };
}

function spread(probe: Latencies | undefined): string {
  if (probe === undefined) return "none";
  const { p50, p99, max } = probe;
  return `${[p50, p99, max].map((value) => fixed(value, 1)).join(" / ")} ms`;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
