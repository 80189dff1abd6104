/**
 * The time zone of the system, for times of day that an operator chooses. The process itself runs in UTC
 * (production.ts, which imports this file before it changes the variable).
 */

import { readFileSync, readlinkSync } from "node:fs";

const given = process.env["TZ"];
const DATABASE = "zoneinfo/";

/** The name of the zone, such as Europe/Berlin; UTC if the system names none that is known. */
export function systemTimeZone(): string {
  const found = given === undefined || given === "" ? zoneOfFiles() : given.replace(/^:/, "");
  return isKnown(found) ? found : "UTC";
}

/** The variable as the process got it, for processes that it starts. */
export const givenTimeZone = (): string | undefined => given;

/** /etc/localtime is a link into the database of zones. Some systems have the name in /etc/timezone. */
function zoneOfFiles(): string {
  const link = read(() => readlinkSync("/etc/localtime"));
  const at = link.lastIndexOf(DATABASE);
  return at === -1
    ? read(() => readFileSync("/etc/timezone", "utf8")).trim()
    : link.slice(at + DATABASE.length);
}

function read(work: () => string): string {
  try {
    return work();
  } catch {
    return ""; // A system without this file.
  }
}

function isKnown(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
