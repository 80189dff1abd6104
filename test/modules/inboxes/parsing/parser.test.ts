/** The thread of the parser, from outside. */

import { afterAll, describe, expect, test } from "bun:test";
import { systemClock } from "../../../../src/lib/clock.ts";
import { manualClock } from "../../../support/clock.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { createParser, ParserError } from "../../../../src/modules/inboxes/parsing/parser.ts";

const MESSAGES = [{ raw: Buffer.from("From: a@example.com\r\n\r\nHi"), recipients: [] }];

test("a parser that is closed refuses the tasks that it has, and later ones", async () => {
  const parser = createParser({ clock: systemClock, log: silentLog });
  const refused = [parser.index(MESSAGES, "a"), parser.index(MESSAGES, "a")];
  const closed = parser.close();
  for (const task of [...refused, parser.index(MESSAGES, "a")]) {
    expect(await task.catch((error: unknown) => error)).toBeInstanceOf(ParserError);
  }
  await closed;
});

describe("senders", () => {
  const clock = manualClock();
  const parser = createParser({ clock, log: silentLog });
  afterAll(() => parser.close());

  /** Starts tasks of these senders at once, and resolves to the order of their ends. */
  async function endsOf(senders: readonly string[]): Promise<string[]> {
    const ends: string[] = [];
    const run = (sender: string) => parser.index(MESSAGES, sender).then(() => ends.push(sender));
    await Promise.all(senders.map(run));
    return ends;
  }

  test("take turns, one task each", async () => {
    expect(await endsOf(["a", "a", "a", "a", "b", "c", "b"])).toEqual("abcabaa".split(""));
  });

  test("whose task took too long come last for ten minutes", async () => {
    const slow = parser.index(MESSAGES, "slow");
    const others = endsOf(["slow", "slow", "good", "good"]);
    clock.advance(20_000);
    expect(await slow.catch((error: Error) => error.message)).toBe(
      "The message cannot be parsed: it took too long.",
    );
    expect(await others).toEqual(["good", "good", "slow", "slow"]);
    expect(parser.isSlow("slow")).toBe(true);
    clock.advance(10 * 60_000);
    expect(parser.isSlow("slow")).toBe(false);
  });

  test("get a fifth of the time, if others wait all the time", async () => {
    const slow = parser.index(MESSAGES, "slow");
    clock.advance(20_000);
    expect(await slow.catch(() => "ended")).toBe("ended");
    const tasks = ["good", "good", "slow", "good"];
    clock.advance(79_000);
    expect(await endsOf(tasks)).toEqual(["good", "good", "good", "slow"]);
    const again = parser.index(MESSAGES, "slow");
    clock.advance(20_000);
    expect(await again.catch(() => "ended")).toBe("ended");
    clock.advance(80_000);
    expect(await endsOf(tasks)).toEqual(["good", "slow", "good", "good"]);
  });

  test("have a task that took long tried again, with more time", async () => {
    const raw = Buffer.from("From: a@example.com\r\n\r\nHi");
    const read = parser.read(raw, "large");
    clock.advance(5_000);
    expect(parser.isSlow("large")).toBe(true);
    expect(await read).toMatchObject({ text: "Hi" });
    const hostile = parser.read(raw, "hostile");
    clock.advance(5_000);
    clock.advance(20_000);
    expect(await hostile).toBeNull();
  });
});
