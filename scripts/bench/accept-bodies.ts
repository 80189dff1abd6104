/**
 * Measures how many mails per second the API accepts if each request has a different, finished HTML
 * body, as applications send it, and how many it accepts just after its start.
 */

import { load } from "./accept.ts";
import { removeFolder, startServer, temporaryFolder } from "./children.ts";
import { type Aim, fixed, printValue, reportAims, whole } from "./report.ts";
import { openReader, prepareStore } from "./store.ts";

/** Requests just after the start, and before the other measurements. */
const FIRST_REQUESTS = 10_000;
/** Wanted ratio of the rate with different bodies of 2 kB to the rate with one body. */
const BODIES_RATIO = 0.7;
/** Wanted ratio of the rate just after the start to the later rate. */
const FIRST_RATIO = 0.5;

const BODIES: readonly (readonly [name: string, bodyBytes: number])[] = [
  ["bodies of 2 kB, all different", 2_000],
  ["bodies of 20 kB, all different", 20_000],
];

export async function benchAcceptBodies(options: {
  binary: string | null;
  isQuick: boolean;
}): Promise<boolean> {
  const requests = options.isQuick ? 10_000 : 50_000;
  console.log(`accept-bodies: ${whole(requests)} × POST /v1/send for each line`);
  const data = temporaryFolder();
  const key = await prepareStore(data, 0);
  const args = ["--transport", "capture", "--send-rate", "1", "--api-rate", "0"];
  const server = await startServer({ binary: options.binary, data, args });
  const target = { port: server.port, path: "/v1/send", key };
  let accepted = 0;

  async function measure(name: string, count: number, bodyBytes?: number) {
    const body = bodyBytes === undefined ? {} : { bodyBytes };
    const work = { requests: count, firstRecipient: accepted };
    const { seconds, p99 } = await load({ ...target, ...body }, work);
    accepted += count;
    const rate = count / seconds;
    printValue(name, `${whole(rate)}/s, p99 ${fixed(p99, 1)} ms`);
    return rate;
  }

  const first = await measure("first 10,000 after the start", FIRST_REQUESTS);
  const one = await measure("baseline, one body", requests);
  const different: number[] = [];
  for (const [name, bodyBytes] of BODIES) different.push(await measure(name, requests, bodyBytes));
  await server.stop();
  const reader = openReader(data);
  const stored = reader.count("emails");
  reader.close();
  removeFolder(data);
  if (stored !== accepted) throw new Error(`${stored} mails were stored instead of ${accepted}`);
  const [small] = different;
  return reportAims([
    ratioAim("bodies of 2 kB to one body", (small ?? 0) / one, BODIES_RATIO),
    ratioAim("first requests to later ones", first / one, FIRST_RATIO),
  ]);
}

function ratioAim(name: string, ratio: number, wanted: number): Aim {
  return { name, isMet: ratio >= wanted, measured: fixed(ratio, 2), wanted: `≥ ${wanted}` };
}
