/** When an erasure is refused, and what is kept of a person who had left. */

import { expect, test } from "bun:test";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";

const projects = projectPerTest();

const EVE = "eve@example.com";

test("an address that mail leaves with is refused, and one that only ends in the same way is not", async () => {
  const t = await projects.next();
  const staff = "eve@acme.test";
  const template = { name: "T", type: "MARKETING", subject: "S", body: "B", from: "a@acme.test" };
  await t.create("/templates", { ...template, replyTo: "steve@acme.test" }, "data.id");
  const campaign = { name: "C", subject: "S", body: "B", from: "a@acme.test", audienceType: "ALL" };
  const id = await t.create("/campaigns", campaign, "data.id");
  const erase = () => t.call("POST", "/erasures", { email: staff });
  const patch = (abTest: object | null) => t.call("PATCH", `/campaigns/${id}`, { abTest });
  const winner = { by: "CLICKS", afterMinutes: 60 };
  const made = await patch({ share: 40, variants: [{}, { from: staff }], winner });
  expect(made.status).toBe(200);
  const refused = await erase();
  expectError(refused, { status: 409, code: "ADDRESS_IN_USE" });
  expect(refused.text("error.message")).toContain("a variant of a campaign");
  expect((await patch(null)).status).toBe(200);
  expect((await erase()).status).toBe(201);
});

test("a subscribed contact that gets the address of a person who had left is not subscribed", async () => {
  const t = await projects.next();
  const left = await t.create("/contacts", { email: EVE, subscribed: true }, "id");
  await t.call("PATCH", `/contacts/${left}`, { subscribed: false });
  await t.call("POST", `/contacts/${left}/erasure`);
  const other = await t.create("/contacts", { email: "adam@example.com", subscribed: true }, "id");
  const moved = await t.call("PATCH", `/contacts/${other}`, { email: EVE });
  expect([moved.status, moved.at("subscribed")]).toEqual([200, false]);
});
