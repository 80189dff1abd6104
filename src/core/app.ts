/**
 * The application: configuration, database, clock and log. It is the first argument of every
 * function that reads or changes something: `addSuppression(app, projectSeq, email, entry)`. Tests
 * create it with a database in memory, a clock that they set, and DNS that does not leave the
 * machine.
 *
 * It has only what belongs to no noun. State of a noun, such as a cache or a dispatcher, is made with
 * `perApp` (lib/per-app.ts) beside the functions that use it.
 */

import type { SettingSources } from "../config/read.ts";
import type { Config } from "../config/settings.ts";
import type { Db } from "../db/open.ts";
import type { DatabaseReader } from "../db/reader.ts";
import type { UsageCounter } from "../db/usage-counter.ts";
import type { Writer } from "../db/writer.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { LoopWatch } from "../lib/loop-watch.ts";
import type { References } from "../lib/references.ts";
import type { DkimKeyPair } from "../protocols/dkim/keys.ts";
import type { Dns } from "../protocols/dns/client.ts";
import type { FetchGuarded } from "../protocols/fetch-guarded/fetch-guarded.ts";

export type App = {
  /**
   * Only an App and copies of it have this member. Without it, an object that merely contains the
   * members of an App, such as the store of a command, would be taken for one, and `perApp` would keep other state for it.
   */
  isApp: true;
  /** It is replaced by another object when an owner changes a setting (modules/settings/). */
  config: Config;
  /** The flags, variables and files that the settings come from. */
  settings: SettingSources;
  /** Folder of the database; null if it is in memory. */
  folder: string | null;
  /** Keys for signatures are derived from it. */
  secret: string;
  clock: Clock;
  log: Log;
  random: () => number;
  /** For reads that end soon: a row by its key, or a page in the order of an index. */
  db: Db;
  /** For reads that may look at many rows, in threads. */
  reader: DatabaseReader;
  /** For changes. A function that writes is called inside `writer.write`. */
  writer: Writer;
  /** Counts what each project stores. */
  usage: UsageCounter;
  /** Asks all nouns what uses an object. */
  references: References;
  dns: Dns;
  fetchGuarded: FetchGuarded;
  loopWatch: LoopWatch;
  /** Base of links to this server. */
  url: string;
  /** Signs the links of recipients. */
  linkKey: Uint8Array;
  /** Base of tracked links. */
  trackingUrl: string;
  /** Signs tracked links. */
  trackingKey: Uint8Array;
  /** Signs the addresses that receive bounces. */
  returnPathKey: Uint8Array;
  /** True in `mailstead dev`: inboxes need no key on this machine (http/local-access.ts). */
  hasOpenInboxes: boolean;
  makeDkimKeys: () => Promise<DkimKeyPair[]>;
  /** Parameters of Argon2id for new passwords: memory in KiB, and passes over it. */
  passwordCost: { memoryCost: number; timeCost: number } | undefined;
};
