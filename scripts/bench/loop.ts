/** Starts a measured server with a probe that records how long its event loop is blocked. */

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { parse, type Server, type ServerOptions, startServer } from "./children.ts";
import { type Aim, fixed, printValue } from "./report.ts";

const Loop = Type.Object({
  longestMs: Type.Number(),
  p999Ms: Type.Number(),
  /** Longest delay of a timer, including time in which other processes had the processor. */
  longestLateMs: Type.Number(),
  samples: Type.Number(),
});
const MAX_BLOCKED_MS = 50;
const RESPONSE_LIMIT_MS = 5_000;

export type ProbedServer = Server & {
  /**
   * Prints how long the event loop was blocked since the last call, and returns the aim for it:
   * less than `maxMs`, by default 50.
   */
  reportLoop(during: string, maxMs?: number): Promise<Aim[]>;
};

export async function startProbedServer(options: ServerOptions): Promise<ProbedServer> {
  const preload = join(import.meta.dir, "loop-probe.ts");
  const server = await startServer({ ...options, preload });
  const file = join(options.data, "loop.json");

  async function readLoop() {
    rmSync(file, { force: true });
    process.kill(server.pid, "SIGUSR2");
    const deadline = performance.now() + RESPONSE_LIMIT_MS;
    while (!(await Bun.file(file).exists())) {
      if (performance.now() > deadline) throw new Error("the probe in the server does not respond");
      await Bun.sleep(5);
    }
    return parse(Loop, JSON.parse(readFileSync(file, "utf8")));
  }

  await readLoop(); // Discards the samples of the start, when no request waits.
  return {
    ...server,
    async reportLoop(during, maxMs = MAX_BLOCKED_MS) {
      const { longestMs, p999Ms, longestLateMs } = await readLoop();
      const measured = `at most ${fixed(longestMs, 1)} ms, p99.9 ${fixed(p999Ms, 1)} ms`;
      const late = `${fixed(longestLateMs, 1)} ms including other processes`;
      printValue(`event loop blocked, ${during}`, `${measured}; ${late}`);
      const name = `event loop, ${during}`;
      return [{ name, isMet: longestMs < maxMs, measured, wanted: `< ${maxMs} ms` }];
    },
  };
}
