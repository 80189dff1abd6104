/**
 * Smoke test of the executable, alone in an empty folder, as an operator would install it.
 *
 * `bun scripts/smoke.ts [EXECUTABLE]` (default: `dist/mailstead`)
 *
 * It checks what is in the executable and not in the sources: the dashboard, the migrations, the
 * documentation, and the threads, each a file of its own, which read from the database, compose mail
 * and parse caught mail. The tests of processes (test/cli/process.test.ts) then use the same
 * executable. Each check prints one line. The first failed check prints the server's log and ends the
 * test. On exit all processes are killed and the folder is removed.
 */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import type { Subprocess } from "bun";
import { simpleParser } from "mailparser";
import { waitUntil } from "../test/support/eventually.ts";
import { stringAt, valueAt } from "../test/support/json.ts";
import { startSink } from "../test/support/smtp-sink.ts";

const TOTAL_LIMIT_MS = 120_000;

const mail = {
  recipient: "ada@example.net",
  sender: { name: "Smoke Ünï", email: "hello@example.com" },
  attachment: { filename: "résumé.bin", content: randomBytes(100 * 1024) },
};

const source = resolve(Bun.argv[2] ?? join(import.meta.dir, "..", "dist", "mailstead"));
const sandbox = mkdtempSync(join(tmpdir(), "mailstead-smoke-"));
const folder = join(sandbox, "alone");
const executable = join(folder, basename(source));
const children = new Set<Subprocess>();
let log = "";

/**
 * The environment without MAILSTEAD_ settings, so that the caller's settings change nothing. The flag
 * ends a child process if this process is killed.
 */
const environment = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("MAILSTEAD_")),
  ),
  BUN_FEATURE_FLAG_NO_ORPHANS: "1",
};

/** Runs one check and prints its line. */
async function check<T>(name: string, run: () => T | Promise<T>): Promise<T> {
  try {
    const value = await run();
    console.log(`ok ${name}`);
    return value;
  } catch (error) {
    console.log(`not ok ${name}`);
    throw error;
  }
}

function launch(words: readonly string[]) {
  const child = Bun.spawn([executable, ...words, "--data", "./data", "--json"], {
    cwd: folder,
    env: environment,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  children.add(child);
  return child;
}

/** Starts a server, and returns it with its greeting when it is ready. */
async function startServer(words: readonly string[]) {
  const server = launch(["serve", "--port", "0", ...words]);
  void server.stderr.pipeTo(new WritableStream({ write: (part) => void (log += decode(part)) }));
  const { value } = await server.stdout.getReader().read();
  if (value === undefined) throw new Error(`the server exited with ${await server.exited}`);
  const greeting: unknown = JSON.parse(decode(value));
  return { server, url: stringAt(greeting, "url") };
}

const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** Runs a command and returns its standard output. */
async function runCommand(words: readonly string[]): Promise<unknown> {
  const child = launch(words);
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  assert.equal(await child.exited, 0, `${words.join(" ")}: ${errors}${output}`);
  return JSON.parse(output);
}

/** Returns a function that calls the API with a key and throws unless the status is 200. */
function createCall(url: string, key: string) {
  return async (path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.equal(response.status, 200, `${path} answered ${response.status}: ${text}`);
    return JSON.parse(text);
  };
}

/** The executable contains the dashboard, with a script for each client that accepts Brotli. */
async function checkDashboard(url: string): Promise<void> {
  const page = await (await fetch(`${url}/app`)).text();
  const [path = ""] = /\/app\/assets\/index-\w+\.js/.exec(page) ?? [];
  const script = await fetch(url + path, { headers: { "accept-encoding": "br" } });
  assert.equal(script.headers.get("content-encoding"), "br");
  assert.ok((await script.text()).length > 100_000);
}

/** The executable contains the pages of the documentation, and the package of the protocol of agents. */
async function checkAgents(url: string, key: string): Promise<void> {
  assert.match(await (await fetch(`${url}/llms.txt`)).text(), /\(\/docs\/mcp\.md\)/);
  assert.match(await (await fetch(`${url}/docs/mcp.md`)).text(), /^# Agents and MCP\n/);
  const answer = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  assert.match(await answer.text(), /"name":"explain_recipient"/);
}

async function checkMail(message: Uint8Array): Promise<void> {
  const parsed = await simpleParser(Buffer.from(message), { skipHtmlToText: true });
  assert.equal(parsed.subject, "Grüße Ada <b>");
  assert.match(parsed.html || "", /<p>Hello Ada &lt;b&gt;<\/p>/);
  assert.match(parsed.text ?? "", /^Hello Ada <b>\s*$/);
  const [attachment, ...others] = parsed.attachments;
  assert.equal(attachment?.filename, mail.attachment.filename);
  assert(attachment?.content.equals(mail.attachment.content), "its content differs");
  assert.equal(others.length, 0);
}

async function runSmokeTest(): Promise<void> {
  const sink = await startSink();
  mkdirSync(folder);
  copyFileSync(source, executable);
  const relay = ["--relay-url", `smtp://127.0.0.1:${sink.port}?tls=none`];
  const { server, url } = await check("the server starts alone in a folder", () =>
    startServer(["--transport", "relay", ...relay, "--capture-smtp", "127.0.0.1:0"]),
  );
  await check("the dashboard is in the executable", () => checkDashboard(url));
  const created = await check("commands work beside the server", async () => {
    const project = await runCommand(["project", "create", "Smoke"]);
    await runCommand(["domain", "add", "example.com", "--verified"]);
    return project;
  });

  const secretKey = stringAt(created, "secretKey");
  await check("agents find the documentation and the tools", () => checkAgents(url, secretKey));
  const call = createCall(url, secretKey);
  await check("POST /v1/send accepts a mail with an attachment", () =>
    call("/v1/send", {
      to: mail.recipient,
      from: mail.sender,
      subject: "Grüße {{ name }}",
      // A template with a loop is composed by a thread.
      body: "<p>Hello {% for number in (1..1) %}{{ name }}{% endfor %}</p>",
      data: { name: "Ada <b>" },
      attachments: [
        {
          filename: mail.attachment.filename,
          content: mail.attachment.content.toString("base64"),
        },
      ],
    }),
  );
  await check("a thread composes the mail, which arrives", async () => {
    await waitUntil(() => sink.messages.length > 0);
    await checkMail(sink.messages[0]?.data ?? new Uint8Array());
    assert.doesNotMatch(log, /a thread that composes mail failed/);
  });
  await check("a thread reads from the database", async () => {
    const found = await call(`/emails?to=${mail.recipient}&subject=Ada`);
    assert.equal(valueAt(found, "data.items.0.subject"), "Grüße Ada <b>");
  });
  await check("a thread parses mail for an inbox", async () => {
    const raw = "From: a@example.org\r\nTo: b@example.com\r\nSubject: Caught\r\n\r\nText\r\n";
    const stored = await fetch(`${url}/inboxes/default/messages`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${stringAt(created, "secretKey")}`,
        "content-type": "message/rfc822",
      },
      body: raw,
    });
    assert.ok(stored.ok, await stored.text());
    const latest = await call("/inboxes/default/messages/latest");
    assert.deepEqual(
      [valueAt(latest, "data.subject"), valueAt(latest, "data.parseError")],
      ["Caught", null],
    );
  });
  await check("SIGTERM ends the server with exit code 0", async () => {
    server.kill("SIGTERM");
    assert.equal(await server.exited, 0, `exit code ${server.exitCode}, ${server.signalCode}`);
  });
  await check("the folder contains only the executable and its data folder", () => {
    assert.deepEqual(readdirSync(folder).toSorted(), ["data", basename(executable)].toSorted());
  });
  await sink.close();
}

function reportFailure(error: unknown): never {
  console.log(error instanceof Error ? error.message : String(error));
  console.log(`--- server log\n${log || "(none)"}`);
  process.exit(1);
}

process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(sandbox, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
});
process.on("SIGINT", () => process.exit(130));
process.on("SIGTERM", () => process.exit(143));
process.on("SIGHUP", () => process.exit(129));
setTimeout(() => {
  reportFailure(new Error(`the test did not finish within ${TOTAL_LIMIT_MS} ms`));
}, TOTAL_LIMIT_MS).unref();

try {
  await runSmokeTest();
  process.exit(0);
} catch (error) {
  reportFailure(error);
}
