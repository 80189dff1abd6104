/**
 * Runs `mailstead serve` with a clock that is ahead, so that mail due in an hour is due now:
 * `bun server-ahead.ts MILLISECONDS serve --data FOLDER --port PORT …`
 */

import "../../src/lib/production.ts";
import { createApp } from "../../src/app.ts";
import { readConfig } from "../../src/config/read.ts";
import { lockDataFolder, openDataFolder } from "../../src/db/folder.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openDatabase } from "../../src/db/open.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createLog } from "../../src/lib/log.ts";

const [aheadMs, , ...words] = Bun.argv.slice(2);
const flags = Object.fromEntries(
  words.flatMap((word, i) => (i % 2 === 0 ? [[word.replace(/^--/, ""), words[i + 1] ?? ""]] : [])),
);
const config = readConfig(flags, {});
const folder = openDataFolder(config.data, null);
lockDataFolder(folder.path);
const db = openDatabase(folder.databaseFile);
migrate(db.sqlite);
const app = createApp({
  config,
  db,
  folder: folder.path,
  secret: folder.secret,
  clock: { ...systemClock, now: () => Date.now() + Number(aheadMs) },
  log: createLog({ level: "info", format: "json" }),
});
process.on("SIGTERM", () => {
  void app.stop().then(() => process.exit(0));
});
await app.listen();
await app.start();
