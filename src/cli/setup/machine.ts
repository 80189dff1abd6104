/**
 * The parts of a machine that setup reads and changes beside its files: programs of the system, the
 * user of the service, the service manager, and this program itself as that user. Tests replace it.
 */

import { spawn } from "node:child_process";
import { constants, existsSync, lchownSync, openSync, readlinkSync } from "node:fs";
import { networkInterfaces, userInfo } from "node:os";
import type { Io } from "../io.ts";
import { DATA_FOLDER, SERVICE_USER, serviceExecutable } from "./unit.ts";
import { findListeners, type Listener } from "./listening-ports.ts";

type Ran = { code: number; output: string };
type RanCommand = { code: number; stdout: string; stderr: string };

export type ServiceUser = { uid: number; gid: number };

export type Machine = {
  /** The path of a file of the system; a test has these files in a folder of its own. */
  path: (path: string) => string;
  isRoot: boolean;
  /** Gives a file to a user and a group, and follows no link. */
  chown: (file: string, owner: ServiceUser) => void;
  /** The executable that runs; null if the program runs from its sources. */
  executable: string | null;
  /** True if systemd runs as the first process, so that `systemctl` can start services. */
  hasSystemd: boolean;
  /** True if the machine has an address of IPv6. */
  hasIpv6: boolean;
  findListeners: () => Listener[];
  /** Runs a program of the system to its end. The code is 127 if there is none of this name. */
  run: (words: readonly string[]) => Promise<Ran>;
  /** The user of the service; null if there is none yet. */
  findServiceUser: () => Promise<ServiceUser | null>;
  /** Runs a command of this program as the user of the service. */
  runCommand: (words: readonly string[], stdin?: string) => Promise<RanCommand>;
  /** True if the user of the service can read the file. */
  canServiceRead: (file: string) => Promise<boolean>;
  /** Starts the server as the user of the service, in the background. */
  startServer: (variables: Readonly<Record<string, string>>) => Promise<void>;
  /** Asks a process to stop with SIGTERM. */
  stopProcess: (pid: number) => Promise<void>;
};

/** The file into which the server writes its log if there is no systemd. */
export const LOG_FILE = `${DATA_FOLDER}/server.log`;

const MISSING = 127;
/** Folders of programs: a shell of root may have less in its PATH. */
const PROGRAM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export function createMachine({ env }: Pick<Io, "env">): Machine {
  const isExecutable = Bun.main.startsWith("/$bunfs/");
  const machine = { path: (path: string) => path };
  const ownEnv = { PATH: PROGRAM_PATH, LANG: env["LANG"] ?? "C.UTF-8" };

  async function findServiceUser(): Promise<ServiceUser | null> {
    const [uid, gid] = await Promise.all(
      ["-u", "-g"].map((flag) => run(["id", flag, SERVICE_USER])),
    );
    if (uid?.code !== 0 || gid?.code !== 0) return null;
    return { uid: Number(uid.output.trim()), gid: Number(gid.output.trim()) };
  }

  async function requireServiceUser(): Promise<ServiceUser> {
    const user = await findServiceUser();
    if (user === null) throw new Error(`there is no user ${SERVICE_USER}`);
    return user;
  }

  async function run(words: readonly string[]): Promise<Ran> {
    const [name = ""] = words;
    const found = Bun.which(name, { PATH: PROGRAM_PATH });
    if (found === null) return { code: MISSING, output: `there is no program ${name}` };
    const child = Bun.spawn([found, ...words.slice(1)], {
      env: ownEnv,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { code: await child.exited, output: stdout + stderr };
  }

  return {
    ...machine,
    isRoot: userInfo().uid === 0,
    chown: (file, { uid, gid }) => lchownSync(file, uid, gid),
    executable: isExecutable ? readlinkSync("/proc/self/exe") : null,
    hasSystemd: existsSync("/run/systemd/system"),
    hasIpv6: Object.values(networkInterfaces()).some((addresses = []) =>
      addresses.some(({ family }) => family === "IPv6"),
    ),
    findListeners,
    run,
    findServiceUser,

    async runCommand(words, stdin = "") {
      const child = Bun.spawn([serviceExecutable(machine), ...words], {
        ...(await requireServiceUser()),
        env: { ...ownEnv, HOME: DATA_FOLDER, MAILSTEAD_DATA: DATA_FOLDER },
        cwd: "/",
        stdin: Buffer.from(stdin),
        stdout: "pipe",
        stderr: "pipe",
      });
      const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      return { code: await child.exited, stdout, stderr };
    },

    async canServiceRead(file) {
      const user = await requireServiceUser();
      return Bun.spawn(["test", "-r", file], { ...user, env: ownEnv }).exited.then(
        (code) => code === 0,
      );
    },

    async startServer(variables) {
      // The folder is the service's: root must not follow a link in it.
      const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
      const log = openSync(LOG_FILE, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, 0o600);
      const child = spawn(serviceExecutable(machine), ["serve"], {
        ...(await requireServiceUser()),
        env: { ...ownEnv, HOME: DATA_FOLDER, MAILSTEAD_DATA: DATA_FOLDER, ...variables },
        cwd: "/",
        detached: true,
        stdio: ["ignore", log, log],
      });
      child.unref();
    },

    async stopProcess(pid) {
      // The shell has a command of its own for this; the program is not in every small system.
      await run(["sh", "-c", `kill -TERM ${pid}`]);
    },
  };
}
