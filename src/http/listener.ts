/** Accepts connections for the routes, and goes on when file descriptors were used up. */

import type { AnyElysia } from "elysia";
import type { Clock } from "../lib/clock.ts";
import { createDescriptorReserve, hasFreeDescriptor } from "../lib/descriptors.ts";
import type { Log } from "../lib/log.ts";
import { createDescriptorGuard, type DescriptorGuard } from "./descriptor-guard.ts";
import { openSubstitute } from "./substitute.ts";

/** For what the process opens itself: databases, name servers, mail servers, webhooks, health checks. */
const RESERVED_DESCRIPTORS = 16;

export type Listener = {
  /** Resolves to the port once connections are accepted. */
  open(): Promise<number>;
  /** Resolves once requests under way were answered; no new ones are accepted meanwhile. */
  close(): Promise<void>;
};

export function createListener(deps: {
  http: AnyElysia;
  hostname: string;
  /** 0 takes a free one. */
  port: number;
  clock: Clock;
  log: Log;
}): Listener {
  const { http, hostname, clock, log } = deps;
  let guard: DescriptorGuard | null = null;
  /** Servers that accept no connections any more and may still answer requests. */
  let closing: Promise<void>[] = [];

  function listen(port: number): number {
    http.listen({ hostname, port });
    return http.server?.port ?? port;
  }

  function stopAccepting(): void {
    // Elysia would forget its server only after all of its connections were closed.
    const closed = http.server?.stop(false) ?? Promise.resolve();
    closing.push(closed.then(() => undefined));
  }

  return {
    async open() {
      const port = listen(deps.port);
      guard = createDescriptorGuard({
        clock,
        log,
        reserve: createDescriptorReserve(RESERVED_DESCRIPTORS),
        hasFreeDescriptor,
        listener: { close: stopAccepting, open: () => void listen(port) },
        openSubstitute: () => openSubstitute({ hostname, port, clock, log }),
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
