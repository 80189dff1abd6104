/**
 * Smoke test of the executable, alone in an empty folder, as an operator would install it.
 *
 * `bun scripts/smoke.ts [EXECUTABLE]` (default: `dist/mailstead`)
 *
 * In order: start the server, wait until it is ready, load the dashboard, create a project and a domain, send a mail with
 * an attachment to an SMTP server on loopback, compare the received mail, catch a mail in the inbox,
 * kill the server, start it again, check that the state is intact and that the mail is not sent
 * twice, and stop the server with SIGTERM. Each check prints one line. The first failed check prints
 * the server's log and ends the test. Every wait has a time limit. On exit all processes are killed
 * and the folder is removed.
 */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { copyFile, mkdir, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Subprocess } from "bun";
import { type ParsedMail, simpleParser } from "mailparser";
import { createTransport } from "nodemailer";
import { SMTPServer } from "smtp-server";

const totalLimitMs = 120_000;
const readyLimitMs = 15_000;
const deliveryLimitMs = 10_000;
const stopLimitMs = 10_000;
const commandLimitMs = 15_000;
const requestLimitMs = 10_000;

const CreatedProject = Type.Object({
  project: Type.Object({ id: Type.String(), name: Type.Literal("Smoke") }),
  secretKey: Type.String({ pattern: "^sk_" }),
  publicKey: Type.String({ pattern: "^pk_" }),
});

const SendAnswer = Type.Object({
  success: Type.Literal(true),
  data: Type.Object({
    emails: Type.Array(
      Type.Object({
        contact: Type.Object({ id: Type.String(), email: Type.String() }),
        email: Type.String(),
      }),
      { minItems: 1, maxItems: 1 },
    ),
    timestamp: Type.String(),
  }),
});

const EmailAnswer = Type.Object({
  success: Type.Literal(true),
  data: Type.Object({ id: Type.String(), status: Type.String() }),
});

const InboxAnswer = Type.Object({
  data: Type.Object({
    subject: Type.String(),
    parseError: Type.Union([Type.String(), Type.Null()]),
  }),
});

const ContactsAnswer = Type.Object({ contacts: Type.Array(Type.Object({ email: Type.String() })) });

/** A mail as the SMTP server received it. */
type Delivery = { sender: string; recipients: string[]; message: Buffer };

/** The content of the mail, as sent and as expected on arrival. */
const mail = {
  recipient: "ada@example.net",
  sender: { name: "Smoke Ünï", email: "hello@example.com" },
  name: "Ada <b>",
  attachment: { filename: "résumé.bin", content: randomBytes(100 * 1024) },
};

const source = resolve(Bun.argv[2] ?? join(import.meta.dir, "..", "dist", "mailstead"));
const sandbox = mkdtempSync(join(tmpdir(), "mailstead-smoke-"));
const folder = join(sandbox, "alone");
const executable = join(folder, basename(source));
const logPath = join(sandbox, "server.log");
const children = new Set<Subprocess>();

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

/** Polls until the probe returns a value; throws after the limit. */
async function until<T>(
  name: string,
  limitMs: number,
  probe: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined) return value;
    if (performance.now() > deadline) throw new Error(`${name}: not within ${limitMs} ms`);
    await Bun.sleep(25);
  }
}

function parse<T extends TSchema>(schema: T, value: unknown): Static<T> {
  if (Value.Check(schema, value)) return value;
  const error = Value.Errors(schema, value).First();
  throw new Error(`${error?.path ?? ""} ${error?.message ?? ""} in ${JSON.stringify(value)}`);
}

/** Starts an SMTP server on a free port that accepts every mail. */
async function startSink(deliveries: Delivery[]) {
  const sink = new SMTPServer({
    authOptional: true,
    disabledCommands: ["AUTH", "STARTTLS"],
    disableReverseLookup: true,
    logger: false,
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      const { mailFrom, rcptTo } = session.envelope;
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        deliveries.push({
          sender: mailFrom === false ? "" : mailFrom.address,
          recipients: rcptTo.map((recipient) => recipient.address),
          message: Buffer.concat(chunks),
        });
        done();
      });
    },
  });
  await new Promise<void>((ready) => {
    sink.listen(0, "127.0.0.1", ready);
  });
  const address = sink.server.address();
  assert(address !== null && typeof address === "object");
  return { port: address.port, close: () => sink.close() };
}

function findOtherPort(taken: number): number {
  for (;;) {
    const port = findFreePort();
    if (port !== taken) return port;
  }
}

/** Returns a port that is free now; another process may still take it before it is used. */
function findFreePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  listener.stop(true);
  return listener.port;
}

function startServer(args: string[]): Subprocess {
  const log = openSync(logPath, "a");
  try {
    const child = Bun.spawn([executable, "serve", ...args, "--data", "./data"], {
      cwd: folder,
      env: environment,
      stdin: "ignore",
      stdout: log,
      stderr: log,
    });
    children.add(child);
    return child;
  } finally {
    closeSync(log);
  }
}

async function waitUntilReady(server: Subprocess, baseUrl: string): Promise<void> {
  await until("GET /readyz answers 200", readyLimitMs, async () => {
    if (server.exitCode !== null) throw new Error(`the server exited with ${server.exitCode}`);
    const response = await fetch(`${baseUrl}/readyz`, {
      signal: AbortSignal.timeout(requestLimitMs),
    }).catch(() => undefined);
    return response?.status === 200 ? true : undefined;
  });
}

/** The executable contains the dashboard, with a script for each client that accepts Brotli. */
async function checkDashboard(baseUrl: string): Promise<void> {
  const page = await (await fetch(`${baseUrl}/app`)).text();
  const [path = ""] = /\/app\/assets\/index-\w+\.js/.exec(page) ?? [];
  const script = await fetch(baseUrl + path, { headers: { "accept-encoding": "br" } });
  await check("the dashboard is in the executable", async () => {
    assert.equal(script.headers.get("content-encoding"), "br");
    assert.ok((await script.text()).length > 100_000);
  });
}

/** Runs a command of the executable and returns its standard output. */
async function runCommand(args: string[]): Promise<string> {
  const child = Bun.spawn([executable, ...args, "--data", "./data"], {
    cwd: folder,
    env: environment,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: commandLimitMs,
    killSignal: "SIGKILL",
  });
  children.add(child);
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  assert.equal(await child.exited, 0, `${args.join(" ")}: ${errors}${output}`);
  return output;
}

/** Returns a function that calls the API with a key and throws unless the status is 200. */
function createCall(baseUrl: string, secretKey: string) {
  return async (path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(`${baseUrl}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${secretKey}`, "content-type": "application/json" },
      signal: AbortSignal.timeout(requestLimitMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.equal(response.status, 200, `${path} answered ${response.status}: ${text}`);
    return JSON.parse(text);
  };
}

async function compareMail(delivery: Delivery): Promise<void> {
  const parsed: ParsedMail = await simpleParser(delivery.message, {
    skipHtmlToText: true,
    skipTextToHtml: true,
    skipImageLinks: true,
  });
  await check("the envelope names the recipient", () => {
    assert.deepEqual(delivery.recipients, [mail.recipient]);
  });
  await check("the subject is rendered and not escaped", () => {
    assert.equal(parsed.subject, `Grüße ${mail.name}`);
  });
  await check("From and To are as requested", () => {
    const from = parsed.from?.value.map(({ name, address }) => ({ name, email: address }));
    assert.deepEqual(from, [mail.sender]);
    const to = [parsed.to ?? []].flat().flatMap((field) => field.value);
    assert.deepEqual(
      to.map(({ address }) => address),
      [mail.recipient],
    );
  });
  await check("the HTML part is rendered and escaped", () => {
    assert.match(parsed.html || "", /<p>Hello Ada &lt;b&gt;<\/p>/);
  });
  await check("the mail has a text alternative", () => {
    assert.match(parsed.text ?? "", /^Hello Ada <b>\s*$/);
  });
  await check("the attachment arrives byte for byte", () => {
    const [attachment, ...others] = parsed.attachments;
    assert.equal(attachment?.filename, mail.attachment.filename);
    assert(attachment?.content.equals(mail.attachment.content), "its content differs");
    assert.equal(others.length, 0);
  });
  await check("the mail has a Message-ID", () => {
    assert.match(parsed.messageId ?? "", /^<[^<>@\s]+@[^<>@\s]+>$/);
  });
}

async function runSmokeTest(): Promise<void> {
  const deliveries: Delivery[] = [];
  const sink = await startSink(deliveries);
  const port = findFreePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const relayUrl = `smtp://127.0.0.1:${sink.port}?tls=none`;
  const inboxPort = findOtherPort(port);
  const serveArgs = ["--port", String(port), "--transport", "relay", "--relay-url", relayUrl];
  serveArgs.push("--capture-smtp", `127.0.0.1:${inboxPort}`);

  await check("the executable is copied into an empty folder", async () => {
    await mkdir(folder);
    await copyFile(source, executable);
  });

  const first = startServer(serveArgs);
  await check("the server starts and becomes ready", () => waitUntilReady(first, baseUrl));
  await checkDashboard(baseUrl);

  const created = await check(
    "`project create` creates a project while the server runs",
    async () =>
      parse(CreatedProject, JSON.parse(await runCommand(["project", "create", "Smoke", "--json"]))),
  );
  await check("`domain add --verified` adds the sender's domain", () =>
    runCommand(["domain", "add", "example.com", "--verified"]),
  );

  const call = createCall(baseUrl, created.secretKey);
  const emailId = await check("POST /v1/send accepts a mail with an attachment", async () => {
    const answer = parse(
      SendAnswer,
      await call("/v1/send", {
        to: mail.recipient,
        from: mail.sender,
        subject: "Grüße {{ name }}",
        // A template with a loop is composed by a thread, which is a file of its own.
        body: "<p>Hello {% for number in (1..1) %}{{ name }}{% endfor %}</p>",
        data: { name: mail.name },
        attachments: [
          {
            filename: mail.attachment.filename,
            content: mail.attachment.content.toString("base64"),
          },
        ],
      }),
    );
    assert.equal(answer.data.emails[0]?.contact.email, mail.recipient);
    return answer.data.emails[0].email;
  });

  const delivery = await check("the SMTP server receives the mail", () =>
    until("the mail arrives", deliveryLimitMs, () => deliveries[0]),
  );
  await compareMail(delivery);
  await check("the mail was composed by a thread", () => {
    assert.doesNotMatch(readFileSync(logPath, "utf8"), /a thread that composes mail failed/);
  });

  const readStatus = async () => parse(EmailAnswer, await call(`/emails/${emailId}`)).data.status;
  await check("GET /emails/{id} shows the status SENT", () =>
    until("the status is SENT", deliveryLimitMs, async () =>
      (await readStatus()) === "SENT" ? true : undefined,
    ),
  );

  await check("a mail over SMTP is parsed and shown in the inbox", async () => {
    const transport = createTransport({ host: "127.0.0.1", port: inboxPort });
    await transport.sendMail({ from: mail.sender.email, to: mail.recipient, subject: "Caught" });
    const { data } = parse(InboxAnswer, await call("/inboxes/default/messages/latest"));
    assert.deepEqual([data.subject, data.parseError], ["Caught", null]);
  });

  first.kill("SIGKILL");
  await first.exited;
  const second = startServer(serveArgs);
  await check("after kill -9 the server starts again and becomes ready", () =>
    waitUntilReady(second, baseUrl),
  );
  await check("the mail is still SENT", async () => assert.equal(await readStatus(), "SENT"));
  await check("the contact is still there", async () => {
    const { contacts } = parse(ContactsAnswer, await call("/contacts"));
    assert.deepEqual(
      contacts.map(({ email }) => email),
      [mail.recipient],
    );
  });

  await check("the mail in the inbox is still there", async () => {
    const { data } = parse(InboxAnswer, await call("/inboxes/default/messages/latest"));
    assert.equal(data.subject, "Caught");
  });

  await Bun.sleep(1_000); // A queued mail would be sent again within this time.
  await check("SIGTERM ends the server with exit code 0", async () => {
    second.kill("SIGTERM");
    await until(
      "the server ends",
      stopLimitMs,
      () => second.exitCode ?? second.signalCode ?? undefined,
    );
    assert.equal(second.exitCode, 0, `exit code ${second.exitCode}, signal ${second.signalCode}`);
  });
  await check("the mail was not sent again", () => assert.equal(deliveries.length, 1));
  await check("the folder contains only the executable and its data folder", async () => {
    const names = await readdir(folder);
    assert.deepEqual(names.toSorted(), ["data", basename(executable)].toSorted());
  });
  sink.close();
}

function reportFailure(error: unknown): never {
  console.log(error instanceof Error ? error.message : String(error));
  console.log("--- server log");
  console.log(existsSync(logPath) ? readFileSync(logPath, "utf8") : "(none)");
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
  console.log("not ok the whole test");
  reportFailure(new Error(`the test did not finish within ${totalLimitMs} ms`));
}, totalLimitMs);

try {
  await runSmokeTest();
  process.exit(0);
} catch (error) {
  reportFailure(error);
}
