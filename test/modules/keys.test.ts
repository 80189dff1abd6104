import { beforeEach, describe, expect, test } from "bun:test";
import { createProject, findProject, resolveProject } from "../../src/modules/projects.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { projectPerTest } from "../support/project-per-test.ts";
import { createKey, listKeys, revokeKey } from "../../src/modules/keys.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const create = (kind: "SECRET" | "PUBLIC" = "SECRET") =>
  t.app.writer.write(() =>
    createKey(t.app.app, t.project.seq, { kind, name: "n", expiresAt: null }),
  );
const lastUses = () => listKeys(t.app.app, t.project.seq).map(({ lastUsedAt }) => lastUsedAt);

describe("keys", () => {
  test("have a prefix by kind and 43 random characters, and are unique", async () => {
    const texts = new Set<string>();
    for (const [kind, prefix] of [
      ["SECRET", "sk_"],
      ["PUBLIC", "pk_"],
    ] as const) {
      for (let i = 0; i < 20; i++) {
        const { key, text } = await create(kind);
        expect(text).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{43}$`));
        expect([key.kind, key.last4]).toEqual([kind, text.slice(-4)]);
        texts.add(text);
      }
    }
    expect(texts.size).toBe(40);
  });

  test("are stored as digests without the text of any key", async () => {
    const { text } = await create();
    await t.call(
      "POST",
      "/contacts",
      { email: "a@b.co" },
      { key: text, headers: { "idempotency-key": "k" } },
    );
    const everything = JSON.stringify(t.contents());
    for (const key of [text, t.secretKey, t.publicKey])
      expect(everything).not.toContain(key.slice(3));
  });

  test("are listed by project, newest first", async () => {
    const { key } = await create();
    const other = await t.makeProject("other");
    expect(listKeys(t.app.app, t.project.seq).map(({ id }) => id)[0]).toBe(key.id);
    expect([
      listKeys(t.app.app, t.project.seq).length,
      listKeys(t.app.app, other.project.seq).length,
    ]).toEqual([3, 2]);
  });

  test("store the time of their last use when it is flushed", async () => {
    expect(lastUses()).toEqual([null, null]);
    await t.call("GET", "/contacts");
    t.clock.advance(5000);
    await t.call("GET", "/contacts");
    await t.call("GET", "/contacts", undefined, { key: "sk_unknown" });
    expect(lastUses()).toEqual([null, null]);
    const usedAt = t.clock.now();
    t.clock.advance(5000);
    await t.app.modules.find(({ name }) => name === "keys")?.flush?.();
    expect(lastUses()).toEqual([null, usedAt]);
  });

  test("store the time of their last use when the application stops", async () => {
    const own = await testApp();
    await own.call("GET", "/contacts");
    await own.close();
    const [, secret] = listKeys(own.app.app, own.project.seq);
    expect(secret?.lastUsedAt).toBe(own.clock.now());
  });

  test("keep the time of the first revocation; an unknown key is 404", async () => {
    const { key } = await create();
    const first = await t.app.writer.write(() => revokeKey(t.app.app, key.id));
    t.clock.advance(5000);
    const second = await t.app.writer.write(() => revokeKey(t.app.app, key.id));
    expect([first.revokedAt, second.revokedAt]).toEqual([
      t.clock.now() - 5000,
      t.clock.now() - 5000,
    ]);
    const unknown = await t.app.writer
      .write(() => revokeKey(t.app.app, "nope"))
      .catch((error: unknown) => error);
    expect(unknown).toMatchObject({ status: 404, code: "KEY_NOT_FOUND" });
  });
});

test("projects are found by id or name, or alone, and have unique names", async () => {
  const own = await testApp();
  const { id, seq } = own.project;
  const { app } = own.app;
  const find = (idOrName: string) => findProject(app, idOrName);
  expect([find(id)?.seq, find("acme")?.seq, find("nope")]).toEqual([seq, seq, null]);
  expect(resolveProject(app, null, "--project").seq).toBe(seq);
  const again = app.writer.write(() => createProject(app, "acme"));
  expect(await again.catch((error: unknown) => error)).toMatchObject({
    status: 409,
    code: "CONFLICT",
  });
  expect(own.countRows("projects")).toBe(1);
  await own.makeProject("other");
  expect(() => resolveProject(app, null, "--project")).toThrow("several projects");
  expect(() => resolveProject(app, "nope")).toThrow('no project "nope"');
  await own.close();
});
