/** `mailstead domain verify`, `records` and `remove`, with a real DNS server. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mailstead } from "../support/command-line.ts";
import { startDnsServer, type TestDns } from "../support/dns-server.ts";
import { valueAt, listAt, stringAt } from "../support/json.ts";
import { publish } from "../support/zone.ts";

let folder: string;
let dns: TestDns;
/** Address of a DNS server on which no process listens. */
let unreachable: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailstead-domain-"));
  const gone = await startDnsServer();
  unreachable = `127.0.0.1:${gone.server.port}`;
  await gone.close();
  dns = await startDnsServer();
  await run("project", "create", "P");
});
afterAll(async () => {
  await dns.close();
  rmSync(folder, { recursive: true, force: true });
});

type Result = { exit: number; out: string };

async function run(...words: readonly string[]): Promise<Result> {
  const data = words.includes("--data") ? [] : ["--data", folder];
  const { code, stdout } = await mailstead([...words, ...data]);
  return { exit: code, out: stdout };
}

function verify(domain: string, server: string, ...words: readonly string[]): Promise<Result> {
  return run("domain", "verify", domain, "--dns", server, ...words);
}

async function add(domain: string): Promise<unknown[]> {
  return listAt(JSON.parse((await run("domain", "add", domain, "--json")).out), "domain.records");
}

async function lastCheckedAt(domain: string): Promise<unknown> {
  const listed = listAt(JSON.parse((await run("domain", "list", "--json")).out), "domains");
  return valueAt(
    listed.find((some) => stringAt(some, "domain") === domain),
    "lastCheckedAt",
  );
}

test("mailstead domain verify reports failed look-ups and the last known state", async () => {
  publish(dns.records, await add("shop.test"));
  const alive = `127.0.0.1:${dns.server.port}`;
  const answered = await verify("shop.test", alive);
  expect(answered.out).toStartWith("shop.test may be used as a sender.\n");
  expect(answered.exit).toBe(0);
  const before = await lastCheckedAt("shop.test");

  const unanswered = await verify("shop.test", unreachable);
  expect(unanswered.exit).toBe(1);
  expect(unanswered.out).toStartWith(
    "The key of shop.test could not be looked up: the resolver did not answer. State at 20",
  );
  expect(unanswered.out).toMatch(
    /^DKIM \(required\): could not be looked up \(TXT of .*\); at the latest check: ok$/m,
  );
  expect(await lastCheckedAt("shop.test")).toBe(before);
});

test("mailstead domain verify does not report records as missing that were never checked", async () => {
  await add("new.test");
  const { exit, out } = await verify("new.test", unreachable);
  expect(exit).toBe(1);
  expect(out).not.toContain("missing");
  expect(await lastCheckedAt("new.test")).toBeNull();
});

test("mailstead domain verify exits 0 if only an optional record has no answer", async () => {
  const records = await add("half.test");
  publish(dns.records, records);
  dns.failures["_dmarc.half.test TXT"] = "servfail";
  const { exit, out } = await verify("half.test", `127.0.0.1:${dns.server.port}`, "--json");
  expect(exit).toBe(0);
  expect(listAt(JSON.parse(out), "unanswered")).toMatchObject([
    { purpose: "DMARC", name: "_dmarc.half.test", required: false },
  ]);
});

test("a domain of any project is found by its name", async () => {
  const data = mkdtempSync(join(tmpdir(), "mailstead-domains-"));
  try {
    for (const name of ["A", "B"]) await run("project", "create", name, "--data", data);
    await run("domain", "add", "b.example", "--project", "B", "--data", data);
    const records = (...words: string[]) => run("domain", "records", ...words, "--data", data);
    expect((await records("b.example")).out).toContain("_domainkey.b.example");
    expect((await records("b.example", "--project", "B")).exit).toBe(0);
    expect((await records("b.example", "--project", "A")).exit).toBe(1);
    expect((await records("a.example")).exit).toBe(1);
    expect((await run("domain", "remove", "b.example", "--data", data)).exit).toBe(0);
    expect((await records("b.example")).exit).toBe(1);
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
});

test("mailstead domain add --dkim-key keeps a key that is published, and refuses another", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const file = join(folder, "dkim.pem");
  writeFileSync(file, privateKey.export({ type: "pkcs8", format: "pem" }));
  const bare = publicKey.export({ type: "spki", format: "der" }).subarray(-32).toString("base64");
  const alive = `127.0.0.1:${dns.server.port}`;
  const words = ["domain", "add", "moved.test", "--dkim-selector", "s1", "--json", "--dns", alive];
  const refused = await mailstead([...words, "--dkim-key", file, "--data", folder]);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining("s1._domainkey.moved.test has no TXT record"),
  ]);
  for (const [flags, reason] of [
    [["--dkim-key", join(folder, "none.pem")], "none.pem cannot be read"],
    [[], "belong together"],
  ] as const) {
    const wrong = await mailstead([...words, ...flags, "--data", folder]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining(reason)]);
  }
  dns.records["s1._domainkey.moved.test"] = { TXT: [`v=DKIM1; k=ed25519; p=${bare}`] };
  const { exit, out } = await run(...words, "--dkim-key", file);
  expect(exit).toBe(0);
  const [record] = listAt(JSON.parse(out), "domain.records");
  expect([valueAt(record, "name"), valueAt(record, "required")]).toEqual([
    "s1._domainkey.moved.test",
    true,
  ]);
  expect((await verify("moved.test", alive)).exit).toBe(0);
});
