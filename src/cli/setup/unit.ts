/** The unit of systemd: that of a package, or the one in this executable. */

import { existsSync, readFileSync } from "node:fs";
import unitText from "../../../packaging/mailstead.service" with { type: "text" };

/** The path of a file of the system. */
type FilePaths = { path: (path: string) => string };

/** The user and group of the service, as in the unit. */
export const SERVICE_USER = "mailstead";
export const DATA_FOLDER = "/var/lib/mailstead";

const SERVICE_UNIT = "mailstead.service";
/** The folder into which packages install units. */
const PACKAGED_UNITS = [
  `/usr/lib/systemd/system/${SERVICE_UNIT}`,
  `/lib/systemd/system/${SERVICE_UNIT}`,
] as const;

export const UNIT_FILE = `/etc/systemd/system/${SERVICE_UNIT}`;
export const DROP_IN_FILE = `/etc/systemd/system/${SERVICE_UNIT}.d/setup.conf`;
export const UNIT_TEXT: string = unitText;

/** The unit that a package has installed; null if there is none. */
export function packagedUnit(files: FilePaths): string | null {
  return PACKAGED_UNITS.find((file) => existsSync(files.path(file))) ?? null;
}

/** The executable that the service runs. */
export function serviceExecutable(files: FilePaths): string {
  const packaged = packagedUnit(files);
  const text = packaged === null ? UNIT_TEXT : readFileSync(files.path(packaged), "utf8");
  return /^ExecStart=(\S+)/m.exec(text)?.[1] ?? "/usr/local/bin/mailstead";
}
