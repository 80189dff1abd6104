/** Sends small requests to a server repeatedly while it does a large task, and measures latency. */

import { quantile } from "./report.ts";

export type Probe = { name: string; send: (number: number) => Promise<Response> };
export type Latencies = { name: string; p50: number; p99: number; max: number; count: number };

export type Probing = {
  /** Stops all probes and returns the latencies of each; throws if a request failed. */
  stop(): Promise<Latencies[]>;
};

/**
 * Starts all probes side by side. Each sends one request at a time and waits `pauseMs` between a
 * response and its next request.
 */
export function startProbes(probes: readonly Probe[], pauseMs: number): Probing {
  const abort = new AbortController();
  const stopping = abort.signal;

  async function run({ name, send }: Probe): Promise<Latencies> {
    const times: number[] = [];
    for (let i = 0; !stopping.aborted; i++) {
      const startedAt = performance.now();
      const response = await send(i);
      await response.arrayBuffer();
      times.push(performance.now() - startedAt);
      if (!response.ok) throw new Error(`${name}: ${response.status}`);
      await Bun.sleep(pauseMs);
    }
    return latencies(name, times);
  }

  const all = Promise.all(probes.map(run));
  all.catch(() => undefined); // `stop` reports the error.
  return {
    stop() {
      abort.abort();
      return all;
    },
  };
}

export function latencies(name: string, times: readonly number[]): Latencies {
  const [p50, p99, max] = [0.5, 0.99, 1].map((q) => quantile(times, q));
  return { name, p50: p50 ?? 0, p99: p99 ?? 0, max: max ?? 0, count: times.length };
}
