// Must be first: Elysia reads NODE_ENV when it loads, and shows internals outside production.
import "./lib/production.ts";
import { runCli } from "./cli/run.ts";

process.exitCode = await runCli(process.argv.slice(2), process.env);
