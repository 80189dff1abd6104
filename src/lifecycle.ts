/**
 * Starts and stops the server, and halts it after a storage fault.
 *
 * - `start`: the watchdog, the collection of a grown heap, the check of the clock, the modules in the
 *   order of their list, the timers of recurring work.
 * - `stop`: timers, long requests, HTTP, then the modules in reverse: leasing of mails, the other
 *   workers, the mails under way, sockets, state in memory, and last the leases that did not end.
 * - After a storage fault all modules stop at once. HTTP still answers health checks and requests
 *   that only read, until the process is stopped.
 */

import { isEndOfReads, lacksDescriptors } from "./db/reader.ts";
import type { ClockSteps } from "./clock-steps.ts";
import type { App } from "./core/app.ts";
import { describeFault, recoverySteps } from "./db/fault.ts";
import type { HttpServer } from "./http-server.ts";
import { createHeapGrowth, engineHeap } from "./lib/heap-growth.ts";
import { describeError, type Log } from "./lib/log.ts";
import { type RecurringWork, startTimers, type Timers } from "./lib/recurring.ts";
import type { Module } from "./modules/module.ts";

export function createAppLifecycle(
  { db, log, loopWatch, reader, writer }: App,
  parts: {
    modules: readonly Module[];
    recurring: readonly RecurringWork[];
    clockSteps: ClockSteps;
    server: Pick<HttpServer, "close">;
    /** The log that takes errors also after a storage fault. */
    faultLog: Log;
  },
) {
  const { modules, recurring, clockSteps, server, faultLog } = parts;
  const heapGrowth = createHeapGrowth(engineHeap());
  const backward = modules.toReversed();
  let timers: Timers | null = null;
  /** Set after a storage fault. It resolves when all stopped work has ended. */
  let halted: Promise<unknown> | null = null;

  db.fault.onRaised((fault) => {
    faultLog.error(`nothing is stored or sent any more: ${describeFault(fault)}`, {
      file: fault.file,
      recovery: recoverySteps(fault),
    });
    halted = halt();
  });

  /** Stops all modules at the same time. Their last writes are refused. */
  function halt(): Promise<unknown> {
    stopTimers();
    return Promise.allSettled(backward.map(async (module) => module.stop?.()));
  }

  function stopTimers(): void {
    timers?.stop();
  }

  async function stopModules(): Promise<void> {
    for (const module of backward) await module.stop?.();
    for (const module of backward) await module.close?.();
    for (const module of backward) await module.flush?.();
    await writer.write(clockSteps.note);
  }

  async function closeAfterFault(): Promise<void> {
    await halted;
    for (const module of backward) await module.close?.();
  }

  return {
    /** Reads the files of certificates again. One that cannot be used is logged. */
    async reload(): Promise<void> {
      for (const module of modules) await module.reload?.();
    },

    /** Rejects with StorageFaultError if a module meets a storage fault, also if it handles it. */
    async start(): Promise<void> {
      loopWatch.start();
      heapGrowth.start();
      await clockSteps.start();
      for (const module of modules) {
        await module.start?.();
        // After a fault all modules are stopped already, so one that starts now would never stop.
        db.fault.check();
      }
      timers = startTimers(recurring, {
        begin: (name) => loopWatch.begin("job", name),
        error(name, error) {
          if (isEndOfReads(error) || lacksDescriptors(error)) return;
          log.error("recurring work failed", { name, error: describeError(error) });
        },
      });
    },

    async stop(): Promise<void> {
      stopTimers();
      loopWatch.stop();
      heapGrowth.stop();
      for (const module of backward) module.endRequests?.();
      reader.endReads();
      await server.close();
      if (halted === null) await stopModules();
      else await closeAfterFault();
      await reader.close();
      await writer.drain();
    },
  };
}
