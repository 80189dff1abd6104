/** The work of the server while the power is cut, and the checks of its database afterwards. */

import type { Database } from "bun:sqlite";
import type { Outcome } from "../bench/report.ts";

/** The measurements of an undamaged database after one cut, by name. */
export type Findings = Readonly<Record<string, number>>;

export type Load = {
  /** Arguments of the server. */
  args: readonly string[];
  /** Approximate number of traced system calls, used to spread the cuts over the whole run. */
  steps: number;
  /** Works until all is done. */
  run(server: { port: number }, key: string): Promise<void>;
  /** Notes what the server writes to a socket. */
  noteSend(socket: string, text: string): void;
  /** Compares an undamaged database after a cut with what the server has sent until now. */
  check(sqlite: Database): Findings;
  /** Sums up the findings of all cuts of a disk. */
  report(findings: readonly Findings[]): Outcome;
  close(): Promise<void>;
};

/** The total of one kind of finding. */
export const totalOf = (findings: readonly Findings[], name: string): number =>
  findings.reduce((total, found) => total + (found[name] ?? 0), 0);

export const mostOf = (findings: readonly Findings[], name: string): number =>
  findings.reduce((most, found) => Math.max(most, found[name] ?? 0), 0);
