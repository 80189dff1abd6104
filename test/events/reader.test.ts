import { afterEach, expect, test } from "bun:test";
import { createReader, createSlowestPosition } from "../../src/events/reader.ts";
import { type TestApp, testApp } from "../support/app.ts";

const apps: TestApp[] = [];

afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

/** Starts an application with the events `a`, `b`, `c` of one contact, and two readers. */
async function setUp() {
  const t = await testApp();
  apps.push(t);
  for (const event of ["a", "b", "c"]) {
    await t.call("POST", "/v1/track", { event, email: "ada@example.net", data: { of: event } });
  }
  // Removes the application's own readers.
  t.db.sqlite.run("DELETE FROM readers");
  const [one, two] = ["one", "two"].map((name) => createReader({ db: t.db, name }));
  if (one === undefined || two === undefined) throw new Error("two readers");
  const { writer } = t.app;
  return { t, one, two, writer, slowest: createSlowestPosition(t.db) };
}

const names = (events: { name: string }[]) => events.map(({ name }) => name);

test("a reader reads the log in order, from its position", async () => {
  const { one, two, writer } = await setUp();
  const first = one.read(2);
  expect(first).toMatchObject([
    { name: "contact.subscribed", data: null },
    { name: "a", data: '{"of":"a"}', emailSeq: null },
  ]);
  await writer.write(() => one.advance(first.at(-1)?.seq ?? 0));
  expect(names(one.read(1))).toEqual(["b"]);
  expect(names(one.read(9))).toEqual(["b", "c"]);
  expect(two.read(9).length).toBe(4);
});

test("the position is stored with its change and never moves back", async () => {
  const { one, writer } = await setUp();
  const refused = writer.write(() => {
    one.advance(2);
    throw new Error("refused");
  });
  expect(refused).rejects.toThrow("refused");
  await refused.catch(() => {});
  expect(one.place()).toBe(0);
  await writer.write(() => one.advance(3));
  await writer.write(() => one.advance(2));
  expect(one.place()).toBe(3);
});

test("skip ignores existing events and reads later ones", async () => {
  const { t, one, writer } = await setUp();
  await writer.write(() => one.skip());
  expect(one.read(9)).toEqual([]);
  await t.call("POST", "/v1/track", { event: "d", email: "ada@example.net" });
  expect(names(one.read(9))).toEqual(["d"]);
});

test("createSlowestPosition finds the position of the reader that is furthest behind", async () => {
  const { one, two, writer, slowest } = await setUp();
  expect(slowest()).toBe(Infinity);
  await writer.write(() => one.advance(3));
  expect(slowest()).toBe(3);
  await writer.write(() => two.advance(1));
  expect(slowest()).toBe(1);
});
