/**
 * Accepts connections for the routes, and recovers when the process runs out of file descriptors.
 */

import type { AnyElysia } from "elysia";
import type { Clock } from "../lib/clock.ts";
import { createDescriptorReserve, hasFreeDescriptors } from "../lib/descriptors.ts";
import { every } from "../lib/intervals.ts";
import type { Log } from "../lib/log.ts";
import { createDescriptorGuard, type DescriptorGuard } from "./descriptor-guard.ts";
import { openSubstitute } from "./substitute.ts";

/** Descriptors for databases, name servers, mail servers, webhooks and health checks. */
const RESERVED_DESCRIPTORS = 16;
const NO_DESCRIPTORS =
  "All file descriptors of the process are in use, so it cannot accept more connections.";

type Listener = {
  /** Resolves to the port when connections are accepted. */
  open(): Promise<number>;
  /** Accepts no new requests, and resolves after the requests under way were answered. */
  close(): Promise<void>;
};

export function createListener(deps: {
  http: AnyElysia;
  hostname: string;
  /** 0 means any free port. */
  port: number;
  clock: Clock;
  log: Log;
}): Listener {
  const { http, hostname, clock, log } = deps;
  let guard: DescriptorGuard | null = null;
  /** Servers that no longer accept connections but may still answer requests. */
  let closing: Promise<void>[] = [];

  function listen(port: number): number {
    http.listen({ hostname, port });
    return http.server?.port ?? port;
  }

  function stopAccepting(): void {
    // This does not use Elysia's `stop`, which drops its server only after all connections closed.
    const closed = http.server?.stop(false) ?? Promise.resolve();
    closing.push(closed.then(() => undefined));
  }

  return {
    async open() {
      const port = listen(deps.port);
      guard = createDescriptorGuard({
        clock,
        every,
        log,
        reserve: createDescriptorReserve(RESERVED_DESCRIPTORS),
        hasFreeDescriptor: () => hasFreeDescriptors(1),
        listener: { close: stopAccepting, open: () => void listen(port) },
        openSubstitute: () => openSubstitute({ hostname, port, clock, message: NO_DESCRIPTORS }),
      });
      guard.start();
      return port;
    },
    async close() {
      guard?.stop();
      stopAccepting();
      await Promise.all(closing);
      closing = [];
    },
  };
}
