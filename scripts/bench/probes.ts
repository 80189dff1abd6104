/** Asks a server for small things again and again, one request at a time, while it does a large one. */

import { quantile } from "./report.ts";

export type Probe = { name: string; send: (number: number) => Promise<Response> };
export type Latencies = { name: string; p50: number; p99: number; max: number; count: number };

export type Probing = {
  /** Ends it; what was measured of each. */
  stop(): Promise<Latencies[]>;
};

/** Each probe has a line of its own; `pauseMs` lies between an answer and the next request. */
export function startProbes(probes: readonly Probe[], pauseMs: number): Probing {
  const end = new AbortController();
  const stopping = end.signal;

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
  all.catch(() => undefined); // Whoever stops it hears of it.
  return {
    stop() {
      end.abort();
      return all;
    },
  };
}

export function latencies(name: string, times: readonly number[]): Latencies {
  const [p50, p99, max] = [0.5, 0.99, 1].map((q) => quantile(times, q));
  return { name, p50: p50 ?? 0, p99: p99 ?? 0, max: max ?? 0, count: times.length };
}
