/** Imports of people who left: an import never subscribes them. */

import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";
import { runImport, storedContacts, upload } from "./upload.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

/** The stored suppressions, by address. */
function suppressions(): [email: string, reason: string][] {
  return t.db.sqlite
    .query<{ email: string; reason: string }, [number]>(
      "SELECT email, reason FROM suppressions WHERE project_seq = ? ORDER BY email",
    )
    .all(t.project.seq)
    .map(({ email, reason }) => [email, reason]);
}

const subscribed = () => storedContacts(t).map(({ email, subscribed: is }) => [email, is]);

const LISTMONK = `uuid,email,name,attributes,status,created_at,updated_at
0c1,ada@x.io,Ada,"{""city"": ""Rome"", ""id"": 7, ""tags"": [""a""]}",enabled,2024-01-01,2024-01-02
0c2,bob@x.io,Bob,{},blocklisted,2024-01-01,2024-01-02
0c3,cyd@x.io,Cyd,,unsubscribed,2024-01-01,2024-01-02
0c4,dora@x.io,Dora,{},disabled,2024-01-01,2024-01-02
`;

describe("an export of", () => {
  test("listmonk: blocklisted and unsubscribed people are not subscribed, attributes are data", async () => {
    const progress = await runImport(t, LISTMONK);
    expect(progress.at("data")).toMatchObject({ created: 4, failed: 0, suppressed: 1 });
    expect(subscribed()).toEqual([
      ["ada@x.io", true],
      ["bob@x.io", false],
      ["cyd@x.io", false],
      ["dora@x.io", false],
    ]);
    expect(suppressions()).toEqual([["bob@x.io", "MANUAL"]]);
    expect(storedContacts(t)[0]?.data).toEqual({
      uuid: "0c1",
      name: "Ada",
      city: "Rome",
      tags: ["a"],
      created_at: "2024-01-01",
      updated_at: "2024-01-02",
    });
  });

  type Row = [service: string, file: string, isSubscribed: boolean, reason: string | null];
  const rows: Row[] = [
    [
      "Mailchimp, unsubscribed",
      'Email Address,First Name,OPTIN_TIME,UNSUB_TIME,UNSUB_CAMPAIGN_TITLE,UNSUB_REASON\na@x.io,Ada,2020-01-01 10:00:00,"2024-05-06 07:08:09",News,NORMAL\n',
      false,
      null,
    ],
    [
      "Mailchimp, cleaned",
      "Email Address,OPTIN_TIME,CLEAN_TIME,CLEAN_CAMPAIGN_TITLE\na@x.io,2020-01-01 10:00:00,2024-05-06 07:08:09,News\n",
      false,
      "HARD_BOUNCE",
    ],
    [
      "Mailchimp, a status",
      "Email Address,Email Marketing Status\na@x.io,Cleaned\n",
      false,
      "HARD_BOUNCE",
    ],
    ["Mailchimp, subscribed", "Email Address,OPTIN_TIME\na@x.io,2020-01-01 10:00:00\n", true, null],
    ["Brevo, a flag", "EMAIL,FIRSTNAME,EMAIL_BLACKLISTED\na@x.io,Ada,true\n", false, "MANUAL"],
    ["Brevo, a reason", "EMAIL,BLOCKLISTED\na@x.io,hard bounce\n", false, "HARD_BOUNCE"],
    ["Brevo, not left", "EMAIL,EMAIL_BLACKLISTED\na@x.io,false\n", true, null],
    [
      "SendGrid, bounces",
      "status,reason,email,created\n5.1.1,550 5.1.1 No such user,a@x.io,1700000000\n",
      false,
      "HARD_BOUNCE",
    ],
    ["Resend", "id,email,created_at,unsubscribed\n1,a@x.io,2024-01-01,true\n", false, null],
    ["Resend, not left", "id,email,unsubscribed\n1,a@x.io,false\n", true, null],
    ["Plunk", 'email,subscribed,data\na@x.io,false,"{""plan"":""pro""}"\n', false, null],
    [
      "Postmark",
      "EmailAddress,SuppressionReason,Origin\na@x.io,SpamComplaint,Recipient\n",
      false,
      "COMPLAINT",
    ],
    ["Kit", "email,Status\na@x.io,complained\n", false, "COMPLAINT"],
    ["Klaviyo", "Email,Email Marketing Consent\na@x.io,NEVER_SUBSCRIBED\n", false, null],
    ["Shopify", "Email,Accepts Email Marketing\na@x.io,no\n", false, null],
    ["Shopify, subscribed", "Email,Accepts Email Marketing\na@x.io,yes\n", true, null],
    ["Ghost", "id,email,subscribed_to_emails\n1,a@x.io,false\n", false, null],
    ["HubSpot", "Email,Unsubscribed from all email\na@x.io,Yes\n", false, null],
    ["Substack", "Email,Subscription Type,Emails disabled\na@x.io,free,true\n", false, null],
    ["two columns", "email,subscribed,bounced\na@x.io,true,1\n", false, "HARD_BOUNCE"],
  ];
  test.each(rows)("%s", async (_, file, isSubscribed, reason) => {
    const progress = await runImport(t, file);
    expect(progress.at("data")).toMatchObject({ status: "COMPLETED", created: 1, failed: 0 });
    expect(subscribed()).toEqual([["a@x.io", isSubscribed]]);
    expect(suppressions()).toEqual(reason === null ? [] : [["a@x.io", reason]]);
  });
});

test("an existing contact that a file lists as bounced is unsubscribed and suppressed", async () => {
  await t.call("POST", "/contacts", { email: "ada@x.io" });
  const progress = await runImport(t, "email,status\nada@x.io,bounced\n");
  expect(progress.at("data")).toMatchObject({ updated: 1, suppressed: 1, keptUnsubscribed: 0 });
  expect(t.eventNames()).toEqual(["contact.subscribed", "contact.unsubscribed"]);
  expect(suppressions()).toEqual([["ada@x.io", "HARD_BOUNCE"]]);
});

test("a suppression keeps its first reason, and an address in several rows counts once", async () => {
  await t.call("POST", "/suppressions", { email: "ada@x.io", reason: "COMPLAINT" });
  const file = "email,status\nada@x.io,bounced\nbob@x.io,bounced\nbob@x.io,spam\n";
  expect((await runImport(t, file)).at("data.suppressed")).toBe(1);
  expect(suppressions()).toEqual([
    ["ada@x.io", "COMPLAINT"],
    ["bob@x.io", "HARD_BOUNCE"],
  ]);
});

test("an address that left in one row stays so if a later row says that it is subscribed", async () => {
  await runImport(t, "email,status\nada@x.io,unsubscribed\nada@x.io,subscribed\n");
  expect(subscribed()).toEqual([["ada@x.io", false]]);
});

test("a mapping and statuses give the meaning of another service's words", async () => {
  const fields = {
    mapping: JSON.stringify({ Stand: "status", Weg: "unsubscribed", Extra: "data" }),
    statuses: JSON.stringify({ Abgemeldet: "UNSUBSCRIBED", Tot: "HARD_BOUNCE", "-": null }),
  };
  const file = `email,Stand,Weg,Extra
a@x.io,abgemeldet,,"{""n"": 1}"
b@x.io,TOT,,
c@x.io,-,,
d@x.io,,2024-01-31 10:00,
e@x.io,,0,[1]
`;
  const progress = await runImport(t, file, { fields });
  expect(progress.at("data.errors")).toEqual([
    { line: 6, message: "The column for data must contain JSON objects." },
  ]);
  expect(storedContacts(t)).toEqual([
    { email: "a@x.io", subscribed: false, data: { n: 1 } },
    { email: "b@x.io", subscribed: false, data: {} },
    { email: "c@x.io", subscribed: true, data: {} },
    { email: "d@x.io", subscribed: false, data: {} },
  ]);
  expect(suppressions()).toEqual([["b@x.io", "HARD_BOUNCE"]]);
});

test("the answers to a question are read in the language of the file", async () => {
  const mapping = JSON.stringify({
    Désinscrit: "unsubscribed",
    UNSUB_REASON: "unsubscribed",
    Aktiv: "subscribed",
  });
  const file = `email,Désinscrit,UNSUB_REASON,Aktiv
a@x.io,oui,,Ja
b@x.io,non,Too many mails,Ja
c@x.io,non,,Nein
d@x.io,non,,JA
e@x.io,✓,,
f@x.io,,,vielleicht
`;
  const progress = await runImport(t, file, { fields: { mapping } });
  expect(progress.at("data.errors")).toEqual([
    { line: 7, message: "subscribed must be true, 1, yes, false, 0 or no." },
  ]);
  expect(subscribed()).toEqual([
    ["a@x.io", false],
    ["b@x.io", false],
    ["c@x.io", false],
    ["d@x.io", true],
    ["e@x.io", false],
  ]);
});

describe("a file is refused", () => {
  const refusals: [name: string, file: string, fields: Record<string, string>, field: string][] = [
    ["with unknown statuses", "email,status\na@x.io,vip\nb@x.io,enabled\n", {}, "statuses"],
    ["with a column that seems to say who left", "email,opt_out_flag2\na@x.io,1\n", {}, "file"],
    ["with a status in another language", "email,statut\na@x.io,désabonné\n", {}, "file"],
    ["with a time of leaving", "email,subscribed,deleted_at\na@x.io,true,2024-01-31\n", {}, "file"],
    [
      "with a key of JSON that says who left",
      'email,attributes\na@x.io,"{""unsubscribed"":true}"\n',
      {},
      "file",
    ],
    ["with a flag of unknown meaning", "email;Abgemeldet\na@x.io;ja\n", {}, "file"],
    ["with an order of a newsletter", "email,newsletter\na@x.io,no\n", {}, "file"],
    [
      "with words that say who left in a column of any name",
      "email,Lage\na@x.io,ok\nb@x.io,Unsubscribed\n",
      {},
      "file",
    ],
    ["with an unknown meaning", "email\na@x.io\n", { statuses: '{"a":"GONE"}' }, "statuses"],
    ["with statuses that are no JSON", "email\na@x.io\n", { statuses: "gone" }, "statuses"],
    ["with a wrong flag", "email\na@x.io\n", { resubscribe: "maybe" }, "resubscribe"],
  ];
  test.each(refusals)("%s", async (_, file, fields, field) => {
    const answer = await upload(t, file, { fields });
    expect(answer.status).toBe(422);
    expect(answer.at("error.errors.0.field")).toBe(field);
    expect(t.countRows("jobs")).toBe(0);
  });

  test.each(["nonsubscribed_members_export_1.csv", "suppression_spam_reports.csv", "Opt-out.csv"])(
    "named %s without a column that says who left, until the request says it",
    async (fileName) => {
      const file = "email,created\na@x.io,1700000000\n";
      const answer = await upload(t, file, { fileName });
      expect([answer.status, answer.at("error.errors.0.field")]).toEqual([422, "file"]);
      await runImport(t, file, { fileName, fields: { subscribed: "false" } });
      expect(subscribed()).toEqual([["a@x.io", false]]);
      const list = await upload(t, file, { fileName, path: "/suppressions/import" });
      expect(list.status).toBe(202);
    },
  );

  test("until the caller maps the column, to data as well", async () => {
    const file = "email,status,Lage\na@x.io,vip,unsubscribed\n";
    const mapping = JSON.stringify({ status: "data.status", Lage: null });
    await runImport(t, file, { fields: { mapping } });
    expect(storedContacts(t)).toEqual([
      { email: "a@x.io", subscribed: true, data: { status: "vip" } },
    ]);
  });

  test("by its job, before the first row, if only a late row says who left", async () => {
    const rows = Array.from({ length: 6_000 }, (_, i) => `p${i}@x.io,ok\n`).join("");
    const progress = await runImport(t, `email,Lage\n${rows}last@x.io,unsubscribed\n`);
    expect(progress.at("data")).toMatchObject({ status: "FAILED", created: 0 });
    expect(progress.text("data.errors.0.message")).toContain("column Lage");
    expect(storedContacts(t)).toEqual([]);
  });

  test("only for the row, if a late row has an unknown status", async () => {
    const rows = Array.from({ length: 6_000 }, (_, i) => `p${i}@x.io,active\n`).join("");
    const progress = await runImport(t, `email,status\n${rows}last@x.io,vip\n`);
    expect(progress.at("data")).toMatchObject({
      status: "COMPLETED",
      created: 6_000,
      errors: [
        {
          line: 6_002,
          message: 'The meaning of the status "vip" is not known: say it in statuses.',
        },
      ],
    });
  });
});

test("an exported file is imported again without a change", async () => {
  const data = { status: "vip", attributes: "x", data: "y", unsubscribed: true, plan: "cleaned" };
  await t.call("POST", "/contacts", { email: "ada@x.io", data });
  await t.call("POST", "/contacts", { email: "bob@x.io", subscribed: false, data: { plan: "a" } });
  const before = storedContacts(t);
  const exported = await t.call("GET", "/contacts/export");
  const progress = await runImport(t, String(exported.body));
  expect(progress.at("data")).toMatchObject({ status: "COMPLETED", updated: 2, failed: 0 });
  expect(storedContacts(t)).toEqual(before);
});

describe("POST /suppressions/import", () => {
  const importList = (file: string, fields: Record<string, string> = {}) =>
    runImport(t, file, { path: "/suppressions/import", fields });

  test("suppresses the addresses of a file, and creates no contacts", async () => {
    const file = `email,reason,created
a@x.io,Hard bounce,1700000000
b@x.io,550 mailbox unavailable,1700000000
c@x.io,spam,
not an address,,
`;
    const progress = await importList(file);
    expect(progress.at("data")).toMatchObject({ created: 3, failed: 1, suppressed: 3 });
    expect(suppressions()).toEqual([
      ["a@x.io", "HARD_BOUNCE"],
      ["b@x.io", "MANUAL"],
      ["c@x.io", "COMPLAINT"],
    ]);
    expect(storedContacts(t)).toEqual([]);
  });

  test.each([
    ["SendGrid", "status,reason,email,created\n5.1.1,No such user,a@x.io,1700000000\n"],
    ["Mailgun", "address,code,error,created_at\na@x.io,550,No such user,2024-01-01\n"],
    ["Amazon SES", "EmailAddress,Reason,LastUpdateTime\na@x.io,BOUNCE,2024-01-01\n"],
    ["a plain list", "email\na@x.io\n"],
  ])("reads a list of %s; reason is for rows that say no other", async (_, file) => {
    await importList(file, { reason: "HARD_BOUNCE" });
    expect(suppressions()).toEqual([["a@x.io", "HARD_BOUNCE"]]);
  });

  test.each([
    "email,unsubscribed\na@x.io,false\nb@x.io,true\nc@x.io,\n",
    "email,UNSUB_TIME\na@x.io,\nb@x.io,2024-05-06 07:08:09\nc@x.io,\n",
    "email,bounced,blacklisted\na@x.io,0,No\nb@x.io,1,No\nc@x.io,,\n",
  ])("suppresses of an export of all contacts only those who left: %j", async (file) => {
    const progress = await importList(file);
    expect(progress.at("data")).toMatchObject({ created: 1, failed: 2 });
    expect(suppressions().map(([email]) => email)).toEqual(["b@x.io"]);
  });

  test("refuses rows of people who are subscribed", async () => {
    const progress = await importList("email,status\na@x.io,enabled\nb@x.io,unsubscribed\n");
    expect(progress.at("data")).toMatchObject({ created: 1, failed: 1 });
    expect(suppressions()).toEqual([["b@x.io", "MANUAL"]]);
  });

  test("refuses an unknown reason", async () => {
    const fields = { reason: "BAD" };
    const answer = await upload(t, "email\na@x.io\n", { path: "/suppressions/import", fields });
    const errors = [["reason", "invalid_value"]] as const;
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
  });

  test("its progress can be read below /suppressions", async () => {
    await t.start();
    const answer = await upload(t, "email\na@x.io\n", { path: "/suppressions/import" });
    const progress = await t.call("GET", `/suppressions/import/${answer.text("data.jobId")}`);
    expect([answer.status, progress.status]).toEqual([202, 200]);
  });
});
