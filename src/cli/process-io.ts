/** The `Io` of a command that runs in a process of its own. */

import { relative } from "node:path";
import { isatty } from "node:tty";
import type { Io } from "./io.ts";

const [STDIN, STDOUT, STDERR] = [0, 1, 2] as const;
const EXIT_INTERRUPTED = 130;

/** `isStopping` returns true after the process was asked to stop. */
export function processIo(): Io & { isStopping(): boolean } {
  let isStopping = false;
  return {
    stdin: { isTerminal: isatty(STDIN), stream: () => Bun.stdin.stream(), showTyping },
    stdout: {
      isTerminal: isatty(STDOUT),
      line: (text) => console.log(text),
      write: (text) => write(process.stdout, text),
    },
    stderr: {
      isTerminal: isatty(STDERR),
      line: (text) => console.error(text),
      write: (text) => write(process.stderr, text),
    },
    env: process.env,
    cwd: process.cwd(),
    program: programName(),
    isStopping: () => isStopping,

    /** A second signal ends the process at once. */
    untilStopped() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const onSignal = () => {
        if (isStopping) process.exit(EXIT_INTERRUPTED);
        isStopping = true;
        resolve();
      };
      process.on("SIGTERM", onSignal);
      process.on("SIGINT", onSignal);
      return promise;
    },

    onReload,

    onEnd(cleanUp) {
      process.on("exit", cleanUp);
      process.once("SIGHUP", () => process.kill(process.pid, "SIGTERM"));
    },

    onUnhandledError(isFatal) {
      const endIf = (isEnd: boolean) => {
        if (isEnd) process.exit(1);
      };
      process.on("uncaughtException", (error) => endIf(isFatal(error, "exception")));
      process.on("unhandledRejection", (error) => endIf(isFatal(error, "rejection")));
    },

    endStart,

    // The runtime closes its databases on every other end of a process.
    async kill() {
      await write(process.stderr, "");
      process.kill(process.pid, "SIGKILL");
    },
  };
}

function endStart(): void {
  // It takes about 10 ms. A campaign then takes 30 MiB less. Later, code in use would be released too,
  // and compiled again.
  Bun.shrink();
  // The executable starts with a policy that compiles little (scripts/build.ts).
  Bun.unsafe.setJITPolicy(1);
}

function onReload(run: () => void): () => void {
  if ([STDIN, STDOUT, STDERR].some((stream) => isatty(stream))) return () => {};
  process.on("SIGHUP", run);
  return () => process.off("SIGHUP", run);
}

function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve) => stream.write(text, () => resolve()));
}

let isTypingHidden = false;

function showTyping(isShown: boolean): void {
  if (isShown === !isTypingHidden) return;
  if (!isTypingHidden) process.on("exit", () => showTyping(true));
  isTypingHidden = !isShown;
  Bun.spawnSync(["stty", isShown ? "echo" : "-echo"], { stdin: "inherit" });
}

function programName(): string {
  const runtime = shortest(process.execPath);
  const script = Bun.main.endsWith("main.ts") && !Bun.main.includes("$bunfs") ? Bun.main : null;
  return script === null ? runtime : `${runtime} ${relative(process.cwd(), script)}`;
}

/** The name of a program in PATH, or else its path. */
function shortest(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (Bun.which(name) === path) return name;
  const fromHere = relative(process.cwd(), path);
  if (fromHere.startsWith("..")) return path;
  return fromHere.includes("/") ? fromHere : `./${fromHere}`;
}
