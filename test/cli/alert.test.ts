/** `mailstead alert test`, `list` and `secret`, without a server. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mailstead } from "../support/command-line.ts";
import { stringAt, valueAt } from "../support/json.ts";
import { type Sink, startSink } from "../support/smtp-sink.ts";
import { startWebServer, type WebServer } from "../support/web-server.ts";

let parent: string;
let data: string;
let sink: Sink;
let web: WebServer;
beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "mailstead-alert-"));
  data = join(parent, "data");
  await mailstead(["project", "create", "Shop", "--data", data]);
  [sink, web] = await Promise.all([startSink(), startWebServer()]);
});
afterAll(async () => {
  await Promise.all([sink.close(), web.close()]);
  rmSync(parent, { recursive: true, force: true });
});

const run = (...words: string[]) => mailstead([...words, "--data", data]);

test("a test goes to each target, and a failure is the exit code", async () => {
  const targets = [
    "--operator-email",
    "ops@operators.test",
    "--alert-relay-url",
    `smtp://127.0.0.1:${sink.port}?tls=none`,
    "--alert-webhook",
    `${web.origin}/hook`,
    "--allow-private-addresses",
  ];
  const well = await run("alert", "test", ...targets);
  expect(well.stdout).toMatch(/^ok {4}email ops@operators\.test: .*250/m);
  expect(well.stdout).toMatch(/^ok {4}webhook 127\.0\.0\.1:\d+: 200 \(\d+ ms\)$/m);
  expect([well.code, sink.messages.length, web.requests.length]).toEqual([0, 1, 1]);
  web.answer = () => ({ status: 503, body: "busy" });
  const ill = await run("alert", "test", "--json", ...targets);
  expect([ill.code, valueAt(ill.json, "targets.1.reply")]).toEqual([1, "503 busy"]);
});

test("names what is missing or wrong", async () => {
  const cases: [words: string[], text: string][] = [
    [[], "there are no targets: give --operator-email"],
    [["--operator-email", "ada"], "--operator-email: expected at most 10 addresses such as"],
    [["--alert-slack", "ftp://x.test/secret"], "--alert-slack: expected a URL of http or https"],
    [["--alert-webhook", "https://u:p@x.test"], "must not contain a user name or password"],
    [["--alert-relay-url", "smtp://u:p@x.test?tls=none"], "must not send a password without TLS"],
  ];
  for (const [words, text] of cases) {
    const { code, stderr } = await run("alert", "test", ...words);
    expect([code, stderr]).toEqual([2, expect.stringContaining(text)]);
    expect(stderr).not.toContain("secret");
  }
});

test("lists the open and the cleared alerts", async () => {
  expect((await run("alert", "list")).stdout).toBe("No alert is open.\n");
  const db = new Database(join(data, "mailstead.db"));
  const now = Date.now();
  const insert = db.query(`INSERT INTO alerts
    (id, condition, subject, severity, title, finding, fix, raised_at, cleared_at)
    VALUES (?, 'disk_low', '', 'critical', 'The disk is almost full', 'It is.', 'Free some.', ?, ?)`);
  insert.run("a", now - 5_000, null);
  insert.run("b", now - 9_000, now - 8_000);
  db.close();
  const { stdout } = await run("alert", "list");
  expect(stdout).toMatch(
    /^Open:\ncritical {2}\S+Z {2}The disk is almost full\n {2}It is\.\n {2}Free some\.\nCleared:\n/,
  );
  const { json } = await run("alert", "list", "--json");
  expect(valueAt(json, "open.0")).toMatchObject({ id: "a", clearedAt: null });
  expect(valueAt(json, "cleared.0.id")).toBe("b");
});

test("shows the secret of the webhook, which stays the same", async () => {
  const { json } = await run("alert", "secret", "--json");
  expect(stringAt(json, "secret")).toMatch(/^whsec_[\w+/]{32}$/);
  expect((await run("alert", "secret")).stdout).toBe(`${stringAt(json, "secret")}\n`);
});
