import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { prepareDomain } from "../../../src/modules/domains/domains.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import { valueAt, listAt } from "../../support/json.ts";
import { expectError } from "../../support/refusal.ts";
import { statuses } from "../../support/zone.ts";

let t: TestApp;
beforeAll(async () => {
  t = await testApp({ config: { hostname: "mail.example.org" } });
});
afterAll(() => t.close());

const add = (domain: unknown, rest = {}) => t.call("POST", "/domains", { domain }, rest);

describe("POST /domains", () => {
  test("adds a domain and returns the records to publish", async () => {
    const answer = await add("Shop.Example.com.");
    expect(answer.status).toBe(201);
    expect(answer.at("data")).toMatchObject({
      domain: "shop.example.com",
      status: "PENDING",
      verified: false,
      verifiedAt: null,
      lastCheckedAt: null,
      failingSince: null,
      createdAt: "2026-03-02T10:00:00.000Z",
    });
    expect(statuses(answer.at("data"))).toEqual([
      "DKIM TXT PENDING",
      "DKIM TXT PENDING",
      "SPF TXT PENDING",
      "DMARC TXT PENDING",
      "RETURN_PATH MX PENDING",
      "RETURN_PATH TXT PENDING",
    ]);
    expect(answer.text("data.records.0.name")).toMatch(
      /^ms[0-9a-f]{6}-rsa\._domainkey\.shop\.example\.com$/,
    );
    expect(answer.text("data.records.0.value")).toMatch(/^v=DKIM1; k=rsa; p=[\w+/]{380,}={0,2}$/);
    expect(answer.text("data.records.1.value")).toMatch(/^v=DKIM1; k=ed25519; p=[\w+/]{43}=$/);
  });

  test("removes spaces and tabs around the name, and nothing else", async () => {
    const answer = await add(" trimmed.example.com.\t");
    expect([answer.status, answer.at("data.domain")]).toEqual([201, "trimmed.example.com"]);
    for (const text of ["x.example.com\r\n", "\u00a0x.example.com", "\ufeffx.example.com"]) {
      expectError(await add(text), {
        status: 422,
        code: "VALIDATION_ERROR",
        errors: [["domain", "invalid_format"]],
      });
    }
  });

  test("stores private keys only encrypted", async () => {
    const answer = await add("sealed.example.com");
    const rows = t.db.sqlite
      .query<{ private_key: Uint8Array }, []>("SELECT private_key FROM dkim_keys")
      .all();
    expect(rows.length).toBeGreaterThanOrEqual(2);
    // The object identifiers of RSA and Ed25519, which every PKCS #8 key contains.
    for (const { private_key } of rows) {
      const hex = Buffer.from(private_key).toString("hex");
      expect(hex).not.toContain("2a864886f70d010101");
      expect(hex).not.toContain("2b6570");
    }
    expect(JSON.stringify(answer.body)).not.toContain("rivate");
  });

  test("answers 200 with the existing domain if it is added again", async () => {
    const first = await add("again.example.com");
    const second = await add("AGAIN.example.com");
    expect(second.status).toBe(200);
    expect(second.body).toEqual(first.body);
    expect(
      t.db.sqlite.query("SELECT 1 FROM domains WHERE domain = 'again.example.com'").all(),
    ).toHaveLength(1);
  });

  test("adds one domain with one set of keys for two concurrent requests", async () => {
    const answers = await Promise.all([add("race.example.com"), add("race.example.com")]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 201]));
    expect(answers[0]?.text("data.id")).toBe(answers[1]?.text("data.id") ?? "");
    expect(listAt(answers[1]?.body, "data.records")).toEqual(
      listAt(answers[0]?.body, "data.records"),
    );
  });

  test("gives each domain its own selectors", async () => {
    const one = await add("one.example.com");
    const two = await add("two.example.com");
    const selector = (answer: { body: unknown }) =>
      String(valueAt(answer.body, "data.records.0.name")).split(".")[0];
    expect(selector(one)).not.toBe(selector(two));
  });

  test("stores an internationalised name as A-labels", async () => {
    const answer = await add("bücher.example");
    expect(answer.text("data.domain")).toBe("xn--bcher-kva.example");
  });

  test("adds a domain that another project has only added, with other keys", async () => {
    const other = await t.makeProject("claims");
    const mine = await add("claimed.example.com");
    const theirs = await add("claimed.example.com", { key: other.secretKey });
    expect([mine.status, theirs.status]).toEqual([201, 201]);
    expect(theirs.text("data.id")).not.toBe(mine.text("data.id"));
    expect(theirs.text("data.records.0.name")).not.toBe(mine.text("data.records.0.name"));
    const remove = (id: string) => t.call("DELETE", `/domains/${id}`);
    expect((await remove(theirs.text("data.id"))).status).toBe(404);
    expect((await remove(mine.text("data.id"))).status).toBe(204);
    expect((await add("claimed.example.com", { key: other.secretKey })).status).toBe(200);
  });

  test("refuses a domain that another project has verified with a conflict", async () => {
    const other = await t.makeProject("other");
    await t.app.writer.write(
      await prepareDomain(t.app.app, {
        projectSeq: t.project.seq,
        domain: "mine.example.com",
        isDeclaredVerified: true,
      }),
    );
    const answer = await add("mine.example.com", { key: other.secretKey });
    expectError(answer, { status: 409, code: "CONFLICT" });
    const list = await t.call("GET", "/domains", undefined, { key: other.secretKey });
    expect(listAt(list.body, "data.items").map((item) => valueAt(item, "domain"))).toEqual([
      "other.test",
    ]);
  });

  const refused: [why: string, body: unknown, code: string][] = [
    ["a single label", { domain: "localhost" }, "invalid_format"],
    ["a public suffix", { domain: "co.uk" }, "invalid_format"],
    ["an address", { domain: "a@example.com" }, "invalid_format"],
    ["an URL", { domain: "https://example.com/" }, "invalid_format"],
  ];
  test.each(refused)("refuses %s", async (_, body, code) => {
    const before = t.countRows("domains");
    const answer = await t.call("POST", "/domains", body);
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors: [["domain", code]] });
    expect(t.countRows("domains")).toBe(before);
  });
});
