/** The command `mailstead version`. */

import { REVISION, VERSION } from "../lib/version.ts";
import type { Command } from "./command.ts";
import { print } from "./store.ts";

export const version: Command = {
  name: "version",
  summary: "Show the version",
  positionals: [],
  flags: [],
  settings: [],
  run: async (input) => {
    const build = REVISION === "" ? "" : ` (${REVISION})`;
    return print(
      input,
      { version: VERSION, revision: REVISION || null, bun: Bun.version },
      `mailstead ${VERSION}${build}, Bun ${Bun.version}`,
    );
  },
};
