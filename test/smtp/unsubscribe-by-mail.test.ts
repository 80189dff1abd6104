/** The address in List-Unsubscribe, and the fate of mail that is sent to it. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  type BounceApp,
  bounceApp,
  returnPathOf,
  UNKNOWN_USER,
  vacation,
} from "../modules/bounces/reports.ts";
import { waitUntil } from "../support/eventually.ts";
import { rawSmtp, sendRaw } from "../support/smtp-client.ts";
import { inboundPort } from "../../src/smtp/inbound-module.ts";

const PLAIN = "From: bob@example.net\r\nSubject: unsubscribe\r\n\r\n";
const DAY_MS = 24 * 3_600_000;

let t: BounceApp;
beforeAll(async () => {
  t = await bounceApp({ config: { inbound: { host: "127.0.0.1", port: 0 } } });
  await t.deliver();
});
afterAll(() => t.close());

let count = 0;

function setReturnPath(isVerified: boolean): void {
  t.db.sqlite.run("UPDATE domains SET has_return_path = ?", [isVerified ? 1 : 0]);
}

/** Sends a mail to a new subscribed contact, and returns its field List-Unsubscribe. */
async function received(
  type: "MARKETING" | "TRANSACTIONAL" = "MARKETING",
  topicId: string | null = null,
) {
  const to = `person-${++count}@example.net`;
  const content = { name: "News", type, subject: "News", body: "<p>b</p>", from: "n@acme.test" };
  const template = { ...content, topicId };
  const made = await t.create("/templates", template, "data.id");
  const mail = { to, template: made, subscribed: true };
  const id = await t.create("/v1/send", mail, "data.emails.0.email");
  await t.deliver();
  const { message } = t.transport.handed.at(-1)?.object ?? { message: Buffer.alloc(0) };
  const [head = ""] = Buffer.from(message).toString("latin1").split("\r\n\r\n", 1);
  const unfolded = head.replaceAll(/\r\n[ \t]+/g, " ");
  const field = /^List-Unsubscribe: (.*)$/m.exec(unfolded)?.[1]?.trim() ?? null;
  const address = /<mailto:([^>]+)>/.exec(field ?? "")?.[1] ?? "";
  return { to, id, field, address };
}

async function deliverTo(to: string, message: string): Promise<string> {
  const client = await rawSmtp(inboundPort(t.app.app).value ?? 0);
  await client.say("EHLO mx.example.net\r\n");
  const reply = await sendRaw(client, message, { from: "", to: [to] });
  client.end();
  return reply;
}

function isSubscribed(to: string): boolean {
  const row = t.db.sqlite
    .query<{ yes: number }, [string]>("SELECT is_subscribed AS yes FROM contacts WHERE email = ?")
    .get(to);
  return row?.yes === 1;
}

const unsubscriptions = async (id: string) =>
  t.eventsOf(id).filter(({ name }) => name === "contact.unsubscribed");

test("a marketing mail names the address after the link, if our bounce host is verified", async () => {
  setReturnPath(false);
  expect((await received()).field).toMatch(/^<http[^<>]+>$/);
  setReturnPath(true);
  expect((await received()).field).toMatch(
    /^<http[^<>]+\/unsubscribe\/[\w-]{38}>, <mailto:u\+[a-z2-7]{45}@bounce\.acme\.test>$/,
  );
  expect((await received("TRANSACTIONAL")).field).toBeNull();
});

test("the address is one of no other host", async () => {
  setReturnPath(true);
  const { to, address } = await received();
  await t.makeProject("elsewhere");
  const moved = address.replace("@bounce.acme.test", "@bounce.elsewhere.test");
  expect(await deliverTo(moved, PLAIN)).toStartWith("5");
  expect(isSubscribed(to)).toBe(true);
});

test.each([
  ["an empty mail", PLAIN],
  ["an automatic reply", vacation().replace(/\r?\n/g, "\r\n")],
  ["a bounce", UNKNOWN_USER.replace(/\r?\n/g, "\r\n")],
])("%s to the address unsubscribes, also after a year and in capitals", async (_, message) => {
  setReturnPath(true);
  const { to, id, address } = await received();
  t.clock.advance(365 * DAY_MS);
  expect(isSubscribed(to)).toBe(true);
  expect(await deliverTo(address.toUpperCase(), message)).toStartWith("250 ");
  expect(isSubscribed(to)).toBe(false);
  expect(await t.email(id)).toMatchObject({ status: "SENT", reports: [] });
  expect(await unsubscriptions(id)).toMatchObject([{ data: { via: "mail" } }]);
});

test("the same mail again changes nothing", async () => {
  setReturnPath(true);
  const { id, address } = await received();
  for (let i = 0; i < 3; i++) expect(await deliverTo(address, PLAIN)).toStartWith("250 ");
  expect(await unsubscriptions(id)).toHaveLength(1);
});

test("after a change of address, it unsubscribes the contact that has the address of the mail now", async () => {
  setReturnPath(true);
  const { to, id, address } = await received();
  const contact = (await t.call("GET", `/emails/${id}`)).text("data.contactId");
  const moved = `new-${to}`;
  await t.call("PATCH", `/contacts/${contact}`, { email: moved });
  await t.call("POST", "/contacts", { email: to, subscribed: true });
  expect(await deliverTo(address, PLAIN)).toStartWith("250 ");
  expect([isSubscribed(to), isSubscribed(moved)]).toEqual([false, true]);
  expect(await unsubscriptions(id)).toMatchObject([{ data: { via: "mail" } }]);
});

test("a forged address is refused", async () => {
  setReturnPath(true);
  const { to, id, address } = await received();
  const at = address.indexOf("@");
  const other = address[at - 3] === "a" ? "b" : "a";
  const changed = `${address.slice(0, at - 3)}${other}${address.slice(at - 2)}`;
  const ofReturnPath = returnPathOf(id).replace(/^b/, "u");
  for (const forged of [changed, ofReturnPath, "u+@bounce.acme.test"]) {
    expect(await deliverTo(forged, PLAIN)).toStartWith("5");
  }
  expect(isSubscribed(to)).toBe(true);
});

test("POST /v1/bounces takes it, if another server receives the mail", async () => {
  setReturnPath(true);
  const { to, id, address } = await received();
  const answer = await t.post(PLAIN, address);
  expect(answer.at("data")).toEqual({
    matched: true,
    kind: "unsubscribe",
    email: id,
    effect: "unsubscribed",
    suppressed: null,
  });
  expect(isSubscribed(to)).toBe(false);
  const again = await t.post(PLAIN, address);
  expect(again.at("data.effect")).toBe("none");
});

test("a mail of a topic is unsubscribed from its topic alone", async () => {
  setReturnPath(true);
  const topic = { name: "Tips", default: "SUBSCRIBED" };
  const topicId = await t.create("/topics", topic, "data.id");
  const { to, id, address } = await received("MARKETING", topicId);
  for (let n = 0; n < 2; n++) expect(await deliverTo(address, PLAIN)).toStartWith("250");
  await waitUntil(() => t.eventsOf(id).some(({ name }) => name === "contact.topic_unsubscribed"));
  expect(isSubscribed(to)).toBe(true);
  expect(await unsubscriptions(id)).toEqual([]);
});
