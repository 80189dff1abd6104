import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { type Db, openDatabase } from "../../src/db/open.ts";
import { createSharedChanges } from "../../src/db/shared-changes.ts";
import { createWriter, type Writer } from "../../src/db/writer.ts";
import { createLog } from "../../src/lib/log.ts";
import { settleEventLoop } from "../support/eventually.ts";
import { createRandom } from "../../scripts/seed/random.ts";

let db: Db;
let writer: Writer;
let shared: ReturnType<typeof createSharedChanges>;
beforeEach(() => {
  db = openDatabase(":memory:");
  db.sqlite.run("CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT UNIQUE)");
  writer = createWriter(db, createLog({ level: "debug", format: "json", write: () => {} }));
  shared = createSharedChanges(writer);
});
afterEach(() => db.sqlite.close());

function insert(name: string): string {
  db.sqlite.run("INSERT INTO things (name) VALUES (?)", [name]);
  return name;
}
const names = () =>
  db.sqlite
    .query<{ name: string }, []>("SELECT name FROM things ORDER BY name")
    .all()
    .map(({ name }) => name);

test("changes that are requested together share one change of the writer", async () => {
  const before = writer.requestedWrites();
  const written = await Promise.all(
    ["a", "b", "c"].map((name) => shared.write(() => insert(name))),
  );
  expect(written).toEqual(["a", "b", "c"]);
  expect(names()).toEqual(["a", "b", "c"]);
  expect(writer.requestedWrites() - before).toBe(1);
});

test("at most 64 changes share one", async () => {
  const before = writer.requestedWrites();
  await Promise.all(Array.from({ length: 130 }, (_, i) => shared.write(() => insert(`${i}`))));
  expect(names().length).toBe(130);
  expect(writer.requestedWrites() - before).toBe(3);
});

test("a change that throws is undone alone, and the others are stored once", async () => {
  const results = await Promise.allSettled([
    shared.write(() => insert("a")),
    shared.write(() => {
      insert("b");
      throw new Error("faulty");
    }),
    shared.write(() => insert("c")),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(names()).toEqual(["a", "c"]);
});

test("a change that was undone leaves nothing in a tally or among the effects", async () => {
  const sums: number[] = [];
  const effects: string[] = [];
  const tally = writer.tally<string>((_, sum) => void sums.push(sum));
  const add = (name: string) => () => {
    tally.add("all", 1);
    writer.afterCommit(() => effects.push(name));
    if (name === "faulty") throw new Error(name);
  };
  await Promise.allSettled(["a", "faulty", "b"].map((name) => shared.write(add(name))));
  expect(sums.reduce((total, sum) => total + sum, 0)).toBe(2);
  expect(effects).toEqual(["a", "b"]);
});

test("a storage that refuses the transaction rejects all of its changes, and later ones are stored", async () => {
  db.sqlite.run("PRAGMA max_page_count = 2");
  const big = "x".repeat(100_000);
  const refused = await Promise.allSettled([
    shared.write(() => insert("a")),
    shared.write(() => insert(big)),
  ]);
  const unavailable = expect.objectContaining({ status: 503 });
  expect(refused).toEqual([
    { status: "rejected", reason: unavailable },
    { status: "rejected", reason: unavailable },
  ]);
  expect(names()).toEqual([]);
  db.sqlite.run("PRAGMA max_page_count = 1000");
  await shared.write(() => insert("b"));
  expect(names()).toEqual(["b"]);
});

test("random groups store what a change of its own would store", async () => {
  const random = createRandom(7);
  const expected = new Set<string>();
  for (let round = 0; round < 40; round++) {
    const group = Array.from({ length: 1 + random.integer(90) }, () => ({
      name: `${random.integer(3_000)}`,
      isFaulty: random.integer(50) === 0,
    }));
    const results = await Promise.allSettled(
      group.map(({ name, isFaulty }) =>
        shared.write(() => {
          insert(name);
          if (isFaulty) throw new Error("faulty");
          return name;
        }),
      ),
    );
    group.forEach(({ name, isFaulty }, i) => {
      const isStored = !isFaulty && !expected.has(name);
      expect(results[i]?.status).toBe(isStored ? "fulfilled" : "rejected");
      if (isStored) expected.add(name);
    });
  }
  expect(names()).toEqual([...expected].toSorted());
});

test("after many changes together, further ones wait for the commit of another caller", async () => {
  // On a busy machine the time of a change may be over before it is looked at, but not each time.
  let hasWaited = false;
  for (let round = 0; round < 10 && !hasWaited; round++) {
    const name = (text: string) => `${round} ${text}`;
    await Promise.all(["a", "b", "c", "d"].map((text) => shared.write(() => insert(name(text)))));
    const deferred = shared.write(() => insert(name("e")));
    await settleEventLoop();
    hasWaited = !names().includes(name("e"));
    await writer.write(() => insert(name("f")));
    expect(names()).toContain(name("e"));
    expect(await deferred).toBe(name("e"));
  }
  expect(hasWaited).toBe(true);
});

test("changes that wait are committed without another caller, and when they are many", async () => {
  await Promise.all(["a", "b", "c", "d"].map((name) => shared.write(() => insert(name))));
  expect(await shared.write(() => insert("e"))).toBe("e");
  await Promise.all(["f", "g", "h", "i"].map((name) => shared.write(() => insert(name))));
  const many = Array.from({ length: 24 }, (_, i) => shared.write(() => insert(`many ${i}`)));
  await settleEventLoop();
  expect(names().filter((name) => name.startsWith("many")).length).toBe(24);
  await Promise.all(many);
});

test("a callback that throws repeats no change, and the other callbacks are called once", () => {
  const source = (path: string) => JSON.stringify(join(import.meta.dir, "../../src", path));
  // The error is one that nothing handles, so it needs a process of its own.
  const script = `
    import { openDatabase } from ${source("db/open.ts")};
    import { createSharedChanges } from ${source("db/shared-changes.ts")};
    import { createWriter } from ${source("db/writer.ts")};
    import { silentLog } from ${source("lib/log.ts")};
    const shared = createSharedChanges(createWriter(openDatabase(":memory:"), silentLog));
    const calls = [];
    process.on("unhandledRejection", (error) => {
      console.log(calls.join(), error.message);
      process.exit(0);
    });
    for (const name of ["a", "b", "c"]) {
      shared.add(() => void calls.push("run " + name), {
        resolve() {
          calls.push(name);
          if (name === "b") throw new Error("faulty callback");
        },
        reject: () => calls.push("rejected " + name),
      });
    }`;
  const { stdout } = Bun.spawnSync([process.execPath, "-e", script], { timeout: 10_000 });
  expect(stdout.toString().trim()).toBe("run a,run b,run c,a,b,c faulty callback");
});
