import { expect, test } from "bun:test";
import { createRefusalLog } from "../../src/http/refusal-log.ts";
import { createLog } from "../../src/lib/log.ts";
import { manualClock } from "../support/clock.ts";

test("logs responses with 503 once per second, with the number of omitted ones", () => {
  const clock = manualClock();
  const lines: unknown[] = [];
  const log = createLog({
    level: "warn",
    format: "json",
    write: (line) => lines.push(JSON.parse(line)),
  });
  const logRefusal = createRefusalLog({ log, elapsed: clock.elapsed });
  logRefusal("first", "The storage is full.");
  for (let i = 0; i < 7; i++) logRefusal("other", "The storage is full.");
  clock.advance(1_000);
  logRefusal("second", "The storage is full.");
  clock.advance(1_000);
  logRefusal("third", "The storage is full.");
  const common = { level: "warn", message: "refused", reason: "The storage is full." };
  expect(lines).toEqual([
    expect.objectContaining({ ...common, requestId: "first" }),
    expect.objectContaining({ ...common, requestId: "second", notLogged: 7 }),
    expect.objectContaining({ ...common, requestId: "third" }),
  ]);
});
