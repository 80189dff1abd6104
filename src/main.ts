// This import must be first: Elysia reads NODE_ENV on load, and shows details of errors unless it
// is "production".
import "./lib/production.ts";
import { givenTimeZone } from "./lib/time-zone.ts";

// The files of an installation contain addresses and secrets, so only their owner may read them.
const OWNER_ONLY_UMASK = 0o077;
/** The variable by which the engine is told whether to use its FTL compiler. */
const FTL_VARIABLE = "BUN_JSC_useFTLJIT";

const words = process.argv.slice(2);
if (words[0] === "serve" || words[0] === "dev") executeWithoutFtl();
// The rest of the program is loaded afterwards, so that it is loaded only once.
const { processIo } = await import("./cli/process-io.ts");
const { main } = await import("./cli/run.ts");

process.umask(OWNER_ONLY_UMASK);
const io = processIo();
process.exitCode = await main(words, io);
// Connections of a stopped server, and a request of a command that has no answer, would keep the
// process alive.
if (io.isStopping() || process.exitCode !== 0) process.exit();

/**
 * A server runs without the FTL compiler, the last one of the engine's JIT (docs/benchmarks.md). The
 * engine reads its variables only when it starts, so the executable executes itself once more: the
 * process keeps its number, its streams and its place under a supervisor. If the variable is set, by
 * the user or by the first execution, nothing is executed.
 */
function executeWithoutFtl(): void {
  const { argv0, env, execPath, execve, platform } = process;
  if (env[FTL_VARIABLE] !== undefined || platform !== "linux" || execve === undefined) return;
  if (!Bun.main.startsWith("/$bunfs/")) return;
  try {
    const { TZ: _, ...others } = env;
    const zone = givenTimeZone();
    const given = zone === undefined ? others : { ...others, TZ: zone };
    execve(execPath, [argv0, ...words], { ...given, [FTL_VARIABLE]: "0" });
  } catch (error) {
    const why = String(error);
    process.stderr.write(`the server uses the FTL compiler, as it cannot restart: ${why}\n`);
  }
}
