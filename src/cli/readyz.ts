/** The command `mailstead readyz`: asks a server on this machine whether it is ready. */

import { withMailpitAliases } from "../config/mailpit-variables.ts";
import { SETTINGS } from "../config/settings.ts";
import { addressText, reachable } from "./capture-address.ts";
import { type Command, type Input, readSettings } from "./command.ts";
import { print } from "./store.ts";

const LIMIT_MS = 5_000;
/** The ports of `mailstead dev` and `mailstead serve`. */
const PORTS = [8025, SETTINGS.port.fallback()] as const;

const HOW_TO_START =
  "Start a server with mailstead serve or mailstead dev, or name its address with --host and --port.";

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
    const lines = answers.map(({ url, reason }) => `${url}: ${reason}`);
    print(input, answers[0], [...lines, HOW_TO_START].join("\n"));
    return 1;
  },
};

function urlsOf(input: Input): string[] {
  const { environment } = withMailpitAliases(input.io.env);
  const { host, port } = readSettings(input, { environment, defaults: { port: 0 } });
  const ports = port === 0 ? PORTS : [port];
  return ports.map((each) => `http://${addressText({ host: reachable(host), port: each })}/readyz`);
}

async function ask(url: string): Promise<Answer> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(LIMIT_MS) });
    await response.arrayBuffer();
    return { url, isReady: response.status === 200, reason: `status ${response.status}` };
  } catch (error) {
    return { url, isReady: false, reason: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `no answer within ${LIMIT_MS / 1_000} s`;
  const isRefused = /ECONNREFUSED|ConnectionRefused/.test(
    "code" in error ? String(error.code) : "",
  );
  return isRefused ? "nothing answers" : error.message;
}
