/** The cases in which an erasure is refused, and the data that is kept of a person who had left. */

import { expect, test } from "bun:test";
import { decodedOctets } from "../../../src/lib/decoded-octets.ts";
import { testApp } from "../../support/app.ts";
import { waitUntil, waitUntilRead } from "../../support/eventually.ts";
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

test("a caught message is removed also if its text is in base64, or divided by a line break", async () => {
  const t = await testApp();
  await t.start();
  const mail = { to: "adam@example.com", from: "a@acme.test", subject: "S" };
  const bodies = [`<p>${"é".repeat(10)} ${EVE}</p>`, `<p>é steve@example.com</p>`];
  for (const body of bodies) await t.call("POST", "/v1/send", { ...mail, body });
  await waitUntil(() => t.countRows("captured_messages") === 2);
  const id = (await t.call("POST", "/erasures", { email: EVE })).text("data.id");
  await waitUntilRead(async () => {
    t.clock.advance(1_000);
    return (await t.call("GET", `/erasures/${id}`)).text("data.state") === "COMPLETED";
  });
  expect(t.countRows("captured_messages")).toBe(1);
  await t.close();
});

test.each([
  ["divided by quoted-printable", "Ask eve@exa=\r\nmple.com.\r\n"],
  [
    "in base64",
    `${Buffer.from(`${"x".repeat(50)} ${EVE}`)
      .toString("base64")
      .replace(/.{76}/, "$&\r\n")}\r\n`,
  ],
])("an address is found %s", (_, raw) => {
  expect(raw).not.toContain(EVE);
  expect(decodedOctets(Buffer.from(raw)).toString()).toContain(EVE);
});
