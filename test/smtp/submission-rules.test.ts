/**
 * The rules of submission and inbound, each with the test that proves it, and tests of the rules
 * that no other file covers: the return path, what is logged of a user, and commands before TLS.
 */

import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { silentLog } from "../../src/lib/log.ts";
import { sendRaw } from "../support/smtp-client.ts";
import { plain, submissionApp } from "../support/submission.ts";
import { makeCertificate } from "../support/tls.ts";
import { ACCEPTED, testTransport } from "../support/transport.ts";

const TEST = join(import.meta.dir, "..");

/** A rule, the file below test/, and the beginning of the name of the test. */
const RULES: readonly [rule: string, file: string, name: string][] = [
  ["250 is answered after the write is on disk", "proofs/crash.test.ts", "every submitted message"],
  ["452 if the storage refuses", "modules/emails/submission.test.ts", "is refused with 452 while"],
  ["unknown parameters", "smtp/parameters.test.ts", "refuses MAIL with the parameters"],
  ["a bare CR or LF is refused", "smtp/submission.test.ts", "bare"],
  ["a large message is refused", "smtp/submission.test.ts", "that is larger than the limit"],
  ["100 recipients in a transaction", "smtp/submission.test.ts", "number 101 is refused"],
  ["50 sessions of one address", "smtp/submission-tls.test.ts", "session 51 of another address"],
  ["EHLO announces what applies", "smtp/submission.test.ts", "EHLO announces neither DSN"],
  ["a certificate is read again", "smtp/submission-tls.test.ts", "a changed certificate is used"],
  ["no listener without TLS", "smtp/submission-tls.test.ts", "a listener on another address"],
  ["STARTTLS and implicit TLS", "smtp/submission-tls.test.ts", "nodemailer submits over"],
  ["input before TLS is discarded", "smtp/submission-rules.test.ts", "a command before TLS"],
  ["AUTH only with TLS", "smtp/submission-tls.test.ts", "AUTH from another address"],
  ["the password is a secret key", "smtp/submission.test.ts", "refuses a public key"],
  ["the user is logged, but no key", "smtp/submission-rules.test.ts", "the user of a failed"],
  ["454 after five failures", "smtp/submission.test.ts", "that fails five times a minute"],
  ["From is of a verified domain", "smtp/submission.test.ts", "from an unverified domain"],
  ["one mailbox in From", "smtp/submission.test.ts", "with two mailboxes in From"],
  ["one Message-ID and one Date", "smtp/submission.test.ts", "with two Message-ID"],
  ["MAIL FROM is replaced", "smtp/submission-rules.test.ts", "the return path is ours"],
  ["one mail for each recipient", "smtp/submission.test.ts", "is queued for each recipient"],
  ["a suppressed recipient", "smtp/submission.test.ts", "to a suppressed address"],
  ["an invalid recipient of many", "smtp/submission.test.ts", "is refused at RCPT; the other 99"],
  ["all recipients or none", "smtp/submission.test.ts", "and the quota of queued mails"],
  ["the message stays as it is", "smtp/submission.test.ts", "leaves byte for byte"],
  ["Bcc and own fields are removed", "smtp/submission.test.ts", "loses Bcc and our own fields"],
  ["8-bit text is encoded", "smtp/submission.test.ts", "is encoded part by part"],
  ["DKIM signatures are added", "modules/emails/submission.test.ts", "is signed with the keys"],
  ["the idempotency key", "smtp/submission.test.ts", "gives a repeated message the first answer"],
  ["X-Mailstead-Tracking", "smtp/submission-marketing.test.ts", "rewrites links and adds a pixel"],
  ["X-Mailstead-Type", "smtp/submission-marketing.test.ts", "adds the unsubscribe pair"],
  ["a subscription is respected", "smtp/submission-marketing.test.ts", "is refused for all"],
  ["a loop is refused", "smtp/submission.test.ts", "that was here three times"],
  ["the rate counts a message once", "smtp/submission.test.ts", "counts each message once"],
  ["no relay without AUTH", "smtp/submission.test.ts", "without authentication nothing is relayed"],
  ["RCPT of return paths", "smtp/inbound.test.ts", "accepts a return path"],
  ["RCPT of routes", "smtp/inbound-routes.test.ts", "accepts addresses with a route"],
  ["inbound is no relay", "smtp/inbound.test.ts", "does not relay"],
  ["DMARC refuses p=reject only", "modules/inbound-routes/authentication.test.ts", "from another"],
  ["each domain in From", "modules/inbound-routes/authentication.test.ts", "names several domains"],
  ["a report counts once", "modules/bounces/bounces.test.ts", "once"],
  ["unsubscribing by mail", "smtp/unsubscribe-by-mail.test.ts", "a marketing mail names"],
  ["forwarding keeps the message", "smtp/inbound-forwarding.test.ts", "has the message unchanged"],
  ["a loop of forwarders ends", "smtp/inbound-forwarding.test.ts", "a message that comes back"],
];

describe("each rule has a test", () => {
  test.each(RULES)("%s", (_, file, name) => {
    expect(readFileSync(join(TEST, file), "utf8")).toContain(name);
  });
});

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

test("the return path is ours, whatever MAIL FROM says", async () => {
  const transport = testTransport({ answer: ACCEPTED });
  const server = await submissionApp({ transport, config: { transport: "direct" } });
  closers.push(server.close);
  const client = await server.signIn();
  const submit = () => sendRaw(client, "From: a@acme.test\r\n\r\nHi", { from: "x@evil.example" });
  expect(await submit()).toStartWith("250 ");
  await server.deliver();
  server.db.sqlite.run("UPDATE domains SET has_return_path = 1");
  expect(await submit()).toStartWith("250 ");
  await server.deliver();
  client.end();
  const [before, after] = transport.handed.map(({ object }) => object.envelope.from);
  expect(before).toBe("a@acme.test");
  expect(after).toMatch(/^b\+[a-z2-7]{45}@bounce\.acme\.test$/);
});

test("the user of a failed authentication is logged without what looks like a key", async () => {
  const users: unknown[] = [];
  const log = {
    ...silentLog,
    info: (message: string, fields?: Readonly<Record<string, unknown>>) => {
      if (message === "SMTP authentication failed") users.push(fields?.["user"]);
    },
  };
  const server = await submissionApp({ log });
  closers.push(server.close);
  const key = server.secretKey;
  for (const user of ["printer", key, `api:${key}`, `a ${key} b pk_x`, `x${key}@acme.test`]) {
    const client = await server.connect();
    expect(await client.say(`AUTH PLAIN ${plain("sk_wrong", user)}\r\n`)).toStartWith("535 ");
    client.end();
  }
  expect(users).toEqual(["printer", "(a key)", "api:(a key)", "a (a key) b (a key)", "x(a key)"]);
});

test("a command before TLS is discarded, so nobody on the way can insert one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mailstead-starttls-"));
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  const { cert, key, ca } = makeCertificate(["localhost", "127.0.0.1"]);
  const [smtpTlsCert, smtpTlsKey] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  writeFileSync(smtpTlsCert, cert);
  writeFileSync(smtpTlsKey, key);
  const server = await submissionApp({ config: { smtpTlsCert, smtpTlsKey } });
  closers.push(server.close);
  const socket = connect(server.port, "127.0.0.1");
  const next = (from: typeof socket) =>
    new Promise<string>((resolve) => {
      from.once("data", (bytes) => resolve(String(bytes)));
      from.once("close", () => resolve("closed"));
    });
  await next(socket);
  socket.write("EHLO client.test\r\n");
  await next(socket);
  socket.write(`STARTTLS\r\nAUTH PLAIN ${plain(server.secretKey)}\r\n`);
  expect(await next(socket)).toStartWith("220 ");
  const secure = connectTls({ socket, servername: "localhost", ca });
  await new Promise<void>((resolve) => secure.once("secureConnect", resolve));
  const replies: string[] = [];
  for (const line of ["MAIL FROM:<a@acme.test>", "EHLO client.test", "MAIL FROM:<a@acme.test>"]) {
    secure.write(`${line}\r\n`);
    replies.push((await next(secure)).slice(0, 9));
  }
  // Neither the greeting nor the authentication before TLS counts.
  expect(replies).toEqual(["503 5.5.1", "250-sende", "530 5.7.0"]);
  secure.destroy();
  expect(server.countRows("emails")).toBe(0);
});
