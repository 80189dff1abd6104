/**
 * Measures how many mails per second the listener for submission accepts: stored durably and answered
 * with 250. The baseline is the package smtp-server, which answers 250 and stores nothing.
 */

import { Type } from "@sinclair/typebox";
import {
  Listening,
  loopSeconds,
  removeFolder,
  residentMiB,
  startHelper,
  startServer,
  temporaryFolder,
  twoFreePorts,
} from "./children.ts";
import { fixed, msAim, printLatencies, printValue, reportAims, whole } from "./report.ts";
import { addSender, openReader, prepareStore } from "./store.ts";

const CONNECTIONS = 10;
const WARM_UP_MAILS = 500;
const MAILS_PER_SECOND = 1_500;

const Result = Type.Object({
  startedAt: Type.Number(),
  endedAt: Type.Number(),
  p50: Type.Number(),
  p99: Type.Number(),
  max: Type.Number(),
});

type Target = { port: number; password?: string };

export async function benchSubmission(options: { binary: string | null; isQuick: boolean }) {
  const mails = options.isQuick ? 3_000 : 20_000;
  console.log(`submission: ${whole(mails)} mails of 2 kB over ${CONNECTIONS} SMTP connections`);
  const bare = startHelper("capture-bare.ts", {});
  const baseline = await measure({ port: (await bare.next(Listening)).port }, mails);
  bare.kill();
  printValue("baseline, smtp-server alone", `${whole(baseline.rate)}/s`);

  const data = temporaryFolder();
  const password = await prepareStore(data, 0);
  await addSender(data, "shop.test", "bench");
  const [port, smtpPort] = twoFreePorts();
  // Only one mail per second is sent, so that acceptance is measured and not delivery.
  const limits = ["--transport", "capture", "--send-rate", "1", "--api-rate", "0"];
  const args = ["--submission", `127.0.0.1:${smtpPort}`, ...limits];
  const server = await startServer({ binary: options.binary, data, port, args });
  const loopBefore = loopSeconds(server.pid);
  const result = await measure({ port: smtpPort, password }, mails);
  const loopUs = ((loopSeconds(server.pid) - loopBefore) * 1e6) / (mails + WARM_UP_MAILS);
  const mib = residentMiB(server.pid);
  const exitCode = await server.stop();
  const reader = openReader(data);
  const stored = reader.count("emails");
  reader.close();
  removeFolder(data);
  const expected = mails + WARM_UP_MAILS;
  if (stored !== expected) throw new Error(`${stored} mails were stored instead of ${expected}`);
  if (exitCode !== 0) throw new Error(`the server exited with code ${exitCode}`);

  printValue(
    "accepted",
    `${whole(result.rate)}/s; ratio to the baseline ${fixed(result.rate / baseline.rate, 2)}`,
  );
  printValue("main thread", `${whole(loopUs)} µs per mail`);
  printValue("memory", `${whole(mib)} MiB`);
  printLatencies({ name: "250", ...result });
  return reportAims([
    {
      name: "rate",
      isMet: result.rate >= MAILS_PER_SECOND,
      measured: `${whole(result.rate)}/s`,
      wanted: `≥ ${whole(MAILS_PER_SECOND)}/s`,
    },
    msAim("p99", result.p99, 50),
  ]);
}

async function measure(target: Target, mails: number) {
  await send(target, WARM_UP_MAILS, "w");
  const sent = await send(target, mails, "m");
  return { ...sent, rate: (mails * 1000) / (sent.endedAt - sent.startedAt) };
}

function send(target: Target, messages: number, run: string) {
  const settings = { ...target, connections: CONNECTIONS, messages, kind: "text", run };
  return startHelper("capture-load.ts", settings).next(Result);
}
