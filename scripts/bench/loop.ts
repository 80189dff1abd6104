/** A server of a measurement that notes how long its event loop is held. */

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { parse, type Server, type ServerOptions, startServer } from "./children.ts";
import { type Aim, fixed, say } from "./report.ts";

const Loop = Type.Object({
  longest: Type.Number(),
  p999: Type.Number(),
  /** What other processes took included. */
  longestLate: Type.Number(),
  beats: Type.Number(),
});
const LONGEST_MS = 50;
const LIMIT_MS = 5_000;

export type ProbedServer = Server & {
  /**
   * Prints how long the event loop was held since the last call, and what is wanted of it. Nothing
   * for an executable, which takes no probe.
   */
  tellLoop(during: string): Promise<Aim[]>;
};

export async function startProbedServer(options: ServerOptions): Promise<ProbedServer> {
  if (options.binary !== null) {
    return { ...(await startServer(options)), tellLoop: () => Promise.resolve([]) };
  }
  const program = [process.execPath, "--preload", "./scripts/bench/loop-probe.ts", "src/main.ts"];
  const server = await startServer({ ...options, program });
  const file = join(options.data, "loop.json");

  async function readLoop() {
    rmSync(file, { force: true });
    process.kill(server.pid, "SIGUSR2");
    const deadline = performance.now() + LIMIT_MS;
    while (!(await Bun.file(file).exists())) {
      if (performance.now() > deadline) throw new Error("the probe in the server does not answer");
      await Bun.sleep(5);
    }
    return parse(Loop, JSON.parse(readFileSync(file, "utf8")));
  }

  await readLoop(); // Nobody waits while it starts.
  return {
    ...server,
    async tellLoop(during) {
      const { longest, p999, longestLate } = await readLoop();
      const measured = `at most ${fixed(longest, 1)} ms, p99.9 ${fixed(p999, 1)} ms`;
      const late = `late by at most ${fixed(longestLate, 1)} ms with what other processes took`;
      say(`event loop held, ${during}`, `${measured}; ${late}`);
      const name = `event loop, ${during}`;
      return [{ name, isMet: longest < LONGEST_MS, measured, wanted: `< ${LONGEST_MS} ms` }];
    },
  };
}
