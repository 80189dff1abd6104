/** The contents of the packages of all systems. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "./archives.ts";

export type Package = {
  /** The folder of the sources, a copy of the commit. */
  root: string;
  version: string;
  /** The Unix time of the commit, which all files of the release have. */
  seconds: number;
  executable: Uint8Array;
  /** The licences of Mailstead and of everything in the executable, as text. */
  licences: string;
};

/** The file of the settings, which an administrator changes. */
export const SETTINGS_FILE = "etc/mailstead/environment";
export const PROGRAM_FILE = "usr/bin/mailstead";
export const UNIT_FILE = "usr/lib/systemd/system/mailstead.service";

export function installedFiles({ root, executable }: Package): Entry[] {
  return [
    { path: PROGRAM_FILE, mode: 0o755, content: executable },
    { path: UNIT_FILE, content: packagedUnit(root) },
    {
      path: SETTINGS_FILE,
      mode: 0o640,
      content: readFileSync(join(root, "packaging/environment")),
    },
  ];
}

/** The unit of packaging/ starts the program of an installation without a package. */
function packagedUnit(root: string): string {
  const unit = readFileSync(join(root, "packaging/mailstead.service"), "utf8");
  const packaged = unit.replace("=/usr/local/bin/mailstead ", `=/${PROGRAM_FILE} `);
  if (packaged === unit) throw new Error("the unit does not start /usr/local/bin/mailstead");
  return packaged;
}
