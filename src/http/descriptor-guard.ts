/**
 * Keeps a server usable when its connections have used up all file descriptors. A listener that
 * cannot accept a connection would be reported as ready again and again, which takes a whole
 * processor. Therefore:
 *
 * 1. The listener is closed. Requests under way are answered, and idle connections are closed.
 * 2. Reserved descriptors are released for the files and sockets that the process itself opens.
 * 3. A substitute server listens on the same address and answers 503. It is closed for one second
 *    whenever its connections have used up the released descriptors.
 * 4. When enough descriptors are free, the reserve is taken again and the listener is opened.
 */

import type { Clock } from "../lib/clock.ts";
import type { DescriptorReserve } from "../lib/descriptors.ts";
import type { Every } from "../lib/intervals.ts";
import type { Log } from "../lib/log.ts";

export type Closable = { close(): void };

type GuardDeps = {
  clock: Pick<Clock, "elapsed">;
  every: Every;
  log: Log;
  reserve: DescriptorReserve;
  hasFreeDescriptor: () => boolean;
  /** Stops and starts accepting connections. `open` throws if it cannot listen. */
  listener: { close(): void; open(): void };
  /** Throws if it cannot listen. */
  openSubstitute: () => Closable;
};

/**
 * Interval between checks. A listener that cannot accept uses a processor for at most this time.
 */
const CHECK_MS = 100;
/** Time without any listener after the substitute has used up the released descriptors. */
const PAUSE_MS = 1_000;
/** Repeated exhaustion within this time is logged as one incident. */
const INCIDENT_MS = 60_000;

export type DescriptorGuard = {
  start(): void;
  /** True while the listener is closed because too few descriptors are free. */
  isExhausted(): boolean;
  stop(): void;
};

export function createDescriptorGuard(deps: GuardDeps): DescriptorGuard {
  const { clock, every, log, reserve, hasFreeDescriptor, listener, openSubstitute } = deps;
  let cancel: (() => void) | null = null;
  let isExhausted = false;
  let substitute: Closable | null = null;
  let pausedUntil = 0;
  let exhaustedAt = -Infinity;
  let isIncidentOver = true;

  function check(): void {
    if (!isExhausted) {
      if (!hasFreeDescriptor()) exhaust();
      else if (!isIncidentOver && clock.elapsed() - exhaustedAt >= INCIDENT_MS) endIncident();
    } else if (reserve.acquire()) recover();
    else if (!hasFreeDescriptor()) pause();
    else if (substitute === null && clock.elapsed() >= pausedUntil)
      substitute = tryOpenSubstitute();
  }

  function exhaust(): void {
    isExhausted = true;
    exhaustedAt = clock.elapsed();
    if (isIncidentOver) {
      isIncidentOver = false;
      log.warn("file descriptors are used up: new connections are refused", {
        advice: "Raise the limit (LimitNOFILE, ulimit -n), or limit connections in the proxy.",
      });
    }
    listener.close();
    reserve.release();
    pausedUntil = clock.elapsed();
    substitute = tryOpenSubstitute();
  }

  function endIncident(): void {
    isIncidentOver = true;
    log.info("file descriptors have been free for a minute");
  }

  function pause(): void {
    substitute?.close();
    substitute = null;
    pausedUntil = clock.elapsed() + PAUSE_MS;
  }

  function recover(): void {
    substitute?.close();
    substitute = null;
    try {
      listener.open();
      isExhausted = false;
    } catch {
      // The address is not free yet, or a descriptor is missing. The next check tries again.
      reserve.release();
    }
  }

  function tryOpenSubstitute(): Closable | null {
    try {
      return openSubstitute();
    } catch {
      return null; // The next check tries again.
    }
  }

  return {
    start() {
      if (!reserve.acquire()) {
        log.warn("too few file descriptors: none can be held in reserve", {});
      }
      cancel = every(CHECK_MS, check);
    },
    isExhausted: () => isExhausted,
    stop() {
      cancel?.();
      substitute?.close();
      reserve.release();
    },
  };
}
