import { expect, test } from "bun:test";
import { createUsageCounter } from "../../src/db/usage-counter.ts";
import { createWriter } from "../../src/db/writer.ts";
import { createEventLog } from "../../src/events/log.ts";
import { silentLog } from "../../src/lib/log.ts";
import { openOutbox } from "../support/outbox.ts";

test("events of the same name are counted for each project and name", async () => {
  const outbox = openOutbox();
  outbox.add({ project: 2 });
  const { db } = outbox;
  const writer = createWriter(db, silentLog, null);
  const { record } = createEventLog({ db, writer, usage: createUsageCounter(db, writer) });
  const add = (projectSeq: number, name: string) =>
    writer.write(() => void record({ projectSeq, name, contactSeq: null, at: 0 }));
  // The row ids of the names are cached after the first round.
  for (let round = 0; round < 2; round++) {
    await Promise.all([add(1, "a"), add(2, "a"), add(1, "b")]);
  }
  const sql = "SELECT project_seq, name, count FROM event_names ORDER BY project_seq, name";
  expect(db.sqlite.query(sql).values()).toEqual([
    [1, "a", 2],
    [1, "b", 2],
    [2, "a", 2],
  ]);
});

test("the name of an event that was refused is added again by the next one", async () => {
  const { db } = openOutbox();
  const writer = createWriter(db, silentLog, null);
  const { record } = createEventLog({ db, writer, usage: createUsageCounter(db, writer) });
  const event = { projectSeq: 1, name: "a", contactSeq: null, at: 0 };
  const refused = writer.write(() => {
    record(event);
    throw new Error("no");
  });
  expect(refused).rejects.toThrow("no");
  await writer.write(() => void record(event));
  expect(db.sqlite.query("SELECT name, count FROM event_names").values()).toEqual([["a", 1]]);
});
