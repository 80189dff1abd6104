/** The places where a segment is used. */

import { beforeEach, expect, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";
import { chain, step } from "../workflows/graphs.ts";

const projects = projectPerTest();
let t: TestApp;
let id: string;
beforeEach(async () => {
  t = await projects.next();
  id = await t.create("/segments", { name: "List", type: "STATIC" }, "data.id");
});

const usage = (segment = id) => t.call("GET", `/segments/${segment}/usage`);
const inSegment = {
  logic: "AND",
  groups: [{ filters: [{ field: `segment.ID`, operator: "memberOf" }] }],
};
const ofSegment = (segment: string): unknown =>
  JSON.parse(JSON.stringify(inSegment).replace("ID", segment));

test("lists the segments, workflows and unfinished campaigns that use it, which keep it", async () => {
  expect((await usage()).at("data")).toEqual({ users: [] });
  const outer = await t.create("/segments", { name: "Outer", condition: ofSegment(id) }, "data.id");
  const campaign = await t.create(
    "/campaigns",
    {
      name: "News",
      subject: "News",
      body: "<p>Hello</p>",
      from: "shop@acme.test",
      audienceType: "SEGMENT",
      segmentId: id,
    },
    "data.id",
  );
  const check = step("check", "CONDITION", { condition: ofSegment(id) });
  const workflow = await t.create("/workflows", { ...chain(check), name: "Welcome" }, "data.id");
  expect((await usage()).at("data.users")).toEqual([
    { kind: "segment", id: outer, name: "Outer" },
    { kind: "campaign", id: campaign, name: "News" },
    { kind: "workflow", id: workflow, name: "Welcome" },
  ]);
  const refused = await t.call("DELETE", `/segments/${id}`);
  expectError(refused, { status: 409, code: "CONFLICT" });
  await t.call("DELETE", `/segments/${outer}`);
  await t.call("DELETE", `/campaigns/${campaign}`);
  expect((await usage()).at("data.users")).toEqual([
    { kind: "workflow", id: workflow, name: "Welcome" },
  ]);
});
