import { describe, expect, test } from "bun:test";
import {
  createLog,
  describeError,
  LOG_LEVELS,
  type LogFormat,
  type LogLevel,
} from "../../src/lib/log.ts";

function logged(level: LogLevel, format: LogFormat): string[] {
  const lines: string[] = [];
  const now = () => Date.parse("2026-03-02T10:00:00.123Z");
  const log = createLog({ level, format, now, write: (line) => lines.push(line) });
  log.debug("looked", { a: 1 });
  log.info("came", { name: "Ada", list: [1], none: null });
  log.warn("grew");
  log.error("fell", { error: "deep\nstack" });
  return lines;
}

describe("the log", () => {
  test("omits messages below its level", () => {
    const counts = LOG_LEVELS.map((level) => [level, logged(level, "json").length]);
    expect(Object.fromEntries(counts)).toEqual({ debug: 4, info: 3, warn: 2, error: 1, silent: 0 });
  });

  test("writes one JSON object per line, with fields of any type", () => {
    const lines = logged("debug", "json");
    for (const line of lines) expect(line).not.toContain("\n");
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
      { time: "2026-03-02T10:00:00.123Z", level: "debug", message: "looked", a: 1 },
      {
        time: "2026-03-02T10:00:00.123Z",
        level: "info",
        message: "came",
        name: "Ada",
        list: [1],
        none: null,
      },
      { time: "2026-03-02T10:00:00.123Z", level: "warn", message: "grew" },
      { time: "2026-03-02T10:00:00.123Z", level: "error", message: "fell", error: "deep\nstack" },
    ]);
  });

  test("writes text lines", () => {
    expect(logged("debug", "text")[1]).toBe("10:00:00.123 INFO  came name=Ada list=[1] none=null");
  });
});

test("describeError includes the stack and all causes; other values become text", () => {
  const error = new Error("outer", { cause: new TypeError("inner", { cause: "the root" }) });
  const text = describeError(error);
  expect(text).toMatch(/Error: outer[^]*log\.test\.ts[^]* <- TypeError: inner[^]* <- the root$/);
  expect([describeError("text"), describeError(undefined), describeError(5)]).toEqual([
    "text",
    "undefined",
    "5",
  ]);
});
