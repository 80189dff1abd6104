/** The thread of the parser, from outside. */

import { expect, test } from "bun:test";
import { systemClock } from "../../../../src/lib/clock.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { createParser, ParserError } from "../../../../src/modules/inboxes/parsing/parser.ts";

const MESSAGES = [{ raw: Buffer.from("From: a@example.com\r\n\r\nHi"), recipients: [] }];

test("a parser that is closed refuses the tasks that it has, and later ones", async () => {
  const parser = createParser({ clock: systemClock, log: silentLog });
  const refused = [parser.index(MESSAGES), parser.index(MESSAGES)];
  const closed = parser.close();
  for (const task of [...refused, parser.index(MESSAGES)]) {
    expect(await task.catch((error: unknown) => error)).toBeInstanceOf(ParserError);
  }
  await closed;
});
