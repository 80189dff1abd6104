/** What the doctor looks at, and how it tells what it found. */

import type { Config } from "../../config.ts";
import type { Dns } from "../../protocols/dns/client.ts";
import type { Domain } from "../../modules/domains/model.ts";

export type Level = "ok" | "warn" | "fail";

export type Finding = {
  level: Level;
  /** What was looked at, such as `port 25`. */
  what: string;
  finding: string;
  /** What to do about it; null where nothing has to be done. */
  mend: string | null;
};

/** One look; it may find several things. */
export type Check = (world: World) => Promise<Finding[]>;

/** Everything outside that checks ask, so that tests can answer. */
export type World = {
  config: Config;
  /** Absolute; null if there is no data folder yet. */
  folder: string | null;
  dns: Dns;
  /** Public addresses of this machine's network interfaces. */
  ownAddresses: () => string[];
  /** Whether mail can leave from it. */
  isOwnAddress: (address: string) => Promise<boolean>;
  /** Connects and hears the first line. Bounded in time; never rejects. */
  greet: (address: string, port: number) => Promise<Greeting>;
  /** Milliseconds by which our clock is ahead of the world's; null if nobody could be asked. */
  clockAheadMs: () => Promise<number | null>;
  /** What the running server answers at its metrics address; null if it does not answer. */
  metrics: () => Promise<string | null>;
  /** Null where the folder cannot be examined. */
  freeBytes: (path: string) => number | null;
  /** Unix permissions of a file in the data folder; null if it is not there. */
  modeOf: (path: string) => number | null;
  /** Opens and closes a session with the relay; what stood in the way, or null. */
  tryRelay: () => Promise<RelayTrial>;
  /** Opens some stored DKIM keys; rejects with what to do if they were sealed otherwise. */
  requireReadableKeys: () => Promise<void>;
  /** Sending domains of all projects, with what the DNS says now. */
  domains: () => Promise<Domain[]>;
};

export type Greeting = { ok: true; line: string } | { ok: false; reason: string };

export type RelayTrial =
  { ok: true; tls: string | null; isAuthenticated: boolean } | { ok: false; reason: string };

export function ok(what: string, finding: string): Finding {
  return { level: "ok", what, finding, mend: null };
}

export function warn(what: string, finding: string, mend: string): Finding {
  return { level: "warn", what, finding, mend };
}

export function fail(what: string, finding: string, mend: string): Finding {
  return { level: "fail", what, finding, mend };
}

/** `ok|warn|fail  what: finding — mend` */
export function lineOf({ level, what, finding, mend }: Finding): string {
  return `${level.padEnd(4)}  ${what}: ${finding}${mend === null ? "" : ` — ${mend}`}`;
}
