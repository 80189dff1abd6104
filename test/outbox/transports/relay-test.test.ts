/** The test of a relay, against real servers. */

import { afterEach, describe, expect, test } from "bun:test";
import { testRelay } from "../../../src/outbox/transports/relay-test.ts";
import type { SmtpStep } from "../../../src/protocols/smtp/reply-classes.ts";
import type { Relay } from "../../../src/protocols/smtp/relay-url.ts";
import { manualClock } from "../../support/clock.ts";
import { advanceWhenSilent } from "../../support/silence.ts";
import { type ScriptOptions, startScript } from "../../support/smtp-script.ts";
import { makeCertificate } from "../../support/tls.ts";

const CERTIFICATE = makeCertificate(["127.0.0.1"]);
const LOGIN = { tls: "starttls", user: "user", password: "pa55-word" } as const;
const MAIL = {
  envelope: { from: "a@example.com", to: "b@example.net" },
  message: Buffer.from("Subject: a\r\n\r\nb\r\n"),
};

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function start(options: ScriptOptions = {}) {
  const server = await startScript(options);
  closers.push(server.close);
  const relay: Relay = { host: "127.0.0.1", port: server.port, tls: "none" };
  return { server, relay };
}

const withTls = (script: ScriptOptions["script"] = {}) => start({ tls: CERTIFICATE, script });

describe("the test of a relay", () => {
  test("shows the session with STARTTLS, AUTH and a mail, without the password", async () => {
    const { server, relay } = await withTls();
    const options = { relay: { ...relay, ...LOGIN }, hostname: "client.test", ca: CERTIFICATE.ca };
    const result = await testRelay({ ...options, mail: MAIL });
    expect(result).toMatchObject({
      problem: null,
      failedStep: null,
      isAuthenticated: true,
      isMailAccepted: true,
    });
    expect(result.conversation.steps.map(({ step }) => step).join(" ")).toBe(
      "connect greeting ehlo starttls tls ehlo auth mail rcpt data dot",
    );
    expect(server.bodies).toEqual(["Subject: a\r\n\r\nb\r\n.\r\n"]);
    for (const secret of ["pa55-word", Buffer.from("\0user\0pa55-word").toString("base64")]) {
      expect(JSON.stringify(result)).not.toContain(secret);
    }
  });

  const refused = { code: 535, text: "5.7.8 wrong password pa55-word" };
  test.each<
    [string, ScriptOptions, Partial<Relay>, { step: SmtpStep; reason: RegExp; fix: RegExp }]
  >([
    [
      "a wrong password",
      { tls: CERTIFICATE, script: { auth: refused } },
      LOGIN,
      { step: "auth", reason: /535 5\.7\.8 .*\*\*\*/, fix: /user and the password/ },
    ],
    [
      "no login with a password",
      { tls: CERTIFICATE, extensions: ["PIPELINING"] },
      LOGIN,
      { step: "auth", reason: /neither PLAIN nor LOGIN/, fix: /no login with a password/ },
    ],
    [
      "no STARTTLS",
      {},
      { tls: "starttls" },
      { step: "starttls", reason: /does not offer STARTTLS/, fix: /port 465/ },
    ],
    [
      "STARTTLS where TLS is wanted from the first byte",
      {},
      { tls: "implicit" },
      { step: "tls", reason: /^tls: /, fix: /STARTTLS/ },
    ],
    [
      "a refused greeting",
      { script: { greeting: { code: 554, text: "5.7.1 go away" } } },
      {},
      { step: "greeting", reason: /554/, fix: /IP address/ },
    ],
    [
      "a server that is busy",
      { script: { greeting: { code: 421, text: "busy" } } },
      {},
      { step: "greeting", reason: /421/, fix: /in some minutes/ },
    ],
    [
      "a sender that is not verified",
      { script: { mail: { code: 550, text: "5.7.1 not verified" } } },
      {},
      { step: "mail", reason: /550/, fix: /verify the domain/ },
    ],
    [
      "a recipient that needs a login",
      { script: { rcpt: { code: 550, text: "5.7.1 relaying denied" } } },
      {},
      { step: "rcpt", reason: /550/, fix: /wants a login/ },
    ],
    [
      "a content that is refused",
      { script: { dot: { code: 554, text: "5.6.0 no" } } },
      {},
      { step: "dot", reason: /554/, fix: /read the reply/ },
    ],
  ])("marks the line of %s, and says what to do", async (_, options, changes, expected) => {
    const { relay } = await start(options);
    const { ca } = CERTIFICATE;
    const tested = { relay: { ...relay, ...changes }, hostname: "client.test", ca, mail: MAIL };
    const { problem, failedStep, conversation, isMailAccepted } = await testRelay(tested);
    expect(problem?.step).toBe(expected.step);
    expect(problem?.reason).toMatch(expected.reason);
    expect(problem?.fix).toMatch(expected.fix);
    expect(conversation.steps[failedStep ?? -1]?.step).toBe(expected.step);
    expect(JSON.stringify([problem, conversation])).not.toContain("pa55-word");
    expect(isMailAccepted).toBe(false);
  });

  test("names a certificate that no known CA has signed", async () => {
    const { relay } = await withTls();
    const { problem } = await testRelay({ relay: { ...relay, ...LOGIN }, hostname: "client.test" });
    expect(problem?.step).toBe("tls");
    expect(problem?.reason).toContain("the certificate of 127.0.0.1 does not verify");
    expect(problem?.fix).toContain("a certificate of a public CA");
  });

  test("names a closed port and a name without an address", async () => {
    const { server, relay } = await start();
    await server.close();
    const closed = await testRelay({ relay, hostname: "client.test" });
    expect(closed.problem).toMatchObject({ step: "connect" });
    expect(closed.problem?.reason).toContain("connection refused");
    expect(closed.problem?.fix).toContain("check the port");
    const unknown = await testRelay({
      relay: { ...relay, host: "nowhere.test" },
      hostname: "client.test",
      resolve: () => Promise.reject(new Error("no such host")),
    });
    expect(unknown.problem?.fix).toContain("check the spelling");
  });

  test("ends after some seconds if the server is silent", async () => {
    const { server, relay } = await start({ script: { greeting: "hang" } });
    const clock = manualClock();
    const testing = testRelay({ relay, hostname: "client.test", clock });
    await advanceWhenSilent(clock, server, { ms: 10_000 });
    const { problem, failedStep } = await testing;
    expect(problem?.reason).toBe("greeting: no answer within 10 s");
    expect(failedStep).toBe(1);
  });

  test("connects to no address that is not allowed", async () => {
    const { server, relay } = await start();
    const { problem } = await testRelay({
      relay,
      hostname: "client.test",
      checkAddress: () => "not a public address",
    });
    expect(problem?.reason).toContain("not a public address");
    expect(server.transcripts).toEqual([]);
  });
});
