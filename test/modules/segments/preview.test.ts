/** Whom a condition selects before a segment has it. */

import { beforeEach, describe, expect, test } from "bun:test";
import type { DatabaseReader } from "../../../src/db/reader.ts";
import { createDefinitions } from "../../../src/modules/segments/definitions.ts";
import { parseCondition } from "../../../src/modules/segments/condition/condition.ts";
import { createPreview } from "../../../src/modules/segments/preview.ts";
import { createAudiences } from "../../../src/modules/segments/sql/audiences.ts";
import type { TestApp } from "../../support/app.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const PRO = {
  logic: "AND",
  groups: [{ filters: [{ field: "data.plan", operator: "equals", value: "pro" }] }],
};

async function addContacts(count: number): Promise<void> {
  const insert = t.db.sqlite.prepare(`
    INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
    VALUES (?, ?, ?, 1, ?, 0, 0)`);
  await t.app.writer.write(() => {
    for (let i = 0; i < count; i++) {
      const data = JSON.stringify({ plan: i % 4 === 0 ? "pro" : "free" });
      insert.run(`${t.project.id}${i}`, t.project.seq, `c${i}@x.io`, data);
    }
  });
}

describe("the preview of a condition", () => {
  test("has the number and the newest members, and stores nothing", async () => {
    await addContacts(60);
    const answer = await t.call("POST", "/segments/preview", { condition: PRO });
    expect([answer.status, answer.at("data.count"), answer.at("data.isExact")]).toEqual([
      200,
      15,
      true,
    ]);
    expect(answer.at("data.members")).toHaveLength(10);
    expect(answer.at("data.members.0")).toMatchObject({ email: "c56@x.io", data: { plan: "pro" } });
    expect((await t.call("GET", "/segments")).at("data.total")).toBe(0);
  });

  test("is refused at its faulty filter", async () => {
    const condition = {
      logic: "AND",
      groups: [{ filters: [{ field: "data.plan", operator: "is" }] }],
    };
    expectError(await t.call("POST", "/segments/preview", { condition }), {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [["condition.groups.0.filters.0.operator", "invalid_value"]],
    });
    expectError(await t.call("POST", "/segments/preview", {}), {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [["condition", "invalid_type"]],
    });
  });

  test("estimates the number if counting takes long", async () => {
    await addContacts(2_000);
    const { app } = t.app;
    const reader: DatabaseReader = {
      ...app.reader,
      async find(owner, query, limitMs) {
        expect([query.isPartial, limitMs]).toEqual([true, 200]);
        if (query.total === undefined) return app.reader.find(owner, query, limitMs);
        return { rows: [], isComplete: false, stoppedAt: null, total: null };
      },
    };
    const slow = { ...app, reader };
    const definitions = createDefinitions(t);
    const preview = createPreview({ app: slow, audiences: createAudiences(slow), definitions });
    const condition = parseCondition(PRO, "condition");
    const { count, isExact, members } = await preview(t.project.seq, condition, "RECENT");
    expect([isExact, members]).toEqual([false, null]);
    // 500 of 2,000; the standard deviation of 2,000 random ones is 19.
    expect(count).toBeWithin(250, 750);
  });

  test("of a project without contacts is zero", async () => {
    const query = "?counted=RECENT";
    const answer = await t.call("POST", `/segments/preview${query}`, { condition: PRO });
    expect(answer.at("data")).toEqual({ count: 0, isExact: true, members: [] });
  });
});
