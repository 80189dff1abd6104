/**
 * Kills the server with kill -9 around the minute in which an alert is raised or cleared, and checks that each
 * target was told of each, and again only after a kill.
 *
 * `bun scripts/crash-alerts.ts [--rounds 4] [--binary[=PATH]]`
 *
 * A round makes the backups fail, or succeed again, in the database of the running server, waits for the minute
 * in which the conditions are examined, and kills the server at a random moment of the seconds around it. A
 * webhook and an SMTP relay on this machine are the targets. Prints the counts as JSON. The exit code is 1 if
 * a notice is missing, or if one arrived more often than there were kills.
 */

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { recordBackup, recordBackupFailure } from "../src/backup/state.ts";
import { startSink } from "../test/support/smtp-sink.ts";
import { startWebServer } from "../test/support/web-server.ts";
import { removeFolder, ROOT, type Server, startServer, temporaryFolder } from "./bench/children.ts";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "4" }, binary: { type: "string" } },
});
const rounds = Number(values.rounds);
/** The second of the minute in which the conditions are examined (modules/alerts/alerts.ts). */
const EXAMINED_AT_MS = 23_000;
const MINUTE_MS = 60_000;
/** The kill is up to so long before or after the answer of the first target. */
const AROUND_MS = 400;

const folder = temporaryFolder();
const data = join(folder, "data");
const backups = join(folder, "backups");
const sink = await startSink();
const web = await startWebServer();
const main =
  values.binary === undefined ? [process.execPath, join(ROOT, "src/main.ts")] : [values.binary];
const made = Bun.spawnSync([...main, "project", "create", "Shop", "--data", data]);
if (!made.success) throw new Error(made.stderr.toString());

const start = (): Promise<Server> =>
  startServer({
    binary: values.binary ?? null,
    data,
    args: [
      ["--backup-to", backups, "--operator-email", "ops@operators.test"],
      ["--alert-relay-url", `smtp://127.0.0.1:${sink.port}?tls=none`],
      ["--alert-webhook", `${web.origin}/hook`, "--allow-private-addresses", "true"],
      ["--system-from", "Alerts <alerts@shop.test>", "--weekly-digest", "false"],
    ].flat(),
  });

function setBackup(isFailing: boolean): void {
  const sqlite = new Database(join(data, "mailstead.db"));
  sqlite.run("PRAGMA busy_timeout = 5000");
  const at = Date.now();
  const last = { name: "b", createdAt: at, verifiedAt: at, bytes: 1, sha256: "0" };
  if (isFailing)
    recordBackupFailure({ sqlite }, backups, { at, error: "No space.", suggestion: null });
  else recordBackup({ sqlite }, backups, last);
  sqlite.close();
}

type Notice = { id: string; target: string; isDelivered: number };

function readNotices(): Notice[] {
  const sqlite = new Database(join(data, "mailstead.db"));
  sqlite.run("PRAGMA busy_timeout = 5000");
  const notices = sqlite
    .query<Notice, []>(
      `SELECT alerts.id || '.' || lower(kind) AS id, target, is_delivered AS isDelivered
       FROM alert_notices JOIN alerts ON alerts.seq = alert_seq ORDER BY alert_notices.seq`,
    )
    .all();
  sqlite.close();
  return notices;
}

/** The number of times that the target got the notice. */
function countArrived({ id, target }: Notice): number {
  if (target === "webhook") {
    return web.requests.filter(({ headers }) => headers["webhook-id"] === id).length;
  }
  return sink.messages.filter((message) => Buffer.from(message.data).includes(`<${id}@`)).length;
}

const untilExamined = (): number =>
  (EXAMINED_AT_MS - (Date.now() % MINUTE_MS) + MINUTE_MS) % MINUTE_MS;

let server = await start();
for (let round = 0; round < rounds; round++) {
  setBackup(round % 2 === 0);
  await Bun.sleep(untilExamined() + Math.random() * AROUND_MS);
  await server.crash();
  const before = readNotices();
  server = await start();
  console.log(
    `round ${round + 1}: killed with ${before.length} notices stored, ` +
      `${before.filter(({ isDelivered }) => isDelivered === 1).length} delivered`,
  );
  // A kill before the examination leaves it to the next minute.
  for (const limit = Date.now() + 2 * MINUTE_MS; Date.now() < limit; await Bun.sleep(200)) {
    const notices = readNotices();
    const isWhole = notices.length === 2 * (round + 1);
    if (isWhole && notices.every(({ isDelivered }) => isDelivered === 1)) break;
  }
}
const code = await server.stop();

const notices = readNotices();
const arrived = notices.map(countArrived);
const result = {
  rounds,
  notices: notices.length,
  missing: arrived.filter((count) => count === 0).length,
  repeated: arrived.filter((count) => count > 1).length,
  most: Math.max(...arrived),
};
console.log(JSON.stringify(result));
await Promise.all([sink.close(), web.close()]);
removeFolder(folder);
const isRight = notices.length === 2 * rounds && result.missing === 0 && result.most <= 2;
process.exit(isRight && code === 0 ? 0 : 1);
