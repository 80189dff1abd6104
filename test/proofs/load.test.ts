/** Power cuts, hostile templates and bodies, and the content of all messages of a load. */

import { type Attack, attackAims, runAttack } from "../../scripts/attack/run.ts";
import { removeFolder, temporaryFolder } from "../../scripts/bench/children.ts";
import { type Aim, limitAim } from "../../scripts/bench/report.ts";
import { contentAims } from "../../scripts/content/aims.ts";
import { runContent } from "../../scripts/content/run.ts";
import { verifyWithMailauth } from "../../scripts/content/signatures.ts";
import { runNeighbours } from "../../scripts/hostile/neighbours.ts";
import { hostileAims, runHostile } from "../../scripts/hostile/run.ts";
import { HAS_STRACE, runPowerCut } from "../../scripts/power-cut/run.ts";
import { BINARY, prove } from "./prove.ts";

const POWER_CUT = { searches: 1, seed: 1, leastRestarts: 1, lie: "log", binary: BINARY } as const;

/** scripts/attack.ts sends every form of body to every route. */
const ATTACKS: readonly Attack[] = [
  { route: "POST /v1/send", key: "secret", form: "text" },
  { route: "POST /v1/send", key: "public", form: "objects" },
  { route: "POST /v1/track", key: "public", form: "objects in chunks" },
  { route: "POST /templates", key: "secret", form: "aborted" },
];
const REFUSALS = ["400", "401", "403", "404", "422", "429", "503", "aborted"];

async function withFolder(run: (data: string) => Promise<readonly Aim[]>): Promise<readonly Aim[]> {
  const data = temporaryFolder();
  try {
    return await run(data);
  } finally {
    removeFolder(data);
  }
}

async function attack(): Promise<readonly Aim[]> {
  const nameOf = ({ route, key, form }: Attack) => `${route}, ${key}: ${form}`;
  const missing = new Set(ATTACKS.map(nameOf));
  const answered: string[] = [];
  const worst = await runAttack({
    binary: BINARY,
    connections: 30,
    wants: (one) => missing.has(nameOf(one)),
    onResult: (one, { statuses }) => {
      missing.delete(nameOf(one));
      answered.push(...Object.keys(statuses).filter((status) => !REFUSALS.includes(status)));
    },
  });
  return [
    // The script itself allows 200 ms. Here other tests run at the same time.
    ...attackAims(worst, 2_000),
    limitAim("attacks that did not happen", missing.size),
    limitAim(`answers that are no refusals: ${answered.join()}`, answered.length),
  ];
}

/** The long forms are the scripts power-cut.ts, content.ts, hostile-template.ts and attack.ts. */
prove([
  {
    name: "after a power cut no mail has left without a lease, and none is SENT that did not leave",
    isPossible: HAS_STRACE,
    run: async () =>
      (
        await runPowerCut({
          ...POWER_CUT,
          load: "campaign",
          mails: 100,
          cuts: 20,
          durability: "background",
        })
      ).aims,
  },
  {
    name: "after a power cut each mail and event that was answered is in the database",
    isPossible: HAS_STRACE,
    run: async () =>
      (
        await runPowerCut({
          ...POWER_CUT,
          load: "accept",
          mails: 40,
          cuts: 15,
          durability: "sqlite",
        })
      ).aims,
  },
  {
    name: "messages of campaigns and stored templates are those of the ordinary rendering",
    run: () =>
      withFolder(async (data) => {
        const sizes = { contacts: 9, sends: 1, every: 3, seed: 7 };
        const report = await runContent({ data, binary: BINARY, ...sizes });
        const { messages, records } = report;
        return contentAims(report, [await verifyWithMailauth(messages, records)]);
      }),
  },
  {
    name: "campaigns with endless templates fail, and the mail of another project arrives meanwhile",
    run: () =>
      withFolder(async (data) => {
        const sizes = { rounds: 1, seconds: 1, recipients: 100 };
        return hostileAims(await runHostile({ data, binary: BINARY, ...sizes }));
      }),
  },
  {
    name: "sends, previews and checks that take long do not delay the requests of another project",
    // The script itself allows 200 ms. Here other tests run at the same time.
    run: () =>
      withFolder(async (data) => {
        const sizes = { sends: 4, previews: 3, checks: 12, longestMs: 1_000 };
        return (await runNeighbours({ data, binary: BINARY, ...sizes })).aims;
      }),
    // Waits for processors are read from /proc.
    isPossible: process.platform === "linux",
  },
  {
    name: "the memory for hostile bodies is bounded, and all of it is released",
    // The proof reads the memory of the server process from /proc.
    isPossible: process.platform === "linux",
    run: attack,
  },
]);
