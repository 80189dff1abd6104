/** Suppressions in the interface of Resend (docs/resend.md). */

import { beforeEach, expect, test } from "bun:test";
import { addSuppression } from "../../../src/modules/suppressions.ts";
import type { TestApp } from "../../support/app.ts";
import { listAt, stringAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const call = (method: string, path: string, body?: unknown) =>
  t.call(method, `/resend/suppressions${path}`, body);
const addresses = async (query = "") =>
  listAt((await call("GET", query)).body, "data").map((each) => stringAt(each, "email"));

test("an address is suppressed, shown by its address, which is its id, and removed", async () => {
  const added = await call("POST", "", { email: "Ada@Example.com" });
  const id = "ada@example.com";
  expect([added.status, added.body]).toEqual([200, { object: "suppression", id }]);
  const shown = {
    id,
    email: id,
    origin: "manual",
    source_id: null,
    created_at: new Date(t.clock.now()).toISOString(),
  };
  expect((await call("GET", "")).body).toEqual({ object: "list", has_more: false, data: [shown] });
  expect((await call("GET", `/${encodeURIComponent(id)}`)).body).toEqual({
    object: "suppression",
    ...shown,
  });
  expect((await call("DELETE", `/${id}`)).body).toEqual({
    object: "suppression",
    id,
    deleted: true,
  });
  expect((await call("GET", `/${id}`)).status).toBe(404);
  expect((await call("DELETE", `/${id}`)).status).toBe(404);
});

test("batches add and remove addresses, and say which were suppressed", async () => {
  const emails = ["a@example.com", "b@example.com", "A@example.com"];
  expect((await call("POST", "/batch/add", { emails })).body).toEqual({
    data: ["a@example.com", "b@example.com"].map((id) => ({ object: "suppression", id })),
  });
  const ids = ["a@example.com", "c@example.com"];
  expect((await call("POST", "/batch/remove", { ids })).body).toEqual({
    data: [
      { object: "suppression", id: "a@example.com", deleted: true },
      { object: "suppression", id: "c@example.com", deleted: false },
    ],
  });
  expect(await addresses()).toEqual(["b@example.com"]);
});

test("the list has pages and the origin, which adding an address again does not change", async () => {
  for (const [email, reason] of [
    ["a@example.com", "HARD_BOUNCE"],
    ["b@example.com", "COMPLAINT"],
    ["c@example.com", "SOFT_BOUNCE"],
  ] as const) {
    addSuppression(t.app.app, t.project.seq, email, { reason, at: t.clock.now() });
    await call("POST", "", { email });
  }
  expect(await addresses("?origin=bounce")).toEqual(["c@example.com", "a@example.com"]);
  expect(await addresses("?limit=1&after=c@example.com")).toEqual(["b@example.com"]);
  expect(await addresses("?before=b@example.com")).toEqual(["c@example.com"]);
});

test.each<[string, object, string]>([
  ["", { email: "nobody" }, "email: "],
  ["", {}, "email: "],
  ["/batch/add", { emails: ["a@example.com", "nobody"] }, "emails.1: "],
  ["/batch/add", { emails: [] }, "emails: "],
  ["/batch/remove", {}, "emails: must be given, or ids"],
  ["/batch/remove", { emails: ["a@example.com"], ids: ["b@example.com"] }, "emails: must be given"],
])("POST %s of %j is refused", async (path, body, message) => {
  const answer = await call("POST", path, body);
  expect([answer.status, answer.text("message")]).toEqual([422, expect.stringContaining(message)]);
  expect(await addresses()).toEqual([]);
});
