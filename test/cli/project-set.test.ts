import { afterEach, beforeEach, describe, expect, mock, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCli } from "../../src/cli/run.ts";
import { textAt } from "../support/json.ts";

let folder = "";
let out: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mailstead-test-"));
  out = [];
  spyOn(console, "log").mockImplementation((line: string) => void out.push(line));
  spyOn(console, "error").mockImplementation((line: string) => void out.push(line));
});

afterEach(() => {
  mock.restore();
  rmSync(folder, { recursive: true });
});

async function run(...words: string[]): Promise<{ exit: number; answer: unknown }> {
  const exit = await runCli([...words, "--data", folder, "--json"], {});
  return { exit, answer: JSON.parse(out.at(-1) ?? "") };
}

describe("mailstead project set", () => {
  test("changes what is named and keeps the rest", async () => {
    await run("project", "create", "Shop");
    const first = await run("project", "set", "--tracking", "enabled");
    expect(first.exit).toBe(0);
    expect(first.answer).toMatchObject({ project: { tracking: "ENABLED", language: "en" } });
    const second = await run("project", "set", "Shop", "--language", "ja");
    expect(second.answer).toMatchObject({ project: { tracking: "ENABLED", language: "ja" } });
    const listed = await run("project", "list");
    expect(textAt(listed.answer, "projects.0.language")).toBe("ja");
  });

  const faults: [what: string, words: string[], message: RegExp][] = [
    ["nothing to set", [], /--tracking, --language or both/],
    ["an unknown mode", ["--tracking", "SOME"], /expected one of ENABLED, MARKETING_ONLY, DIS/],
    ["an unknown language", ["--language", "tlh"], /expected one of en, de, .*got "tlh"/],
    ["an unknown project", ["Nobody", "--language", "de"], /There is no project "Nobody"/],
  ];

  for (const [what, words, message] of faults) {
    test(`refuses ${what}`, async () => {
      await run("project", "create", "Shop");
      const { exit, answer } = await run("project", "set", ...words);
      expect(exit).not.toBe(0);
      expect(textAt(answer, "error.message")).toMatch(message);
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
    test(`${words.join(" ")} advises what it takes`, async () => {
      await run("project", "create", "Shop");
      await run("project", "create", "Blog");
      const { exit, answer } = await run(...words);
      expect(exit).not.toBe(0);
      expect(textAt(answer, "error.message")).toBe("There are several projects.");
      const suggestion = `Say which with ${naming}; mailstead project list shows them.`;
      expect(textAt(answer, "error.suggestion")).toBe(suggestion);
    });
  }
});
