/** Mails of the product itself: links for new passwords and invitations, which belong to no project. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Log } from "../../../src/lib/log.ts";
import type { Outcome, Transport } from "../../../src/outbox/outcome.ts";
import type { MailObject } from "../../../src/protocols/smtp/stream.ts";
import { addDomain, type TestApp, testApp } from "../../support/app.ts";
import { createSession, signIn } from "../../support/session.ts";

const MINUTE_MS = 60_000;
const PASSWORD = "correct horse battery";
const SYSTEM = { address: "mail@system.test", name: "Mailstead" };
const ACCEPTED: Outcome = {
  kind: "accepted",
  class: "accepted",
  reason: "250 OK",
  final: true,
  conversations: [],
};
const DEFERRED: Outcome = {
  kind: "deferred",
  class: "temporary",
  reason: "451 later",
  conversations: [],
};

let t: TestApp;
let sent: MailObject[];
let outcome: Outcome;
let logged: string[];

const transport: Transport = {
  name: "relay",
  concurrency: 1,
  start(mail) {
    sent.push(mail);
    mail.end(outcome);
  },
  withdrawWaiting: () => {},
  close: async () => {},
};

function recordingLog(): Log {
  const note = (...parts: unknown[]) => void logged.push(JSON.stringify(parts));
  return { debug: note, info: note, warn: note, error: note };
}

beforeEach(async () => {
  sent = [];
  logged = [];
  outcome = ACCEPTED;
  t = await testApp({
    transport,
    log: recordingLog(),
    config: {
      transport: "relay",
      systemFrom: SYSTEM,
      relayUrl: {
        host: "relay.test",
        port: 25,
        tls: "none",
      },
    },
  });
});
afterEach(() => t.close());

async function sendDue(): Promise<void> {
  await t.app.recurring.find(({ name }) => name === "account mails")?.run();
}

/** Asks for a link, and waits until it is queued. */
async function requestReset(email: string) {
  const answer = await createSession(t).post("/app/api/reset-request", { email });
  await t.app.writer.drain();
  return answer;
}

const bodyOf = ({ message }: MailObject) =>
  Buffer.from(message).toString().replaceAll("=\r\n", "").replaceAll("=3D", "=");

function tokenIn(mail: MailObject | undefined): string {
  const found = mail === undefined ? null : /#([0-9A-Za-z]{43})/.exec(bodyOf(mail));
  return found?.[1] ?? "";
}

describe("a link for a new password", () => {
  test("is sent to the address of the user, and works once", async () => {
    const user = await signIn(t);
    await requestReset("Owner@example.com ");
    await sendDue();
    expect(sent.map(({ envelope }) => envelope)).toEqual([
      { from: "mail@system.test", to: "owner@example.com" },
    ]);
    const token = tokenIn(sent[0]);
    const session = createSession(t);
    expect((await session.post("/app/api/reset", { token, password: PASSWORD })).status).toBe(200);
    expect((await session.get("/app/api/state")).at("data.user.email")).toBe("owner@example.com");
    expect((await user.get("/app/api/state")).at("data.user")).toBeNull();
    const again = await createSession(t).post("/app/api/reset", { token, password: PASSWORD });
    expect(again.status).toBe(404);
    const login = { email: "owner@example.com", password: PASSWORD };
    expect((await createSession(t).post("/app/api/login", login)).status).toBe(200);
  });

  test("works for an hour", async () => {
    await signIn(t);
    await requestReset("owner@example.com");
    await sendDue();
    t.clock.advance(60 * MINUTE_MS);
    const given = { token: tokenIn(sent[0]), password: PASSWORD };
    expect((await createSession(t).post("/app/api/reset", given)).status).toBe(404);
  });

  test("is not used up by a password that is refused", async () => {
    await signIn(t);
    await requestReset("owner@example.com");
    await sendDue();
    const token = tokenIn(sent[0]);
    const session = createSession(t);
    expect((await session.post("/app/api/reset", { token, password: "short" })).status).toBe(422);
    expect((await session.post("/app/api/reset", { token, password: PASSWORD })).status).toBe(200);
  });

  test("is sent to nobody else, and the answer is the same", async () => {
    await signIn(t);
    const eve = await signIn(t, { email: "eve@example.com", isOwner: false });
    const { users } = t.app.accounts;
    await t.app.writer.write(users.setDisabled(users.get(eve.user.id), true));
    const answers = [];
    for (const email of [
      "nobody@example.com",
      "eve@example.com",
      "no address",
      "owner@example.com",
    ]) {
      const { status, body } = await requestReset(email);
      answers.push(JSON.stringify([status, body]));
    }
    expect(new Set(answers)).toEqual(
      new Set(['[200,{"success":true,"data":{"isMailEnabled":true}}]']),
    );
    await sendDue();
    expect(sent.map(({ envelope }) => envelope.to)).toEqual(["owner@example.com"]);
  });

  test("is sent at most three times an hour to one user", async () => {
    await signIn(t);
    for (let n = 0; n < 5; n++) await requestReset("owner@example.com");
    await sendDue();
    expect(sent).toHaveLength(3);
  });

  test("is not requested more than 20 times a minute by one client", async () => {
    const answers = [];
    for (let n = 0; n < 21; n++) answers.push((await requestReset(`user${n}@example.com`)).status);
    expect(answers.filter((status) => status === 429)).toHaveLength(1);
  });
});

describe("a queued mail", () => {
  beforeEach(async () => {
    await signIn(t);
    await requestReset("owner@example.com");
  });

  test("is encrypted, and is in no log and no list", async () => {
    await sendDue();
    const token = tokenIn(sent[0]);
    await requestReset("owner@example.com");
    const stored = JSON.stringify(t.contents());
    expect(stored).not.toContain(token);
    expect(stored).not.toContain("Set a new password");
    expect(logged.join("\n")).not.toContain(token);
    expect(logged.join("\n")).not.toContain("owner@example.com");
    for (const table of ["emails", "messages", "events", "inbox_messages"]) {
      expect([table, t.countRows(table)]).toEqual([table, 0]);
    }
  });

  test("is tried again after a temporary failure, and removed when it was accepted", async () => {
    outcome = DEFERRED;
    await sendDue();
    await sendDue();
    expect(sent).toHaveLength(1);
    outcome = ACCEPTED;
    t.clock.advance(2 * MINUTE_MS);
    await sendDue();
    expect(sent).toHaveLength(2);
    expect(tokenIn(sent[1])).toBe(tokenIn(sent[0]));
    expect(t.countRows("system_mails")).toBe(0);
  });

  test("is removed when its link has expired", async () => {
    outcome = DEFERRED;
    for (let minute = 0; minute < 61; minute++) {
      await sendDue();
      t.clock.advance(MINUTE_MS);
    }
    expect(t.countRows("system_mails")).toBe(0);
    expect(sent.length).toBeLessThan(8);
  });

  test("is removed after a permanent refusal", async () => {
    outcome = { kind: "bounced", class: "policy", reason: "550 no", conversations: [] };
    await sendDue();
    expect(t.countRows("system_mails")).toBe(0);
  });

  test("is sent later if the process ends during the attempt", async () => {
    const interrupted = new Error("the process ends");
    const start = transport.start;
    transport.start = (mail) => mail.fail(interrupted);
    expect(sendDue()).rejects.toBe(interrupted);
    await t.app.writer.drain();
    await Promise.resolve();
    transport.start = start;
    await sendDue();
    expect(sent).toHaveLength(0);
    t.clock.advance(15 * MINUTE_MS);
    await sendDue();
    expect(sent).toHaveLength(1);
  });

  test("is dropped if the secret of the installation is another one", async () => {
    t.db.sqlite.run("UPDATE system_mails SET content = randomblob(length(content))");
    await sendDue();
    expect(sent).toHaveLength(0);
    expect(t.countRows("system_mails")).toBe(0);
  });
});

test("a mail is signed with the keys of the project that has verified the domain", async () => {
  await addDomain(t.app, t.project.seq, "system.test");
  await signIn(t);
  await requestReset("owner@example.com");
  await sendDue();
  const [mail] = sent;
  expect(mail === undefined ? "" : bodyOf(mail)).toMatch(/^DKIM-Signature: [^]*d=system\.test/);
});

test("an invitation is mailed, and its link is not in the answer", async () => {
  const by = "owner@example.com";
  const { link } = await t.app.writer.write(
    t.app.accounts.invitations.invite(
      { ...t.project, name: "Ünïcode <b>\nShop" },
      { email: "eve@example.com", role: "VIEWER", by },
    ),
  );
  expect(link).toBeNull();
  await sendDue();
  const body = bodyOf(sent[0] ?? { envelope: { from: "", to: "" }, message: new Uint8Array() });
  expect(body).toContain("From: Mailstead <mail@system.test>");
  expect(body).toContain("Auto-Submitted: auto-generated");
  expect(body).toContain("&lt;b&gt;");
  const answer = await createSession(t).post("/app/api/invitation", { token: tokenIn(sent[0]) });
  expect(answer.at("data")).toMatchObject({ email: "eve@example.com", role: "VIEWER" });
});
