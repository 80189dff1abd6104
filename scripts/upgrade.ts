/**
 * Proves that an upgrade loses nothing: `bun scripts/upgrade.ts [--only WORD]`
 *
 * It builds this checkout, and the same with a newer version number and one more migration, and serves both
 * as signed releases over HTTP on this machine. Each scenario has an installation of its own whose mails are
 * captured. The exit code is 1 if an aim was missed.
 *
 * - Upgrades while mails are sent: each mail that was answered is there afterwards.
 * - Refused, with nothing changed and the server still running: a forged signature, another digest, an older
 *   version, another version than the wanted one, a program that says another version, and one whose
 *   check fails.
 * - Put back: a new version that never becomes ready, after it has migrated the database and accepted mails
 *   on another port, and one that ends at once.
 * - `kill -9` of the command after each of its steps, and between them: the installation starts, has all
 *   mails that were answered, and the next upgrade succeeds.
 */

import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { generateMinisignKeys } from "../src/lib/minisign.ts";
import { type Aim, limitAim, presenceAim, reportAims } from "./bench/report.ts";
import { runCheck } from "./bench/run-check.ts";
import {
  freePort,
  install,
  type Installation,
  type Ran,
  run,
  start,
  startSender,
} from "./upgrade/installation.ts";
import {
  buildThis,
  buildVersion,
  KEYS,
  OWN_VERSION,
  PLATFORM_NAME,
  publish,
  wrap,
} from "./upgrade/releases.ts";

const NEW_VERSION = "99.0.0";
const LOAD_MS = 1_000;
const KILL_STEPS = 7;

const { values } = parseArgs({ options: { only: { type: "string", default: "" } } });
/** On this port, the version that is never ready accepts mails. */
const OTHER_PORT = freePort();
const folder = mkdtempSync(join(tmpdir(), "mailstead-upgrade-"));
const keyFile = join(folder, "release.pub");

type Made = { old: string; next: string; url: string };
type Scenario = { name: string; run: (made: Made) => Promise<Aim[]> };

/** An aim that something is so. */
const isAim = (name: string, isMet: boolean, measured: string): Aim => ({
  name,
  isMet,
  measured,
  wanted: "yes",
});

const upgradeFrom = (installed: Installation, from: string, ...more: string[]): Promise<Ran> =>
  run(installed.upgradeWords(from, keyFile, ...more));

/** Runs the work with a running installation and a sender. */
async function underLoad(
  old: string,
  work: (installed: Installation, sender: ReturnType<typeof startSender>) => Promise<Aim[]>,
): Promise<Aim[]> {
  const installed = await install(folder, old);
  await installed.startServer();
  const sender = startSender(installed, installed.url);
  try {
    await Bun.sleep(LOAD_MS);
    const aims = await work(installed, sender);
    await Bun.sleep(LOAD_MS);
    await sender.stop();
    await installed.stopServer();
    const lost = sender.answered.length - installed.countStored(sender.answered);
    const check = await run([installed.executable, "check", "--data", installed.data]);
    return [
      ...aims,
      presenceAim("mails that were answered", sender.answered.length, 20),
      limitAim("answered mails that are lost", lost),
      isAim("mailstead check passes", check.code === 0, check.stdout.split("\n").at(-2) ?? ""),
    ];
  } finally {
    await sender.stop();
    await installed.stopServer();
    rmSync(installed.folder, { recursive: true, force: true });
  }
}

const isLeft = (installed: Installation): string[] =>
  readdirSync(join(installed.folder, "bin")).filter(
    (name) => !["mailstead", "mailstead.old"].includes(name),
  );

async function succeeds({ old, url }: Made): Promise<Aim[]> {
  return underLoad(old, async (installed) => {
    const before = installed.migrations();
    const tried = await upgradeFrom(installed, `${url}/good`, "--check");
    const pid = installed.pid();
    const ran = await upgradeFrom(installed, `${url}/good`);
    console.log(ran.stdout.replace(/^/gm, "    ").trimEnd(), ran.stderr);
    const again = await upgradeFrom(installed, `${url}/good`);
    return [
      isAim(
        "--check ends with 0 and installs nothing",
        tried.code === 0 && pid > 0,
        tried.stderr || "yes",
      ),
      isAim("the command ends with 0", ran.code === 0, String(ran.code)),
      isAim(
        "the new version is installed",
        (await installed.version()) === NEW_VERSION,
        await installed.version(),
      ),
      isAim(
        "the server is another process, and ready",
        installed.pid() !== pid && (await installed.isReady()),
        "yes",
      ),
      presenceAim("migrations that were applied", installed.migrations() - before),
      isAim(
        "the second time it is current",
        again.stdout.includes("is installed already"),
        again.stdout.trim(),
      ),
      limitAim("files that are left beside the executable", isLeft(installed).length),
    ];
  });
}

/** Each is refused before the server is stopped. */
function refuses(name: string, from: string, text: string, ...more: string[]): Scenario {
  return {
    name: `refuses ${name}`,
    run: ({ old, url }) =>
      underLoad(old, async (installed) => {
        const [pid, before] = [installed.pid(), readFileSync(installed.executable)];
        const ran = await upgradeFrom(installed, `${url}/${from}`, ...more);
        const isSame = readFileSync(installed.executable).equals(before);
        return [
          isAim(
            `the command fails with "${text}"`,
            ran.code === 1 && ran.stderr.includes(text),
            ran.stderr.trim(),
          ),
          isAim("the executable is unchanged", isSame && isLeft(installed).length === 0, "yes"),
          isAim(
            "the server was not stopped",
            installed.pid() === pid && (await installed.isReady()),
            "yes",
          ),
          isAim(
            "nothing is left in the data folder",
            !existsSync(join(installed.data, "upgrade/trial")),
            "yes",
          ),
        ];
      }),
  };
}

/** The new version listens on another port, where it accepts mails, so it is never ready for the command. */
async function putsBack({ old, url }: Made): Promise<Aim[]> {
  return underLoad(old, async (installed, sender) => {
    const before = installed.migrations();
    const newer = startSender(installed, `http://127.0.0.1:${OTHER_PORT}`);
    const ran = await upgradeFrom(installed, `${url}/elsewhere`);
    await newer.stop();
    console.log(ran.stderr.replace(/^/gm, "    ").trimEnd());
    const kept = readdirSync(installed.data).find((name) => name.startsWith("newer-")) ?? "none";
    const inNewer =
      kept === "none"
        ? 0
        : installed.countStored(newer.answered, join(installed.data, kept, "mailstead.db"));
    const [, told = "none"] = /Mails that the new version accepted: (\d+)/.exec(ran.stderr) ?? [];
    const answered = sender.answered.length;
    await Bun.sleep(LOAD_MS);
    return [
      isAim(
        "the command fails and says that the old version runs",
        ran.code === 1 && ran.stderr.includes(`Version ${OWN_VERSION} runs again`),
        "yes",
      ),
      isAim(
        "the old version is installed",
        (await installed.version()) === OWN_VERSION,
        await installed.version(),
      ),
      isAim(
        "it accepts mails again",
        sender.answered.length > answered,
        `${sender.answered.length - answered} more`,
      ),
      limitAim("migrations of the new version that are left", installed.migrations() - before),
      presenceAim("mails that the new version accepted", newer.answered.length),
      isAim(
        "the newer database is kept with them",
        inNewer === newer.answered.length,
        `${inNewer} in ${kept}`,
      ),
      isAim("their number is told", Number(told) >= newer.answered.length, told),
      isAim("the queue is held", ran.stderr.includes("the queue is held"), "yes"),
    ];
  });
}

async function putsBackDead({ old, next, url }: Made): Promise<Aim[]> {
  const executable = wrap(join(folder, "dead"), next, { serve: "echo broken >&2; exit 1" });
  publish(join(folder, "served/dead"), { version: NEW_VERSION, executable });
  return underLoad(old, async (installed) => {
    const before = installed.migrations();
    const ran = await upgradeFrom(installed, `${url}/dead`);
    return [
      isAim(
        "the command fails and says that the old version runs",
        ran.code === 1 && ran.stderr.includes(`Version ${OWN_VERSION} runs again`),
        ran.stderr.trim(),
      ),
      isAim(
        "the old version is ready",
        (await installed.isReady()) && (await installed.version()) === OWN_VERSION,
        await installed.version(),
      ),
      isAim(
        "the database was never another one",
        installed.migrations() === before && !ran.stderr.includes("put back"),
        "yes",
      ),
    ];
  });
}

/** Kills the command when it has written this many lines, and a moment later. False if it had ended. */
async function killAfter(
  installed: Installation,
  from: string,
  lines: number,
  delayMs: number,
): Promise<boolean> {
  const child = start(installed.upgradeWords(from, keyFile));
  let seen = 0;
  for await (const piece of child.stdout) {
    seen += Buffer.from(piece).toString("utf8").split("\n").length - 1;
    if (seen >= lines) break;
  }
  await Bun.sleep(delayMs);
  child.kill("SIGKILL");
  await child.exited;
  const how = child.signalCode ?? `exit code ${child.exitCode}`;
  console.log(`    ${from}: after line ${lines} + ${delayMs} ms: ${how}`);
  return child.signalCode === "SIGKILL";
}

async function survivesKills({ old, next, url }: Made): Promise<Aim[]> {
  let [kills, failures] = [0, 0];
  for (const from of ["good", "elsewhere"]) {
    for (let step = 1; step <= KILL_STEPS; step++) {
      const delayMs = Math.floor(Math.random() * 400);
      const found = await underLoad(old, async (installed) => {
        kills += Number(await killAfter(installed, `${url}/${from}`, step, delayMs));
        // Its children end by themselves.
        await Bun.sleep(LOAD_MS);
        // An operator starts the server, if it does not run. A version that is broken is replaced by hand.
        if (from === "elsewhere" && (await installed.version()) !== OWN_VERSION) {
          await installed.stopServer();
          cpSync(next, `${installed.executable}.tmp`);
          await run(["mv", `${installed.executable}.tmp`, installed.executable]);
        }
        await installed.startServer();
        const ran = await upgradeFrom(installed, `${url}/good`);
        if (ran.code !== 0)
          console.log(
            `    after line ${step} + ${delayMs} ms of ${from}: ${ran.stderr}${ran.stdout}`,
          );
        return [
          isAim(
            "the next upgrade succeeds",
            ran.code === 0 && (await installed.isReady()),
            ran.stderr,
          ),
        ];
      });
      const missed = found.filter(({ isMet }) => !isMet);
      if (missed.length > 0) reportAims(missed);
      failures += Number(missed.length > 0);
    }
  }
  return [
    presenceAim("kills", kills, KILL_STEPS),
    limitAim("installations that did not survive", failures),
  ];
}

const SCENARIOS: readonly Scenario[] = [
  { name: "upgrades under load", run: succeeds },
  refuses("a forged signature", "forged", "is not trusted"),
  refuses("another digest", "digest", "is not the file that was released"),
  refuses("an older version", "older", "is older than"),
  refuses(
    "another version than the wanted one",
    "good",
    "--version says 98.0.0",
    "--version",
    "98.0.0",
  ),
  refuses("a program that says another version", "liar", "says that it is"),
  refuses("a program whose check fails", "unchecked", "fails on a copy of the database"),
  { name: "puts back a version that migrates, accepts mails and is not ready", run: putsBack },
  { name: "puts back a version that ends at once", run: putsBackDead },
  { name: "survives kill -9 of the command", run: survivesKills },
];

async function prove(): Promise<boolean> {
  writeFileSync(keyFile, KEYS.publicKey);
  const old = buildThis(folder);
  const next = buildVersion(folder, { version: NEW_VERSION, isMigrating: true });
  const served = (name: string) => join(folder, "served", name);
  const good = { version: NEW_VERSION, executable: next };
  publish(served("good"), good);
  publish(served("forged"), {
    ...good,
    keys: { ...generateMinisignKeys(), publicKey: KEYS.publicKey },
  });
  publish(served("digest"), good);
  writeFileSync(join(served("digest"), PLATFORM_NAME), "another file");
  publish(served("older"), { version: "0.0.1", executable: next });
  publish(served("liar"), { version: "99.0.1", executable: next });
  const unchecked = wrap(join(folder, "unchecked"), next, {
    check: "echo 'fail  it is broken'; exit 1",
  });
  publish(served("unchecked"), { version: NEW_VERSION, executable: unchecked });
  const elsewhere = wrap(join(folder, "elsewhere"), next, {
    serve: `shift; exec $REAL serve "$@" --port ${OTHER_PORT}`,
  });
  publish(served("elsewhere"), { version: NEW_VERSION, executable: elsewhere });
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const file = Bun.file(join(folder, "served", new URL(request.url).pathname));
      return (await file.exists()) ? new Response(file) : new Response(null, { status: 404 });
    },
  });
  const made = { old, next, url: `http://127.0.0.1:${server.port}` };
  let isProved = true;
  for (const { name, run: runScenario } of SCENARIOS) {
    if (!name.includes(values.only)) continue;
    console.log(name);
    isProved = reportAims(await runScenario(made)) && isProved;
  }
  await server.stop(true);
  return isProved;
}

await runCheck(
  () => prove().finally(() => rmSync(folder, { recursive: true, force: true })),
  30 * 60_000,
);
