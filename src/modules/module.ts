/** The type of the modules in the list of `src/modules.ts`. */

import type { AnyElysia } from "elysia";
import type { App } from "../core/app.ts";
import type { EventInput } from "../events/log.ts";
import type { Admission } from "../http/admission.ts";
import type { Operations } from "../http/operations.ts";
import type { RecurringWork } from "../lib/recurring.ts";
import type { DueShift } from "../lib/steady-clock.ts";

/** One part of the server. All members but the name are optional. */
export type Module = {
  name: string;
  routes?: readonly AnyElysia[];
  recurring?: readonly RecurringWork[];
  /** Functions that run in one change after the clock was set. Each moves stored due times. */
  dueTimes?: readonly ((shift: DueShift) => void)[];
  /** The same for times from which lifetimes of hours count. */
  lifetimes?: readonly ((byMs: number) => void)[];
  /** Polls for due work after the clock was set. */
  wake?: (() => void) | undefined;
  /** Starts its work. The modules start in the order of the list. */
  start?: (() => Promise<void>) | undefined;
  /** Reads the files of the operator again, because the operator has asked for it (SIGHUP). */
  reload?: () => Promise<void>;
  /** Ends requests that last long. Called before the server waits for the requests under way. */
  endRequests?: () => void;
  /** Ends its work. The modules stop in the reverse order; also after a storage fault. */
  stop?: (() => Promise<void>) | undefined;
  /** Waits for work that `stop` let end, then closes sockets. Also called after a storage fault. */
  close?: (() => Promise<void>) | undefined;
  /** Writes state that is only in memory. Called after all modules closed, unless storage failed. */
  flush?: (() => Promise<void>) | undefined;
};

/** The parts that a noun adds to the server. Its functions get the application. */
export type Noun = {
  name: string;
  operations?: Operations;
  /** Routes that do not fit into the table of operations. */
  routes?: (app: App, admission: Admission) => readonly AnyElysia[];
  /** Registers handlers with other nouns, before anything starts. */
  connect?: (app: App) => void;
  recurring?: readonly (Omit<RecurringWork, "run"> & { run: (app: App) => Promise<unknown> })[];
  /** Part of a change: called with every event, after the handlers of nouns before it in the list. */
  onEvent?: (app: App, event: EventInput) => void;
  dueTimes?: readonly ((app: App, shift: DueShift) => void)[];
  wake?: (app: App) => void;
  start?: (app: App) => Promise<void>;
  stop?: (app: App) => Promise<void>;
  close?: (app: App) => Promise<void>;
  flush?: (app: App) => Promise<void>;
};
