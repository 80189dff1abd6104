import { beforeEach, describe, expect, test } from "bun:test";
import { createKey } from "../../src/modules/keys.ts";
import type { TestApp } from "../support/app.ts";
import { waitUntil } from "../support/eventually.ts";
import { listAt } from "../support/json.ts";
import { projectPerTest } from "../support/project-per-test.ts";
import { expectError } from "../support/refusal.ts";
import { chain, step } from "./workflows/graphs.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const MINUTE = 60_000;
const template = { name: "Welcome", subject: "Hi", body: "<p>Hi</p>", type: "TRANSACTIONAL" };

const create = (body: object = {}) => t.create("/templates", { ...template, ...body }, "data.id");
const get = (id: string) => t.call("GET", `/templates/${id}`);
const patch = (id: string, body: object, headers: Record<string, string> = {}) =>
  t.call("PATCH", `/templates/${id}`, body, { headers });
const restore = (id: string, revision: number, headers: Record<string, string> = {}) =>
  t.call("POST", `/templates/${id}/versions/${revision}/restore`, undefined, { headers });

async function revisions(id: string): Promise<unknown[]> {
  const { body } = await t.call("GET", `/templates/${id}/versions`);
  return listAt(body, "data.items").map((version) => Object(version).revision);
}

/** Makes a change after the time in which changes are joined. */
async function patchLater(id: string, body: object) {
  t.clock.advance(5 * MINUTE);
  return patch(id, body);
}

describe("If-Match", () => {
  const tags: [tag: string, isRight: boolean][] = [
    ['"2"', true],
    ['W/"2"', true],
    ['"1", "2"', true],
    ["*", true],
    ['"1"', false],
    ['"20"', false],
    ["", false],
    ["x", false],
  ];
  test("a change for another revision is 412 and changes nothing", async () => {
    for (const [tag, isRight] of tags) {
      const id = await create();
      const read = await patch(id, { subject: "Ho" });
      expect(read.headers.get("etag")).toBe('"2"');
      const before = t.contents();
      const answer = await patch(id, { subject: "Other" }, { "if-match": tag });
      expect([tag, answer.status]).toEqual([tag, isRight ? 200 : 412]);
      expect([tag, answer.headers.get("etag")]).toEqual([tag, isRight ? '"3"' : '"2"']);
      if (isRight) continue;
      expectError(answer, { status: 412, code: "REVISION_CONFLICT" });
      expect(t.contents()).toEqual(before);
    }
  });

  test("also for restoring a version, and for layouts", async () => {
    const id = await create();
    await patchLater(id, { subject: "Ho" });
    expectError(await restore(id, 1, { "if-match": '"1"' }), {
      status: 412,
      code: "REVISION_CONFLICT",
    });
    const layout = await t.create("/layouts", { name: "L", body: "{{ content }}" }, "data.id");
    const change = (tag: string, name: string) =>
      t.call("PATCH", `/layouts/${layout}`, { name }, { headers: { "if-match": tag } });
    expect((await change('"1"', "M")).headers.get("etag")).toBe('"2"');
    expect((await change('"1"', "N")).status).toBe(412);
  });

  test("GET, POST and PATCH answer the revision as ETag", async () => {
    const made = await t.call("POST", "/templates", template);
    const id = made.text("data.id");
    const same = await patch(id, {});
    const tags = [made, await get(id), same].map(({ headers }) => headers.get("etag"));
    expect(tags).toEqual(['"1"', '"1"', '"1"']);
  });
});

describe("versions", () => {
  test("name their author, the changed fields and the subject, and are read whole", async () => {
    const id = await create();
    const design = { blocks: [{ text: "x" }] };
    const changed = await patchLater(id, { subject: "Ho", design, format: "VISUAL" });
    const list = await t.call("GET", `/templates/${id}/versions`);
    const author = { kind: "KEY", name: expect.stringContaining("…") };
    const createdAt = new Date(t.clock.now()).toISOString();
    expect(list.at("data.items")).toEqual([
      { revision: 2, createdAt, author, changed: ["subject", "design", "format"], subject: "Ho" },
      { revision: 1, createdAt: changed.at("data.createdAt"), author, changed: [], subject: "Hi" },
    ]);
    const { id: _, updatedAt: __, ...content } = Object(changed.at("data"));
    const version = await t.call("GET", `/templates/${id}/versions/2`);
    expect(version.at("data")).toEqual({
      ...content,
      createdAt,
      author,
      changed: ["subject", "design", "format"],
    });
  });

  test("changes that one author makes within five minutes are one version", async () => {
    const id = await create();
    await patchLater(id, { subject: "a" });
    for (const subject of ["b", "c"]) {
      t.clock.advance(2 * MINUTE);
      await patch(id, { subject, body: `<p>${subject}</p>` });
    }
    expect(await revisions(id)).toEqual([4, 1]);
    const joined = await t.call("GET", `/templates/${id}/versions/4`);
    expect(joined.at("data.changed")).toEqual(["subject", "body"]);
    t.clock.advance(MINUTE);
    await patch(id, { subject: "d" });
    expect(await revisions(id)).toEqual([5, 4, 1]);
  });

  test("what was created, copied or restored is never joined with a change", async () => {
    const made: [how: string, make: () => Promise<string>, kept: number[]][] = [
      ["created", create, [1]],
      [
        "copied",
        async () => t.create(`/templates/${await create()}/duplicate`, {}, "data.id"),
        [1],
      ],
      ["restored", () => restored({ isChanged: true }), [3, 2, 1]],
      ["restored as it is", () => restored({ isChanged: false }), [2, 1]],
    ];
    for (const [how, make, kept] of made) {
      const id = await make();
      const [revision = 0] = kept;
      const before = await t.call("GET", `/templates/${id}/versions/${revision}`);
      await patch(id, { subject: "x" });
      await patch(id, { body: "<p>y</p>" });
      expect([how, await revisions(id)]).toEqual([how, [revision + 2, ...kept]]);
      const { body } = await t.call("GET", `/templates/${id}/versions/${revision}`);
      expect([how, body]).toEqual([how, before.body]);
    }
  });

  async function restored({ isChanged }: { isChanged: boolean }): Promise<string> {
    const id = await create();
    await patchLater(id, { subject: "a" });
    await restore(id, isChanged ? 1 : 2);
    return id;
  }

  test("those of another author are another one", async () => {
    const id = await create();
    await patchLater(id, { subject: "a" });
    const made = { kind: "SECRET", name: "other", expiresAt: null } as const;
    const { text: key } = await t.app.writer.write(() => createKey(t.app.app, t.project.seq, made));
    await t.call("PATCH", `/templates/${id}`, { subject: "b" }, { key });
    expect(await revisions(id)).toEqual([3, 2, 1]);
  });

  test("a mail or a test is between two versions", async () => {
    const between: [what: string, act: (id: string) => Promise<unknown>][] = [
      ["a mail", (id) => send({ template: id })],
      ["a test", (id) => t.call("POST", `/templates/${id}/test`, { to: "ada@example.com" })],
      ["a mail of a workflow", runWorkflow],
    ];
    for (const [what, act] of between) {
      const id = await create({ from: "hello@acme.test" });
      await patchLater(id, { subject: "a" });
      await act(id);
      await patch(id, { subject: "b" });
      expect([what, await revisions(id)]).toEqual([what, [3, 2, 1]]);
    }
  });

  const send = (body: object) =>
    t.call("POST", "/v1/send", { from: "hello@acme.test", to: "ada@example.com", ...body });

  async function runWorkflow(templateId: string): Promise<void> {
    await t.app.start();
    const contactId = await t.create("/contacts", { email: `a${t.clock.now()}@b.co` }, "id");
    const graph = chain(step("send", "SEND_EMAIL", { templateId }));
    const workflow = await t.create(
      "/workflows",
      { name: "w", enabled: true, ...graph },
      "data.id",
    );
    await t.create(`/workflows/${workflow}/executions`, { contactId }, "data.id");
    await waitUntil(() => t.countRows("emails") > 2);
  }

  test("the oldest of more than a hundred are removed", async () => {
    const id = await create();
    for (let at = 0; at < 102; at++) await patchLater(id, { subject: `s${at}` });
    const kept = await revisions(id);
    expect([kept.length, kept.at(0), kept.at(-1)]).toEqual([100, 103, 4]);
    expectError(await restore(id, 3), { status: 404, code: "VERSION_NOT_FOUND" });
  });

  test("a deleted template has no versions", async () => {
    const id = await create();
    await t.call("DELETE", `/templates/${id}`);
    expectError(await t.call("GET", `/templates/${id}/versions`), {
      status: 404,
      code: "TEMPLATE_NOT_FOUND",
    });
    expect(
      t.db.sqlite
        .query(
          "SELECT * FROM template_versions v LEFT JOIN templates t ON t.seq = v.template_seq WHERE t.seq IS NULL",
        )
        .all(),
    ).toEqual([]);
  });

  test.each(["0", "-1", "1.0", "x", "9", "99999999999999999999"])(
    "a revision that is none is 404: %s",
    async (revision) => {
      const id = await create();
      const answer = await t.call("GET", `/templates/${id}/versions/${revision}`);
      expectError(answer, { status: 404, code: "VERSION_NOT_FOUND" });
    },
  );
});

describe("restoring a version", () => {
  test("makes a revision with its content, to which no change is joined", async () => {
    const id = await create({ preheader: "Soon", design: { a: 1 }, format: "VISUAL" });
    const first = (await get(id)).at("data");
    await patchLater(id, { subject: "Ho", preheader: null, format: "CODE", design: null });
    const answer = await restore(id, 1);
    const updatedAt = new Date(t.clock.now()).toISOString();
    expect([answer.status, answer.at("data")]).toEqual([
      200,
      { ...Object(first), revision: 3, updatedAt },
    ]);
    expect(answer.headers.get("etag")).toBe('"3"');
    await patch(id, { subject: "x" });
    expect(await revisions(id)).toEqual([4, 3, 2, 1]);
  });

  test("the present version makes no revision", async () => {
    const id = await create();
    expect((await restore(id, 1)).at("data.revision")).toBe(1);
    expect(await revisions(id)).toEqual([1]);
  });

  test("a layout that was deleted since is left out", async () => {
    const layout = await t.create("/layouts", { name: "L", body: "{{ content }}" }, "data.id");
    const id = await create({ layoutId: layout });
    await patchLater(id, { layoutId: null, subject: "x" });
    await t.call("DELETE", `/layouts/${layout}`);
    expect((await t.call("GET", `/templates/${id}/versions/1`)).at("data.layoutId")).toBe(layout);
    const answer = await restore(id, 1);
    expect([answer.at("data.layoutId"), answer.at("data.subject")]).toEqual([null, "Hi"]);
  });
});

describe("the visual editor", () => {
  const refused: [
    why: string,
    given: object,
    field: string,
    code: "required" | "too_big" | "invalid_type" | "invalid_value",
  ][] = [
    ["VISUAL without a design", { format: "VISUAL" }, "design", "required"],
    ["a design that is too large", { design: { a: "x".repeat(1024 * 1024) } }, "design", "too_big"],
    ["a design that is a list", { design: [] }, "design", "invalid_type"],
    ["an unknown format", { format: "MJML" }, "format", "invalid_value"],
    ["a preheader that is too long", { preheader: "x".repeat(2001) }, "preheader", "too_big"],
  ];
  test("refuses", async () => {
    const id = await create();
    for (const [why, given, field, code] of refused) {
      for (const answer of [
        await t.call("POST", "/templates", { ...template, ...given }),
        await patch(id, given),
      ]) {
        expect([why, answer.status]).toEqual([why, 422]);
        expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors: [[field, code]] });
      }
    }
  });

  test("the design is not in the list", async () => {
    await create({ design: { a: 1 }, format: "VISUAL" });
    const list = await t.call("GET", "/templates");
    expect(list.at("data.items.0.format")).toBe("VISUAL");
    expect(Object.keys(Object(list.at("data.items.0")))).not.toContain("design");
  });
});

test("a copy has the content of a template, and another name", async () => {
  const id = await create({ preheader: "Soon", design: { a: 1 }, format: "VISUAL", fromName: "A" });
  const answer = await t.call("POST", `/templates/${id}/duplicate`);
  const { id: copyId, ...copy } = Object(answer.at("data"));
  const { id: _, ...original } = Object((await get(id)).at("data"));
  expect([answer.status, copy]).toEqual([201, { ...original, name: "Welcome copy" }]);
  expect(copyId).not.toBe(id);
  const long = await create({ name: "x".repeat(255) });
  const cut = await t.call("POST", `/templates/${long}/duplicate`);
  expect(cut.text("data.name")).toBe(`${"x".repeat(250)} copy`);
});

test("the usage counts the mails of requests", async () => {
  const id = await create({ from: "hello@acme.test" });
  const usage = () => t.call("GET", `/templates/${id}/usage`);
  expect((await usage()).at("data.apiSends")).toEqual({ count: 0, isComplete: true, lastAt: null });
  await t.call("POST", "/v1/send", { to: ["a@example.com", "b@example.com"], template: id });
  expect((await usage()).at("data.apiSends")).toEqual({
    count: 2,
    isComplete: true,
    lastAt: new Date(t.clock.now()).toISOString(),
  });
});
