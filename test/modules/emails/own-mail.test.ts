/** The mail that a signed-in user sends to the own address before a domain is verified. */

import { afterEach, describe, expect, test } from "bun:test";
import { testApp, type TestApp, type TestOptions } from "../../support/app.ts";
import { expectError } from "../../support/refusal.ts";
import { signIn } from "../../support/session.ts";
import { testTransport } from "../../support/transport.ts";

const OWNER = "owner@example.com";
const MAIL = { to: OWNER, from: "hello@shop.example", subject: "Hi", body: "<p>Hello</p>" };
const REFUSED = { status: 403, code: "DOMAIN_NOT_VERIFIED" };

let t: TestApp;
afterEach(() => t.close());

/** An application, and a function by which its owner sends a mail in a session. */
async function start(options: TestOptions = {}) {
  t = await testApp(options);
  const owner = await signIn(t, { email: OWNER });
  const headers = { "x-project": t.project.id };
  return (mail: object) => owner.call("POST", "/v1/send", { ...MAIL, ...mail }, headers);
}

describe("mail from a domain that is not verified", () => {
  test("is captured if a signed-in user sends it to the own address", async () => {
    const send = await start();
    const answer = await send({ to: [{ email: " Owner@EXAMPLE.com ", name: "Ada" }] });
    expect(answer.status).toBe(200);
    await t.deliver();
    const record = await t.call("GET", `/emails/${answer.text("data.emails.0.email")}`);
    expect(record.at("data")).toMatchObject({ status: "SENT", from: "hello@shop.example" });
  });

  test("is refused to any other recipient", async () => {
    const send = await start();
    const before = t.contents();
    expectError(await send({ to: "ada@example.com" }), REFUSED);
    expectError(await send({ to: [OWNER, "ada@example.com"] }), REFUSED);
    expect(t.contents()).toEqual(before);
  });

  test("is refused with an API key", async () => {
    await start();
    expectError(await t.call("POST", "/v1/send", MAIL), REFUSED);
  });

  test("is refused if mail leaves the server", async () => {
    const send = await start({ transport: testTransport() });
    expectError(await send({}), REFUSED);
  });
});
