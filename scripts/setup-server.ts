/**
 * Sets up a server with `mailstead setup` in a copy of an empty Debian, up to a delivered mail.
 *
 * `bun scripts/setup-server.ts [--root FOLDER] [--only NAME] [--package FILE]`
 *
 * FOLDER has the files of an empty Debian; without it, debootstrap makes one, which needs a mirror. The
 * script runs as root on Linux, in namespaces of its own for processes, mounts and the network, which
 * has a name server and the server of a recipient on loopback. First it builds the executable; with a
 * Debian package, this is installed instead in all steps but the last one. Setup starts the server without
 * systemd there, except in the last step.
 *
 * - first: one command, whose DNS records are published when it shows them, until the mail arrives
 * - again: the same command and one without flags change nothing and send nothing
 * - port: a taken port 25 is refused, and the program that has it is named
 * - relay: with a wrong password nothing is written
 * - kill: a setup that is killed at any moment goes on when it is run again
 * - terminal: the questions in a pseudo-terminal, also with a relay, and Ctrl-C
 * - systemd: the unit on a copy of this machine (an overlay) that systemd has booted; without systemd
 *   here, this step is left out, and the output says so
 *
 * Prints the output of each setup with its time. The exit code is 1 if one fails.
 */

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { bootSystemd, enter, hasSystemd, readInside } from "./setup-server/systemd.ts";
import { startDnsServer, type TestDns, type TestRecords } from "../test/support/dns-server.ts";
import { startScript } from "../test/support/smtp-script.ts";
import { type Sink, startSink } from "../test/support/smtp-sink.ts";

const ROOT = join(import.meta.dir, "..");
const EXECUTABLE = join(ROOT, "dist/mailstead");
const INSIDE = "--inside";
const OWNER = "ada@friends.example";
const LIMIT_MS = 180_000;

const { values } = parseArgs({
  options: {
    root: { type: "string" },
    only: { type: "string" },
    package: { type: "string" },
    inside: { type: "string" },
  },
});

function requireHost(): void {
  if (process.platform !== "linux" || process.getuid?.() !== 0) fail("it needs Linux and root");
  for (const program of ["unshare", "chroot", "ip", "cp", "mount"]) {
    if (Bun.which(program) === null) fail(`the program ${program} is missing`);
  }
}

function fail(reason: string): never {
  console.error(`setup-server: ${reason}`);
  process.exit(1);
}

/** Copies the root, builds, and starts this script again in namespaces of its own. */
async function outside(): Promise<number> {
  requireHost();
  const folder = mkdtempSync(join(tmpdir(), "mailstead-setup-"));
  try {
    const pristine =
      values.root === undefined ? makeRoot(join(folder, "debian")) : resolve(values.root);
    if (!existsSync(join(pristine, "etc/debian_version"))) fail(`${pristine} is no Debian`);
    const deb = values.package === undefined ? null : resolve(values.package);
    if (deb !== null && !existsSync(deb)) fail(`there is no package ${deb}`);
    const build = Bun.spawnSync([process.execPath, "scripts/build.ts", "--quick"], { cwd: ROOT });
    if (!build.success) fail(`the build failed: ${build.stderr.toString()}`);
    const only = values.only === undefined ? [] : ["--only", values.only];
    const script = [
      process.execPath,
      import.meta.path,
      INSIDE,
      folder,
      "--root",
      pristine,
      ...only,
      ...(deb === null ? [] : ["--package", deb]),
    ];
    const namespaces = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child"];
    const child = Bun.spawn([...namespaces, ...script], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    return await child.exited;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function makeRoot(path: string): string {
  if (Bun.which("debootstrap") === null) fail("name a root with --root, or install debootstrap");
  const made = Bun.spawnSync(["debootstrap", "--variant=minbase", "bookworm", path]);
  if (!made.success) fail(`debootstrap failed: ${made.stdout.toString().slice(-500)}`);
  return path;
}

type World = { folder: string; pristine: string; dns: TestDns; sink: Sink; machines: number };

/** An empty Debian with the package, or with the executable in the folder of root, as after a download. */
function newMachine(world: World): string {
  const machine = join(world.folder, `machine-${++world.machines}`);
  run("cp", "-a", world.pristine, machine);
  run("mount", "-t", "proc", "proc", join(machine, "proc"));
  if (values.package === undefined) run("cp", EXECUTABLE, join(machine, "root/mailstead"));
  else install(machine, values.package);
  world.dns.records = { ...RECIPIENTS };
  world.sink.messages.length = 0;
  return machine;
}

function install(machine: string, deb: string): void {
  const startedAt = performance.now();
  run("cp", deb, join(machine, "root/mailstead.deb"));
  run("chroot", machine, "dpkg", "--install", "/root/mailstead.deb");
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(`$ dpkg --install mailstead.deb\n  = after ${seconds.toFixed(1)} s`);
}

function run(...words: string[]): void {
  const ran = Bun.spawnSync(words);
  if (!ran.success) fail(`${words.join(" ")}: ${ran.stderr.toString()}`);
}

/** The zone of the recipient; the one of the sender is published when setup shows it. */
const RECIPIENTS: Record<string, TestRecords> = {
  "friends.example": { MX: ["10 mx.friends.example"] },
  "mx.friends.example": { A: ["127.0.0.1"] },
  "gmail.com": { MX: ["10 mx.friends.example"] },
  "outlook.com": { MX: ["10 mx.friends.example"] },
};

const flagsOf = ({ dns, sink }: World): string[] =>
  [
    `--hostname mail.shop.example --domain shop.example --owner-email ${OWNER}`,
    "--transport direct --tls off --inbound 0.0.0.0:2525 --backup-to /var/backups/mailstead",
    `--dns 127.0.0.1:${dns.server.port} --direct-port ${sink.port} --allow-private-addresses`,
  ].flatMap((line) => line.split(" "));

const chrooted = (machine: string, words: readonly string[]): string[] => [
  "chroot",
  machine,
  values.package === undefined ? "/root/mailstead" : "/usr/bin/mailstead",
  ...words,
];

const ENV = {
  PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/root",
  LANG: "C.UTF-8",
  TERM: "xterm",
};

type Ran = { code: number | null; output: string; seconds: number };

/** Runs setup, and publishes the records that it shows when it has begun to wait for them. */
async function setUp(
  world: World,
  machine: string,
  words: readonly string[],
  command = chrooted(machine, ["setup", ...words]),
): Promise<Ran> {
  const startedAt = performance.now();
  const child = Bun.spawn(command, {
    env: ENV,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: LIMIT_MS,
    killSignal: "SIGKILL",
  });
  let output = "";
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      const text = decoder.decode(bytes, { stream: true });
      output += text;
      if (text.includes("Publish these records")) publish(world.dns, output);
    }
  };
  await Promise.all([read(child.stdout), read(child.stderr)]);
  const code = await child.exited;
  const ran = { code, output, seconds: (performance.now() - startedAt) / 1000 };
  show(words, ran);
  return ran;
}

function show(words: readonly string[], { output, seconds, code }: Ran): void {
  console.log(`$ mailstead setup ${words.join(" ")}`);
  for (const line of output.trimEnd().split("\n")) console.log(`  | ${line.slice(0, 150)}`);
  console.log(`  = exit code ${code} after ${seconds.toFixed(1)} s`);
}

const ROW = /^ {2}(?:ok|missing|differs|unknown) +(A|AAAA|PTR|TXT|MX) +(\S+) +(.*)$/gm;

function publish(dns: TestDns, output: string): void {
  const records: Record<string, TestRecords> = {
    ...RECIPIENTS,
    "mail.shop.example": { A: ["127.0.0.1"] },
    "1.0.0.127.in-addr.arpa": { PTR: ["mail.shop.example"] },
  };
  for (const [, type, name = "", value = ""] of output.matchAll(ROW)) {
    const known = records[name] ?? {};
    if (type === "TXT") records[name] = { ...known, TXT: [...(known.TXT ?? []), inStrings(value)] };
    if (type === "MX") records[name] = { ...known, MX: [value] };
  }
  dns.records = records;
}

/** A string of a TXT record has at most 255 octets. */
const inStrings = (value: string): string[] => value.match(/.{1,255}/g) ?? [];

function expect(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`not so: ${what}`);
  console.log(`  ok ${what}`);
}

/** All files below /etc/mailstead with their contents and rights. */
function filesOf(machine: string): string {
  const folder = join(machine, "etc/mailstead");
  if (!existsSync(folder)) return "";
  return readdirSync(folder)
    .toSorted()
    .map((name) => `${name} ${readFileSync(join(folder, name), "utf8")}`)
    .join("\n");
}

const hasUser = (machine: string): boolean =>
  /^mailstead:/m.test(readFileSync(join(machine, "etc/passwd"), "utf8"));

async function first(world: World): Promise<string> {
  const machine = newMachine(world);
  const ran = await setUp(world, machine, flagsOf(world));
  expect(ran.code === 0, "the setup succeeds");
  const [mail] = world.sink.messages;
  const text = Buffer.from(mail?.data ?? []).toString();
  expect(
    mail?.to[0] === OWNER && text.includes("\r\nDKIM-Signature: "),
    "the signed mail is at the recipient",
  );
  expect(
    ran.output.includes("was delivered to the server of"),
    "it says that the mail was delivered",
  );
  expect(/AGE-SECRET-KEY-1\w{58}/.test(ran.output), "it shows the recovery key");
  expect(/\/app\/link#\w{43}/.test(ran.output), "it shows the sign-in link");
  expect(ran.seconds < 180, `it takes less than three minutes: ${ran.seconds.toFixed(1)} s`);
  return machine;
}

async function again(world: World): Promise<void> {
  const machine = await first(world);
  const before = filesOf(machine);
  for (const words of [flagsOf(world), []]) {
    const { code, output } = await setUp(world, machine, words);
    expect(code === 0 && output.includes("No file changes."), "it succeeds and changes no file");
    expect(filesOf(machine) === before, "the files are the same");
    expect(world.sink.messages.length === 1, "there is no second mail");
  }
  const changed = await setUp(world, machine, ["--log-level", "warn"]);
  expect(
    changed.code === 0 && changed.output.includes("+ MAILSTEAD_LOG_LEVEL=warn"),
    "it shows what changes",
  );
  const copies = readdirSync(join(machine, "etc/mailstead")).filter((name) =>
    name.startsWith("environment.before-"),
  );
  expect(world.sink.messages.length === 1, "there is no second mail");
  expect(copies.length === 1, `the old file is kept: ${copies.join(", ")}`);
}

async function takenPort(world: World): Promise<void> {
  const machine = newMachine(world);
  const server = net.createServer();
  await new Promise<void>((done) => server.listen(25, "127.0.0.1", done));
  const words = flagsOf(world).map((word) => (word === "0.0.0.0:2525" ? "0.0.0.0:25" : word));
  const { code, output } = await setUp(world, machine, words);
  server.close();
  expect(
    code === 2 && output.includes("port 25 is taken by bun (process "),
    "it names the program",
  );
  expect(filesOf(machine) === "" && !hasUser(machine), "nothing is written");
}

async function refusedRelay(world: World): Promise<void> {
  const machine = newMachine(world);
  const relay = await startScript({
    script: { auth: { code: 535, text: "5.7.8 Wrong password" } },
  });
  writeFileSync(join(machine, "root/relay"), `smtp://ada:wrong@127.0.0.1:${relay.port}?tls=none\n`);
  const words = flagsOf(world).map((word) => (word === "direct" ? "relay" : word));
  const { code, output } = await setUp(world, machine, [
    ...words,
    "--relay-url-file",
    "/root/relay",
  ]);
  await relay.close();
  expect(code === 2 && output.includes("< 535 5.7.8 Wrong password"), "it shows the conversation");
  expect(!output.includes("wrong@"), "it does not show the password");
  expect(filesOf(machine) === "" && !hasUser(machine), "nothing is written");
}

/** Texts of the output, after each of which a setup is killed. */
const KILLED_AFTER = [
  "Files:",
  "was created",
  "There is no systemd",
  "is ready",
  "is an owner",
  "has these keys",
  "recovery key",
  "Publish these records",
];

async function killed(world: World): Promise<void> {
  for (const text of KILLED_AFTER) {
    const machine = newMachine(world);
    const child = Bun.spawn(chrooted(machine, ["setup", ...flagsOf(world)]), {
      env: ENV,
      stdout: "pipe",
      stderr: "ignore",
    });
    let output = "";
    for await (const bytes of child.stdout) {
      output += Buffer.from(bytes).toString();
      if (output.includes(text)) child.kill("SIGKILL");
    }
    const last = output.trimEnd().split("\n").at(-1) ?? "";
    console.log(`killed after “${text}”; its last line: ${last.slice(0, 100)}`);
    const { code } = await setUp(world, machine, flagsOf(world));
    const isDelivered = code === 0 && world.sink.messages.length === 1;
    expect(isDelivered, "the second run ends with one delivered mail");
    stopServers(world);
  }
}

/** Ends the processes of all machines: each has its server on the same port. */
function stopServers({ folder }: World): void {
  for (const name of readdirSync("/proc").filter((each) => /^\d+$/.test(each))) {
    if (rootOf(name).startsWith(folder)) process.kill(Number(name), "SIGKILL");
  }
}

function rootOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/root`);
  } catch {
    return ""; // It has ended meanwhile.
  }
}

/** The text that the terminal must show, and the input that is typed then. */
type Dialogue = readonly (readonly [shown: string, typed: string])[];

/** Runs setup in a pseudo-terminal, and types each answer when its question is shown. */
async function talk(
  world: World,
  machine: string,
  { flags, dialogue }: { flags: readonly string[]; dialogue: Dialogue },
): Promise<Ran> {
  const startedAt = performance.now();
  const left = [...dialogue];
  let output = "";
  let seen = 0;
  const child = Bun.spawn(chrooted(machine, ["setup", ...flags]), {
    env: ENV,
    timeout: LIMIT_MS,
    killSignal: "SIGKILL",
    terminal: {
      cols: 400,
      rows: 50,
      data(terminal, bytes) {
        output += Buffer.from(bytes).toString();
        if (output.includes("Publish these records", seen)) publish(world.dns, output);
        for (
          let next = left[0];
          next !== undefined && output.includes(next[0], seen);
          next = left[0]
        ) {
          seen = output.indexOf(next[0], seen) + next[0].length;
          left.shift();
          terminal.write(next[1]);
        }
      },
    },
  });
  const code = await child.exited;
  const text = output.replaceAll("\r", "");
  const ran = { code, output: text, seconds: (performance.now() - startedAt) / 1000 };
  show(flags, ran);
  expect(
    left.length === 0,
    `each question was asked; left: ${left.map(([shown]) => shown).join(", ")}`,
  );
  return ran;
}

const ENTER = "\n";
const CTRL_C = "\u0003";

async function inTerminal(world: World): Promise<void> {
  const relay = await startScript({ script: [{ starttls: "close" }, {}] });
  const flags = [
    "--dns",
    `127.0.0.1:${world.dns.server.port}`,
    "--allow-private-addresses",
    "--port",
    "3100",
  ];
  const machine = newMachine(world);
  const relayUrl = `smtp://ada:right@127.0.0.1:${relay.port}?tls=none`;
  const questions: Dialogue = [
    ["Host name of this server", "mail.shop.example\n"],
    ["Domain that mail is sent from [shop.example]", ENTER],
    ["Name of the project [shop.example]", "Shop\n"],
    ["Default sender", "no address\n"],
    ["Default sender", "Shop <orders@shop.example>\n"],
    ["Email address of the owner", `${OWNER}\n`],
    ["How mail leaves", "relay\n"],
    ["SMTP server of the relay", `127.0.0.1:${relay.port}\n`],
    ["User at the relay", "ada\n"],
    ["Password (not shown)", "hush-hush\n"],
    ["failed:", ""],
    ["SMTP server of the relay", `${relayUrl}\n`],
    ["answers, as ada", ""],
    ["TLS: acme, files or off", "off\n"],
    ["Listen for bounces", ENTER],
    ["Take mail of your programs", ENTER],
    ["Folder of the backups, or none [/var/backups/mailstead]", ENTER],
  ];
  const stopped = await talk(world, machine, {
    flags,
    dialogue: [...questions, ["through the relay now [Y/n]", CTRL_C]],
  });
  expect(!stopped.output.includes("hush-hush"), "the password is not shown");
  expect(stopped.code === 130 && stopped.output.includes("Nothing was changed."), "Ctrl-C ends it");
  expect(filesOf(machine) === "" && !hasUser(machine), "nothing is written");

  const done = await talk(world, machine, {
    flags,
    dialogue: [
      ...questions.filter(
        ([shown], i) =>
          i !== 3 &&
          !["User at", "Password", "failed"].some((word) => shown.startsWith(word)) &&
          i !== 7,
      ),
      ["through the relay now [Y/n]", ENTER],
      ["Write them, and start the server [Y/n]", ENTER],
      ["Publish these records", ""],
      [`Send a test mail to ${OWNER} [Y/n]`, ENTER],
    ],
  });
  expect(
    done.code === 0 && relay.bodies.length === 2,
    "the relay has the test of the relay and the first mail",
  );
  expect(done.output.includes("The relay took the test mail"), "it says what the relay answered");

  world.dns.records = { ...RECIPIENTS };
  const waiting = await talk(world, machine, {
    flags,
    dialogue: [
      ["[mail.shop.example]", ENTER],
      ["[shop.example]", ENTER],
      ["[Shop]", ENTER],
      [`[${OWNER}]`, ENTER],
      ["[relay]", ENTER],
      [`[127.0.0.1:${relay.port}]`, ENTER],
      ["Keep the login", ENTER],
      ["[off]", ENTER],
      ["[none]", ENTER],
      ["[none]", ENTER],
      ["[/var/backups/mailstead]", ENTER],
      ["No file changes.", ""],
      ["Ctrl-C ends the wait", CTRL_C],
    ],
  });
  expect(
    waiting.code === 130 && waiting.output.includes("domain verify shop.example"),
    "Ctrl-C says how to go on",
  );
  await relay.close();
}

async function withSystemd(world: World): Promise<void> {
  if (!hasSystemd()) return console.log("left out: this machine has no systemd");
  const { pid, stop } = await bootSystemd(join(world.folder, "systemd"), EXECUTABLE);
  try {
    await checkService(world, pid);
  } finally {
    await stop();
  }
}

async function checkService(world: World, pid: string): Promise<void> {
  world.dns.records = { ...RECIPIENTS };
  world.sink.messages.length = 0;
  const setUpInside = (words: readonly string[]) =>
    setUp(world, "", words, [...enter(pid), "/root/mailstead", "setup", ...words]);
  const low = flagsOf(world).map((word) => (word === "0.0.0.0:2525" ? "0.0.0.0:25" : word));
  readInside(pid, "echo correct horse > /root/password");
  const { code, output } = await setUpInside([...low, "--owner-password-file", "/root/password"]);
  expect(output.includes("with the password of the file"), "the owner has a password");
  expect(code === 0 && world.sink.messages.length === 1, "the mail is at the recipient");
  const state = "systemctl is-active mailstead; systemctl is-enabled mailstead";
  expect(readInside(pid, state) === "active\nenabled", "the service is active and enabled");
  const places = 'cat "/proc/$(systemctl show -P MainPID mailstead)/mountinfo"';
  expect(/ \/var\/backups\/mailstead rw/.test(readInside(pid, places)), "it may write its backups");

  // The directory does not exist: the server starts all the same, with a self-signed certificate.
  const acme = ["--tls", "acme", "--acme-directory", "https://127.0.0.1:1/directory"];
  const second = await setUpInside([...acme, "--log-level", "warn"]);
  expect(second.code === 0 && second.output.includes("- MAILSTEAD_TLS=off"), "it changes to HTTPS");
  const status = await fetch("https://127.0.0.1/readyz", { tls: { rejectUnauthorized: false } });
  expect(status.status === 200 && world.sink.messages.length === 1, "HTTPS is on port 443");
}

const STEPS: Readonly<Record<string, (world: World) => Promise<unknown>>> = {
  first,
  again,
  port: takenPort,
  relay: refusedRelay,
  kill: killed,
  terminal: inTerminal,
  systemd: withSystemd,
};

async function inside(folder: string): Promise<number> {
  run("mount", "--make-rprivate", "/");
  run("mount", "-t", "proc", "proc", "/proc");
  run("ip", "link", "set", "lo", "up");
  mkdirSync(folder, { recursive: true });
  const dns = await startDnsServer({ records: RECIPIENTS, negativeSeconds: 1 });
  const sink = await startSink();
  const world: World = { folder, pristine: values.root ?? "", dns, sink, machines: 0 };
  for (const [name, step] of Object.entries(STEPS)) {
    if (values.only !== undefined && values.only !== name) continue;
    console.log(`\n== ${name}`);
    await step(world);
    stopServers(world);
  }
  return 0;
}

try {
  process.exitCode = values.inside === undefined ? await outside() : await inside(values.inside);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
process.exit();
