/**
 * Keeps a server usable when its connections have used up all file descriptors. A listener that can
 * accept nothing is reported as ready again and again, which would take all of a processor, so:
 *
 * 1. The listener is closed. Requests under way are answered, and idle connections are closed.
 * 2. Descriptors from a reserve become free for what the process itself opens.
 * 3. A substitute listens in its place, which answers 503, and is closed for a while whenever its own
 *    connections use up the reserve.
 * 4. Once enough descriptors are free, the reserve is taken again and the listener opened.
 */

import type { Clock } from "../lib/clock.ts";
import type { DescriptorReserve } from "../lib/descriptors.ts";
import type { Log } from "../lib/log.ts";

export type Closable = { close(): void };

export type GuardDeps = {
  clock: Clock;
  log: Log;
  reserve: DescriptorReserve;
  hasFreeDescriptor: () => boolean;
  /** Ends and begins accepting connections. `open` throws where it cannot listen. */
  listener: { close(): void; open(): void };
  /** Throws where it cannot listen. */
  openSubstitute: () => Closable;
};

/** Between two looks. A listener that can accept nothing keeps a processor busy for as long. */
const LOOK_MS = 100;
/** How long nothing listens after the substitute used up the reserve as well. */
const PAUSE_MS = 1_000;
/** Exhaustion that comes and goes within this time is one incident in the log. */
const INCIDENT_MS = 60_000;

export type DescriptorGuard = {
  start(): void;
  /** Whether the listener is closed for want of descriptors. */
  isExhausted(): boolean;
  stop(): void;
};

export function createDescriptorGuard(deps: GuardDeps): DescriptorGuard {
  const { clock, log, reserve, hasFreeDescriptor, listener, openSubstitute } = deps;
  let cancel: (() => void) | null = null;
  let isExhausted = false;
  let substitute: Closable | null = null;
  let pausedUntil = 0;
  let exhaustedAt = -Infinity;
  let isIncidentOver = true;

  function look(): void {
    cancel = clock.after(LOOK_MS, look);
    if (!isExhausted) {
      if (!hasFreeDescriptor()) exhaust();
      else if (!isIncidentOver && clock.elapsed() - exhaustedAt >= INCIDENT_MS) endIncident();
    } else if (reserve.acquire()) recover();
    else if (!hasFreeDescriptor()) pause();
    else if (substitute === null && clock.elapsed() >= pausedUntil) substitute = opened();
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
    substitute = opened();
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
      // The address is not free yet, or a descriptor short: the next look tries again.
      reserve.release();
    }
  }

  function opened(): Closable | null {
    try {
      return openSubstitute();
    } catch {
      return null; // As above.
    }
  }

  return {
    start() {
      if (!reserve.acquire()) {
        log.warn("too few file descriptors: the limit leaves nothing in reserve", {});
      }
      cancel = clock.after(LOOK_MS, look);
    },
    isExhausted: () => isExhausted,
    stop() {
      cancel?.();
      substitute?.close();
      reserve.release();
    },
  };
}
