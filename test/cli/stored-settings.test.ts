/**
 * Commands show the links and the DNS records of the server that last used the data folder. They need
 * neither its flags nor its files.
 */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mailstead, startMailstead } from "../support/command-line.ts";
import { listAt, stringAt } from "../support/json.ts";

const RELAY = ["--transport", "relay", "--relay-url", "smtps://user:pass@smtp.sendgrid.net"];

let folder: string;
const run = (words: readonly string[], environment = {}) =>
  mailstead([...words, "--data", folder], environment);

/** The SPF record of a domain, by `mailstead domain records`. */
async function spf(words: readonly string[] = [], environment = {}): Promise<string> {
  const { json } = await run(
    ["domain", "records", "shop.example", "--json", ...words],
    environment,
  );
  const found = listAt(json, "records").find((each) => stringAt(each, "purpose") === "SPF");
  return stringAt(found, "value");
}

const linkOf = ({ json }: Awaited<ReturnType<typeof run>>): string =>
  stringAt(json, "link").split("/app/")[0] ?? "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailstead-stored-"));
  await run(["project", "create", "Shop"]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("before the first server", () => {
  test("records and links follow the settings of the command", async () => {
    const settings = ["--transport", "direct", "--hostname", "mail.shop.example"];
    await run(["domain", "add", "shop.example", ...settings]);
    expect(await spf(settings)).toBe("v=spf1 a:mail.shop.example ~all");
    expect(await spf([], { MAILSTEAD_HOSTNAME: "mx.shop.example" })).toBe(
      "v=spf1 a:mx.shop.example ~all",
    );
    const added = await run(["user", "add", "a@shop.example", "--owner", "--json"]);
    expect(linkOf(added)).toBe("http://127.0.0.1:3000");
  });
});

describe("after a server has run", () => {
  beforeAll(async () => {
    const words = ["serve", "--data", folder, "--port", "0", "--url", "https://mail.shop.example"];
    const server = await startMailstead([...words, ...RELAY, "--json"]);
    await server.stop();
  });

  test("records and links are those of the server", async () => {
    expect(await spf()).toBe("v=spf1 include:sendgrid.net ~all");
    const link = await run(["user", "link", "a@shop.example", "--json"]);
    expect(linkOf(link)).toBe("https://mail.shop.example");
  });

  test("a command does not read the server's secret files", async () => {
    const environment = {
      MAILSTEAD_TRANSPORT: "relay",
      MAILSTEAD_RELAY_URL_FILE: join(folder, "missing"),
    };
    expect(await spf([], environment)).toBe("v=spf1 include:sendgrid.net ~all");
    expect((await run(["project", "list"], environment)).code).toBe(0);
  });

  test("flags of the command take precedence", async () => {
    expect(await spf(["--transport", "direct", "--hostname", "mx.shop.example"])).toBe(
      "v=spf1 a:mx.shop.example ~all",
    );
    const words = ["user", "link", "a@shop.example", "--json", "--url", "https://other.example"];
    expect(linkOf(await run(words))).toBe("https://other.example");
  });
});

test("a command that creates an installation says where", async () => {
  const data = join(folder, "new");
  const created = await mailstead(["project", "create", "Shop", "--data", data]);
  expect(created.stderr).toBe(`A new installation was created in ${data}.\n`);
  const migrated = await mailstead(["migrate", "--data", join(folder, "other")]);
  expect(migrated.stdout).toBe(`A new installation was created in ${join(folder, "other")}.\n`);
  expect((await run(["migrate"])).stdout).toBe("The database is up to date.\n");
});
