/** Parsing of the command line, and help, in this process. */

import { describe, expect, test } from "bun:test";
import { type Command, parseArguments, UsageError } from "../../src/cli/command.ts";
import { dev } from "../../src/cli/dev.ts";
import { domainAdd, domainList } from "../../src/cli/domain.ts";
import { commandHelp, overview } from "../../src/cli/help.ts";
import { keyCreate, keyList, keyRevoke } from "../../src/cli/key.ts";
import { migrateCommand } from "../../src/cli/migrate.ts";
import {
  projectCreate,
  projectDisable,
  projectEnable,
  projectList,
  projectSet,
} from "../../src/cli/project.ts";
import { SETTING_SUBJECTS } from "../../src/config/setting-subjects.ts";
import { serve, SERVER_SETTINGS, unsafeChoices } from "../../src/cli/serve.ts";
import { version } from "../../src/cli/version.ts";
import { readConfig } from "../../src/config/read.ts";
import { SETTINGS } from "../../src/config/settings.ts";

const commands: readonly Command[] = [
  serve,
  dev,
  projectCreate,
  projectList,
  projectDisable,
  projectEnable,
  projectSet,
  keyCreate,
  keyList,
  keyRevoke,
  domainAdd,
  domainList,
  migrateCommand,
  version,
];

const sample: Command = {
  name: "sample run",
  summary: "A command for tests",
  positionals: [
    { name: "NAME", help: "who" },
    { name: "MORE", isOptional: true, help: "what else" },
  ],
  flags: [
    { name: "project", placeholder: "ID|NAME", help: "which" },
    { name: "verified", help: "really" },
  ],
  settings: ["data", "port", "allowPrivateAddresses", "trustedProxies"],
  run: async () => 0,
};

describe("arguments", () => {
  const cases: [words: string[], parsed: object][] = [
    [["a"], { positionals: ["a"] }],
    [["a", "b"], { positionals: ["a", "b"] }],
    [["a", "--project", "p"], { positionals: ["a"], flags: { project: "p" } }],
    [["--project=p", "a"], { positionals: ["a"], flags: { project: "p" } }],
    [["--project=", "a"], { positionals: ["a"], flags: { project: "" } }],
    [["--project", "--verified", "a"], { positionals: ["a"], flags: { project: "--verified" } }],
    [["--project=a=b", "a"], { positionals: ["a"], flags: { project: "a=b" } }],
    [["--verified", "a"], { positionals: ["a"], flags: { verified: "" } }],
    [["a", "--port", "1", "--data=x"], { positionals: ["a"], settings: { port: "1", data: "x" } }],
    [
      ["a", "--allow-private-addresses", "--port", "1"],
      { positionals: ["a"], settings: { "allow-private-addresses": "true", port: "1" } },
    ],
    [
      ["a", "--allow-private-addresses"],
      { positionals: ["a"], settings: { "allow-private-addresses": "true" } },
    ],
    [
      ["--allow-private-addresses", "a"],
      { positionals: ["a"], settings: { "allow-private-addresses": "true" } },
    ],
    [
      ["--allow-private-addresses", "--", "true"],
      { positionals: ["true"], settings: { "allow-private-addresses": "true" } },
    ],
    [
      ["a", "--allow-private-addresses", "true"],
      { positionals: ["a"], settings: { "allow-private-addresses": "true" } },
    ],
    [
      ["a", "--allow-private-addresses", "false"],
      { positionals: ["a"], settings: { "allow-private-addresses": "false" } },
    ],
    [
      ["a", "--allow-private-addresses", "0"],
      { positionals: ["a"], settings: { "allow-private-addresses": "0" } },
    ],
    [
      ["a", "--allow-private-addresses=false"],
      { positionals: ["a"], settings: { "allow-private-addresses": "false" } },
    ],
    [
      ["a", "--allow-private-addresses="],
      { positionals: ["a"], settings: { "allow-private-addresses": "" } },
    ],
    [["a", "--trusted-proxy", "::1"], { positionals: ["a"], settings: { "trusted-proxy": "::1" } }],
    [
      ["a", "--trusted-proxy", "::1", "--trusted-proxy=10.0.0.1,10.0.0.2"],
      { positionals: ["a"], settings: { "trusted-proxy": "::1,10.0.0.1,10.0.0.2" } },
    ],
    [["a", "--json"], { positionals: ["a"], flags: { json: "" } }],
    [["--", "--verified"], { positionals: ["--verified"] }],
    [["a", "--", "-x"], { positionals: ["a", "-x"] }],
    [["-"], { positionals: ["-"] }],
    [["--help"], { flags: { help: "" } }],
    [["-h"], { flags: { help: "" } }],
    [["--project", "a", "--project", "b", "c"], { positionals: ["c"], flags: { project: "b" } }],
  ];
  for (const [words, parsed] of cases) {
    test(words.join(" "), () => {
      const empty = { positionals: [], flags: {}, settings: {} };
      expect(parseArguments(sample, words)).toEqual({ ...empty, ...parsed });
    });
  }

  const refused: [words: string[], message: string][] = [
    [["a", "--colour"], "sample run has no flag --colour"],
    [["a", "--colour=red"], "sample run has no flag --colour"],
    [["a", "--host", "x"], "sample run has no flag --host"],
    [["a", "-v"], "sample run has no flag -v"],
    [["a", "-port", "1"], "sample run has no flag -port; did you mean --port?"],
    [["a", "--constructor"], "sample run has no flag --constructor"],
    [["a", "--project"], "--project needs a value: ID|NAME"],
    [["a", "--verified=yes"], "--verified takes no value"],
    [[], "sample run needs NAME: who"],
    [["a", "b", "c"], 'unexpected "c"; sample run accepts NAME MORE'],
  ];
  for (const [words, message] of refused) {
    test(`refuses ${words.join(" ") || "no arguments"}`, () => {
      expect(() => parseArguments(sample, words)).toThrow(UsageError);
      expect(() => parseArguments(sample, words)).toThrow(message);
    });
  }
});

describe("a boolean setting", () => {
  const booleans = serve.settings.filter((name) => typeof readConfig({}, {})[name] === "boolean");

  for (const name of booleans) {
    test(`is true if its flag has no value: ${name}`, () => {
      const { flag } = SETTINGS[name];
      const { settings } = parseArguments(serve, [`--${flag}`, "--port", "4000"]);
      const config = readConfig(settings, {}, { [name]: false });
      expect([config[name], config.port]).toEqual([true, 4000]);
      expect(commandHelp(serve)).toContain(`--${flag} [true|false]`);
    });
  }
});

describe("help", () => {
  test("shows every command with its arguments and its summary in the overview", () => {
    const text = overview([
      { subject: "Servers", commands: [serve, dev] },
      { subject: "Others", commands: commands.slice(2) },
    ]);
    for (const { name, summary } of commands) {
      expect(text).toMatch(new RegExp(`^  ${name}( .*)?  ${RegExp.escape(summary)}$`, "m"));
    }
    expect(text).toContain("mailstead dev");
    expect(text).toMatch(/^Servers:\n {2}serve .*\n {2}dev .*\n\nOthers:\n/m);
  });

  for (const command of commands) {
    test(`of ${command.name} lists exactly its flags and its settings with variable and default`, () => {
      const text = commandHelp(command);
      expect(text).toStartWith(`mailstead ${command.name}`);
      const flags = [...text.matchAll(/^  --([a-z0-9-]+)/gm)].map(([, flag = ""]) => flag);
      const own = command.flags.map(({ name }) => name);
      const settings = command.settings.map((name) => SETTINGS[name].flag);
      expect(flags.sort()).toEqual([...own, ...settings, "json", "help"].sort());
      for (const name of command.settings) {
        const { env, shownDefault, help } = SETTINGS[name];
        expect(text).toContain(`${help} [${env}, default: ${shownDefault}]`);
      }
      for (const { name, help } of command.positionals)
        expect(text).toContain(`  ${name}  ${help}`);
    });
  }

  test("of a server lists each setting once, by subject", () => {
    const listed = SETTING_SUBJECTS.flatMap(([, settings]) => settings.map(([name]) => name));
    expect(listed.toSorted().map(String)).toEqual(Object.keys(SETTINGS).toSorted());
    expect(commandHelp(serve)).toMatch(/^How mail leaves:\n {2}--transport /m);
    expect(commandHelp(domainList)).not.toContain("by subject");
  });

  test("serve and dev accept every setting", () => {
    expect(SERVER_SETTINGS.toSorted().map(String)).toEqual(Object.keys(SETTINGS).toSorted());
    expect([serve.settings, dev.settings]).toEqual([SERVER_SETTINGS, SERVER_SETTINGS]);
  });
});

describe("the unsafe settings shown on start", () => {
  const relay = { transport: "relay", "relay-url": "smtp://x.example" };
  const cases: [flags: Record<string, string>, shown: RegExp[]][] = [
    [relay, []],
    [{}, [/captured, not sent/]],
    [{ ...relay, "require-verified-domain": "false" }, [/unverified sender domains/]],
    [{ ...relay, host: "0.0.0.0" }, [/without TLS.*--url/]],
    [{ ...relay, host: "0.0.0.0", url: "http://x.example" }, [/without TLS/]],
    [{ ...relay, host: "0.0.0.0", url: "https://x.example" }, []],
    [{ ...relay, host: "::1" }, []],
    [{ transport: "relay", "relay-url": "smtp://x.example?tls=none" }, [/relay without TLS/]],
    [
      { ...relay, "relay-url": "smtp://email-smtp.eu-west-1.amazonaws.com?sign=true" },
      [/Amazon SES replaces .*breaks our signatures/],
    ],
    [{ ...relay, "relay-url": "smtp://email-smtp.eu-west-1.amazonaws.com" }, []],
    [{ ...relay, "trusted-proxy": "10.0.0.0/8,::1" }, []],
    [{ ...relay, "trusted-proxy": "10.0.0.0/8,::/0" }, [/claim any address.*--trusted-proxy/]],
  ];
  for (const [flags, shown] of cases) {
    test(JSON.stringify(flags), () => {
      const choices = unsafeChoices(readConfig(flags, {}));
      expect(choices).toHaveLength(shown.length);
      for (const [i, pattern] of shown.entries()) expect(choices[i]).toMatch(pattern);
    });
  }
});
