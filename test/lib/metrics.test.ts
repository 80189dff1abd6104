import { rawRequest } from "../support/raw-http.ts";
import { expect, test } from "bun:test";
import { counter, gauge, metricsText, metricValue, serveMetrics } from "../../src/lib/metrics.ts";

test("writes help, type and one line per sample, with escaped labels", () => {
  const counts = new Map([
    ["accepted", 3],
    ['odd "name"\\\n', 1],
  ]);
  expect(
    metricsText([
      gauge("up", "The process is up.", 1),
      counter("mails_total", "Mails.", "end", counts),
    ]),
  ).toBe(
    "# HELP up The process is up.\n# TYPE up gauge\nup 1\n" +
      "# HELP mails_total Mails.\n# TYPE mails_total counter\n" +
      'mails_total{end="accepted"} 3\nmails_total{end="odd \\"name\\"\\\\\\n"} 1\n',
  );
});

test("reads a metric, and returns null if it is missing or not a number", () => {
  const text = "# HELP a b\na 1.5\nab 2\nc NaN\n";
  expect([metricValue(text, "a"), metricValue(text, "b"), metricValue(text, "c")]).toEqual([
    1.5,
    null,
    null,
  ]);
});

test("serves GET and HEAD of /metrics and nothing else", async () => {
  const server = serveMetrics({ host: "127.0.0.1", port: 0 }, () => [gauge("up", "Up.", 1)]);
  try {
    const ask = (path: string, method = "GET") => fetch(new URL(path, server.url), { method });
    const answer = await ask("/metrics");
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(await answer.text()).toEndWith("up 1\n");
    expect((await ask("/metrics", "HEAD")).status).toBe(200);
    expect((await ask("/metrics", "POST")).status).toBe(405);
    expect((await ask("/emails")).status).toBe(404);
    const head = ["GET /metrics HTTP/1.1", "Host: a.example", "Connection: close"];
    expect(await rawRequest({ port: server.port ?? 0, head })).toStartWith("HTTP/1.1 400 ");
  } finally {
    await server.stop(true);
  }
});
