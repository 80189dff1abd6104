/** Requests render and check in threads: the event loop goes on, and projects share them fairly. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../support/app.ts";
import { longestHoldDuring } from "../support/eventually.ts";

const costly = (items: number) =>
  `{% for i in (1..${items}) %}{{ i | times: 3 | plus: 1 }}{% endfor %}`;
/** About a tenth of a second of processor time. */
const COSTLY = costly(30_000);
const mail = { to: "ada@example.com", from: "a@acme.test", subject: "Hi {{ name }}" };

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
afterAll(() => t.close());

/** A render on the event loop holds it for nearly all of the time. */
const FREE = 0.5;

describe("the event loop goes on while a template is rendered", () => {
  test("of a mail that is sent", async () => {
    const sent = t.call("POST", "/v1/send", { ...mail, body: COSTLY });
    expect(await longestHoldDuring(sent)).toBeLessThan(FREE);
    expect((await sent).status).toBe(200);
  });

  test("of a batch, whose cheap mails are many", async () => {
    const to = Array.from({ length: 900 }, (_, i) => `reader-${i}@example.com`);
    const body = "<p>{{ email | upcase }}</p>".repeat(9);
    const sent = t.call("POST", "/v1/send", { ...mail, to, body });
    expect(await longestHoldDuring(sent)).toBeLessThan(FREE);
    expect((await sent).status).toBe(200);
  });

  test("of a preview", async () => {
    const fields = { name: "n", type: "TRANSACTIONAL", subject: mail.subject, body: COSTLY };
    const id = await t.create("/templates", fields, "data.id");
    for (const [method, body] of [["POST", {}], ["GET"]] as const) {
      const shown = t.call(method, `/templates/${id}/preview`, body);
      expect(await longestHoldDuring(shown)).toBeLessThan(FREE);
      expect((await shown).status).toBe(200);
    }
  });

  test("of a campaign, which is shown and sent as a test", async () => {
    const fields = { name: "n", from: "a@acme.test", audienceType: "ALL" };
    const content = { subject: `${mail.subject}{% if false %}${COSTLY}{% endif %}`, body: COSTLY };
    const id = await t.create("/campaigns", { ...fields, ...content }, "data.id");
    const shown = t.call("POST", `/campaigns/${id}/preview`, {});
    expect(await longestHoldDuring(shown)).toBeLessThan(FREE);
    expect((await shown).at("data.subject")).toStartWith("Hi");
    const sent = t.call("POST", `/campaigns/${id}/test`, { email: "ada@example.com" });
    expect(await longestHoldDuring(sent)).toBeLessThan(FREE);
    expect((await sent).status).toBe(200);
  });
});

test("a request is refused with 503 while too much of its project waits; others are not", async () => {
  const body = costly(1_000);
  const other = await t.makeProject("other");
  const sends = Array.from({ length: 40 }, () => t.call("POST", "/v1/send", { ...mail, body }));
  const ofOther = await t.call(
    "POST",
    "/v1/send",
    { ...mail, from: "a@other.test", body },
    { key: other.secretKey },
  );
  expect(ofOther.status).toBe(200);
  const answers = await Promise.all(sends);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(0);
  for (const answer of refused) {
    expect([answer.status, answer.at("error.code")]).toEqual([503, "SERVICE_UNAVAILABLE"]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  }
});

test("a server that stops refuses what waits, so that it need not wait itself", async () => {
  const own = await testApp();
  const body = costly(30_000);
  const sends = Array.from({ length: 20 }, () => own.call("POST", "/v1/send", { ...mail, body }));
  await own.call("GET", "/contacts");
  await own.close();
  const statuses = (await Promise.all(sends)).map(({ status }) => status);
  expect(statuses.at(-1)).toBe(503);
  expect(new Set(statuses).isSubsetOf(new Set([200, 503]))).toBe(true);
});

describe("a fault is the same in a thread and on the event loop:", () => {
  const list = "{% for i in (1..2) %}{{ i }}{% endfor %}";
  test.each([
    ["a syntax error", "{{ a | nothing }}"],
    ["a filter that fails", "{{ a | append }}"],
    ["the syntax of another language", "{{{ name }}}"],
  ])("%s", async (_, fault) => {
    const answers = await Promise.all(
      [fault, `${fault}${list}`].map((body) => t.call("POST", "/v1/send", { ...mail, body })),
    );
    expect(answers.map(({ status }) => status)).toEqual([422, 422]);
    const [here, there] = answers.map((answer) => answer.at("error.errors"));
    expect(there).toEqual(here);
  });
});

describe("a template with many outputs is checked by a thread", () => {
  const large = "{{ a | plus: 1 }}\n".repeat(1_500);
  const template = { name: "n", type: "TRANSACTIONAL", subject: "s" };
  const campaign = { name: "n", from: "a@acme.test", audienceType: "ALL", subject: "s" };

  test.each([
    ["a syntax error", "{{ a | nothing }}"],
    ["the syntax of another language", "{{{ name }}}"],
  ])("and refused for %s in any line", async (_, fault) => {
    const id = await t.create("/templates", { ...template, body: "b" }, "data.id");
    const draft = await t.create("/campaigns", { ...campaign, body: "b" }, "data.id");
    const body = large + fault;
    const requests = [
      ["POST", "/templates", { ...template, body }],
      ["PATCH", `/templates/${id}`, { body }],
      ["POST", "/campaigns", { ...campaign, body }],
      ["PATCH", `/campaigns/${draft}`, { body }],
    ] as const;
    for (const [method, path, fields] of requests) {
      const answer = await t.call(method, path, fields);
      expect([path, answer.status, answer.at("error.errors.0.field")]).toEqual([path, 422, "body"]);
      expect(answer.text("error.errors.0.message")).toContain("line 1501");
    }
  });

  test("and stored; its variables are found by a thread", async () => {
    const id = await t.create("/templates", { ...template, body: `${large}{{ z }}` }, "data.id");
    const usage = await t.call("GET", `/templates/${id}/usage`);
    expect(usage.at("data.placeholders.1")).toMatchObject({ name: "z", isRequired: true });
    expect((await t.call("PATCH", `/templates/${id}`, { body: large })).status).toBe(200);
  });
});
