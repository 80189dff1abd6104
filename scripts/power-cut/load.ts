/** The work of the server while the power is cut, and the checks of its database afterwards. */

import type { Database } from "bun:sqlite";
import type { Aim } from "../bench/report.ts";

export type Load = {
  /** Arguments of the server. */
  args: readonly string[];
  /** Approximate number of traced system calls, used to spread the cuts over the whole run. */
  steps: number;
  /** Works until all is done. */
  run(server: { port: number }, key: string): Promise<void>;
  /** Notes what the server writes to a socket. */
  noteSend(socket: string, text: string): void;
  /** Checks an undamaged database after a cut. */
  check(sqlite: Database): void;
  /** Prints figures, and returns the aims that `check` measures. */
  report(): Aim[];
  close(): Promise<void>;
};
