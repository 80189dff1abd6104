/** `mailstead project set`, and commands that need the name of a project. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildConfig } from "../../src/config/read.ts";
import { openDatabase } from "../../src/db/open.ts";
import { rememberSettings } from "../../src/stored-settings.ts";
import { mailstead } from "../support/command-line.ts";
import { valueAt, stringAt } from "../support/json.ts";

let parent: string;
/** A copy of an installation with the project "Shop". */
let folder: string;
beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "mailstead-project-"));
  await mailstead(["project", "create", "Shop", "--data", join(parent, "new")]);
});
beforeEach(() => {
  folder = mkdtempSync(join(parent, "copy-"));
  cpSync(join(parent, "new"), folder, { recursive: true });
});
afterAll(() => rmSync(parent, { recursive: true }));

async function run(...words: string[]): Promise<{ exit: number; answer: unknown }> {
  const { code, stdout, stderr } = await mailstead([...words, "--data", folder, "--json"]);
  return { exit: code, answer: JSON.parse(stdout || stderr) };
}

/** Runs a command and returns its output without --json. */
async function text(...words: string[]): Promise<string> {
  return (await mailstead([...words, "--data", folder])).stdout;
}

test("mailstead project relay sets, shows and removes the relay, and never shows its password", async () => {
  const file = join(folder, "relay-url");
  const relay = { host: "smtp.example.com", port: 587, tls: "starttls", user: "shop" };
  expect(await run("project", "relay")).toMatchObject({ exit: 0, answer: { relay: null } });
  writeFileSync(file, "smtp://shop:correct%20horse@smtp.example.com\n");
  const set = await run("project", "relay", "Shop", "--url-file", file);
  expect(set).toMatchObject({ exit: 0, answer: { relay } });
  expect(await text("project", "relay")).toBe(
    "Project Shop: mail leaves by smtp.example.com:587 as shop.\n",
  );
  expect(readFileSync(join(folder, "mailstead.db"), "latin1")).not.toContain("correct horse");
  writeFileSync(file, "https://smtp.example.com");
  const refused = await run("project", "relay", "--url-file", file);
  expect([refused.exit, JSON.stringify(refused.answer)]).toEqual([
    2,
    expect.stringContaining("--url-file: the URL must begin with smtp://"),
  ]);
  expect(await run("project", "relay", "--remove")).toMatchObject({ answer: { relay: null } });
});

describe("mailstead project set", () => {
  test("changes only the given settings", async () => {
    const first = await run("project", "set", "--tracking", "enabled");
    expect(first.exit).toBe(0);
    expect(first.answer).toMatchObject({ project: { tracking: "ENABLED", language: "en" } });
    const second = await run("project", "set", "Shop", "--language", "ja");
    expect(second.answer).toMatchObject({ project: { tracking: "ENABLED", language: "ja" } });
    const listed = await run("project", "list");
    expect(stringAt(listed.answer, "projects.0.language")).toBe("ja");
  });

  test("sets the default sender, shows it, and removes it", async () => {
    const senders: [given: string, shown: unknown][] = [
      ["Shop <Orders@Shop.Example>", { email: "orders@shop.example", name: "Shop" }],
      [
        '"Shop, \\"the\\" best" <a@shop.example>',
        { email: "a@shop.example", name: 'Shop, "the" best' },
      ],
      [" a@shop.example ", { email: "a@shop.example", name: null }],
      ["<a@shop.example>", { email: "a@shop.example", name: null }],
      ["Jörg <j@bücher.example>", { email: "j@xn--bcher-kva.example", name: "Jörg" }],
    ];
    for (const [given, shown] of senders) {
      const { exit, answer } = await run("project", "set", "--from", given);
      expect([given, exit, valueAt(answer, "project.sender")]).toEqual([given, 0, shown]);
    }
    await run("project", "set", "--language", "de");
    const listed = await run("project", "list");
    expect(valueAt(listed.answer, "projects.0.sender")).toEqual(senders.at(-1)?.[1]);
    expect(valueAt(listed.answer, "projects.0.usage")).toEqual({ storedBytes: 0, queuedMails: 0 });
    expect(await text("project", "list")).toContain("0.0 MiB stored, 0 mails queued");
    expect(await text("project", "list")).toContain("Jörg <j@xn--bcher-kva.example>");
    const removed = await run("project", "set", "--no-from");
    expect([removed.exit, valueAt(removed.answer, "project.sender")]).toEqual([0, null]);
    expect(await text("project", "list")).not.toContain("bcher");
  });

  test("reports that the domain of the default sender is not verified yet", async () => {
    await run("domain", "add", "shop.example", "--verified");
    const words = (from: string) => text("project", "set", "--from", from);
    expect(await words("a@shop.example")).not.toContain("not verified");
    expect(await words("a@mail.shop.example")).toContain("mail.shop.example is not verified");
  });

  test("a line break in the name of the default sender becomes a blank", async () => {
    await run("project", "set", "--from", "A\r\nBcc: b <a@b.example>");
    const listed = await run("project", "list");
    expect(valueAt(listed.answer, "projects.0.sender.name")).toBe("A Bcc: b");
  });

  test("sets the colour and removes it", async () => {
    const set = await run("project", "set", "--color", "#AA3300");
    expect(set.answer).toMatchObject({ project: { brandColor: "#aa3300", logoImageId: null } });
    const removed = await run("project", "set", "--color", "none", "--logo", "none");
    expect(removed.answer).toMatchObject({ project: { brandColor: null, logoImageId: null } });
  });

  test("sets how long data is kept, and removes it", async () => {
    const words = "--retain-bodies 30 --retain-raw 7 --retain-events 365 --retain-received 14";
    const set = await run("project", "set", ...words.split(" "));
    const own = { retainBodies: 30, retainRaw: 7, retainEvents: 365, retainReceived: 14 };
    expect(set.answer).toMatchObject({ project: own });
    const removed = await run("project", "set", "--retain-bodies", "default");
    expect(removed.answer).toMatchObject({ project: { ...own, retainBodies: null } });
  });

  test("refuses a period that is longer than that of the server, as the API does", async () => {
    const db = openDatabase(join(folder, "mailstead.db"));
    rememberSettings(
      db,
      buildConfig({}, { defaults: { retainBodies: 20, retainRaw: 0, retainEvents: 400 } }),
    );
    db.sqlite.close();
    for (const [flag, days] of [
      ["bodies", 20],
      ["events", 400],
    ] as const) {
      const { exit, answer } = await run("project", "set", `--retain-${flag}`, String(days + 1));
      expect(exit).toBe(2);
      const message = `--retain-${flag}: must be at most ${days}, because`;
      expect(stringAt(answer, "error.message")).toStartWith(message);
    }
    const set = await run("project", "set", "--retain-bodies", "20", "--retain-raw", "36500");
    expect(set.answer).toMatchObject({ project: { retainBodies: 20, retainRaw: 36_500 } });
  });

  const faults: [name: string, words: string[], message: RegExp][] = [
    ["a colour that is none", ["--color", "red"], /--color: expected a colour such as '#1d56c4'/],
    ["an image that the project has not", ["--logo", "nothing"], /logoImageId/],
    ["a period of no days", ["--retain-bodies", "0"], /--retain-bodies: .* from 1 to 36500/],
    [
      "a period that is too long",
      ["--retain-received", "31"],
      /--retain-received: must be at most 30, because the server keeps the data no longer/,
    ],
    ["a period that is no number", ["--retain-raw", "never"], /--retain-raw: .*got "never"/],
    ["a call without settings", [], /at least one of --tracking, --language, --logo, /],
    [
      "--from together with --no-from",
      ["--from", "a@b.example", "--no-from"],
      /--from and --no-from/,
    ],
    ["a sender without address", ["--from", "Shop"], /--from: .*no @/],
    ["a sender with an unclosed address", ["--from", "Shop <a@b.example"], /--from: /],
    ["two addresses", ["--from", "a@b.example, c@d.example"], /--from: /],
    ["two mailboxes", ["--from", "A <a@x.example>, B <b@y.example>"], /--from: .*one mailbox/],
    [
      "an unknown mode",
      ["--tracking", "SOME"],
      /expected one of ENABLED, MARKETING_ONLY, CONSENT, DIS/,
    ],
    ["an unknown language", ["--language", "tlh"], /expected one of en, de, .*got "tlh"/],
    ["an unknown project", ["Nobody", "--language", "de"], /There is no project "Nobody"/],
  ];

  for (const [name, words, message] of faults) {
    test(`refuses ${name}`, async () => {
      const { exit, answer } = await run("project", "set", ...words);
      expect(exit).not.toBe(0);
      expect(stringAt(answer, "error.message")).toMatch(message);
    });
  }
});

describe("with several projects", () => {
  const positional = (verb: string) => `mailstead project ${verb} ID|NAME`;
  const commands: [command: string[], naming: string][] = [
    [["project", "set", "--language", "de"], positional("set")],
    [["project", "disable"], positional("disable")],
    [["project", "enable"], positional("enable")],
    [["key", "create"], "--project ID|NAME"],
    [["domain", "list"], "--project ID|NAME"],
  ];

  for (const [words, naming] of commands) {
    test(`${words.join(" ")} suggests how to name one`, async () => {
      await run("project", "create", "Blog");
      const { exit, answer } = await run(...words);
      expect(exit).not.toBe(0);
      expect(stringAt(answer, "error.message")).toBe("There are several projects.");
      const suggestion = `Say which with ${naming}; mailstead project list shows them.`;
      expect(stringAt(answer, "error.suggestion")).toBe(suggestion);
    });
  }
});
