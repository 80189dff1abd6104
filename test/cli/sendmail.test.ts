/** `mailstead sendmail`, as programs of other languages call it. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parseSendmail } from "../../src/cli/sendmail/options.ts";
import { mailstead } from "../support/command-line.ts";
import { startScript, type Script } from "../support/smtp-script.ts";
import { type Sink, startSink } from "../support/smtp-sink.ts";

let sink: Sink;
beforeAll(async () => {
  sink = await startSink();
});
afterAll(() => sink.close());

async function sendmail(words: readonly string[], message: string, port = sink.port) {
  const env = { MAILSTEAD_CAPTURE_SMTP: `127.0.0.1:${port}` };
  return mailstead(["sendmail", ...words], env, { stdin: message });
}

async function sent(words: readonly string[], message: string) {
  sink.messages.length = 0;
  const { code, stderr } = await sendmail(words, message);
  expect([code, stderr]).toEqual([0, ""]);
  const [mail] = sink.messages;
  return { ...mail, text: Buffer.from(mail?.data ?? "").toString() };
}

test("-t takes the recipients of the header, and removes Bcc", async () => {
  const mail = await sent(
    ["-t", "-i", "-fapp@example.org"],
    "To: Ada <ada@example.com>,\n bob@example.com\nCc: team: c@example.com;\nBcc: d@example.com\n" +
      "Subject: Hi\n\nText\n.\nend\n",
  );
  expect(mail.from).toBe("app@example.org");
  expect(mail.to).toEqual(["ada@example.com", "bob@example.com", "c@example.com", "d@example.com"]);
  expect(mail.text).not.toContain("Bcc");
  expect(mail.text).toMatch(/^Date: .* \+0000\r$/m);
  expect(mail.text).toMatch(/^From: app@example\.org\r$/m);
  expect(mail.text).toMatch(/^Message-ID: <[\w-]+@[^>]+>\r$/m);
  expect(mail.text).toContain("\r\n\r\nText\r\n.\r\nend");
});

test("recipients are also arguments, and a line with a dot ends the message", async () => {
  const mail = await sent(
    ["-oi", "-F", "The App", "-f", "<>", "--", "ada@example.com"],
    "From u@x Sat Jan  1\nFrom: a@example.org\nMessage-ID: <1@x>\nDate: x\n\nbody\n.\nlast\n",
  );
  expect([mail.from, mail.to]).toEqual(["", ["ada@example.com"]]);
  expect(mail.text).toStartWith(
    "From: a@example.org\r\nMessage-ID: <1@x>\r\nDate: x\r\n\r\nbody\r\n.",
  );
  const cut = await sent(["ada@example.com"], "Subject: x\n\nbody\n.\nlast\n");
  expect(cut.text).not.toContain("last");
});

test("a text without a header is a body", async () => {
  const mail = await sent(["ada@example.com", "-F", 'The "App"'], "no header here\n");
  expect(mail.text).toMatch(/^From: "The \\"App\\"" <\S+@\S+>\r$/m);
  expect(mail.text).toContain("\r\n\r\nno header here\r\n");
});

describe("exit codes of sysexits.h", () => {
  const replies: [name: string, script: Script, code: number][] = [
    ["a refused recipient", { rcpt: { code: 550, text: "5.1.1 no" } }, 67],
    ["a refused message", { dot: { code: 554, text: "5.7.1 no" } }, 69],
    ["a temporary refusal", { mail: { code: 451, text: "4.7.1 later" } }, 75],
  ];
  test.each(replies)("%s", async (_, script, code) => {
    const server = await startScript({ script });
    const ran = await sendmail(["ada@example.com"], "Subject: x\n\ny\n", server.port);
    expect(ran.code).toBe(code);
    expect(ran.stderr).toStartWith("mailstead sendmail: ");
    await server.close();
  });

  test.each([
    ["no recipient", ["-i"], 64],
    ["an unknown option", ["-z", "ada@example.com"], 64],
    ["an unknown long option", ["--smtp-port=1"], 64],
    ["a long option without a value", ["--smtp-addr"], 64],
    ["another mode", ["-bs"], 64],
    ["a control character in the sender", ["-f", "a\n@x", "ada@example.com"], 64],
    ["no server there", ["-S", "127.0.0.1:1", "ada@example.com"], 75],
  ])("%s", async (_, words, code) => {
    expect((await sendmail(words, "Subject: x\n\ny\n")).code).toBe(code);
  });
});

test.each([
  [["-ti", "-fme@x"], { readsRecipients: true, ignoresDots: true, from: "me@x" }],
  [["-em", "-ep", "-Am", "a@x"], { recipients: ["a@x"] }],
  [["-O", "DeliveryMode=b", "-OErrorMode=m", "a@x"], { recipients: ["a@x"] }],
  [
    ["-t", "--smtp-addr", "mail:1025"],
    { readsRecipients: true, server: { host: "mail", port: 1025 } },
  ],
  [["--smtp-addr=mail:1025", "-v", "--from", "b@x", "a@x"], { from: "b@x", recipients: ["a@x"] }],
  [["--", "--smtp-addr"], { recipients: ["--smtp-addr"] }],
  [["-Smail.test:2525", "a@x"], { server: { host: "mail.test", port: 2525 }, recipients: ["a@x"] }],
  [["-S", "[::1]:2525"], { server: { host: "::1", port: 2525 } }],
  [["-S", "mail.test"], { server: { host: "mail.test", port: 25 } }],
  [["-oem", "-bm", "-N", "never", "-r", "<me@x>", "a@x"], { from: "me@x", recipients: ["a@x"] }],
])("reads %j", (words, expected) => {
  expect(parseSendmail(words)).toMatchObject(expected);
});
