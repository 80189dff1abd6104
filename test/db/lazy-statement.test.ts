import type { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { openConnection } from "../../src/db/connection.ts";
import { createFaultLatch } from "../../src/db/fault.ts";
import { createLazyStatement } from "../../src/db/lazy-statement.ts";

let sqlite: Database;
beforeEach(() => {
  sqlite = openConnection(":memory:", createFaultLatch(), { create: true });
  sqlite.run("CREATE TABLE things (name TEXT)");
});
afterEach(() => sqlite.close());

test("a statement is compiled once, when it runs for the first time", () => {
  let compiled = 0;
  const names: string[] = [];
  const lazy = createLazyStatement(() => {
    compiled++;
    return { run: (name: string) => names.push(name), all: () => names };
  });
  const call = (method: string, ...args: unknown[]): unknown => Reflect.get(lazy, method)(...args);
  expect(compiled).toBe(0);
  call("run", "a");
  call("run", "b");
  expect([compiled, call("all")]).toEqual([1, ["a", "b"]]);
});

test("statements of a connection run with all methods, again and again", () => {
  const insert = sqlite.prepare<unknown, [string]>("INSERT INTO things VALUES (?)");
  expect(insert.run("a").changes).toBe(1);
  expect(insert.run("b").changes).toBe(1);
  const select = sqlite.prepare<{ name: string }, []>("SELECT name FROM things ORDER BY name");
  expect(select.get()).toEqual({ name: "a" });
  expect(select.all()).toEqual([{ name: "a" }, { name: "b" }]);
  expect(select.values()).toEqual([["a"], ["b"]]);
});

test("a mistake in the SQL is reported when the statement runs, each time", () => {
  const faulty = sqlite.prepare("SELECT name FROM missing");
  expect(() => faulty.all()).toThrow("no such table");
  expect(() => faulty.get()).toThrow("no such table");
});

test("`finalize` may be called before a statement runs, and after", () => {
  const insert = sqlite.prepare<unknown, [string]>("INSERT INTO things VALUES (?)");
  insert.finalize();
  insert.run("a");
  insert.finalize();
  expect(() => insert.run("b")).toThrow();
});
