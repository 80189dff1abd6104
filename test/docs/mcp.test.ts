/** docs/mcp.md lists the tools as they are, and its configuration can be used. */

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { changeTools } from "../../src/modules/mcp/change-tools.ts";
import { inboxTools } from "../../src/modules/mcp/inbox-tools.ts";
import { operatorTools } from "../../src/modules/mcp/operator-tools.ts";
import { mailstead } from "../support/command-line.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";

const page = readFileSync(join(import.meta.dir, "../../docs/mcp.md"), "utf8");

test("the table of docs/mcp.md has every tool, and says whether it needs a key", () => {
  const rows = [...page.matchAll(/^\| `(\w+)` +\|[^|]*\| (yes|no) +\|$/gm)];
  const tools = [...inboxTools, ...operatorTools, ...changeTools];
  expect(rows.map(([, name, key]) => [name, key])).toEqual(
    tools.map(({ name, needsKey }) => [name, needsKey ? "yes" : "no"]),
  );
});

test("the configurations of docs/mcp.md start a command that exists, and contain no key", async () => {
  const blocks = [...page.matchAll(/^```json\n([^]*?)^```$/gm)];
  expect(blocks).toHaveLength(3);
  for (const [, text = ""] of blocks) {
    const file: unknown = JSON.parse(text);
    const servers = valueAt(file, "mcpServers") ?? valueAt(file, "servers");
    expect(stringAt(servers, "mailstead.command")).toBe("mailstead");
    const words = listAt(servers, "mailstead.args").map(String);
    expect((await mailstead([...words, "--help"])).stdout).toContain("Model Context Protocol");
    const production = valueAt(servers, "mailstead-production");
    expect(stringAt(production, "url")).toEndWith("/mcp");
    expect(stringAt(production, "headers.Authorization")).toMatch(/^Bearer \$\{[\w:]+\}$/);
  }
});
