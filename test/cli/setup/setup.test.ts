/**
 * `mailstead setup` on a machine whose files are in a folder of the test. The commands that it runs,
 * the server and the recipient are real; useradd and systemctl are recorded. scripts/setup-server.ts
 * runs the executable on an empty Debian.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArguments } from "../../../src/cli/command.ts";
import { runSetup, setup } from "../../../src/cli/setup.ts";
import { tryLockFolder } from "../../../src/db/folder-lock.ts";
import { giveDataFiles } from "../../../src/cli/setup/files.ts";
import type { Listener } from "../../../src/cli/setup/listening-ports.ts";
import type { Machine } from "../../../src/cli/setup/machine.ts";
import { mailstead, startMailstead, stopServers, testStreams } from "../../support/command-line.ts";
import { startDnsServer, type TestDns, type TestRecords } from "../../support/dns-server.ts";
import { listAt, stringAt, valueAt } from "../../support/json.ts";
import { startScript } from "../../support/smtp-script.ts";
import { type Sink, startSink } from "../../support/smtp-sink.ts";
import { makeCertificate } from "../../support/tls.ts";

const RECIPIENT: Record<string, TestRecords> = {
  "friends.example": { MX: ["10 mx.friends.example"] },
  "mx.friends.example": { A: ["127.0.0.1"] },
  "mail.shop.example": { A: ["127.0.0.1"] },
  "1.0.0.127.in-addr.arpa": { PTR: ["mail.shop.example"] },
};

let parent: string;
let root: string;
let dns: TestDns;
let sink: Sink;
/** The programs of the system that setup has run. */
let programs: string[];
beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "mailstead-setup-"));
  dns = await startDnsServer();
  sink = await startSink();
});
beforeEach(() => {
  root = mkdtempSync(join(parent, "root-"));
  dns.records = structuredClone(RECIPIENT);
  sink.messages.length = 0;
  programs = [];
});
afterAll(async () => {
  await Promise.all([dns.close(), sink.close()]);
  rmSync(parent, { recursive: true });
});

/** `program` answers for a program of the system; others succeed without output. */
function machineOf(changes: Partial<Machine> = {}): Machine {
  const path = (file: string) => join(root, file);
  let hasUser = false;
  let listeners: Listener[] = [];
  const executable = path("/root/mailstead");
  mkdirSync(path("/root"), { recursive: true });
  if (!existsSync(executable)) writeFileSync(executable, "the program");
  return {
    path,
    isRoot: true,
    chown: () => {},
    executable,
    hasSystemd: false,
    hasIpv6: false,
    findListeners: () => listeners,
    async run(words) {
      programs.push(words.join(" "));
      if (words[0] === "useradd") hasUser = true;
      return { code: words[0] === "ufw" || words[0] === "nft" ? 127 : 0, output: "" };
    },
    findServiceUser: async () => (hasUser ? { uid: 1, gid: 1 } : null),
    runCommand: (words, stdin = "") =>
      mailstead(words, { MAILSTEAD_DATA: path("/var/lib/mailstead") }, { stdin }),
    canServiceRead: async () => true,
    async startServer(variables) {
      const env = { ...variables, MAILSTEAD_DATA: path("/var/lib/mailstead") };
      await startMailstead(["serve", "--json", "--log-level", "error"], { env });
      const port = Number(variables["MAILSTEAD_PORT"]);
      listeners = [{ address: "127.0.0.1", port, pid: 1, program: "mailstead", unit: null }];
    },
    stopProcess: async () => {},
    ...changes,
  };
}

async function runOn(machine: Machine, words: readonly string[]) {
  const streams = testStreams();
  const input = {
    ...parseArguments(setup, words),
    isJson: words.includes("--json"),
    io: streams.io,
  };
  const code = await runSetup(input, machine);
  streams.end();
  const { stdout, stderr } = streams.written;
  const result: unknown = input.isJson ? JSON.parse(stdout) : null;
  return { code, text: stdout + stderr, result };
}

function freePort(): number {
  const probe = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port = 0 } = probe;
  void probe.stop(true);
  return port;
}

const flags = (changes: Record<string, string | null> = {}): string[] =>
  Object.entries({
    hostname: "mail.shop.example",
    domain: "shop.example",
    "owner-email": "ada@friends.example",
    transport: "direct",
    tls: "off",
    inbound: "none",
    dns: `127.0.0.1:${dns.server.port}`,
    "direct-port": String(sink.port),
    "allow-private-addresses": "true",
    ...changes,
  }).flatMap(([name, value]) => (value === null ? [] : [`--${name}`, value]));

const environment = () => readFileSync(join(root, "etc/mailstead/environment"), "utf8");

test("a server is set up once, and a second run sends the mail and changes nothing", async () => {
  const machine = machineOf();
  const port = String(freePort());
  const words = [...flags({ port, "backup-to": "/var/backups/mailstead" }), "--no-wait", "--json"];
  try {
    const first = await runOn(machine, words);
    expect(first.code).toBe(0);
    expect(first.result).toMatchObject({
      files: [
        { path: "/etc/mailstead/environment", kind: "new" },
        { path: "/etc/systemd/system/mailstead.service", kind: "new" },
        { path: "/etc/systemd/system/mailstead.service.d/setup.conf", kind: "new" },
      ],
      url: "https://mail.shop.example",
      link: expect.stringMatching(/^https:\/\/mail\.shop\.example\/app\/link#\w{43}$/),
      project: { name: "shop.example", secretKey: expect.stringMatching(/^sk_/) },
      domain: { name: "shop.example", verified: false },
      recoveryKey: expect.stringMatching(/^AGE-SECRET-KEY-1/),
      testMail: null,
    });
    expect(readFileSync(join(root, "usr/local/bin/mailstead"), "utf8")).toBe("the program");
    expect(statSync(join(root, "etc/mailstead/environment")).mode & 0o777).toBe(0o640);
    expect(statSync(join(root, "var/backups/mailstead")).mode & 0o777).toBe(0o700);
    expect(
      readFileSync(join(root, "etc/systemd/system/mailstead.service.d/setup.conf"), "utf8"),
    ).toContain("ReadWritePaths=/var/backups/mailstead\n");
    const written = environment();
    expect(written).toContain("MAILSTEAD_URL=https://mail.shop.example\n");
    expect(readdirSync(join(root, "etc/mailstead"))).toEqual(["environment"]);

    publish(listAt(first.result, "domain.records"));
    const second = await runOn(machine, ["--json"]);
    expect(second.result).toMatchObject({
      files: [],
      project: { id: stringAt(first.result, "project.id") },
      domain: { verified: true },
      recoveryKey: null,
      testMail: { status: "delivered", reason: "250 2.0.0 Ok: taken" },
    });
    expect(valueAt(second.result, "project.secretKey")).toBeUndefined();
    expect(environment()).toBe(written);
    expect(sink.messages.map(({ to }) => to)).toEqual([["ada@friends.example"]]);
    expect(Buffer.from(sink.messages[0]?.data ?? []).toString()).toContain("DKIM-Signature: ");
    expect(programs.filter((line) => line.startsWith("useradd"))).toHaveLength(1);
  } finally {
    await stopServers();
  }
});

/** A string of a TXT record has at most 255 octets. */
function publish(records: readonly unknown[]): void {
  for (const record of records) {
    const [type, name, value] = ["type", "name", "value"].map((key) => stringAt(record, key));
    if (name === undefined || value === undefined) continue;
    const known = dns.records[name] ?? {};
    if (type === "TXT") known.TXT = [...(known.TXT ?? []), value.match(/.{1,255}/g) ?? []];
    if (type === "MX") known.MX = [value];
    dns.records[name] = known;
  }
}

describe("an answer that is wrong or missing is an error with its flag, and changes nothing", () => {
  const cases: readonly (readonly [changes: Record<string, string | null>, message: string])[] = [
    [{ hostname: null }, "--hostname is needed without a terminal: Host name of this server"],
    [{ hostname: "mail" }, '--hostname: expected a full name such as mail.example.com, got "mail"'],
    [{ hostname: "203.0.113.7" }, "--hostname: expected a host name such as mail.example.com"],
    [{ domain: "co.uk" }, "--domain: must not be a public suffix such as co.uk"],
    [{ "owner-email": "ada" }, "--owner-email: The address has no @."],
    [{ "owner-password-file": "/nowhere" }, "--owner-password-file: /nowhere cannot be read"],
    [
      { from: "me@elsewhere.example" },
      '--from: expected an address of shop.example, got "me@elsewhere.example"',
    ],
    [{ project: " " }, "--project: expected 1 to 100 characters"],
    [{ transport: "pigeon" }, '--transport: expected one of relay, direct, got "pigeon"'],
    [{ transport: "relay" }, "--relay-url-file is needed: a file with smtp[s]://"],
    [
      { transport: "relay", "relay-url": "smtp://a:b@x?tls=none" },
      "--relay-url: must not send a password without TLS",
    ],
    [{ tls: null }, "--tls is needed without a terminal"],
    [{ tls: "files" }, "--tls-cert is needed without a terminal"],
    [{ tls: "acme", url: "https://192.0.2.1" }, "--tls acme needs names such as mail.example.com"],
    [
      { inbound: "25" },
      '--inbound: expected an address and a port such as 127.0.0.1:9090, got "25"',
    ],
    [
      { submission: "0.0.0.0:587" },
      "--submission on 0.0.0.0 needs a certificate, because passwords are sent to it",
    ],
    [{ port: "many" }, "--port: expected a whole number from 0 to 65535"],
    [{ metrics: "9090" }, "--metrics: expected an address and a port"],
    [
      { "system-from": "a\u0007b@shop.example" },
      "--system-from: must not contain control characters",
    ],
    [
      { "backup-to": "/home/ada/backups" },
      "--backup-to: /home/ada/backups is hidden from the service",
    ],
    [{ "backup-to": "/var/my backups" }, "--backup-to: expected a path of letters, digits"],
    [
      { "backup-to": "backups" },
      '--backup-to: expected a path that begins with /, s3://BUCKET/PREFIX or none, got "backups"',
    ],
    [{ "backup-recipient": "age1x" }, "age1x"],
    [{ project: "Shop\nnews" }, "--project: expected 1 to 100 characters, without line ends"],
    [
      { url: "https://mail.shop.example\nMAILSTEAD_TRANSPORT=capture" },
      "--url: expected an http or https URL without query",
    ],
    [
      { inbound: "0.0.0.0:2525", metrics: "127.0.0.1:2525" },
      "--metrics: port 2525 is that of --inbound already",
    ],
  ];
  test.each(cases)("%p", async (changes, message) => {
    const refused = await runOn(machineOf(), flags(changes)).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Error);
    expect(refused instanceof Error ? refused.message : "").toContain(message);
    expect(readdirSync(root)).toEqual(["root"]);
    expect(programs.filter((line) => !/^(?:ufw|nft) /.test(line))).toEqual([]);
  });

  test("so is a port that another program has", async () => {
    const exim = {
      address: "127.0.0.1",
      port: 25,
      pid: 812,
      program: "exim4",
      unit: "exim4.service",
    };
    const machine = machineOf({ findListeners: () => [exim] });
    const refused = runOn(machine, flags({ inbound: "0.0.0.0:25" }));
    expect(refused).rejects.toThrow(
      "--inbound: port 25 is taken by exim4 (process 812); systemctl disable --now exim4.service, or use --inbound none",
    );
    await refused.catch(() => {});
    expect(readdirSync(root)).toEqual(["root"]);
  });

  test("so is a folder of the backups that has files of others", async () => {
    const folder = join(root, "etc");
    mkdirSync(folder);
    writeFileSync(join(folder, "passwd"), "");
    const owners: string[] = [];
    const machine = machineOf({ chown: (file) => void owners.push(file) });
    const refused = await runOn(machine, flags({ "backup-to": "/etc" })).catch(
      (error: unknown) => error,
    );
    expect(refused instanceof Error ? refused.message : "").toContain(
      "--backup-to: /etc has files, and does not belong to the user mailstead; name a new folder in it, such as /etc/mailstead",
    );
    expect([owners, readdirSync(folder)]).toEqual([[], ["passwd"]]);
  });

  test("so is a second setup while one changes the machine", async () => {
    const unlock = tryLockFolder(root);
    const refused = await runOn(machineOf(), flags()).catch((error: unknown) => error);
    unlock?.();
    expect(refused instanceof Error ? refused.message : "").toContain(
      "Another mailstead setup changes this machine.",
    );
    expect(readdirSync(root)).toEqual(["root"]);
  });

  test("so is a relay that refuses the login or the test mail", async () => {
    const relay = await startScript({
      script: [
        { auth: { code: 535, text: "5.7.8 Wrong password" } },
        {},
        { mail: { code: 550, text: "5.7.1 Not your domain" } },
      ],
    });
    const url = `smtp://ada:hush@127.0.0.1:${relay.port}?tls=none`;
    const words = [...flags({ transport: "relay", "relay-url": url }), "--relay-test-mail"];
    for (const reply of ["535 5.7.8 Wrong password", "550 5.7.1 Not your domain"]) {
      const streams = testStreams();
      const input = { ...parseArguments(setup, words), isJson: false, io: streams.io };
      const refused = await runSetup(input, machineOf()).catch((error: unknown) => error);
      expect(refused instanceof Error ? refused.message : "").toContain(reply);
      expect(streams.written.stdout).toContain(`  < ${reply}`);
      expect(streams.written.stdout).not.toContain("hush");
      expect(readdirSync(root)).toEqual(["root"]);
    }
    await relay.close();
  });

  test("without root only a dry run works, and it shows all files and steps", async () => {
    const machine = machineOf({ isRoot: false });
    expect(runOn(machine, flags())).rejects.toThrow("run it as root, or with --dry-run");
    const { code, text } = await runOn(machine, [...flags(), "--dry-run"]);
    expect(code).toBe(0);
    expect(text).toContain("+ ExecStart=/usr/local/bin/mailstead serve");
    expect(text).toContain("add the domain shop.example, show its DNS records");
    expect(text).toContain("This was a dry run: nothing was changed.");
    expect(readdirSync(root)).toEqual(["root"]);
  });
});

describe("with systemd", () => {
  const withSystemd = (changes: Partial<Machine> = {}) => {
    const machine = machineOf({ hasSystemd: true, ...changes });
    return { ...machine, run: withJournal(machine.run) };
  };
  /** The service fails at its start, and the journal says why. */
  const withJournal =
    (run: Machine["run"]): Machine["run"] =>
    async (words) => {
      const ran = await run(words);
      if (words[0] === "journalctl") return { code: 0, output: "it has no ports" };
      if (words[1] === "is-failed") return { code: 0, output: "failed\n" };
      return ran;
    };

  test("a service that fails is reported with its log, and started again by the next run", async () => {
    const words = flags({ port: String(freePort()) });
    for (const run of [1, 2]) {
      programs = [];
      expect(runOn(withSystemd(), words)).rejects.toThrow("it has no ports");
      await runOn(withSystemd(), words).catch(() => {});
      expect([run, programs.filter((line) => line.startsWith("systemctl"))]).toEqual([
        run,
        expect.arrayContaining([
          "systemctl daemon-reload",
          "systemctl enable mailstead",
          "systemctl restart mailstead",
        ]),
      ]);
      expect(existsSync(join(root, "etc/mailstead/setup.unfinished"))).toBe(true);
    }
  });

  test("--no-start starts nothing, and the unit of a package stays as it is", async () => {
    const packaged = "usr/lib/systemd/system/mailstead.service";
    mkdirSync(join(root, "usr/lib/systemd/system"), { recursive: true });
    writeFileSync(join(root, packaged), "[Service]\nExecStart=/usr/bin/mailstead serve\n");
    mkdirSync(join(root, "etc/mailstead"), { recursive: true });
    writeFileSync(join(root, "etc/mailstead/environment"), "# MAILSTEAD_TRANSPORT=relay\n");
    const { code, text } = await runOn(withSystemd(), [...flags(), "--no-start"]);
    expect(code).toBe(0);
    expect(text).toContain("systemctl enable --now mailstead");
    expect(programs.filter((line) => line.startsWith("systemctl"))).toEqual([]);
    expect(existsSync(join(root, "etc/systemd"))).toBe(false);
    expect(existsSync(join(root, "usr/local/bin/mailstead"))).toBe(false);
    expect(environment()).toStartWith("# MAILSTEAD_TRANSPORT=relay\nMAILSTEAD_HOSTNAME=");
  });
});

test("files that root made in the data folder are given to the service, and no link is", async () => {
  const data = join(root, "var/lib/mailstead");
  mkdirSync(data, { recursive: true });
  for (const name of ["mailstead.db", "notes"]) writeFileSync(join(data, name), "");
  symlinkSync(join(data, "notes"), join(data, "secret"));
  const given: string[] = [];
  const machine = machineOf({ chown: (path) => void given.push(path) });
  giveDataFiles(machine, "/var/lib/mailstead", { uid: 65_534, gid: 65_534 });
  expect(given).toEqual([join(data, "mailstead.db")]);
});

test("a certificate that does not fit, or that the server could not read, changes nothing", async () => {
  const pair = makeCertificate(["mail.shop.example"]);
  const other = makeCertificate(["mail.shop.example"]);
  const files = { "tls-cert": join(parent, "cert.pem"), "tls-key": join(parent, "key.pem") };
  writeFileSync(files["tls-cert"], pair.cert);
  writeFileSync(files["tls-key"], other.key);
  const words = flags({ tls: "files", ...files });
  expect(runOn(machineOf(), words)).rejects.toThrow("is not that of the certificate");
  await runOn(machineOf(), words).catch(() => {});
  writeFileSync(files["tls-key"], pair.key);
  const machine = machineOf({ canServiceRead: async (file) => file !== files["tls-key"] });
  const refused = await runOn(machine, words).catch((error: unknown) => String(error));
  expect(refused).toContain("--tls-key: the user mailstead cannot read");
  expect(readdirSync(root)).toEqual(["root"]);
});

test("a change keeps the lines of the user and the old file, and hides secrets", async () => {
  mkdirSync(join(root, "etc/mailstead"), { recursive: true });
  const before =
    "# by hand\nMAILSTEAD_TLS=acme\nMAILSTEAD_RELAY_URL=smtp://ada:hush@x\nMY_OWN='a b'\n";
  writeFileSync(join(root, "etc/mailstead/environment"), before, { mode: 0o600 });
  const { code, text } = await runOn(machineOf(), [...flags(), "--no-start"]);
  expect(code).toBe(0);
  expect(environment()).toStartWith(
    "# by hand\nMAILSTEAD_TLS=off\nMY_OWN='a b'\nMAILSTEAD_HOSTNAME=",
  );
  expect(text).toContain("- MAILSTEAD_TLS=acme");
  expect(text).toContain("- MAILSTEAD_RELAY_URL=(not shown)");
  expect(text).not.toContain("hush");
  const [copy = ""] = readdirSync(join(root, "etc/mailstead")).filter((name) =>
    name.startsWith("environment.before-"),
  );
  expect(readFileSync(join(root, "etc/mailstead", copy), "utf8")).toBe(before);
  expect(statSync(join(root, "etc/mailstead", copy)).mode & 0o777).toBe(0o600);
});
