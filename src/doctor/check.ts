/** The types of the doctor's checks and findings, and the text of a finding. */

import type { Relay } from "../protocols/smtp/relay-url.ts";
import type { Config } from "../config/settings.ts";
import type { Dns } from "../protocols/dns/client.ts";
import type { Domain } from "../modules/domains/model.ts";
import type { AcmeState } from "../tls/acme-state.ts";
import type { ReportMailboxState } from "../modules/report-mailboxes/report-mailboxes.ts";
import type { KnownUpdate } from "../modules/updates.ts";
import type { ReportSourceState } from "../modules/relay-reports/sources.ts";

type Level = "ok" | "warn" | "fail";

export type Finding = {
  level: Level;
  /** The subject of the check, such as `port 25`. */
  what: string;
  finding: string;
  /** The recommended fix; null if nothing has to be done. */
  fix: string | null;
  /** The page of the dashboard, in any project or of the server, where it is done; null if there is none. */
  page: FindingPage | null;
};

export type FindingPage = "relay-reports" | "mailboxes" | "server-settings";

/** One check, which may return several findings. */
export type Check = (world: World) => Promise<Finding[]>;

/** Everything outside the process that the checks use, so that tests can replace it. */
export type World = {
  config: Config;
  /** Absolute path of the data folder; null if there is none yet. */
  folder: string | null;
  dns: Dns;
  /** Public addresses of this machine's network interfaces. */
  ownAddresses: () => string[];
  /** Resolves to true if this machine can send mail from the address. */
  isOwnAddress: (address: string) => Promise<boolean>;
  /** Connects and reads the greeting. It has a time limit and never rejects. */
  greet: (address: string, port: number) => Promise<Greeting>;
  /** Milliseconds by which this clock is ahead of a time server; null if none answered. */
  clockAheadMs: () => Promise<number | null>;
  /** A proxy whose clients a limit has refused together; null if there is none. Only a server knows it. */
  refusedProxy: () => Promise<string | null>;
  /** The metrics of the running server; null if it does not answer at its metrics address. */
  metrics: () => Promise<string | null>;
  /** Names and intervals of the server's recurring work. */
  recurring: () => Promise<readonly Interval[]>;
  /** Free space of a folder; null if the folder cannot be examined. */
  freeBytes: (path: string) => number | null;
  /** The current time, in milliseconds since the epoch. */
  now: () => number;
  /** The text of a file; throws if it cannot be read. */
  readText: (file: string) => string;
  /** Unix permissions of a file in the data folder; null if the file does not exist. */
  modeOf: (path: string) => number | null;
  /** Opens and closes a session with the relay. */
  tryRelay: (relay: Relay) => Promise<RelayTrial>;
  /** Decrypts some stored DKIM keys; rejects with a suggestion if the secret is another one. */
  requireReadableKeys: () => Promise<void>;
  /** False if a server has used the database with another secret. */
  isSameSecret: () => Promise<boolean>;
  /** Time since which another process holds the write-ahead log; null if the server saw none. */
  logHeldSince: () => Promise<string | null>;
  /** Since when the queue is held, in milliseconds since the epoch; null if it is not. */
  queueHeldSince: () => Promise<number | null>;
  /** The state of the scheduled backups; null without --backup-to. */
  backups: () => Promise<BackupsFound | null>;
  /** The newer version that a server knows of; null if there is none. */
  knownUpdate: () => Promise<KnownUpdate | null>;
  /** Length of the write-ahead log; null if there is none. */
  logBytes: (folder: string) => number | null;
  /** The stored state of the certificate of --tls acme; null if there is none. */
  acme: () => Promise<AcmeState | null>;
  /** The sources of relay reports of all projects (modules/relay-reports/). */
  reportSources: () => Promise<readonly ReportSourceState[]>;
  /** The mailboxes of reports of all projects (modules/report-mailboxes/). */
  reportMailboxes: () => Promise<readonly ReportMailboxState[]>;
  /** The sending domains of all projects, with the results of a DNS check that runs now. */
  domains: () => Promise<Domain[]>;
};

/** `newestAt` is in milliseconds since the epoch; null if there is no backup. */
export type BackupsFound = { hasKey: boolean; newestAt: number | null };

export type Interval = { name: string; everySeconds: number };

export type Greeting = { ok: true; line: string } | { ok: false; reason: string };

export type RelayTrial =
  | { ok: true; tls: string | null; isAuthenticated: boolean }
  | { ok: false; reason: string; fix: string };

export function ok(what: string, finding: string): Finding {
  return { level: "ok", what, finding, fix: null, page: null };
}

export function warn(what: string, finding: string, fix: string): Finding {
  return { level: "warn", what, finding, fix, page: null };
}

export function fail(what: string, finding: string, fix: string): Finding {
  return { level: "fail", what, finding, fix, page: null };
}

/** Formats a finding as `ok|warn|fail  what: finding — fix`. */
export function lineOf({ level, what, finding, fix }: Finding): string {
  return `${level.padEnd(4)}  ${what}: ${finding}${fix === null ? "" : ` — ${fix}`}`;
}
