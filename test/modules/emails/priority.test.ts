/** `priority` of `POST /v1/send` (docs/interface.md#send). */

import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const MAIL = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };
const send = (fields: object) => t.call("POST", "/v1/send", { ...MAIL, ...fields });

async function priorityFields(id: string): Promise<string[]> {
  await t.deliver();
  const raw = (await t.call("GET", `/emails/${id}/raw`)).text("");
  return raw.match(/^(?:X-Priority|Importance|Priority): .*?(?=\r?$)/gim) ?? [];
}

describe("priority", () => {
  const high = ["X-Priority: 1", "Importance: high", "Priority: urgent"];
  test.each<[priority: string, fields: string[]]>([
    ["high", high],
    ["low", ["X-Priority: 5", "Importance: low", "Priority: non-urgent"]],
    ["normal", []],
  ])("%s is written as these header fields", async (priority, fields) => {
    const answer = await send({ priority, headers: { "X-Other": "1" } });
    expect(await priorityFields(answer.text("emails.0.email"))).toEqual(fields);
  });

  test("is that of each mail of a batch, and of a mail that is sent again", async () => {
    const mails = [{ ...MAIL, priority: "high" }, MAIL];
    const batch = await t.call("POST", "/v1/send/batch", { mails });
    const first = batch.text("data.results.0.emails.0.email");
    expect(await priorityFields(first)).toEqual(high);
    expect(await priorityFields(batch.text("data.results.1.emails.0.email"))).toEqual([]);
    const again = await t.call("POST", `/emails/${first}/resend`);
    expect(await priorityFields(again.text("data.id"))).toEqual(high);
  });

  test.each<[name: string, fields: object, field: string, code: string]>([
    ["another word", { priority: "urgent" }, "priority", "invalid_value"],
    ["a number", { priority: 1 }, "priority", "invalid_type"],
    [
      "a header that also says it",
      { priority: "normal", headers: { "x-PRIORITY": "1" } },
      "headers.x-PRIORITY",
      "invalid_value",
    ],
  ])("with %s is refused", async (_, fields, field, code) => {
    const before = t.contents();
    expectError(await send(fields), {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [[field, code]],
    });
    expect(t.contents()).toEqual(before);
  });
});
