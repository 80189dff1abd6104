/** The command `mailstead readyz`: asks a server on this machine whether it is ready. */

import { withMailpitVariables } from "../config/mailpit-variables.ts";
import { readConfig } from "../config/read.ts";
import { SETTINGS } from "../config/settings.ts";
import { describeError } from "../lib/log.ts";
import { addressText, reachable } from "./capture-address.ts";
import type { Command, Input } from "./command.ts";
import { print } from "./store.ts";

const LIMIT_MS = 5_000;
/** The ports of `mailstead dev` and `mailstead serve`. */
const PORTS = [8025, SETTINGS.port.fallback()] as const;

type Answer = { url: string; isReady: boolean; reason: string };

export const readyz: Command = {
  name: "readyz",
  summary: "Exit with 0 if the server on this machine is ready, else with 1; for health checks",
  details: `Without --port it asks on port ${PORTS.join(" and then on ")}, the ports of dev and serve.`,
  positionals: [],
  flags: [],
  settings: ["host", "port"],
  run: async (input) => {
    const answers: Answer[] = [];
    for (const url of urlsOf(input)) {
      const answer = await ask(url);
      if (answer.isReady) return print(input, answer, `${url} is ready`);
      answers.push(answer);
    }
    print(input, answers[0], answers.map(({ url, reason }) => `${url}: ${reason}`).join("\n"));
    return 1;
  },
};

function urlsOf(input: Input): string[] {
  const { environment } = withMailpitVariables(input.environment);
  const { host, port } = readConfig(input.settings, environment, { port: 0 });
  const ports = port === 0 ? PORTS : [port];
  return ports.map((each) => `http://${addressText({ host: reachable(host), port: each })}/readyz`);
}

async function ask(url: string): Promise<Answer> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(LIMIT_MS) });
    await response.arrayBuffer();
    return { url, isReady: response.status === 200, reason: `status ${response.status}` };
  } catch (error) {
    return { url, isReady: false, reason: describeError(error) };
  }
}
