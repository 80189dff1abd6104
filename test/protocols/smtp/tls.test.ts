import { afterEach, describe, expect, test } from "bun:test";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import type { Conversation } from "../../../src/protocols/smtp/conversation.ts";
import { describeFailure, type Failure } from "../../../src/protocols/smtp/failure.ts";
import { Session, type SessionOptions } from "../../../src/protocols/smtp/session.ts";
import type { MailObject } from "../../../src/protocols/smtp/stream.ts";
import { manualClock } from "../../support/clock.ts";
import { advanceWhenSilent } from "../../support/silence.ts";
import { streamOf, transact } from "../../support/smtp-transact.ts";
import { startScript, type ScriptOptions } from "../../support/smtp-script.ts";
import { portOf } from "../../support/smtp-sink.ts";
import { makeCertificate } from "../../support/tls.ts";

const CERTIFICATE = makeCertificate(["mx.test", "127.0.0.1"]);
const { ca } = CERTIFICATE;
const USER = "postman@example.com";
const PASS = "pässword: %with \\ everything";

/** Measures the sessions. */
const clock = manualClock();

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

type RealServer = { port: number; received: string[]; logins: string[] };

/** Uses the package smtp-server, so that the client is tested against an independent server. */
async function realServer(options: SMTPServerOptions = {}): Promise<RealServer> {
  const received: string[] = [];
  const logins: string[] = [];
  const server = new SMTPServer({
    key: CERTIFICATE.key,
    cert: CERTIFICATE.cert,
    onAuth(auth, _session, callback) {
      logins.push(auth.method);
      if (auth.username === USER && auth.password === PASS) callback(null, { user: USER });
      else callback(new Error("Wrong user or password"));
    },
    onData(stream, _session, callback) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        received.push(Buffer.concat(chunks).toString());
        callback();
      });
    },
    ...options,
  });
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => new Promise<void>((resolve) => server.close(resolve)));
  return { port: portOf(server.server), received, logins };
}

async function scripted(options: ScriptOptions) {
  const server = await startScript(options);
  closers.push(() => server.close());
  return server;
}

function session(port: number, options: Partial<SessionOptions> = {}): Session {
  const created = new Session({
    host: "mx.test",
    address: "127.0.0.1",
    port,
    hostname: "client.test",
    tls: { mode: "starttls", verify: true, ca },
    clock,
    ...options,
  });
  closers.push(() => created.close());
  return created;
}

function mail(text = "Subject: a\r\n\r\n.b\r\n"): MailObject {
  const envelope = { from: "a@example.com", to: "b@example.net" };
  return { envelope, message: Buffer.from(text) };
}

function stepsOf({ steps }: Conversation): string[] {
  return steps.map(({ step, code }) => (code === null ? step : `${step} ${code}`));
}

function causeOf(failure: Failure | null): string {
  if (failure === null) return "none";
  const { step, cause } = failure;
  return cause.kind === "reply" ? `${step} ${cause.code}` : `${step} ${cause.kind}`;
}

/** Expects no secret and no part of its encoded form. */
function expectNoSecrets(record: unknown): void {
  const text = JSON.stringify(record);
  expect(text).not.toContain(JSON.stringify(PASS).slice(1, -1));
  for (const secret of [PASS, USER, `\0${USER}\0${PASS}`]) {
    const encoded = Buffer.from(secret).toString("base64");
    for (let at = 0; at + 12 <= encoded.length; at++) {
      expect(text).not.toContain(encoded.slice(at, at + 12));
    }
  }
}

describe("TLS with a real server", () => {
  test("is negotiated by STARTTLS", async () => {
    const server = await realServer({ authOptional: true });
    const client = session(server.port);
    expect(await client.open()).toBeNull();
    expect(stepsOf(client.conversation)).toEqual([
      "connect",
      "greeting 220",
      "ehlo 250",
      "starttls 220",
      "tls",
      "ehlo 250",
    ]);
    expect(client.conversation.tls).toMatchObject({ verified: true });
    expect(client.conversation.tls?.version).toMatch(/^TLSv1\.[23]$/);
    expect(client.conversation.tls?.cipher).not.toBe("");
    expect((await transact(client, mail())).delivery.kind).toBe("accepted");
    expect(server.received).toEqual(["Subject: a\r\n\r\n.b\r\n"]);
  });

  test("is used from the first byte", async () => {
    const server = await realServer({ secure: true, authOptional: true });
    const client = session(server.port, { tls: { mode: "implicit", verify: true, ca } });
    expect(await client.open()).toBeNull();
    expect(stepsOf(client.conversation)).toEqual(["connect", "tls", "greeting 220", "ehlo 250"]);
    const big = `${"x".repeat(76)}\r\n`.repeat(20_000);
    expect((await transact(client, mail(big))).delivery.kind).toBe("accepted");
    expect(server.received[0] === big).toBe(true);
    expect((await transact(client, mail())).conversation).toMatchObject({
      reused: true,
      tls: { verified: true },
    });
    await client.quit();
  });

  test("verifies the address if the host is one", async () => {
    const server = await realServer({ authOptional: true });
    const client = session(server.port, { host: "127.0.0.1" });
    expect(await client.open()).toBeNull();
    expect(client.conversation.tls?.verified).toBe(true);
  });
});

describe("a handshake", () => {
  test("that is not answered is a timeout", async () => {
    const server = await scripted({ script: { connect: "hang" } });
    const tls = { mode: "implicit", verify: true } as const;
    const client = session(server.port, { tls, timeouts: { tlsMs: 30 } });
    const opening = client.open();
    await advanceWhenSilent(clock, server, { ms: 30 });
    expect(causeOf(await opening)).toBe("tls timeout");
  });

  test("that the server ends is a TLS fault", async () => {
    const server = await scripted({ script: { connect: "close" } });
    const client = session(server.port, { tls: { mode: "implicit", verify: true } });
    expect(causeOf(await client.open())).toBe("tls tls");
  });
});

const EXPIRED = makeCertificate(["mx.test"], {
  validFrom: new Date("2001-01-01"),
  validTo: new Date("2002-01-01"),
});

const WRONG: [name: string, served: typeof CERTIFICATE, options: Partial<SessionOptions>][] = [
  ["for another name", CERTIFICATE, { host: "other.test" }],
  ["for a name where the host is an address", makeCertificate(["mx.test"]), { host: "127.0.0.1" }],
  ["by an unknown authority", CERTIFICATE, { tls: { mode: "starttls", verify: true } }],
  ["that has expired", EXPIRED, {}],
];

describe("a certificate", () => {
  test.each(WRONG)(
    "%s ends the session if verification is required",
    async (_, served, options) => {
      for (const mode of ["starttls", "implicit"] as const) {
        const server = await scripted({ tls: { ...served, implicit: mode === "implicit" } });
        const trusted = options.tls === undefined ? { ca: served.ca } : {};
        const tls = { mode, verify: true, ...trusted };
        const client = session(server.port, {
          ...options,
          tls,
          credentials: { user: USER, password: PASS },
        });
        const failure = await client.open();
        expect(causeOf(failure)).toBe("tls tls");
        expect(failure && describeFailure(failure)).toContain("does not verify");
        expect(client.conversation.steps.at(-1)).toMatchObject({ step: "tls", code: null });
        expect(server.transcripts.flat().join()).not.toContain("AUTH");
      }
    },
  );

  test.each(WRONG)(
    "%s is only recorded if verification is not required",
    async (_, served, options) => {
      const server = await scripted({ tls: served });
      const client = session(server.port, {
        ...options,
        tls: { mode: "opportunistic", verify: false },
      });
      expect(await client.open()).toBeNull();
      expect(client.conversation.tls).toMatchObject({ verified: false });
      expect(client.conversation.steps.find(({ step }) => step === "tls")?.text).toContain(
        "not verified",
      );
    },
  );
});

describe("STARTTLS", () => {
  test("that is required but not offered ends the session before AUTH", async () => {
    const server = await scripted({});
    const client = session(server.port, { credentials: { user: USER, password: PASS } });
    expect(causeOf(await client.open())).toBe("starttls tls");
    expect(server.transcripts[0]).toEqual(["EHLO client.test"]);
  });

  test("that is opportunistic leaves the session in cleartext if it is not offered", async () => {
    const server = await scripted({});
    const client = session(server.port, { tls: { mode: "opportunistic", verify: false } });
    expect(await client.open()).toBeNull();
    expect(client.conversation.tls).toBeNull();
  });

  test("is not used if TLS is off", async () => {
    const server = await scripted({ tls: CERTIFICATE });
    const client = session(server.port, { tls: { mode: "none" } });
    expect(await client.open()).toBeNull();
    expect(server.transcripts[0]).toEqual(["EHLO client.test"]);
  });

  test("that is opportunistic never sends a secret in cleartext", async () => {
    const server = await scripted({});
    const client = session(server.port, {
      tls: { mode: "opportunistic", verify: false },
      credentials: { user: USER, password: PASS },
    });
    expect(causeOf(await client.open())).toBe("auth auth");
    expect(server.transcripts[0]).toEqual(["EHLO client.test"]);
  });

  test.each([454, 501, 554])("refused with %i ends the session", async (code) => {
    const server = await scripted({ tls: CERTIFICATE, script: { starttls: { code } } });
    expect(causeOf(await session(server.port).open())).toBe(`starttls ${code}`);
  });

  test.each(["250 injected", "2", "250-"])(
    "with %j after its reply is treated as an attack",
    async (extra) => {
      const raw = `220 Go ahead\r\n${extra}`;
      for (const injected of [raw, `${raw}\r\n`]) {
        const server = await scripted({
          tls: CERTIFICATE,
          script: { starttls: { raw: injected } },
        });
        const client = session(server.port, { credentials: { user: USER, password: PASS } });
        const failure = await client.open();
        expect(causeOf(failure)).toBe("tls protocol");
        expect(failure && describeFailure(failure)).toMatch(/RFC 3207|not an SMTP reply/);
        expect(server.transcripts[0]).toEqual(["EHLO client.test", "STARTTLS"]);
      }
    },
  );

  test("discards the extensions that were offered in cleartext", async () => {
    const script = { ehlo: [{ code: 250, text: "mx.test\nSTARTTLS\nPIPELINING\nSIZE 1" }] };
    const server = await scripted({ tls: CERTIFICATE, extensions: ["SIZE 1000"], script });
    const client = session(server.port);
    expect(await client.open()).toBeNull();
    expect(streamOf(client).stream.isPipelined).toBe(false);
    const octets = (count: number) => mail("x".repeat(count));
    expect((await transact(client, octets(1_001))).delivery.kind).toBe("unsendable");
    expect((await transact(client, octets(1_000))).delivery.kind).toBe("accepted");
  });

  test("followed by text instead of a handshake is a TLS fault", async () => {
    const script = { starttls: [{ code: 220 }], ehlo: [null] };
    // Without a certificate the server answers the handshake as if it were commands.
    const extensions = ["STARTTLS"];
    const server = await scripted({ extensions, script });
    expect(causeOf(await session(server.port).open())).toBe("tls tls");
  });

  test("that is not answered is a timeout", async () => {
    const server = await scripted({ extensions: ["STARTTLS"], script: { starttls: "hang" } });
    const client = session(server.port, { timeouts: { commandMs: 150 } });
    const opening = client.open();
    await advanceWhenSilent(clock, server, { ms: 150 });
    expect(causeOf(await opening)).toBe("starttls timeout");
  });

  test("refuses TLS 1.1", async () => {
    const server = await realServer({
      authOptional: true,
      minVersion: "TLSv1",
      maxVersion: "TLSv1.1",
    });
    expect(causeOf(await session(server.port).open())).toBe("tls tls");
  });
});

describe("AUTH with a real server", () => {
  test.each(["PLAIN", "LOGIN"])("%s logs in, and no secret is recorded", async (method) => {
    const server = await realServer({ authMethods: [method] });
    const client = session(server.port, { credentials: { user: USER, password: PASS } });
    expect(await client.open()).toBeNull();
    expect(server.logins).toEqual([method]);
    const auth = client.conversation.steps.filter(({ step }) => step === "auth");
    expect(auth.at(-1)?.code).toBe(235);
    expect(auth[0]?.command).toBe(`AUTH ${method}`);
    expectNoSecrets(client.conversation);
    expect((await transact(client, mail())).delivery.kind).toBe("accepted");
  });

  test.each(["PLAIN", "LOGIN"])("%s that is refused ends the session", async (method) => {
    const server = await realServer({ authMethods: [method] });
    const client = session(server.port, { credentials: { user: USER, password: `${PASS}!` } });
    const failure = await client.open();
    expect(causeOf(failure)).toBe("auth 535");
    expectNoSecrets([failure, client.conversation]);
  });

  test("in cleartext is possible only if TLS is off", async () => {
    const server = await realServer({ hideSTARTTLS: true, allowInsecureAuth: true });
    const credentials = { user: USER, password: PASS };
    const client = session(server.port, { tls: { mode: "none" }, credentials });
    expect(await client.open()).toBeNull();
    expect(server.logins).toEqual(["PLAIN"]);
  });
});

describe("AUTH", () => {
  const credentials = { user: USER, password: PASS };
  const tls = { mode: "none" } as const;

  test("fails without a common mechanism", async () => {
    const server = await scripted({ extensions: ["AUTH CRAM-MD5 XOAUTH2"] });
    const client = session(server.port, { tls, credentials });
    expect(causeOf(await client.open())).toBe("auth auth");
    expect(client.conversation.steps.at(-1)?.text).toContain("neither PLAIN nor LOGIN");
  });

  test.each(["AUTH PLAIN", "AUTH LOGIN"])(
    "%s hides secrets that the server repeats",
    async (auth) => {
      for (const secret of [`\0${USER}\0${PASS}`, USER, PASS]) {
        const echo = Buffer.from(secret).toString("base64");
        const text = `5.7.8 bad login ${echo} ${PASS}`;
        const script = { auth: { code: 535, text } };
        const server = await scripted({ extensions: [auth], script });
        const client = session(server.port, { tls, credentials });
        const failure = await client.open();
        expect(causeOf(failure)).toBe("auth 535");
        expectNoSecrets([failure, failure && describeFailure(failure), client.conversation]);
      }
    },
  );

  test("hides secrets in an invalid reply", async () => {
    const echo = Buffer.from(`\0${USER}\0${PASS}`).toString("base64");
    const server = await scripted({ script: { auth: { raw: `${echo}\r\n` } } });
    const client = session(server.port, { tls, credentials });
    const failure = await client.open();
    expect(causeOf(failure)).toBe("auth protocol");
    expectNoSecrets([failure, client.conversation]);
  });

  test.each([{ code: 250 }, { code: 334 }])("that ends in %j is not a login", async (auth) => {
    const server = await scripted({ script: { auth } });
    const client = session(server.port, { tls, credentials });
    expect((await client.open())?.step).toBe("auth");
    expect(client.isUsable).toBe(false);
  });
});
