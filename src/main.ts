// This import must be first: Elysia reads NODE_ENV on load, and shows details of errors unless it
// is "production".
import "./lib/production.ts";
import { processIo } from "./cli/process-io.ts";
import { main } from "./cli/run.ts";

// The files of an installation contain addresses and secrets, so only their owner may read them.
const OWNER_ONLY_UMASK = 0o077;

process.umask(OWNER_ONLY_UMASK);
const io = processIo();
process.exitCode = await main(process.argv.slice(2), io);
// Connections that a stopped server has to others would keep the process alive.
if (io.isStopping()) process.exit();
