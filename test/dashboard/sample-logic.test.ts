/** The commands in the pages: a person pastes them into a shell. */

import { expect, test } from "bun:test";
import { smtpSamples } from "../../src/dashboard/pages/inbox/smtp-samples.ts";
import { keySamples } from "../../src/dashboard/pages/keys/samples.ts";
import { sendSamples } from "../../src/dashboard/pages/overview/send-samples.ts";
import { shellWord } from "../../src/dashboard/ui/shell-word.ts";

/** Addresses and names with characters that a shell reads. */
const MAIL = { base: "http://[::1]:8025", to: "o'hara%d+$HOME@example.com", from: "hi@a.example" };
const KEY = { kind: "SECRET", scope: "EVERYTHING", text: "sk_x" } as const;

/** The arguments with which a shell calls `curl` in a command, and what it reads from its input. */
function readCommand(command: string): { words: string[]; input: string } {
  const script = `curl() { printf '%s\\0' "$@"; cat; }; set -f; ${command}`;
  const { stdout, stderr } = Bun.spawnSync(["sh", "-c", script], { stdin: new Uint8Array() });
  expect(stderr.toString()).toBe("");
  const words = stdout.toString().split("\0");
  return { input: words.pop() ?? "", words };
}

/** Returns the text that a shell may expand: the parts outside single quotes. */
const unquoted = (command: string): string => command.replace(/'[^']*'|\\'/g, "");

test("a shell reads each sample as it is meant", () => {
  const commands = [
    ...Object.values(keySamples(KEY, MAIL)),
    ...Object.values(keySamples({ ...KEY, scope: "CONTACTS" }, MAIL)),
    ...Object.values(keySamples({ ...KEY, kind: "PUBLIC", scope: null }, MAIL)),
    sendSamples(MAIL)["curl"] ?? "",
  ];
  expect(commands).toHaveLength(5);
  for (const command of commands) {
    expect(unquoted(command)).not.toMatch(/[?*[\]$&;<>(){}`"#~!]/);
    const { words } = readCommand(command);
    expect(words[0]).toStartWith("http://[::1]:8025/");
    const body = words[words.indexOf("-d") + 1];
    if (words.includes("-d")) expect(body).toContain(MAIL.to);
    if (words.includes("-d")) expect(() => JSON.parse(body ?? "")).not.toThrow();
  }
});

test("the samples of a key only do what it may", () => {
  const namesOf = (scope: "SEND" | "READ" | "CONTACTS") =>
    Object.keys(keySamples({ ...KEY, scope }, MAIL));
  expect([namesOf("SEND"), namesOf("READ"), namesOf("CONTACTS")]).toEqual([
    ["Send a mail"],
    ["Test the key"],
    ["Save a contact"],
  ]);
  const smtp = keySamples({ kind: "SMTP", scope: "SEND", text: "smtp_x" }, MAIL);
  expect(smtp["SMTP settings"]).toContain("Password  smtp_x\nFrom      hi@a.example");
});

test("the sample for SMTP sends the address as it is", () => {
  const login = { user: "shop", password: "it's $5" };
  const samples = smtpSamples({ host: "::1", port: 1025, login, to: MAIL.to });
  const { words, input } = readCommand(samples["curl"] ?? "");
  expect(words.slice(-4)).toEqual(["--mail-rcpt", MAIL.to, "--user", "shop:it's $5"]);
  expect(input).toStartWith(`From: hello@example.org\nTo: ${MAIL.to}\nSubject: Hello\n\n`);
});

test("a plain word needs no quotes", () => {
  expect(shellWord("http://localhost:8025/v1/send")).toBe("http://localhost:8025/v1/send");
  expect(shellWord("")).toBe("''");
});
