/**
 * A small program in place of an executable of Mailstead, which answers the commands that an upgrade runs:
 * `bun upgrade-program.ts VERSION FAULT WORDS…`. It adds a migration if its version is 2 or later.
 */

import { Database } from "bun:sqlite";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";

const [version = "", fault = "", command = "", ...words] = process.argv.slice(2);
const dataAt = words.indexOf("--data");
const data = dataAt === -1 ? "" : (words[dataAt + 1] ?? "");

if (command === fault) {
  console.log("fail  it is broken");
  process.exit(1);
}
switch (command) {
  case "version":
    console.log(JSON.stringify({ version }));
    break;
  case "backup": {
    const [folder = ""] = words;
    if (folder === "run") process.exit(process.env["MAILSTEAD_BACKUP_TO"] === "/backup" ? 0 : 1);
    mkdirSync(folder);
    const sqlite = new Database(join(data, "mailstead.db"));
    sqlite.run("VACUUM INTO ?", [join(folder, "mailstead.db")]);
    sqlite.close();
    copyFileSync(join(data, "secret"), join(folder, "secret"));
    break;
  }
  case "migrate": {
    const sqlite = new Database(join(data, "mailstead.db"));
    if (version >= "2") sqlite.run("INSERT OR IGNORE INTO migrations VALUES ('9000_next', 0)");
    sqlite.close();
    break;
  }
  case "check":
    break;
  default:
    console.error(`unknown command ${command}`);
    process.exit(2);
}
