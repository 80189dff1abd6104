/** The sources of relay reports: create, list, change, test and delete. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FetchRefused } from "../../../src/protocols/fetch-guarded/refusal.ts";
import { expectError } from "../../support/refusal.ts";
import { reportApp, type ReportApp, SENDGRID_KEY, SVIX_SECRET } from "./setup.ts";

let t: ReportApp;
beforeAll(async () => {
  t = await reportApp();
});
afterAll(() => t.close());

const remove = (id: string) => t.call("DELETE", `/report-sources/${id}`);

test("a source is created with a URL that is shown once", async () => {
  const made = await t.call("POST", "/report-sources", { provider: "POSTMARK" });
  expect(made.status).toBe(201);
  expect(made.text("data.url")).toMatch(/^http:\/\/\S+\/v1\/relay-reports\/rr_[0-9A-Za-z]{43}$/);
  expect((await t.call("GET", "/report-sources")).text("data.items.0.id")).toBe(
    made.text("data.id"),
  );
  expect((await t.call("GET", "/report-sources")).at("data.items.0.url")).toBeUndefined();
  expect(made.at("data")).toMatchObject({
    provider: "POSTMARK",
    name: "Postmark",
    needsSigningKey: false,
  });
  const [id] = [made.text("data.id")];
  expect((await remove(id)).status).toBe(204);
  expect((await t.call("GET", "/report-sources")).at("data.items")).toEqual([]);
  expect((await remove(id)).status).toBe(404);
});

describe("a signing key is refused", () => {
  test.each([
    ["POSTMARK", "key", "must be left out, because Postmark has no signing key"],
    ["SES", "key", "must be left out, because Amazon SES has no signing key"],
    ["BREVO", "key", "must be left out, because Brevo has no signing key"],
    ["MAILJET", "key", "must be left out, because Mailjet has no signing key"],
    ["SENDGRID", "key", "must be the verification key that SendGrid shows"],
    ["RESEND", "re_123", "must be a signing secret such as whsec_…"],
    ["RESEND", "whsec_short", "must be a signing secret such as whsec_…"],
  ])("%s: %s", async (provider, signingKey, message) => {
    const answer = await t.call("POST", "/report-sources", { provider, signingKey });
    expectError(answer, {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [["signingKey", "invalid_value"]],
    });
    expect(answer.at("error.errors.0.message")).toBe(message);
  });

  test("also when it is changed; the old one stays", async () => {
    const input = { provider: "SENDGRID", signingKey: SENDGRID_KEY };
    const id = await t.create("/report-sources", input, "data.id");
    const answer = await t.call("PATCH", `/report-sources/${id}`, { signingKey: SVIX_SECRET });
    expect(answer.status).toBe(422);
    expect((await t.call("GET", "/report-sources")).at("data.items.0.needsSigningKey")).toBe(false);
    await remove(id);
  });
});

test("a project has at most 20 sources", async () => {
  const ids: string[] = [];
  for (let i = 0; i < 20; i++) {
    ids.push(await t.create("/report-sources", { provider: "BREVO" }, "data.id"));
  }
  const answer = await t.call("POST", "/report-sources", { provider: "BREVO" });
  expectError(answer, { status: 409, code: "TOO_MANY_REPORT_SOURCES" });
  for (const id of ids) await remove(id);
});

describe("the test of a URL", () => {
  test("requests it, and tells whether this source answered", async () => {
    const made = await t.call("POST", "/report-sources", { provider: "MAILJET" });
    const [id, url] = [made.text("data.id"), made.text("data.url")];
    const run = () => t.call("POST", `/report-sources/${id}/test`, { url });
    expect((await run()).at("data")).toEqual({
      isReached: false,
      reason: "The URL was answered with 404, but not by this source.",
    });
    const page = await t.call("GET", new URL(url).pathname, undefined, { key: null });
    t.answers[url] = Buffer.from(JSON.stringify(page.body));
    expect((await run()).at("data")).toEqual({ isReached: true, reason: null });
    await remove(id);
    expect((await t.call("GET", new URL(url).pathname, undefined, { key: null })).status).toBe(404);
  });

  test("says why it cannot be requested", async () => {
    const refused = await reportApp({
      fetchGuarded: () =>
        Promise.reject(new FetchRefused("private_address", "has no address that may be asked")),
    });
    const made = await refused.call("POST", "/report-sources", { provider: "MAILJET" });
    const url = made.text("data.url");
    const answer = await refused.call("POST", `/report-sources/${made.text("data.id")}/test`, {
      url,
    });
    expect(answer.at("data")).toEqual({
      isReached: false,
      reason: "has no address that may be asked",
    });
    await refused.close();
  });

  test("refuses a URL that is not of this source, and requests nothing", async () => {
    const id = await t.create("/report-sources", { provider: "MAILJET" }, "data.id");
    t.requested.length = 0;
    for (const url of ["https://mail.example.com/v1/relay-reports/rr_x", "nonsense"]) {
      const answer = await t.call("POST", `/report-sources/${id}/test`, { url });
      expectError(answer, {
        status: 422,
        code: "VALIDATION_ERROR",
        errors: [["url", "invalid_value"]],
      });
    }
    expect(t.requested).toEqual([]);
    await remove(id);
  });
});

test("a source of another project is not found", async () => {
  const id = await t.create("/report-sources", { provider: "BREVO" }, "data.id");
  const { secretKey: key } = await t.makeProject("stranger");
  for (const [method, path, body] of [
    ["PATCH", `/report-sources/${id}`, { signingKey: "key" }],
    ["POST", `/report-sources/${id}/test`, { url: "https://a.example/" }],
    ["DELETE", `/report-sources/${id}`, undefined],
  ] as const) {
    const answer = await t.call(method, path, body, { key });
    expectError(answer, { status: 404, code: "REPORT_SOURCE_NOT_FOUND" });
  }
  await remove(id);
});
