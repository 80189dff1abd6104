import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { type TestApp, type TestResponse, testApp } from "../../support/app.ts";
import { settleEventLoop } from "../../support/eventually.ts";
import { listAt, valueAt } from "../../support/json.ts";
import { startMailing } from "../../support/mailing.ts";

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
afterAll(() => t.close());

const read = (query = ""): Promise<TestResponse> => t.call("GET", `/stats${query}`);

async function deliverTo(to: string): Promise<void> {
  const mail = { to, from: "a@acme.test", subject: "s", body: "<p>b</p>" };
  await t.create("/v1/send", mail, "data.emails.0.email");
  await t.deliver();
}

describe("GET /stats", () => {
  test("counts the mails of each day and compares them with the days before", async () => {
    await deliverTo("ada@example.net");
    await deliverTo("bob@example.net");
    const answer = await read();
    expect(answer.status).toBe(200);
    expect(answer.at("data.totals.sent")).toBe(2);
    expect(answer.at("data.previousTotals.sent")).toBe(0);
    const points = listAt(answer.body, "data.points");
    expect(points).toHaveLength(31);
    expect(points.map((point) => valueAt(point, "sent")).at(-1)).toBe(2);
    expect(valueAt(points.at(-1), "start")).toBe("2026-03-02");
  });

  test("gives each hour, those without events included", async () => {
    const query = "?interval=HOUR&from=2026-03-02T08:30:00Z&to=2026-03-02T10:30:00Z";
    const points = listAt((await read(query)).body, "data.points");
    expect(points.map((point) => [valueAt(point, "start"), valueAt(point, "sent")])).toEqual([
      ["2026-03-02T08:00:00.000Z", 0],
      ["2026-03-02T09:00:00.000Z", 0],
      ["2026-03-02T10:00:00.000Z", 2],
    ]);
  });

  test("begins days at midnight of the time zone", async () => {
    const query = "?from=2026-03-01T00:00:00Z&to=2026-03-04T00:00:00Z&timeZone=Pacific/Auckland";
    const points = listAt((await read(query)).body, "data.points");
    const withMail = points.filter((point) => valueAt(point, "sent") !== 0);
    expect(withMail.map((point) => valueAt(point, "start"))).toEqual(["2026-03-02"]);
    const west = "?from=2026-03-01T00:00:00Z&to=2026-03-04T00:00:00Z&timeZone=Pacific/Pago_Pago";
    const western = listAt((await read(west)).body, "data.points");
    expect(western.map((point) => valueAt(point, "start"))[0]).toBe("2026-02-28");
  });

  test("counts a suppressed address, an unsubscription and a new subscription", async () => {
    await t.call("POST", "/suppressions", { email: "carol@example.net" });
    await deliverTo("carol@example.net");
    const id = await t.create("/contacts", { email: "dora@example.net", subscribed: true }, "id");
    await t.call("PATCH", `/contacts/${id}`, { subscribed: false });
    const totals = await read();
    const names = ["suppressed", "subscribed", "unsubscribed"];
    expect(names.map((name) => totals.at(`data.totals.${name}`))).toEqual([1, 1, 1]);
  });

  test("does not count test mails", async () => {
    const before = (await read()).at("data.totals");
    const template = { name: "T", subject: "s", body: "<p>b</p>", type: "TRANSACTIONAL" };
    const id = await t.create("/templates", { ...template, from: "a@acme.test" }, "data.id");
    await t.call("POST", `/templates/${id}/test`, { to: "ada@example.net" });
    await t.deliver();
    const sent = await t.call("GET", "/emails?source=TEST");
    expect(sent.at("data.items.0.status")).toMatch(/SENT|DELIVERED/);
    expect((await read()).at("data.totals")).toEqual(before);
  });

  test("does not count events of another project", async () => {
    const other = await t.makeProject("other");
    const answer = await t.call("GET", "/stats", undefined, { key: other.secretKey });
    expect(answer.at("data.totals.sent")).toBe(0);
  });

  test("refuses a period that is empty or too long, and an unknown time zone", async () => {
    const empty = "?from=2026-03-02T00:00:00Z&to=2026-03-02T00:00:00Z";
    expect(
      listAt((await read(empty)).body, "error.errors").map((e) => valueAt(e, "field")),
    ).toEqual(["from"]);
    const long = "?interval=HOUR&from=2026-01-01T00:00:00Z&to=2026-03-02T00:00:00Z";
    expect(listAt((await read(long)).body, "error.errors").map((e) => valueAt(e, "field"))).toEqual(
      ["from"],
    );
    const zone = await read("?timeZone=Mars/Olympus");
    expect(listAt(zone.body, "error.errors").map((error) => valueAt(error, "field"))).toEqual([
      "timeZone",
    ]);
  });
});

test("the migration counts the events of the past as the handler counts new ones", async () => {
  const { t: mailing, fetchAs, send } = await startMailing();
  const { pixel, hrefs } = await send();
  const link = hrefs.find((href) => href.includes("/c/")) ?? expect.unreachable();
  mailing.clock.advance(60_000);
  for (const url of [pixel ?? "", link, link]) {
    await fetchAs("GET", url);
    mailing.clock.advance(1_000);
    await settleEventLoop();
  }
  const hours = () => mailing.db.sqlite.query("SELECT * FROM project_hours ORDER BY 1, 2").all();
  const counted = hours();
  expect(counted).toContainEqual(expect.objectContaining({ sent: 1, opened: 1, clicked: 1 }));
  mailing.db.sqlite.run("DELETE FROM project_hours");
  const migration = readFileSync("migrations/0015_statistics_by_hour.sql", "utf8");
  for (const statement of migration.split("--> statement-breakpoint").slice(1)) {
    mailing.db.sqlite.run(statement);
  }
  expect(hours()).toEqual(counted);
  await mailing.close();
});
