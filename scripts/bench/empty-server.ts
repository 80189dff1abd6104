/**
 * The baseline of start.ts: a server that does nothing but open an SQLite database and answer every
 * request with 200. It is compiled like the executable and takes the same arguments.
 */

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { data: { type: "string" }, port: { type: "string" }, "log-format": { type: "string" } },
  allowPositionals: true,
});
const { data, port } = values;
if (data === undefined || port === undefined) throw new Error("--data and --port are missing");

const sqlite = new Database(join(data, "empty.db"), { create: true });
sqlite.run("PRAGMA journal_mode = WAL");
const tables = sqlite.query<{ count: number }, []>("SELECT count(*) AS count FROM sqlite_schema");

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  fetch: () => new Response(`${tables.get()?.count} tables`),
});
process.on("SIGTERM", () => process.exit(0));
