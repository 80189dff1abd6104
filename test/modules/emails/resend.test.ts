/** `POST /emails/{id}/resend`: a mail that has ended is sent again as a new mail. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/app.ts";
import { expectError } from "../../support/refusal.ts";

let t: TestApp;

beforeAll(async () => {
  t = await testApp();
});
afterAll(() => t.close());

const send = (mail: object = {}) =>
  t.create(
    "/v1/send",
    {
      to: "Ada <ada@example.com>",
      from: "orders@acme.test",
      subject: "Order {{ number }}",
      body: "<p>{{ number }}</p>",
      data: { number: 7 },
      ...mail,
    },
    "data.emails.0.email",
  );

/** Ends a mail as the outbox does at its last attempt. */
function end(id: string, status: string): void {
  t.db.sqlite.run("UPDATE emails SET status = ?, next_at = NULL WHERE id = ?", [status, id]);
}

const resend = (id: string, options: object = {}) =>
  t.call("POST", `/emails/${id}/resend`, undefined, options);

describe("a mail that has ended is sent again", () => {
  test.each(["BOUNCED", "FAILED", "SENT", "CANCELLED"])("after %s", async (status) => {
    const first = await send();
    end(first, status);
    const answer = await resend(first);
    expect(answer.status).toBe(201);
    const again = answer.text("data.id");
    expect(again).not.toBe(first);
    const [before, after] = await Promise.all(
      [first, again].map((id) => t.call("GET", `/emails/${id}`)),
    );
    expect(after?.at("data.status")).toBe("QUEUED");
    expect(before?.at("data.status")).toBe(status);
    for (const name of ["to", "from", "subject", "contactId", "source", "templateId"]) {
      expect(after?.at(`data.${name}`)).toEqual(before?.at(`data.${name}`));
    }
    const content = await t.call("GET", `/emails/${again}/content`);
    expect(content.text("data.html")).toContain("<p>7</p>");
    end(again, "SENT");
  });

  test("once for a key", async () => {
    const id = await send();
    end(id, "FAILED");
    const headers = { "Idempotency-Key": "again-1" };
    const answers = [await resend(id, { headers }), await resend(id, { headers })];
    expect(answers[0]?.text("data.id")).toBe(answers[1]?.text("data.id") ?? "");
  });

  test("a mail of a campaign leaves with the present data of its contact, outside it", async () => {
    const id = await send({ to: "cy@example.com", data: {} });
    t.db.sqlite.run(
      `UPDATE emails SET campaign_seq = 1, source = 'CAMPAIGN', variables = NULL,
         subject = 'For {{ name }}', status = 'FAILED', next_at = NULL WHERE id = ?`,
      [id],
    );
    t.db.sqlite.run(`UPDATE contacts SET data = '{"name":"Cy"}' WHERE email = 'cy@example.com'`);
    const answer = await resend(id);
    expect(answer.at("data")).toMatchObject({
      subject: "For Cy",
      source: "TRANSACTIONAL",
      campaignId: null,
      status: "QUEUED",
    });
  });
});

describe("is refused", () => {
  test("while the mail is under way", async () => {
    const id = await send();
    expectError(await resend(id), { status: 409, code: "CONFLICT" });
  });

  test("to a suppressed address", async () => {
    const id = await send({ to: "gone@example.com" });
    end(id, "BOUNCED");
    await t.call("POST", "/suppressions", { email: "gone@example.com" });
    const answer = await resend(id);
    expectError(answer, { status: 409, code: "CONFLICT" });
    expect(answer.text("error.message")).toContain("gone@example.com is suppressed");
  });

  test("without its content, and for a mail of another project", async () => {
    const id = await send();
    end(id, "SENT");
    const { secretKey } = await t.makeProject("stranger");
    expectError(await resend(id, { key: secretKey }), { status: 404, code: "EMAIL_NOT_FOUND" });
    t.db.sqlite.run("UPDATE messages SET digest = 'purged ' || seq");
    expectError(await resend(id), { status: 404, code: "CONTENT_PURGED" });
  });
});
