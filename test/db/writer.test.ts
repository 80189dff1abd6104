import type { Tally } from "../../src/db/tallies.ts";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type Db, openDatabase } from "../../src/db/open.ts";
import { createWriter, type Writer } from "../../src/db/writer.ts";
import { AppError } from "../../src/lib/errors.ts";
import { createLog } from "../../src/lib/log.ts";
import { settleEventLoop } from "../support/eventually.ts";

let db: Db;
let writer: Writer;
let lines: string[];
beforeEach(() => {
  db = openDatabase(":memory:");
  db.sqlite.run("CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT UNIQUE, body BLOB)");
  lines = [];
  writer = createWriter(
    db,
    createLog({ level: "debug", format: "json", write: (line) => lines.push(line) }),
  );
});
afterEach(() => db.sqlite.close());

const insert = (name: string, body: Uint8Array | null = null) => {
  db.sqlite.run("INSERT INTO things (name, body) VALUES (?, ?)", [name, body]);
  return name;
};
const names = () =>
  db.sqlite
    .query<{ name: string }, []>("SELECT name FROM things ORDER BY id")
    .all()
    .map(({ name }) => name);
const outcome = (promise: Promise<unknown>) =>
  promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
const unavailable = {
  error: expect.objectContaining({ status: 503, code: "SERVICE_UNAVAILABLE" }),
};

describe("a write", () => {
  test("resolves to the value of the change after the commit", async () => {
    const promise = writer.write(() => insert("a"));
    expect(names()).toEqual([]); // The change runs in a later callback of the event loop.
    expect(await promise).toBe("a");
    expect([names(), db.sqlite.inTransaction]).toEqual([["a"], false]);
  });

  test("rejects with the error of the change and undoes its rows", async () => {
    const refusal = new AppError(409, "CONFLICT", "No.");
    const promise = writer.write(() => {
      insert("a");
      throw refusal;
    });
    expect(await outcome(promise)).toEqual({ error: refusal });
    expect([names(), writer.isHealthy()]).toEqual([[], true]);
  });

  test("that violates a constraint fails without making the storage unhealthy", async () => {
    await writer.write(() => insert("a"));
    const { error } = Object(await outcome(writer.write(() => insert("a"))));
    expect(error).toMatchObject({ code: "SQLITE_CONSTRAINT_UNIQUE" });
    expect(writer.isHealthy()).toBe(true);
  });

  test("requested inside a change runs afterwards, independent of that change", async () => {
    const inner: Promise<unknown>[] = [];
    const outer = writer.write(() => {
      inner.push(writer.write(() => insert("inner")));
      insert("outer");
      throw new Error("no");
    });
    await outcome(outer);
    await Promise.all(inner);
    expect(names()).toEqual(["inner"]);
  });
});

describe("writes requested at the same time", () => {
  test("share one transaction: all run before the first is answered", async () => {
    const seen: string[] = [];
    const write = (name: string) =>
      writer.write(() => void seen.push(`run ${name}`)).then(() => seen.push(`answer ${name}`));
    await Promise.all([write("a"), write("b"), write("c")]);
    expect(seen).toEqual(["run a", "run b", "run c", "answer a", "answer b", "answer c"]);
  });

  test("see the rows of earlier changes, and none of refused changes", async () => {
    const results = await Promise.all([
      outcome(writer.write(() => insert("a"))),
      outcome(
        writer.write(() => {
          insert("b");
          throw new Error("refused");
        }),
      ),
      outcome(writer.write(() => names())),
    ]);
    expect(results[2]).toEqual({ value: ["a"] });
    expect(names()).toEqual(["a"]);
  });

  test("keep their order, even if they need several transactions", async () => {
    const order: number[] = [];
    const writes = Array.from({ length: 60 }, (_, i) =>
      writer.write(() => {
        const until = performance.now() + 1; // All of them take much longer than one transaction may.
        while (performance.now() < until);
        order.push(i);
        insert(String(i));
      }),
    );
    await Promise.all(writes);
    expect(order).toEqual(Array.from({ length: 60 }, (_, i) => i));
    expect(names()).toHaveLength(60);
  });

  test("that take long let timers run between two transactions", async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    const writes = Array.from({ length: 40 }, () =>
      writer.write(() => {
        const until = performance.now() + 5;
        while (performance.now() < until);
      }),
    );
    await Promise.all(writes);
    clearInterval(timer);
    expect(ticks).toBeGreaterThanOrEqual(5);
  });

  test("end as a simple model predicts, if they are random", async () => {
    for (let round = 0; round < 40; round++) {
      const model = new Set(names());
      const expected: string[] = [];
      const promises = Array.from({ length: Math.ceil(Math.random() * 30) }, () => {
        const name = `n${Math.floor(Math.random() * 60)}`;
        const isRefused = Math.random() < 0.3;
        const isTaken = model.has(name);
        if (!isRefused && !isTaken) model.add(name);
        expected.push(isTaken ? "taken" : isRefused ? "refused" : name);
        return writer
          .write(() => {
            insert(name);
            if (isRefused) throw new Error("refused");
            return name;
          })
          .catch((error: unknown) =>
            error instanceof Error && error.message === "refused" ? "refused" : "taken",
          );
      });
      expect(await Promise.all(promises)).toEqual(expected);
      expect(new Set(names())).toEqual(model);
    }
  });
});

describe("a deferred change", () => {
  const defer = (name: string, deferMs = 60_000) => writer.write(() => insert(name), { deferMs });

  test("is committed with the next change of another caller", async () => {
    const deferred = defer("a");
    await settleEventLoop();
    expect(names()).toEqual([]);
    await writer.write(() => insert("b"));
    expect(names()).toEqual(["a", "b"]);
    expect(await deferred).toBe("a");
  });

  test("is committed when its time is over", async () => {
    expect(await defer("a", 1)).toBe("a");
  });

  test("is committed after a change that used the whole time of a transaction", async () => {
    const slow = writer.write(() => {
      Bun.sleepSync(15);
      insert("slow");
    });
    const deferred = defer("a", 1);
    await slow;
    expect(names()).toEqual(["slow"]);
    expect(await deferred).toBe("a");
  });

  test("is committed after `hasten`, which does nothing if none waits", async () => {
    writer.hasten();
    const deferred = defer("a");
    writer.hasten();
    expect(await deferred).toBe("a");
    const next = defer("b");
    await settleEventLoop();
    expect(names()).toEqual(["a"]);
    writer.hasten();
    expect(await next).toBe("b");
  });

  test("is committed before `drain` resolves", async () => {
    const deferred = defer("a");
    await writer.drain();
    expect(names()).toEqual(["a"]);
    expect(await deferred).toBe("a");
  });
});

describe("a write that may wait for others", () => {
  const gather = (name: string) => writer.write(() => insert(name), { gatherMs: 60_000 });

  test("does not wait if the last commit had one change", async () => {
    await gather("a");
    expect(await gather("b")).toBe("b");
  });

  test("waits for as many changes as the last commit had", async () => {
    await Promise.all([gather("a"), gather("b")]);
    const third = gather("c");
    await settleEventLoop();
    expect(names()).toEqual(["a", "b"]);
    await Promise.all([third, gather("d")]);
    expect(names()).toEqual(["a", "b", "c", "d"]);
  });

  test("does not wait longer than it may", async () => {
    await Promise.all([gather("a"), gather("b")]);
    await writer.write(() => insert("c"), { gatherMs: 1 });
    expect(names()).toEqual(["a", "b", "c"]);
  });

  test("does not wait with a change that may not", async () => {
    await Promise.all([gather("a"), gather("b"), gather("c")]);
    await Promise.all([gather("d"), writer.write(() => insert("e"))]);
    expect(names()).toEqual(["a", "b", "c", "d", "e"]);
  });

  test("does not wait for more than six", async () => {
    await Promise.all(["a", "b", "c", "d", "e", "f", "g", "h"].map(gather));
    await Promise.all(["i", "j", "k", "l", "m", "n"].map(gather));
    expect(names()).toHaveLength(14);
  });
});

describe("afterCommit", () => {
  test("runs after the commit and can read the committed rows", async () => {
    let seen: unknown;
    await writer.write(() => {
      insert("a");
      writer.afterCommit(() => {
        seen = [names(), db.sqlite.inTransaction];
      });
    });
    expect(seen).toEqual([["a"], false]);
  });

  test("does not run for a refused change", async () => {
    const ran: string[] = [];
    const refused = writer.write(() => {
      writer.afterCommit(() => ran.push("refused"));
      throw new Error("no");
    });
    const good = writer.write(() => writer.afterCommit(() => ran.push("good")));
    await Promise.all([outcome(refused), good]);
    expect(ran).toEqual(["good"]);
  });

  test("does not run if the storage failed", async () => {
    const ran: string[] = [];
    const good = writer.write(() => writer.afterCommit(() => ran.push("good")));
    const failing = writer.write(() => {
      db.sqlite.run("PRAGMA query_only = ON");
      insert("a");
    });
    expect(await Promise.all([outcome(good), outcome(failing)])).toEqual([
      unavailable,
      unavailable,
    ]);
    expect(ran).toEqual([]);
  });

  test("that throws is logged, and all committed changes are answered", async () => {
    const first = writer.write(() => {
      writer.afterCommit(() => {
        throw new Error("the effect failed");
      });
      return insert("a");
    });
    const second = writer.write(() => insert("b"));
    expect(await Promise.all([outcome(first), outcome(second)])).toEqual([
      { value: "a" },
      { value: "b" },
    ]);
    expect(writer.isHealthy()).toBe(true);
    expect(lines.join()).toContain("the effect failed");
  });

  test("throws outside a change", () => {
    expect(() => writer.afterCommit(() => {})).toThrow("outside a change");
  });
});

describe("a tally", () => {
  let written: [key: string, sum: number][];
  let tally: Tally<string>;
  const add = (key: string, amount: number) => tally.add(key, amount);
  beforeEach(() => {
    written = [];
    tally = writer.tally<string>((key, sum) => {
      written.push([key, sum]);
      insert(`${key} ${sum}`);
    });
  });

  test("is written once for each key, in the transaction of its additions", async () => {
    const writes = [1, 2, 3].map((amount) =>
      writer.write(() => {
        add("x", amount);
        if (amount === 2) add("y", 10);
        insert(String(amount));
      }),
    );
    await Promise.all(writes);
    expect(written).toEqual([
      ["x", 6],
      ["y", 10],
    ]);
    expect(names()).toEqual(["1", "2", "3", "x 6", "y 10"]);
    await writer.write(() => add("x", 1));
    expect(written.at(-1)).toEqual(["x", 1]);
  });

  test("may have an effect after the commit", async () => {
    const seen: string[][] = [];
    const counted = writer.tally<string>((key) => {
      insert(key);
      writer.afterCommit(() => void seen.push(names()));
    });
    await Promise.all(
      [1, 2].map((amount) =>
        writer
          .write(() => {
            counted.add("z", amount);
            if (amount === 2) throw new Error("is undone");
          })
          .catch(() => {}),
      ),
    );
    expect(seen).toEqual([["z"]]);
    await writer.write(() => insert("a"));
    expect(seen).toHaveLength(1);
  });

  test("returns the amounts added so far in the transaction, and 0 after its end", async () => {
    const pending: number[] = [];
    const writes = [1, 2].map((amount) =>
      writer.write(() => {
        add("x", amount);
        pending.push(tally.pending("x"));
      }),
    );
    await Promise.all(writes);
    expect(pending).toEqual([1, 3]);
    expect(tally.pending("x")).toBe(0);
  });

  test("ignores additions of refused changes", async () => {
    const refused = writer.write(() => {
      add("x", 100);
      throw new Error("no");
    });
    const pending: number[] = [];
    const accepted = writer.write(() => {
      add("x", 1);
      pending.push(tally.pending("x"));
    });
    await Promise.all([outcome(refused), accepted]);
    expect(written).toEqual([["x", 1]]);
    expect(pending).toEqual([1]);
  });

  test("keeps what earlier changes of the transaction added when a later one is refused", async () => {
    const pending: number[] = [];
    const writes = [
      writer.write(() => add("x", 5)),
      writer.write(() => {
        add("x", 100);
        add("y", 100);
        add("x", 100);
        throw new Error("no");
      }),
      writer.write(() => void pending.push(tally.pending("x"), tally.pending("y"))),
      writer.write(() => add("x", 2)),
    ];
    await Promise.all(writes.map(outcome));
    expect(pending).toEqual([5, 0]);
    expect(written).toEqual([["x", 7]]);
  });

  test("that cannot be written undoes the whole transaction and is reset", async () => {
    await writer.write(() => insert("x 1"));
    const writes = [
      writer.write(() => insert("a")),
      writer.write(() => {
        db.sqlite.run("PRAGMA query_only = ON");
        add("x", 5);
      }),
    ];
    expect(await Promise.all(writes.map(outcome))).toEqual([unavailable, unavailable]);
    db.sqlite.run("PRAGMA query_only = OFF");
    await writer.write(() => add("y", 1));
    expect(names()).toEqual(["x 1", "y 1"]);
  });

  test("throws outside a change", () => {
    expect(() => add("x", 1)).toThrow("outside a change");
  });
});

describe("when the storage refuses", () => {
  const faults: [name: string, damage: () => void, repair: () => void][] = [
    [
      "because it is read-only",
      () => db.sqlite.run("PRAGMA query_only = ON"),
      () => db.sqlite.run("PRAGMA query_only = OFF"),
    ],
    [
      "because it is full",
      () => db.sqlite.run("PRAGMA max_page_count = 1"),
      () => db.sqlite.run("PRAGMA max_page_count = 100000"),
    ],
  ];
  for (const [name, damage, repair] of faults) {
    test(`${name}, all writes of the transaction are 503 and nothing is stored`, async () => {
      await writer.write(() => insert("before"));
      damage();
      const body = new Uint8Array(100_000);
      const writes = ["a", "b", "c"].map((text) => outcome(writer.write(() => insert(text, body))));
      expect(await Promise.all(writes)).toEqual([unavailable, unavailable, unavailable]);
      expect([names(), db.sqlite.inTransaction, writer.isHealthy()]).toEqual([
        ["before"],
        false,
        false,
      ]);
      repair();
      expect(await writer.write(() => insert("after", body))).toBe("after");
      expect([names(), writer.isHealthy()]).toEqual([["before", "after"], true]);
    });
  }

  test("in the middle of a transaction, earlier changes of it are rejected too", async () => {
    const good = outcome(writer.write(() => insert("good")));
    const bad = outcome(
      writer.write(() => {
        db.sqlite.run("PRAGMA max_page_count = 1");
        insert("bad", new Uint8Array(1_000_000));
      }),
    );
    const later = outcome(writer.write(() => insert("later")));
    expect(await Promise.all([good, bad, later])).toEqual([unavailable, unavailable, unavailable]);
    expect(names()).toEqual([]);
  });

  test("because another process holds the lock for too long, a write is 503", async () => {
    const file = `${process.env["TMPDIR"] ?? "/tmp"}/mailstead-writer-${crypto.randomUUID()}.db`;
    const mine = openDatabase(file);
    const theirs = openDatabase(file);
    mine.sqlite.run("CREATE TABLE things (name TEXT)");
    mine.sqlite.run("PRAGMA busy_timeout = 10");
    const own = createWriter(mine, createLog({ level: "silent", format: "json" }));
    theirs.sqlite.run("BEGIN IMMEDIATE");
    const write = () => own.write(() => void mine.sqlite.run("INSERT INTO things VALUES ('a')"));
    expect(await outcome(write())).toEqual(unavailable);
    theirs.sqlite.run("ROLLBACK");
    expect(await outcome(write())).toEqual({ value: undefined });
    for (const { sqlite } of [mine, theirs]) sqlite.close();
    for (const end of ["", "-wal", "-shm"])
      await Bun.file(file + end)
        .delete()
        .catch(() => {});
  });

  test("a write waits for the lock of another process without blocking the event loop", async () => {
    const file = `${process.env["TMPDIR"] ?? "/tmp"}/mailstead-writer-${crypto.randomUUID()}.db`;
    const [mine, theirs] = [openDatabase(file), openDatabase(file)];
    mine.sqlite.run("CREATE TABLE things (name TEXT)");
    const own = createWriter(mine, createLog({ level: "silent", format: "json" }));
    theirs.sqlite.run("BEGIN IMMEDIATE");
    const order: string[] = [];
    const write = async (name: string) => {
      await own.write(() => void mine.sqlite.run("INSERT INTO things VALUES (?)", [name]));
      order.push(name);
    };
    const writes = ["a", "b"].map(write);
    // The lock ends only if the event loop runs this timer.
    setTimeout(() => {
      theirs.sqlite.run("ROLLBACK");
      order.push("rollback");
    }, 30);
    await Promise.all(writes);
    await write("c");
    await own.drain();
    expect(order).toEqual(["rollback", "a", "b", "c"]);
    for (const { sqlite } of [mine, theirs]) sqlite.close();
    for (const end of ["", "-wal", "-shm"]) {
      await Bun.file(file + end)
        .delete()
        .catch(() => {});
    }
  });

  test("the log has one line at the start and one at the end", async () => {
    db.sqlite.run("PRAGMA query_only = ON");
    for (let i = 0; i < 3; i++) await outcome(writer.write(() => insert("a")));
    db.sqlite.run("PRAGMA query_only = OFF");
    for (let i = 0; i < 3; i++) await writer.write(() => insert(String(i)));
    const messages = lines.map((line) => Object(JSON.parse(line)).message);
    expect(messages).toEqual(["storage refuses writes", "storage accepts writes again"]);
  });
});

describe("a commit requested inside a change", () => {
  test("is in the same transaction, after the changes that waited before it", async () => {
    let inner: Promise<unknown> | undefined;
    const outer = writer.write(() => {
      inner = writer.commit(() => insert(`after ${names().join()}`));
      return insert("outer");
    });
    const other = writer.write(() => insert("other"));
    expect(await outer).toBe("outer");
    expect(names()).toEqual(["outer", "other", "after outer,other"]);
    expect(await inner).toMatchObject({ value: "after outer,other" });
    await other;
  });

  test("is not undone with that change", async () => {
    let inner: Promise<unknown> | undefined;
    const outer = writer.write(() => {
      inner = writer.commit(() => insert("inner"));
      insert("outer");
      throw new Error("refused");
    });
    expect(outer).rejects.toThrow("refused");
    await inner;
    expect(names()).toEqual(["inner"]);
  });

  test("is refused if the storage refuses the transaction", async () => {
    let inner: Promise<unknown> = Promise.resolve();
    const outer = writer.write(() => {
      inner = outcome(writer.commit(() => insert("inner")));
      db.sqlite.run("PRAGMA query_only = ON");
      insert("outer");
    });
    expect(await outcome(outer)).toEqual(unavailable);
    expect(await inner).toEqual(unavailable);
    db.sqlite.run("PRAGMA query_only = OFF");
    expect(names()).toEqual([]);
  });
});

describe("after a fault of the storage", () => {
  const raise = () => db.fault.raise({ kind: "damaged", file: "/data/test.db", finding: "test" });

  test("every write is refused, even if the storage would accept it", async () => {
    await writer.write(() => insert("before"));
    const waiting = writer.write(() => insert("waiting"));
    const error = raise();
    expect(await outcome(waiting)).toEqual({ error });
    expect(await outcome(writer.write(() => insert("later")))).toEqual({ error });
    expect(await outcome(writer.commit(() => insert("later")))).toEqual({ error });
    await writer.drain();
    expect([names(), writer.isHealthy(), writer.hasFault()]).toEqual([["before"], false, true]);
  });

  test("a change that ignores the fault is not committed, nor are the others of its transaction", async () => {
    const ran: string[] = [];
    const first = outcome(
      writer.write(() => {
        writer.afterCommit(() => ran.push("effect"));
        insert("first");
      }),
    );
    const careless = outcome(
      writer.write(() => {
        insert("careless");
        raise();
      }),
    );
    expect(await Promise.all([first, careless])).toEqual([unavailable, unavailable]);
    expect([names(), ran, db.sqlite.inTransaction]).toEqual([[], [], false]);
  });

  test("the writer logs nothing, because the fault is logged elsewhere", async () => {
    raise();
    await outcome(writer.write(() => insert("a")));
    expect(lines).toEqual([]);
  });
});

describe("drain", () => {
  test("waits for all requested changes", async () => {
    const writes = Array.from({ length: 30 }, (_, i) =>
      writer.write(() => {
        const until = performance.now() + 2;
        while (performance.now() < until);
        insert(String(i));
      }),
    );
    await writer.drain();
    expect(names()).toHaveLength(30);
    await Promise.all(writes);
  });

  test("resolves at once if nothing waits", async () => {
    await writer.drain();
    expect(names()).toEqual([]);
  });
});
