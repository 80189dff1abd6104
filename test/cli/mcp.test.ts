/** `mailstead mcp` and `/mcp` of a running `mailstead dev`, as an agent uses them. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { signUpAsAgent } from "../support/agent-sign-up.ts";
import { mailstead, type Running, startMailstead } from "../support/command-line.ts";
import { startDemoShop } from "../support/demo-shop.ts";
import { stringAt, valueAt } from "../support/json.ts";
import { createMcpAgent, overHttp, startMcpCommand } from "../support/mcp-agent.ts";

let server: Running;
let url: string;
let secretKey: string;
let shop: ReturnType<typeof startDemoShop>;

beforeAll(async () => {
  // The package takes some time to load.
  await import("../../src/modules/mcp/mcp-server.ts");
  const words = ["dev", "--json", "--data", "temporary", "--port", "0"];
  server = await startMailstead([...words, "--capture-smtp", "127.0.0.1:0"]);
  const info: unknown = JSON.parse(server.greeting);
  url = stringAt(info, "url");
  secretKey = stringAt(info, "secretKey");
  const [host = "", port = ""] = stringAt(info, "smtp").split(":");
  shop = startDemoShop({ host, port: Number(port) });
});
afterAll(async () => {
  await shop.stop();
  await server.stop();
});

const INBOX_TOOLS = ["list_inboxes", "wait_for_mail", "list_mails", "get_mail", "check_mail"];

const names = (tools: unknown[]) => tools.map((tool) => valueAt(tool, "name"));

function agentOverHttp(extra: Record<string, string> = {}) {
  return createMcpAgent(
    overHttp(async (body, headers) => {
      const init = { method: "POST", body: JSON.stringify(body) };
      const response = await fetch(`${url}/mcp`, { ...init, headers: { ...headers, ...extra } });
      return response.text();
    }),
  );
}

describe("an agent signs up in a demo application and reads its code", () => {
  test("over standard input and output, without a key", async () => {
    const command = startMcpCommand(["--server", url]);
    const agent = await createMcpAgent(command.send);
    expect(names(await agent.tools())).toEqual(INBOX_TOOLS);
    const code = await signUpAsAgent(agent, shop, "ada@example.com");
    expect(code).toMatch(/^\d{6}$/);
    expect(shop.customers.has("ada@example.com")).toBe(true);
    expect([await command.close(), command.written.stderr]).toEqual([0, ""]);
  });

  test("over HTTP, without a key on this machine", async () => {
    const agent = await agentOverHttp();
    expect(names(await agent.tools())).toEqual(INBOX_TOOLS);
    await signUpAsAgent(agent, shop, "grace@example.com");
    expect(shop.customers.has("grace@example.com")).toBe(true);
  });
});

describe("mailstead mcp", () => {
  test("has the tools of operators with a key, and those that change something with a flag", async () => {
    const env = { MAILSTEAD_API_KEY: secretKey };
    const [reading, changing] = [
      startMcpCommand(["--server", url], env),
      startMcpCommand(["--server", url, "--mcp-changes"], env),
    ];
    const read = names(await (await createMcpAgent(reading.send)).tools());
    expect(read).toContain("explain_recipient");
    expect(read).not.toContain("add_suppression");
    const agent = await createMcpAgent(changing.send);
    expect(names(await agent.tools())).toEqual([...read, ...CHANGES]);

    const dryRun = await agent.call("add_suppression", { email: "no@example.com" });
    const token = stringAt(dryRun, "token");
    await agent.call("add_suppression", { email: "no@example.com", token });
    const explained = await agent.call("explain_recipient", { email: "no@example.com" });
    expect(valueAt(explained, "suppression.reason")).toBe("MANUAL");
    expect([await reading.close(), await changing.stop()]).toEqual([0, 0]);
  });

  const CHANGES = [
    "send_test_mail",
    "add_suppression",
    "remove_suppression",
    "pause_campaign",
    "resume_campaign",
  ];

  test("says that no server answers, in the answer of a tool", async () => {
    const command = startMcpCommand(["--server", "http://127.0.0.1:1"]);
    const agent = await createMcpAgent(command.send);
    const { isError, text } = await agent.use("list_inboxes");
    expect([isError, text]).toEqual([
      true,
      expect.stringContaining("Nothing answers at http://127.0.0.1:1."),
    ]);
    expect(await command.close()).toBe(0);
  });

  test("refuses an address that is no URL", async () => {
    const ran = await mailstead(["mcp", "--server", "localhost"]);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining("--server")]);
  });

  test("shows the refusal of a key", async () => {
    const command = startMcpCommand(["--server", url], { MAILSTEAD_API_KEY: "sk_wrong" });
    const agent = await createMcpAgent(command.send);
    const { isError, text } = await agent.use("domain_status");
    expect([isError, text]).toEqual([true, expect.stringContaining("INVALID_API_KEY")]);
    expect(await command.close()).toBe(0);
  });
});

describe("/mcp of mailstead dev", () => {
  const post = (headers: Record<string, string>) =>
    fetch(`${url}/mcp`, {
      method: "POST",
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
      headers: {
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        ...headers,
      },
    });

  test("refuses pages of other sites and names that lead here", async () => {
    expect((await post({})).status).toBe(200);
    const forged: Record<string, string>[] = [
      { origin: "https://evil.example" },
      { origin: "null" },
      { host: "evil.example" },
      { host: "evil.example", origin: "http://evil.example" },
      { origin: "https://evil.example", authorization: `Bearer ${secretKey}` },
      { host: "evil.example", origin: "http://evil.example", authorization: `Bearer ${secretKey}` },
    ];
    for (const headers of forged) {
      const response = await post(headers);
      expect([headers, response.status]).toEqual([headers, 403]);
      await response.arrayBuffer();
    }
  });

  test("needs a key if the request came through a proxy", async () => {
    const response = await post({ "x-forwarded-for": "192.0.2.7" });
    expect(response.status).toBe(401);
    expect(valueAt(await response.json(), "error.code")).toBe("MISSING_AUTH");
  });

  test("has the tools of operators with a key, but none that change something", async () => {
    const agent = await agentOverHttp({ authorization: `Bearer ${secretKey}` });
    const tools = await agent.tools();
    expect(names(tools)).toEqual([
      ...INBOX_TOOLS,
      "explain_recipient",
      "find_emails",
      "get_email",
      "list_campaigns",
      "campaign_report",
      "domain_status",
    ]);
    for (const tool of tools) {
      expect(valueAt(tool, "annotations.readOnlyHint")).toBe(true);
      expect(valueAt(tool, "inputSchema.type")).toBe("object");
    }
  });
});
