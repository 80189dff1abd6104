/** Saving while editing: when it is saved, which values are kept, and how two versions become one. */

import { describe, expect, test } from "bun:test";
import {
  createAutosave,
  type Failure,
  type SaveOptions,
  type Stored,
} from "../../src/dashboard/ui/editors/autosave.ts";
import { createDrafts } from "../../src/dashboard/ui/editors/drafts.ts";
import { compareVersions } from "../../src/dashboard/ui/editors/merge.ts";
import { saveText } from "../../src/dashboard/ui/editors/save-text.ts";
import { failureOf } from "../../src/dashboard/ui/editors/use-autosave.ts";
import { ApiError } from "../../src/dashboard/api.ts";

type Value = { subject: string; body: string; design: object | null };
const START: Value = { subject: "Hello", body: "<p>1</p>", design: null };

class Refusal extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure);
    this.failure = failure;
  }
}

function memoryStorage() {
  const entries = new Map<string, string>();
  return {
    entries,
    getItem: (key: string) => entries.get(key) ?? null,
    setItem: (key: string, text: string) => void entries.set(key, text),
    removeItem: (key: string) => void entries.delete(key),
    key: (i: number) => [...entries.keys()][i] ?? null,
    get length() {
      return entries.size;
    },
  };
}

/** Timers that run when the test moves the time. */
function manualTime() {
  let nowMs = 1_000_000;
  let timers: { atMs: number; run: () => void }[] = [];
  return {
    now: () => nowMs,
    after(ms: number, run: () => void) {
      const timer = { atMs: nowMs + ms, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((each) => each !== timer);
      };
    },
    async pass(ms: number): Promise<void> {
      const end = nowMs + ms;
      for (;;) {
        const [next] = timers.toSorted((a, b) => a.atMs - b.atMs);
        if (next === undefined || next.atMs > end) break;
        timers = timers.filter((each) => each !== next);
        nowMs = Math.max(nowMs, next.atMs);
        next.run();
        await settled();
      }
      nowMs = end;
    },
  };
}

/** Lets the promises of a request that has its answer go on. */
async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

/** A server with one object, and editors of it. */
function scene() {
  const server: { stored: Stored<Value>; answer: () => void; saves: SaveOptions[] } = {
    stored: { value: START, revision: 1 },
    answer: () => undefined,
    saves: [],
  };
  const storage = memoryStorage();
  const time = manualTime();
  let editors = 0;
  const open = (groups = [["body", "design"]], isManual = false) =>
    createAutosave<Value>({
      isManual,
      stored: server.stored,
      groups,
      clock: time,
      drafts: createDrafts(storage, "templates:1", String(++editors)),
      async save(value, revision, options) {
        server.saves.push(options);
        server.answer();
        if (revision !== server.stored.revision) throw new Refusal("CONFLICT");
        server.stored = { value, revision: revision + 1 };
        return revision + 1;
      },
      load: async () => server.stored,
      failureOf: (error) => (error instanceof Refusal ? error.failure : "REFUSED"),
    });
  const refuse = (failure: Failure) => () => {
    throw new Refusal(failure);
  };
  /** An editor that was left with a body while the server gave no answer. */
  async function leaveUnsaved(body: string) {
    const editor = open();
    server.answer = refuse("LATER");
    editor.change({ body });
    editor.leave();
    await settled();
    return editor;
  }
  return { server, storage, time, open, refuse, leaveUnsaved };
}

describe("saving by hand", () => {
  test("sends nothing before it is asked to: not later, not after others saved, not on leaving", async () => {
    const { server, storage, time, open, refuse } = scene();
    const editor = open([], true);
    editor.change({ body: "mine" });
    await time.pass(60_000);
    editor.receive({ value: { ...START, subject: "theirs" }, revision: 2 });
    server.stored = { value: { ...START, subject: "theirs" }, revision: 2 };
    await time.pass(60_000);
    editor.leave();
    await settled();
    expect(server.saves).toEqual([]);
    expect(storage.entries.size).toBe(1);
    expect(editor.state()).toMatchObject({ status: "CHANGED", merged: ["subject"] });

    server.answer = refuse("LATER");
    await editor.saveNow();
    await time.pass(60_000);
    editor.retry();
    await settled();
    expect(server.saves.length).toBe(1);
    server.answer = () => undefined;
    await editor.saveNow();
    expect(server.stored.value).toEqual({ ...START, subject: "theirs", body: "mine" });
    expect(editor.state().status).toBe("SAVED");
  });
});

describe("saving", () => {
  test("happens within two seconds of the last change, once, and names what changed", async () => {
    const { server, storage, time, open } = scene();
    const editor = open();
    for (const body of ["a", "ab", "abc"]) {
      editor.change({ body });
      await time.pass(500);
    }
    expect(server.saves).toEqual([]);
    expect(storage.entries.size).toBe(1);
    await time.pass(1_000);
    expect(server.saves).toEqual([{ changed: ["body"], isLeaving: false }]);
    expect(server.stored).toEqual({ value: { ...START, body: "abc" }, revision: 2 });
    expect(editor.state()).toMatchObject({ status: "SAVED", error: null });
    expect(editor.state().savedAtMs).toBeGreaterThan(1_000_000);
    expect(storage.entries.size).toBe(0);
  });

  test("does not wait for ever while somebody types", async () => {
    const { server, time, open } = scene();
    const editor = open();
    for (let i = 0; i < 20; i++) {
      editor.change({ body: `${i}` });
      await time.pass(500);
    }
    expect(server.saves.length).toBe(1);
  });

  test("happens at once on request, and not without a change", async () => {
    const { server, open } = scene();
    const editor = open();
    await editor.saveNow();
    editor.change({ subject: "Hello" });
    await editor.saveNow();
    expect(server.saves).toEqual([]);
    editor.change({ subject: "Bye" });
    await editor.saveNow();
    expect(server.saves.length).toBe(1);
  });

  test("sends what was typed while a request ran", async () => {
    const { server, time, open } = scene();
    const editor = open();
    server.answer = () => {
      server.answer = () => undefined;
      editor.change({ body: "second" });
    };
    editor.change({ body: "first" });
    await time.pass(1_000);
    expect(editor.state().status).toBe("CHANGED");
    await time.pass(1_000);
    expect(server.stored).toEqual({ value: { ...START, body: "second" }, revision: 3 });
    expect(editor.state().status).toBe("SAVED");
  });

  test("is tried again after a failure, and when the connection is back", async () => {
    const { server, storage, time, open, refuse } = scene();
    const editor = open();
    server.answer = refuse("LATER");
    editor.change({ body: "kept" });
    await time.pass(10_000);
    expect(editor.state().status).toBe("WAITING");
    expect(server.saves.length).toBe(3);
    expect(storage.entries.size).toBe(1);
    server.answer = () => undefined;
    editor.retry();
    await settled();
    expect(server.stored.value.body).toBe("kept");
    expect(storage.entries.size).toBe(0);
  });

  test("is not repeated for a refused value, which stays", async () => {
    const { server, storage, time, open, refuse } = scene();
    const editor = open();
    server.answer = refuse("REFUSED");
    editor.change({ body: "{{ faulty" });
    await time.pass(60_000);
    expect(server.saves.length).toBe(1);
    expect(editor.state()).toMatchObject({ status: "REFUSED", value: { body: "{{ faulty" } });
    expect(storage.entries.size).toBe(1);
    server.answer = () => undefined;
    editor.change({ body: "{{ good }}" });
    await time.pass(1_000);
    expect(editor.state()).toMatchObject({ status: "SAVED", error: null });
  });

  test("happens when the page is left", async () => {
    const { server, open } = scene();
    const editor = open();
    editor.leave();
    editor.change({ body: "last words" });
    editor.leave();
    await settled();
    expect(server.saves).toEqual([{ changed: ["body"], isLeaving: true }]);
    expect(server.stored.value.body).toBe("last words");
  });
});

describe("changes that an earlier visit left", () => {
  test("are restored and saved, and can be discarded", async () => {
    const { server, time, open, leaveUnsaved } = scene();
    const before = await leaveUnsaved("offline");
    const discarded = open();
    expect(discarded.state()).toMatchObject({ status: "CHANGED", restoredFromMs: 1_000_000 });
    discarded.discard();
    expect(discarded.state()).toMatchObject({ status: "SAVED", value: START });
    expect(open().state().status).toBe("SAVED");

    before.change({ body: "offline again" });
    before.leave();
    await settled();
    server.answer = () => undefined;
    const after = open();
    expect(after.state().value.body).toBe("offline again");
    await time.pass(1_000);
    expect(server.stored.value.body).toBe("offline again");
  });

  test("are joined with what others saved since", async () => {
    const { server, time, open, leaveUnsaved } = scene();
    await leaveUnsaved("mine");
    server.answer = () => undefined;
    server.stored = { value: { ...START, subject: "theirs" }, revision: 5 };
    const after = open();
    await time.pass(0);
    expect(server.stored).toEqual({
      value: { ...START, subject: "theirs", body: "mine" },
      revision: 6,
    });
    expect(after.state().status).toBe("SAVED");
  });

  test("are discarded also where others changed the same since", async () => {
    const { server, storage, time, open, leaveUnsaved } = scene();
    await leaveUnsaved("mine");
    server.answer = () => undefined;
    server.stored = { value: { ...START, body: "theirs" }, revision: 5 };
    const after = open();
    expect(after.state()).toMatchObject({ status: "CONFLICT", value: { body: "mine" } });
    after.discard();
    expect(after.state()).toMatchObject({ status: "SAVED", value: { body: "theirs" } });
    expect(storage.entries.size).toBe(0);
    after.change({ body: "mine after all" });
    await time.pass(1_000);
    expect(server.stored).toMatchObject({ value: { body: "mine after all" }, revision: 6 });
  });

  test("of two tabs are both kept", async () => {
    const { server, storage, open, refuse } = scene();
    const tabs = [open(), open()];
    server.answer = refuse("LATER");
    for (const [i, tab] of tabs.entries()) {
      tab.change({ body: `tab ${i}` });
      tab.leave();
    }
    await settled();
    expect(storage.entries.size).toBe(2);
  });

  test("are forgotten after a month, and unreadable entries at once", async () => {
    const { storage, time, open } = scene();
    const editor = open();
    editor.change({ body: "old" });
    await time.pass(300);
    storage.setItem("mailstead-draft:templates:1:x", "{");
    storage.setItem("mailstead-draft:templates:2:x", '{"revision":"1"}');
    await editor.saveNow();
    editor.change({ body: "older" });
    await time.pass(300);
    const drafts = createDrafts(storage, "templates:1", "9");
    expect(drafts.take(time.now() + 31 * 86_400_000)).toBeNull();
    expect(storage.entries.size).toBe(0);
  });
});

describe("two people", () => {
  test("who change different fields both keep their changes", async () => {
    const { server, time, open } = scene();
    const [one, two] = [open(), open()];
    one.change({ subject: "One" });
    await time.pass(1_000);
    two.change({ body: "Two" });
    await time.pass(1_000);
    await time.pass(0);
    expect(server.stored.value).toEqual({ subject: "One", body: "Two", design: null });
    expect(two.state()).toMatchObject({ status: "SAVED", merged: ["subject"] });
    one.receive(server.stored);
    expect(one.state()).toMatchObject({ value: { body: "Two" }, merged: ["body", "design"] });
    const restored = { value: START, revision: server.stored.revision + 1 };
    one.takeOver(restored);
    expect(one.state()).toMatchObject({ value: START, status: "SAVED", merged: [] });
  });

  test.each([
    ["MINE", "two", "{}"],
    ["THEIRS", "one", null],
  ] as const)("who change one field choose: %s", async (side, body, design) => {
    const { server, time, open } = scene();
    const [one, two] = [open(), open()];
    one.change({ body: "one", subject: "One" });
    await time.pass(1_000);
    two.change({ body: "two", design: {} });
    await time.pass(1_000);
    expect(two.state()).toMatchObject({
      status: "CONFLICT",
      value: { body: "two" },
      conflict: { groups: [["body", "design"]], theirs: { revision: 2 } },
    });
    two.change({ body: "two, and more" });
    await time.pass(10_000);
    expect(server.stored.value.body).toBe("one");
    two.change({ body: "two" });
    two.resolve({ body: side });
    await settled();
    expect(server.stored.value).toEqual({
      subject: "One",
      body,
      design: design === null ? null : {},
    });
    expect(two.state()).toMatchObject({ status: "SAVED", conflict: null });
  });

  test("who typed the same, or whose answer was lost, are not asked", async () => {
    const { server, time, open } = scene();
    const editor = open();
    server.stored = { value: { ...START, body: "same" }, revision: 2 };
    editor.change({ body: "same" });
    await time.pass(1_000);
    expect(editor.state()).toMatchObject({ status: "SAVED", conflict: null });
  });
});

test("versions are compared by groups of fields", () => {
  const base = { a: 1, b: 1, c: 1, d: { x: 1 }, e: 1 };
  const ours = { a: 2, b: 1, c: 2, d: { x: 1 }, e: 3 };
  const theirs = { a: 1, b: 2, c: 3, d: { x: 1 }, e: 3 };
  expect(compareVersions({ base, ours, theirs })).toEqual({
    ours: ["a"],
    theirs: ["b"],
    conflicts: [["c"]],
  });
  expect(compareVersions({ base, ours, theirs }, [["a", "b"]]).conflicts).toEqual([
    ["a", "b"],
    ["c"],
  ]);
});

describe("the line about saving", () => {
  const error = (status: number, message = "", field = "body") =>
    new ApiError({
      status,
      code: "CODE",
      message: "It failed.",
      suggestion: "",
      requestId: "",
      errors: message === "" ? [] : [{ field, message, code: "invalid" }],
    });
  const state = { savedAtMs: null, error: null, isKept: true } as const;

  test.each([
    [error(422, "has a syntax error in line 12, column 3: no end"), "Body, line 12: no end"],
    [error(422, "is required", "name"), "name is required"],
    [error(404), "It failed"],
  ])("names the place of a fault: %#", (failed, text) => {
    expect(saveText({ ...state, status: "REFUSED", error: failed }, { body: "Body" })).toBe(
      `Not saved: ${text}`,
    );
  });

  test("says what is kept without an answer", () => {
    const waiting = { ...state, status: "WAITING", error: error(0) } as const;
    expect(saveText(waiting)).toBe(
      "Not saved yet: the server cannot be reached. Kept in this browser.",
    );
    expect(saveText({ ...waiting, isKept: false })).toEndWith("Keep this tab open.");
    expect(saveText({ ...state, status: "SAVED", savedAtMs: 0 })).toMatch(/^Saved \d\d:\d\d/);
  });

  test.each([
    [0, "LATER"],
    [401, "LATER"],
    [412, "CONFLICT"],
    [422, "REFUSED"],
    [404, "REFUSED"],
    [503, "LATER"],
  ] as const)("an answer %d means %s", (status, failure) => {
    expect(failureOf(error(status))).toBe(failure);
  });
});
