/**
 * `GET /metrics` in the Prometheus text format 0.0.4, on a listener of its own (`--metrics`), so
 * that the public address never shows it. It needs no key: bind it to loopback or a private
 * network.
 */

import { hasTwoHosts } from "./host-header.ts";
import type { HoldReport } from "./loop-watch.ts";

export type MetricsAddress = { host: string; port: number };

type Sample = { suffix?: string; labels?: Readonly<Record<string, string>>; value: number };

export type Metric = {
  name: string;
  help: string;
  type: "counter" | "gauge" | "histogram";
  samples: readonly Sample[];
};

/** Writes metrics in the text format. Label values are escaped as the format demands. */
export function metricsText(metrics: readonly Metric[]): string {
  return metrics
    .map(({ name, help, type, samples }) =>
      [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} ${type}`,
        ...samples.map(
          ({ suffix = "", labels = {}, value }) => `${name}${suffix}${labelText(labels)} ${value}`,
        ),
        "",
      ].join("\n"),
    )
    .join("");
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

export function gauge(name: string, help: string, value: number): Metric {
  return { name, help, type: "gauge", samples: [{ value }] };
}

/** A counter with one label; `counts` maps the label's values to totals. */
export function counter(
  name: string,
  help: string,
  label: string,
  counts: ReadonlyMap<string, number>,
): Metric {
  const samples = [...counts].map(([value, count]) => ({
    labels: { [label]: value },
    value: count,
  }));
  return { name, help, type: "counter", samples };
}

/** Holds of the event loop as a histogram in seconds, with the recent maximum as a gauge. */
export function holdMetrics(report: HoldReport): Metric[] {
  const name = "mailstead_event_loop_held_seconds";
  const buckets = report.buckets.map(({ leMs, count }) => ({
    suffix: "_bucket",
    labels: { le: String(leMs / 1000) },
    value: count,
  }));
  return [
    {
      name,
      help: "Times for which the event loop was held above 50 ms.",
      type: "histogram",
      samples: [
        ...buckets,
        { suffix: "_bucket", labels: { le: "+Inf" }, value: report.count },
        { suffix: "_sum", value: report.sumMs / 1000 },
        { suffix: "_count", value: report.count },
      ],
    },
    gauge(
      RECENT_HOLD,
      "Longest time for which the event loop was held in the last ten minutes.",
      report.recentMaxMs / 1000,
    ),
  ];
}

/** The gauge that `mailstead doctor` reads. */
export const RECENT_HOLD = "mailstead_event_loop_held_recent_max_seconds";

/** Reads the value of a metric without labels from a text of this format; null if it is missing. */
export function metricValue(text: string, name: string): number | null {
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  const value = line === undefined ? Number.NaN : Number(line.slice(name.length + 1));
  return Number.isFinite(value) ? value : null;
}

/** The metrics cannot be served on their address. */
export class MetricsAddressError extends Error {}

/** Serves the metrics that `read` returns. Throws MetricsAddressError if it cannot listen. */
export function serveMetrics(address: MetricsAddress, read: () => readonly Metric[]) {
  try {
    return listen(address, read);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const text = `cannot listen on ${address.host}:${address.port} for the metrics (${why})`;
    throw new MetricsAddressError(text, { cause: error });
  }
}

function listen(address: MetricsAddress, read: () => readonly Metric[]) {
  return Bun.serve({
    hostname: address.host,
    port: address.port,
    fetch(request) {
      if (hasTwoHosts(request)) return new Response("Two Host headers\n", { status: 400 });
      const { pathname } = new URL(request.url);
      if (pathname !== "/metrics") return new Response("Not found\n", { status: 404 });
      if (request.method !== "GET" && request.method !== "HEAD") {
        return new Response("Method not allowed\n", {
          status: 405,
          headers: { Allow: "GET, HEAD" },
        });
      }
      return new Response(metricsText(read()), {
        headers: { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" },
      });
    },
  });
}
