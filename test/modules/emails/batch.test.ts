/** `POST /v1/send/batch` (docs/interface.md#batch). */

import { beforeEach, describe, expect, test } from "bun:test";
import { findWrongUsage } from "../../../src/db/usage-recount.ts";
import type { TestApp } from "../../support/app.ts";
import { listAt, valueAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const mail = (n: number, fields: object = {}) => ({
  to: `p${n}@example.com`,
  from: "a@acme.test",
  subject: `Mail ${n}`,
  body: `<p>${n}</p>`,
  ...fields,
});
const FAULTY = {
  address: mail(1, { to: "nope" }),
  domain: mail(2, { from: "a@other.test" }),
  template: mail(3, { template: "none" }),
  rendering: mail(4, { subject: "{{ nothing }}" }),
};

const batch = (mails: unknown, mode?: string, headers: Record<string, string> = {}) =>
  t.call("POST", "/v1/send/batch", { mails, ...(mode === undefined ? {} : { mode }) }, { headers });

const subjects = () =>
  t.db.sqlite
    .query<{ subject: string }, [number]>(
      "SELECT subject FROM emails WHERE project_seq = ? ORDER BY subject",
    )
    .all(t.project.seq)
    .map(({ subject }) => subject);

/** The numbers of rows that a mail writes. */
const rows = () =>
  ["emails", "messages", "contacts", "events", "idempotency_keys"].map((table) =>
    t.countRows(table),
  );

describe("a batch", () => {
  test.each([undefined, "ALL_OR_NOTHING", "EACH"])(
    "in the mode %p sends all its mails",
    async (mode) => {
      const mails = [mail(1), mail(2, { cc: "cy@example.com", tags: { a: "b" } }), mail(3)];
      const answer = await batch(mails, mode);
      expect(answer.status).toBe(200);
      expect(answer.at("data.timestamp")).toBe(new Date(t.clock.now()).toISOString());
      const results = listAt(answer.body, "data.results");
      expect(results).toMatchObject([
        { accepted: true, error: null, emails: [{ contact: { email: "p1@example.com" } }] },
        { accepted: true, error: null, emails: [{}, { contact: { email: "cy@example.com" } }] },
        { accepted: true, error: null, emails: [{ contact: { email: "p3@example.com" } }] },
      ]);
      await t.deliver();
      for (const id of results.flatMap((each) => listAt(each, "emails"))) {
        const record = await t.call("GET", `/emails/${String(valueAt(id, "email"))}`);
        expect(record.at("data.status")).toBe("SENT");
      }
      expect(findWrongUsage(t.db.sqlite)).toEqual([]);
    },
  );

  test("takes 100 mails and 1,000 recipients", async () => {
    const to = Array.from({ length: 10 }, (_, i) => `p${i}@example.com`);
    const answer = await batch(Array.from({ length: 100 }, (_, n) => mail(n, { to })));
    expect([answer.status, t.countRows("emails")]).toEqual([200, 1000]);
  });
});

describe("all or nothing", () => {
  test("names the faults of all mails and stores nothing", async () => {
    const before = rows();
    const answer = await batch([mail(0), FAULTY.address, FAULTY.rendering]);
    expectError(answer, {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [
        ["mails.1.to", "invalid_format"],
        ["mails.2.subject", "too_small"],
      ],
    });
    expect(rows()).toEqual(before);
  });

  test("refuses with the refusal of one mail, which it names", async () => {
    const before = rows();
    const unverified = await batch([mail(0), FAULTY.domain]);
    expectError(unverified, { status: 403, code: "DOMAIN_NOT_VERIFIED" });
    expect(unverified.text("error.message")).toStartWith("mails.1: ");
    expectError(await batch([FAULTY.template]), { status: 404, code: "TEMPLATE_NOT_FOUND" });
    expect(rows()).toEqual(before);
  });

  test("undoes all mails if the last one is refused while it is stored", async () => {
    const template = { name: "T", subject: "T", body: "<p>T</p>", type: "MARKETING" };
    const id = await t.create("/templates", template, "data.id");
    const before = rows();
    const answer = await batch([mail(0), mail(1, { template: id })]);
    expectError(answer, { status: 400, code: "RECIPIENT_UNSUBSCRIBED" });
    expect(answer.text("error.message")).toStartWith("mails.1: ");
    expect(rows()).toEqual(before);
    expect(findWrongUsage(t.db.sqlite)).toEqual([]);
  });
});

describe("each mail with an outcome of its own", () => {
  test("sends the others", async () => {
    const answer = await batch([FAULTY.address, mail(5), FAULTY.domain, FAULTY.rendering], "EACH");
    expect(answer.status).toBe(200);
    expect(answer.at("data.results")).toMatchObject([
      {
        accepted: false,
        emails: [],
        error: {
          code: "VALIDATION_ERROR",
          statusCode: 422,
          errors: [{ field: "to", code: "invalid_format" }],
        },
      },
      { accepted: true, error: null },
      { accepted: false, error: { code: "DOMAIN_NOT_VERIFIED", statusCode: 403 } },
      { accepted: false, error: { errors: [{ field: "subject", code: "too_small" }] } },
    ]);
    expect(subjects()).toEqual(["Mail 5"]);
  });

  test("undoes only the mail that is refused while it is stored", async () => {
    const template = { name: "T", subject: "T", body: "<p>T</p>", type: "MARKETING" };
    const id = await t.create("/templates", template, "data.id");
    const answer = await batch([mail(1, { template: id }), mail(2)], "EACH");
    expect(answer.at("data.results.0.error.code")).toBe("RECIPIENT_UNSUBSCRIBED");
    expect(subjects()).toEqual(["Mail 2"]);
    expect(findWrongUsage(t.db.sqlite)).toEqual([]);
  });

  test("refuses mails that are no objects alone", async () => {
    const answer = await batch([null, "x", mail(1), []], "EACH");
    const accepted = listAt(answer.body, "data.results").map((each) => valueAt(each, "accepted"));
    expect(accepted).toEqual([false, false, true, false]);
  });
});

describe("an Idempotency-Key", () => {
  test.each(["ALL_OR_NOTHING", "EACH"])("in the mode %s replays the answer", async (mode) => {
    const headers = { "Idempotency-Key": "batch-1" };
    const mails = [mail(1), mail(2)];
    const first = await batch(mails, mode, headers);
    const second = await batch(mails, mode, headers);
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(subjects()).toEqual(["Mail 1", "Mail 2"]);
    expect((await batch([mail(1)], mode, headers)).at("error.code")).toBe("IDEMPOTENCY_KEY_REUSED");
  });

  test("can be used again for the mails that were refused", async () => {
    const headers = { "Idempotency-Key": "batch-3" };
    const first = await batch([mail(1), FAULTY.template, mail(3)], "EACH", headers);
    const second = await batch([mail(1), mail(2), mail(3)], "EACH", headers);
    const [one, , three] = listAt(first.body, "data.results");
    expect(second.at("data.results")).toEqual([
      one,
      expect.objectContaining({ accepted: true }),
      three,
    ]);
    expect(subjects()).toEqual(["Mail 1", "Mail 2", "Mail 3"]);
    const third = await batch([mail(1), mail(2), mail(3)], "EACH", headers);
    expect([third.headers.get("idempotency-replayed"), third.body]).toEqual(["true", second.body]);
  });

  test("makes no mail twice if the answer was lost before it was stored", async () => {
    const headers = { "Idempotency-Key": "batch-2" };
    const mails = [mail(1), mail(2)];
    const first = await batch(mails, "EACH", headers);
    // As if the process had ended between the last mail and the answer of the request.
    const answers = t.db.sqlite
      .query(
        "DELETE FROM idempotency_keys WHERE project_seq = ? AND body LIKE '%\"results\"%' RETURNING 1",
      )
      .all(t.project.seq);
    expect(answers).toHaveLength(1);
    const second = await batch(mails, "EACH", headers);
    expect(second.at("data.results")).toEqual(first.at("data.results"));
    expect(subjects()).toEqual(["Mail 1", "Mail 2"]);
  });
});

describe("refuses in both modes", () => {
  test.each<[string, unknown, string, string]>([
    ["no mails", [], "mails", "too_small"],
    ["a single mail", mail(1), "mails", "invalid_type"],
    ["101 mails", Array.from({ length: 101 }, (_, n) => mail(n)), "mails", "too_big"],
    [
      "1,001 recipients",
      Array.from({ length: 11 }, (_, n) => mail(n, { to: Array(91).fill("a@example.com") })),
      "mails",
      "too_big",
    ],
    [
      "an unknown field of a mail",
      [mail(1), mail(2, { html: "<p>" })],
      "mails.1.html",
      "unknown_field",
    ],
  ])("%s", async (_, mails, field, code) => {
    const before = rows();
    for (const mode of ["ALL_OR_NOTHING", "EACH"]) {
      const refusal = { status: 422, code: "VALIDATION_ERROR", errors: [[field, code] as const] };
      expectError(await batch(mails, mode), refusal);
    }
    expect(rows()).toEqual(before);
  });

  test("another mode", async () => {
    const errors = [["mode", "invalid_value"] as const];
    expectError(await batch([mail(1)], "SOME"), { status: 422, code: "VALIDATION_ERROR", errors });
  });
});
