/** Measures how fast the executable starts, and how much memory it uses while idle. */

import { existsSync } from "node:fs";
import { removeFolder, residentMiB, startServer, temporaryFolder } from "./children.ts";
import { reportAims, median, quantile, printValue, whole } from "./report.ts";
import { prepareStore } from "./store.ts";

const IDLE_MS = 5_000;

export async function benchStart(options: { binary: string; isQuick: boolean }) {
  const { binary, isQuick } = options;
  const runs = isQuick ? 3 : 10;
  console.log(`start: ${binary}, ${runs} runs until /readyz answers 200`);
  if (!existsSync(binary)) {
    throw new Error(`${binary} does not exist; build it with: bun scripts/build.ts`);
  }
  const data = temporaryFolder();
  await prepareStore(data, 0);
  printValue("baseline, Bun with an empty script", `${whole(await emptyProcessMs(runs))} ms`);
  const durations: number[] = [];
  for (let i = 0; i < runs; i++) {
    const startedAt = performance.now();
    const server = await startServer({ binary, data, args: [] });
    durations.push(performance.now() - startedAt);
    await server.stop();
  }
  const server = await startServer({ binary, data, args: [] });
  await Bun.sleep(IDLE_MS);
  const idle = residentMiB(server.pid);
  await server.stop();
  removeFolder(data);

  const typical = median(durations);
  printValue(
    "start, min / median / max",
    [0, 0.5, 1].map((q) => ms(quantile(durations, q))).join(" / "),
  );
  return reportAims([
    { name: "start", isMet: typical < 150, measured: ms(typical), wanted: "< 150 ms" },
    { name: "idle memory", isMet: idle < 120, measured: `${whole(idle)} MiB`, wanted: "< 120 MiB" },
  ]);
}

async function emptyProcessMs(runs: number): Promise<number> {
  const durations: number[] = [];
  for (let i = 0; i < runs; i++) {
    const startedAt = performance.now();
    await Bun.spawn([process.execPath, "-e", "0"]).exited;
    durations.push(performance.now() - startedAt);
  }
  return median(durations);
}

function ms(value: number): string {
  return `${whole(value)} ms`;
}
