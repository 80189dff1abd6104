/**
 * Plays an agent that signs up in a demo application and reads its code over MCP: `mailstead dev`
 * catches the mail that the application sends over SMTP, and the agent asks `mailstead mcp` over
 * standard input and output, and `/mcp` over HTTP, for it.
 *
 * `bun scripts/agent.ts` runs the sources, and `TEST_EXECUTABLE=dist/mailstead bun scripts/agent.ts`
 * the executable.
 *
 * The exit code is 1 if a customer does not get an account. The short form is test/cli/mcp.test.ts.
 */

import { join, resolve } from "node:path";
import { signUpAsAgent } from "../test/support/agent-sign-up.ts";
import { startMailstead } from "../test/support/cli.ts";
import { startDemoShop } from "../test/support/demo-shop.ts";
import { stringAt } from "../test/support/json.ts";
import { createMcpAgent, overHttp, overLines } from "../test/support/mcp-agent.ts";

const CUSTOMERS = 20;

const executable = process.env["TEST_EXECUTABLE"];
const sources = [process.execPath, join(import.meta.dir, "../src/main.ts")];
const program = executable === undefined ? sources : [resolve(executable)];

const server = await startMailstead(
  ["dev", "--json", "--data", "temporary", "--port", "0", "--capture-smtp", "127.0.0.1:0"],
  (text) => text.endsWith("}\n"),
);
const info: unknown = JSON.parse(server.greeting);
const url = stringAt(info, "url");
const [host = "", port = ""] = stringAt(info, "smtp").split(":");
const shop = startDemoShop({ host, port: Number(port) });

const command = Bun.spawn([...program, "mcp", "--server", url], {
  stdin: "pipe",
  stdout: "pipe",
  stderr: "inherit",
});
let written = "";
const reading = (async () => {
  const decoder = new TextDecoder();
  for await (const piece of command.stdout) written += decoder.decode(piece, { stream: true });
})();

const agents = {
  "mailstead mcp": await createMcpAgent(
    overLines(
      (line) => {
        void command.stdin.write(line);
        void command.stdin.flush();
      },
      () => written,
    ),
  ),
  "/mcp": await createMcpAgent(
    overHttp(async (body, headers) => {
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      return (await fetch(`${url}/mcp`, init)).text();
    }),
  ),
};

for (const [name, agent] of Object.entries(agents)) {
  const emails = Array.from({ length: CUSTOMERS }, (_, n) => `${n}.${name.length}@example.com`);
  const started = performance.now();
  const codes = await Promise.all(emails.map((email) => signUpAsAgent(agent, shop, email)));
  const ms = Math.round(performance.now() - started);
  console.log(
    `${name}: ${codes.length} customers signed up in ${ms} ms, the first with ${codes[0]}`,
  );
}
const missing = 2 * CUSTOMERS - shop.customers.size;
console.log(missing === 0 ? "ok: every customer has an account" : `${missing} have no account`);

await command.stdin.end();
const code = await command.exited;
await reading;
await shop.stop();
await server.stop();
process.exitCode = missing === 0 && code === 0 ? 0 : 1;
