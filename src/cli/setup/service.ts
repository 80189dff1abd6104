/** The service: its user, its folders, its start by systemd or without it, and its readiness. */

import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Config } from "../../config/settings.ts";
import { SETTINGS } from "../../config/settings.ts";
import { syncPath } from "../../backup/files.ts";
import { AppError } from "../../lib/errors.ts";
import { addressText, reachable } from "../capture-address.ts";
import { pause, type SetupContext } from "./context.ts";
import { readEnvironment } from "./environment-file.ts";
import { makeFolder } from "./files.ts";
import { isOwnListener } from "./listening-ports.ts";
import { LOG_FILE, type ServiceUser } from "./machine.ts";
import { DATA_FOLDER, SERVICE_USER } from "./unit.ts";

/** Exists from the first change of a setup until the server is ready: a kill between is not forgotten. */
const UNFINISHED_FILE = "/etc/mailstead/setup.unfinished";

export function isUnfinished({ machine }: Pick<SetupContext, "machine">): boolean {
  return existsSync(machine.path(UNFINISHED_FILE));
}

export function markUnfinished({ machine }: Pick<SetupContext, "machine">): void {
  const file = machine.path(UNFINISHED_FILE);
  makeFolder(dirname(file));
  writeFileSync(file, "mailstead setup has changed files, and the server has not started since.\n");
  syncPath(dirname(file));
}

function markFinished({ machine }: Pick<SetupContext, "machine">): void {
  rmSync(machine.path(UNFINISHED_FILE), { force: true });
}

/** The two programs that create a user: that of most systems, and that of Alpine. */
const CREATE_USER: readonly (readonly (readonly string[])[])[] = [
  [
    [
      "useradd",
      "--system",
      "--user-group",
      "--home-dir",
      DATA_FOLDER,
      "--no-create-home",
      "--shell",
      "/usr/sbin/nologin",
      SERVICE_USER,
    ],
  ],
  [
    ["addgroup", "-S", SERVICE_USER],
    [
      "adduser",
      "-S",
      "-D",
      "-H",
      "-h",
      DATA_FOLDER,
      "-s",
      "/sbin/nologin",
      "-G",
      SERVICE_USER,
      SERVICE_USER,
    ],
  ],
];

const MISSING_PROGRAM = 127;

/** The user of the service, which is created if there is none. */
export async function ensureServiceUser({ machine, say }: SetupContext): Promise<ServiceUser> {
  const known = await machine.findServiceUser();
  if (known !== null) return known;
  let output = "";
  for (const commands of CREATE_USER) {
    const results = [];
    for (const words of commands) results.push(await machine.run(words));
    output = results.map((result) => result.output.trim()).join("\n");
    if (results.every(({ code }) => code === MISSING_PROGRAM)) continue;
    break;
  }
  const created = await machine.findServiceUser();
  if (created === null)
    throw setupFailed(`The user ${SERVICE_USER} could not be created: ${output}`);
  say(`The user ${SERVICE_USER} was created.`);
  return created;
}

const setupFailed = (message: string): AppError => new AppError(500, "SETUP_FAILED", message);

type Start = { config: Config; environment: string; relayUrl: string | null; isChanged: boolean };

/** Starts the server, or starts it again if something has changed, and waits until it is ready. */
export async function startService(setup: SetupContext, start: Start): Promise<void> {
  const { machine, say } = setup;
  if (machine.hasSystemd) await startWithSystemd(setup, start);
  else await startInBackground(setup, start);
  await awaitReady(setup, start.config);
  markFinished(setup);
  say(
    `The server is ready${machine.hasSystemd ? "" : "; nothing starts it after a restart of the machine"}.`,
  );
}

async function startWithSystemd(setup: SetupContext, { isChanged }: Start): Promise<void> {
  const verb = isChanged ? "restart" : "start";
  for (const words of [["daemon-reload"], ["enable", SERVICE_USER], [verb, SERVICE_USER]]) {
    const { code, output } = await setup.machine.run(["systemctl", ...words]);
    if (code === 0) continue;
    const log = await serviceLog(setup);
    throw setupFailed(`systemctl ${words.join(" ")} failed: ${output.trim()}${log}`);
  }
}

async function startInBackground(setup: SetupContext, start: Start): Promise<void> {
  const { machine, say } = setup;
  const running = machine
    .findListeners()
    .find((each) => each.port === start.config.port && isOwnListener(each));
  if (running !== undefined && !start.isChanged) return;
  if (running !== undefined && running.pid !== null) await stopServer(setup, running.pid);
  say(`There is no systemd here, so the server is started without it. Its log: ${LOG_FILE}`);
  say(`The same by hand:\n${plainCommand(start.relayUrl !== null)}`);
  const relay = start.relayUrl === null ? {} : { [SETTINGS.relayUrl.env]: start.relayUrl };
  await machine.startServer({ ...readEnvironment(start.environment), ...relay });
}

const STOP_LIMIT_MS = 30_000;
const POLL_MS = 250;

async function stopServer(setup: SetupContext, pid: number): Promise<void> {
  const { machine, clock } = setup;
  await machine.stopProcess(pid);
  const deadline = clock.elapsed() + STOP_LIMIT_MS;
  while (machine.findListeners().some((each) => each.pid === pid)) {
    if (clock.elapsed() > deadline) throw setupFailed(`The server (process ${pid}) does not stop.`);
    await pause(setup, POLL_MS);
  }
}

/** The environment file has the form of a shell script. */
export function plainCommand(hasRelay: boolean): string {
  const relay = hasRelay ? ' MAILSTEAD_RELAY_URL="$(cat /etc/mailstead/relay-url)"' : "";
  return `  (set -a; . /etc/mailstead/environment; MAILSTEAD_DATA=${DATA_FOLDER}${relay}; exec runuser -u ${SERVICE_USER} -- mailstead serve)`;
}

const READY_LIMIT_MS = 60_000;
const REQUEST_LIMIT_MS = 5_000;

/** The address at which a program of this machine reaches the server. */
export function localUrl({ host, port }: Pick<Config, "host" | "port">): string {
  return `http://${addressText({ host: reachable(host), port })}`;
}

async function awaitReady(setup: SetupContext, config: Config): Promise<void> {
  const { clock } = setup;
  const deadline = clock.elapsed() + READY_LIMIT_MS;
  for (;;) {
    const problem = await findProblem(`${localUrl(config)}/readyz`);
    if (problem === null) return;
    const hasFailed = await isServiceFailed(setup);
    if (hasFailed || clock.elapsed() > deadline) {
      throw setupFailed(`The server is not ready: ${problem}${await serviceLog(setup)}`);
    }
    await pause(setup, POLL_MS);
  }
}

async function findProblem(url: string): Promise<string | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(REQUEST_LIMIT_MS) });
    const text = await response.text();
    return response.status === 200 ? null : text.slice(0, 500);
  } catch (error) {
    return `${url} gives no answer (${error instanceof Error ? error.message : String(error)})`;
  }
}

async function isServiceFailed({ machine }: SetupContext): Promise<boolean> {
  if (!machine.hasSystemd) return false;
  const { output } = await machine.run(["systemctl", "is-failed", SERVICE_USER]);
  return output.trim() === "failed";
}

const LOG_LINES = 15;

async function serviceLog({ machine }: SetupContext): Promise<string> {
  const text = machine.hasSystemd
    ? (await machine.run(["journalctl", "-u", SERVICE_USER, "-n", String(LOG_LINES), "--no-pager"]))
        .output
    : endOfFile(machine.path(LOG_FILE));
  return text.trim() === "" ? "" : `\n${text.trim()}`;
}

function endOfFile(file: string): string {
  if (!existsSync(file)) return "";
  return readFileSync(file, "utf8").trim().split("\n").slice(-LOG_LINES).join("\n");
}
