/** The metrics of a running server, which `GET /metrics` shows. */

import type { HoldReport } from "./lib/loop-watch.ts";
import { counter, gauge, holdMetrics, type Metric } from "./lib/metrics.ts";
import { VERSION } from "./lib/version.ts";

type MetricsSource = {
  holds: HoldReport;
  /** Mails recorded since the start, by the kind of their outcome. */
  outcomes: ReadonlyMap<string, number>;
  /** Responses since the start, by status. */
  responses: ReadonlyMap<string, number>;
  /** Due time of the earliest mail that may leave; null if no mail waits. */
  nextDueAt: number | null;
  /** Time for which due mail has not moved although nothing pauses it. */
  stalledMs: number;
  isStorageHealthy: boolean;
  /** Bytes of the request bodies that are being received or processed. */
  bodyBytes: number;
  /** End of the certificate of HTTPS, in milliseconds; null if there is none. */
  certificateEndsAt: number | null;
  /** A newer version that is known; null if there is none. */
  knownUpdate: string | null;
  /** The number of open alerts of each condition. */
  alerts: ReadonlyMap<string, number>;
  /** Wall clock, in milliseconds. */
  now: number;
};

export function metricsOf(source: MetricsSource): Metric[] {
  const { nextDueAt, now } = source;
  const overdueMs = nextDueAt === null ? 0 : Math.max(0, now - nextDueAt);
  return [
    {
      name: "mailstead_build_info",
      help: "The version of the executable; the value is always 1.",
      type: "gauge",
      samples: [{ labels: { version: VERSION, bun: Bun.version }, value: 1 }],
    },
    ...holdMetrics(source.holds),
    counter(
      "mailstead_emails_total",
      "Recorded outcomes of mails, by kind of outcome.",
      "outcome",
      source.outcomes,
    ),
    gauge(
      "mailstead_queue_overdue_seconds",
      "Time since the due time of the earliest mail that may leave.",
      overdueMs / 1000,
    ),
    gauge(
      "mailstead_queue_stalled_seconds",
      "Time for which due mail has not moved although nothing pauses it.",
      source.stalledMs / 1000,
    ),
    counter(
      "mailstead_http_responses_total",
      "HTTP responses, by status.",
      "status",
      source.responses,
    ),
    gauge(
      "mailstead_storage_healthy",
      "1 while the database accepts writes, otherwise 0.",
      source.isStorageHealthy ? 1 : 0,
    ),
    gauge(
      "mailstead_http_request_body_bytes",
      "Bytes of the request bodies that are being received or processed.",
      source.bodyBytes,
    ),
    ...certificateMetrics(source.certificateEndsAt),
    updateMetric(source.knownUpdate),
    alertMetric(source.alerts),
    ...processMetrics(now),
  ];
}

function processMetrics(now: number): Metric[] {
  const { user, system } = process.cpuUsage();
  return [
    gauge("process_resident_memory_bytes", "Resident memory.", process.memoryUsage.rss()),
    {
      name: "process_cpu_seconds_total",
      help: "Processor time, user and system.",
      type: "counter",
      samples: [{ value: (user + system) / 1_000_000 }],
    },
    gauge(
      "process_start_time_seconds",
      "Start time of the process, in seconds since the Unix epoch.",
      Math.round(now / 1000 - process.uptime()),
    ),
  ];
}

function alertMetric(alerts: ReadonlyMap<string, number>): Metric {
  const samples = [...alerts].map(([condition, value]) => ({ labels: { condition }, value }));
  const help = "Open alerts, by condition.";
  return { name: "mailstead_alert_active", help, type: "gauge", samples };
}

function certificateMetrics(endsAt: number | null): Metric[] {
  if (endsAt === null) return [];
  const name = "mailstead_certificate_expiry_timestamp_seconds";
  const help = "When the certificate of HTTPS ends, in seconds since the Unix epoch.";
  return [gauge(name, help, Math.round(endsAt / 1000))];
}

function updateMetric(version: string | null): Metric {
  const sample = version === null ? { value: 0 } : { labels: { version }, value: 1 };
  const help = "1 if a newer version is known, with its number, otherwise 0.";
  return { name: "mailstead_update_available", help, type: "gauge", samples: [sample] };
}
