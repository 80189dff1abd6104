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

  test.each([
    ["Ada", "Ada"],
    ["", ""],
    ["https://acme.test/?a=b", "https://acme.test/?a=b"],
    ["Ada Lovelace", '"Ada Lovelace"'],
    ["Ada key=evil", '"Ada key=evil"'],
    ['a"b', '"a\\"b"'],
    ["a\u2028b\u00a0c", '"a\u2028b\u00a0c"'],
    ["Spring\r\n09:00:00.000 WARN  down", '"Spring  09:00:00.000 WARN  down"'],
    ["x\u001b[2K\u009b31m\u0000\u007f", '"x [2K 31m  "'],
    [{ name: "a\n\u009bb" }, '{"name":"a\\n b"}'],
    [undefined, "undefined"],
  ])("writes the value %j in a text line as %s", (value, text) => {
    const lines: string[] = [];
    const log = createLog({ level: "info", format: "text", write: (line) => lines.push(line) });
    log.info("came", { value });
    expect(lines.map((line) => line.slice(13))).toEqual([`INFO  came value=${text}`]);
  });

  test("writes no control character of a message in a text line", () => {
    const lines: string[] = [];
    const log = createLog({ level: "info", format: "text", write: (line) => lines.push(line) });
    log.info("came\n\u001b[2K");
    expect(lines.map((line) => line.slice(13))).toEqual(["INFO  came  [2K"]);
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
