// This import must be first: Elysia reads NODE_ENV on load, and shows details of errors unless it
// is "production".
import "./lib/production.ts";
import { runCli } from "./cli/run.ts";

process.exitCode = await runCli(process.argv.slice(2), process.env);
