/** `mailstead send` to a real SMTP server, with a real DNS server. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dkimVerify } from "mailauth/lib/dkim/verify";
import { mailstead } from "../support/command-line.ts";
import { startDnsServer, type TestDns } from "../support/dns-server.ts";
import { valueAt, listAt, stringAt } from "../support/json.ts";
import { type Script, startScript } from "../support/smtp-script.ts";
import { type Sink, startSink } from "../support/smtp-sink.ts";

let folder: string;
let sink: Sink;
let dns: TestDns;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailstead-send-"));
  sink = await startSink();
  dns = await startDnsServer({
    records: {
      "example.net": { MX: ["10 mx.example.net"] },
      "mx.example.net": { A: ["127.0.0.1"] },
    },
  });
});
afterAll(async () => {
  await sink.close();
  await dns.close();
  rmSync(folder, { recursive: true, force: true });
});

type Result = { exit: number; out: string; err: string };

async function run(words: readonly string[], body = ""): Promise<Result> {
  const { code, stdout, stderr } = await mailstead(words, {}, { stdin: body });
  return { exit: code, out: stdout, err: stderr };
}

const ADDRESSES = ["--from", "me@example.com", "--to", "ada@example.net"];

function send(words: readonly string[], body = "Hello\n"): Promise<Result> {
  return run(["send", ...ADDRESSES, "--data", join(folder, "data"), ...words], body);
}

function relayTo(port: number): string[] {
  return ["--transport", "relay", "--relay-url", `smtp://127.0.0.1:${port}?tls=none`];
}

function directly(): string[] {
  return ["--transport", "direct", "--dns", `127.0.0.1:${dns.server.port}`];
}

describe("mailstead send", () => {
  test("prints the conversation and the outcome", async () => {
    const { exit, out, err } = await send([...relayTo(sink.port), "--hostname", "me.test"]);
    expect(err).toBe("");
    expect(exit).toBe(0);
    const lines = out
      .replace(/ \([\d.]+ ms\)/g, "")
      .trim()
      .split("\n");
    expect(lines[0]).toMatch(/^\* \d+ octets, unsigned: example\.com has no keys here$/);
    expect(lines.slice(1, 5)).toEqual([
      `* 127.0.0.1:${sink.port}`,
      `* connect: 127.0.0.1:${sink.port} connected`,
      "< 220 sink.test ESMTP",
      "> EHLO me.test",
    ]);
    expect(lines).toContain("> RCPT TO:<ada@example.net>");
    expect(lines).toContain("> (the message) .");
    expect(lines.at(-1)).toMatch(/^= accepted: 127\.0\.0\.1:\d+ accepted it: 250/);
  });

  test("finds the server by MX with --transport direct", async () => {
    const before = sink.messages.length;
    const { exit, out } = await send(
      [
        ...directly(),
        "--direct-port",
        String(sink.port),
        "--allow-private-addresses=true",
        "--subject=Grüße",
        "--html",
      ],
      "<p>Hello <b>you</b></p>",
    );
    expect(exit).toBe(0);
    expect(out).toContain(`* mx.example.net:${sink.port}`);
    const message = Buffer.from(sink.messages[before]?.data ?? "").toString();
    expect(message).toContain("Subject: =?UTF-8?");
    expect(message).toContain("<p>Hello <b>you</b></p>");
  });

  test("signs for a domain that has keys here", async () => {
    const data = ["--data", join(folder, "keys")];
    await run(["project", "create", "P", ...data]);
    const added = await run(["domain", "add", "example.com", "--json", ...data]);
    const records = listAt(JSON.parse(added.out), "domain.records");
    const before = sink.messages.length;
    const { exit, out } = await run(
      ["send", ...ADDRESSES, ...data, ...relayTo(sink.port)],
      "Hello",
    );
    expect(exit).toBe(0);
    expect(out).toContain("octets, signed for example.com: ms");
    const { results } = await dkimVerify(Buffer.from(sink.messages[before]?.data ?? ""), {
      resolver: async (name) =>
        records
          .filter((record) => valueAt(record, "name") === name)
          .map((record) => [stringAt(record, "value")]),
    });
    expect(results.map(({ status }) => status.result)).toEqual(["pass", "pass"]);
    const relay = ["--transport", "relay", "--relay-url"];
    const url = `smtp://127.0.0.1:${sink.port}?tls=none&sign=false`;
    const unsigned = await run(["send", ...ADDRESSES, ...data, ...relay, url], "Hello");
    expect(unsigned.out).toContain("octets, unsigned: the relay signs");
    expect(Buffer.from(sink.messages.at(-1)?.data ?? "").toString()).not.toContain("DKIM");
  });

  test("shows what would be sent with --transport capture", async () => {
    const { exit, out } = await send(["--transport", "capture"]);
    expect(exit).toBe(0);
    expect(out).toContain("To: ada@example.net\r\n");
    expect(out).toEndWith("= accepted: captured\n");
  });

  test("removes spaces and tabs around an address", async () => {
    const { exit, out } = await send(["--transport", "capture", "--to", " Ada@Example.net\t"]);
    expect([exit, out.includes("To: ada@example.net\r\n")]).toEqual([0, true]);
  });

  test("sends a sample to the listener that catches mail, if no address is given", async () => {
    const before = sink.messages.length;
    const listener = ["--capture-smtp", `127.0.0.1:${sink.port}`];
    const { exit, out } = await run(["send", ...listener, "--data", join(folder, "data")]);
    expect([exit, out.includes("= accepted: ")]).toEqual([0, true]);
    expect(sink.messages[before]).toMatchObject({ to: ["you@example.com"] });
    expect(Buffer.from(sink.messages[before]?.data ?? "").toString()).toContain("It works");
  });

  test("exits 1 and names mailstead dev if nothing catches mail", async () => {
    const { exit, err } = await send(["--capture-smtp", "127.0.0.1:1"]);
    expect([exit, err]).toEqual([1, expect.stringContaining("mailstead dev starts the listener")]);
  });

  const refused: [reply: string, script: Script, kind: string][] = [
    ["permanent", { rcpt: { code: 550, text: "5.1.1 no such user" } }, "bounced"],
    ["temporary", { mail: { code: 451, text: "4.7.1 later" } }, "deferred"],
  ];
  test.each(refused)("exits 1 on a %s refusal", async (_, script, kind) => {
    const server = await startScript({ script });
    const { exit, out } = await send(relayTo(server.port));
    expect(exit).toBe(1);
    expect(out).toContain(`\n= ${kind}: 127.0.0.1:${server.port} refused at `);
    await server.close();
  });

  test("exits 1 and gives the reason if the domain has no mail server", async () => {
    const { exit, out } = await send([...directly(), "--to", "ada@nowhere.test"]);
    expect(exit).toBe(1);
    expect(out).toMatch(/\n= bounced: 5\.1\.2 /);
  });

  test("prints JSON with --json", async () => {
    const { exit, out } = await send([...relayTo(sink.port), "--json"]);
    expect(exit).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      kind: "accepted",
      conversations: [{ host: "127.0.0.1" }],
    });
  });

  test.each([
    [["send", "--to", "ada@example.net"], "--from is required"],
    [["send", "--from", "me@example.com"], "--to is required"],
    [["send", ...ADDRESSES, "--to", "nobody"], "--to: The address has no @."],
    [["send", ...ADDRESSES, "--to", "ada@example.net\n"], "--to: The address contains a control"],
    [["send", ...ADDRESSES, "--from", "\u00a0me@example.com"], "--from: The address contains"],
    [["send", ...ADDRESSES, "--from", '"me\\\u00a9"@example.com'], "--from: The part before the @"],
  ])("requires a valid sender and recipient: %j", async (words, message) => {
    const { exit, err } = await run([...words, "--data", join(folder, "data")]);
    expect([exit, err.includes(message)]).toEqual([2, true]);
  });
});
