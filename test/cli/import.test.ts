/** `mailstead import`: exports of other products, against a running server. */

import { beforeEach, describe, expect, test } from "bun:test";
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import type { TestApp } from "../support/app.ts";
import { mailstead } from "../support/command-line.ts";
import { listAt, valueAt } from "../support/json.ts";
import { zipArchive } from "../support/zip.ts";
import { IMPORT_FIXTURES, importRefusals, importRuns, importTable } from "./import-runs.ts";
import { storedContacts } from "../modules/contacts/upload.ts";

const runs = importRuns();
const { run } = runs;
let t: TestApp;
beforeEach(async () => {
  t = await runs.next();
});

const subscribers = () =>
  storedContacts(t)
    .filter(({ subscribed }) => subscribed)
    .map(({ email }) => email);

function suppressions(): unknown[] {
  return t.db.sqlite
    .query<{ email: string; reason: string }, [number]>(
      "SELECT email, reason FROM suppressions WHERE project_seq = ? ORDER BY email",
    )
    .all(t.project.seq)
    .map(({ email, reason }) => [email, reason]);
}

async function members(): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  for (const segment of listAt((await t.call("GET", "/segments?limit=100")).body, "data.items")) {
    const list = await t.call("GET", `/segments/${String(valueAt(segment, "id"))}/contacts`);
    found[String(valueAt(segment, "name"))] = listAt(list.body, "data.items")
      .map((item) => String(valueAt(item, "email")))
      .sort((a, b) => a.localeCompare(b));
  }
  return found;
}

/** The campaigns as they are shown, without the totals that the product did not tell. */
async function history(): Promise<unknown[]> {
  return listAt((await t.call("GET", "/campaigns")).body, "data.items").map((item) => {
    const counts = Object.entries(Object(valueAt(item, "imported.counts")));
    return [
      ...["name", "subject", "body", "from", "imported.source", "imported.sentAt"].map((key) =>
        valueAt(item, key),
      ),
      Object.fromEntries(counts.filter(([, count]) => count !== null)),
    ];
  });
}

const names = async (path: string) =>
  listAt((await t.call("GET", path)).body, "data.items").map((item) => valueAt(item, "name"));

describe("Mailchimp", () => {
  const DRY = {
    Contacts: [7, 6, 0, 0, 3, 1],
    Suppressions: [1, 1, 0, 0, null, 0],
    Segments: [2, 2, 0, 0, null, 0],
    Layouts: [0, 0, 0, 0, null, 0],
    Templates: [2, 1, 0, 0, null, 1],
    Campaigns: [2, 2, 0, 0, null, 0],
  };
  const REFUSED = ["not-an-address", "template Offer"];

  test("a dry run says what would happen and changes nothing", async () => {
    const before = JSON.stringify([storedContacts(t), suppressions(), await members()]);
    const ran = await run(["mailchimp", "mailchimp"]);
    expect([ran.code, ran.stderr]).toEqual([0, ""]);
    expect(importTable(ran.json)).toEqual(DRY);
    expect(importRefusals(ran.json)).toEqual(REFUSED);
    expect(valueAt(ran.json, "applied")).toBeNull();
    expect(JSON.stringify([storedContacts(t), suppressions(), await members()])).toBe(before);
    expect(await names("/templates")).toEqual([]);
  });

  test("--apply does what the dry run says; nobody who left is subscribed", async () => {
    const ran = await run(["mailchimp", "mailchimp", "--apply"]);
    expect(importTable(ran.json, "applied")).toEqual(DRY);
    expect(subscribers()).toEqual([
      "ada@harbour.example",
      "grace@harbour.example",
      "mary@harbour.example",
    ]);
    expect(suppressions()).toEqual([["ida@harbour.example", "HARD_BOUNCE"]]);
    expect(await members()).toEqual({
      "Blog, weekly": ["ada@harbour.example"],
      VIP: ["ada@harbour.example", "grace@harbour.example", "hedy@harbour.example"],
    });
    expect(storedContacts(t)[0]?.data).toMatchObject({
      "First Name": "Ada",
      OPTIN_TIME: "2023-05-01 09:00:00",
    });
    const [template] = listAt((await t.call("GET", "/templates")).body, "data.items");
    expect(valueAt(template, "body")).toContain(
      'Hello {{ First Name }},</p><p>welcome aboard.</p><p><a href="{{ unsubscribeUrl }}">',
    );
  });

  test("a second import finds all unchanged, and lifts nothing that changed here meanwhile", async () => {
    await run(["mailchimp", "mailchimp", "--apply"]);
    await t.call("POST", "/contacts", { email: "ada@harbour.example", subscribed: false });
    await t.call("POST", "/suppressions", { email: "grace@harbour.example", reason: "COMPLAINT" });
    const again = await run(["mailchimp", "mailchimp", "--apply"]);
    expect(importTable(again.json, "applied")).toEqual({
      Contacts: [7, 0, 0, 6, 3, 1],
      Suppressions: [1, 0, 0, 1, null, 0],
      Segments: [2, 0, 0, 2, null, 0],
      Layouts: [0, 0, 0, 0, null, 0],
      Templates: [2, 0, 0, 1, null, 1],
      Campaigns: [2, 0, 0, 2, null, 0],
    });
    expect(listAt(again.json, "notes")).toContain(
      "Contacts that are subscribed there and not here, and stay unsubscribed: 1",
    );
    expect(subscribers()).toEqual(["grace@harbour.example", "mary@harbour.example"]);
    expect(suppressions()).toContainEqual(["grace@harbour.example", "COMPLAINT"]);
  });

  test("an import that dies at any answer is repeated without doubles", async () => {
    const codes: number[] = [];
    while (codes.at(-1) !== 0 && codes.length < 20) {
      runs.loseAnswersAfter(codes.length);
      codes.push((await run(["mailchimp", "mailchimp", "--apply"])).code);
    }
    expect(codes).toEqual([1, 1, 1, 1, 1, 1, 0]);
    expect(storedContacts(t)).toHaveLength(6);
    expect(subscribers()).toHaveLength(3);
    expect(suppressions()).toEqual([["ida@harbour.example", "HARD_BOUNCE"]]);
    expect(Object.keys(await members()).sort()).toEqual(["Blog, weekly", "VIP"]);
    expect((await members())["VIP"]).toHaveLength(3);
    expect(await names("/templates")).toEqual(["Welcome"]);
    expect(await names("/campaigns/summaries")).toEqual(["Summer sale", "Spring news"]);
  });

  test("its sent campaigns have their numbers, and their bodies where the export has them", async () => {
    await run(["mailchimp", "mailchimp", "--apply"]);
    const [, spring] = await history();
    expect(spring).toEqual([
      "Spring news",
      "Spring, at last, {{ First Name }}",
      expect.stringContaining(
        'Hello {{ First Name }}, spring is here. <a href="{{ unsubscribeUrl }}">',
      ),
      "",
      "Mailchimp",
      "2023-02-02T08:00:00.000Z",
      {
        recipients: 1204,
        delivered: 1200,
        opened: 611,
        opens: 1002,
        clicked: 80,
        clicks: 95,
        bounced: 4,
        complained: 1,
        unsubscribed: 7,
      },
    ]);
  });

  test("reads the ZIP archive of an account", async () => {
    const zip = join(runs.folder(), "export.zip");
    const names = readdirSync(join(IMPORT_FIXTURES, "mailchimp"), {
      recursive: true,
      encoding: "utf8",
    });
    const files = names.filter((name) => /\.\w+$/.test(name));
    const text = (name: string) => readFileSync(join(IMPORT_FIXTURES, "mailchimp", name), "utf8");
    writeFileSync(zip, zipArchive(files.map((name) => ({ name, text: text(name) }))));
    const ran = await run(["mailchimp", zip]);
    expect(importTable(ran.json)).toEqual(DRY);
    writeFileSync(zip, (await Bun.file(zip).bytes()).slice(0, 900));
    const cut = await run(["mailchimp", zip]);
    expect([cut.code, cut.stderr]).toEqual([2, expect.stringContaining("it is no ZIP archive")]);
  });

  test("refuses a file whose name does not say who is in it, and asks about unknown columns", async () => {
    writeFileSync(join(runs.folder(), "people.csv"), "Email Address\na@x.example\n");
    const unknown = await run(["mailchimp", join(runs.folder(), "people.csv")]);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("must begin with")]);
    writeFileSync(
      join(runs.folder(), "subscribed_x.csv"),
      "Email Address,Stand\na@x.example,abgemeldet\n",
    );
    const asked = await run(["mailchimp", join(runs.folder(), "subscribed_x.csv"), "--apply"]);
    expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining("Stand")]);
    expect(storedContacts(t)).toEqual([]);
    const words = [
      "--mapping",
      '{"Stand":"status"}',
      "--statuses",
      '{"abgemeldet":"UNSUBSCRIBED"}',
    ];
    await run(["mailchimp", join(runs.folder(), "subscribed_x.csv"), "--apply", ...words]);
    expect(storedContacts(t).map(({ email, subscribed }) => [email, subscribed])).toEqual([
      ["a@x.example", false],
    ]);
  });
});

const LISTMONK = {
  Contacts: [6, 6, 0, 0, 4, 0],
  Suppressions: [2, 2, 0, 0, null, 0],
  Segments: [2, 2, 0, 0, null, 0],
  Layouts: [1, 1, 0, 0, null, 0],
  Templates: [2, 1, 0, 0, null, 1],
  Campaigns: [1, 1, 0, 0, null, 0],
};

async function expectListmonk(): Promise<void> {
  expect(subscribers()).toEqual(["ada@harbour.example", "grace@harbour.example"]);
  expect(suppressions()).toEqual([
    ["ida@harbour.example", "MANUAL"],
    ["mary@harbour.example", "HARD_BOUNCE"],
  ]);
  expect(await members()).toEqual({
    News: ["ada@harbour.example", "mary@harbour.example"],
    Offers: ["ada@harbour.example", "grace@harbour.example"],
  });
  expect(storedContacts(t)[0]?.data).toEqual({ city: "Berlin", orders: 3, name: "Ada Byron" });
  expect(await names("/layouts")).toEqual(["Newsletter"]);
  expect(await history()).toEqual([
    [
      "March letter",
      "March at the harbour",
      "{% raw %}<p>Hello {{ .Subscriber.Name }}, {{ if .Subscriber.Attribs.city }}see you{{ end }}</p>{% endraw %}",
      "news@harbour.example",
      "listmonk",
      "2024-03-02T09:00:00.000Z",
      { recipients: 900, sent: 896, opens: 410, clicks: 77, bounced: 4 },
    ],
  ]);
  const [receipt] = listAt((await t.call("GET", "/templates")).body, "data.items");
  expect([valueAt(receipt, "subject"), valueAt(receipt, "body")]).toEqual([
    "Order {{ order_id }}",
    '<p>Hello {{ name | split: " " | first }} of {{ city }}, see <a href="https://harbour.example/orders">your orders</a>.</p>',
  ]);
}

describe("listmonk", () => {
  const JSON_FILES = ["subscribers", "lists", "bounces", "templates", "campaigns"].map(
    (name) => `listmonk/${name}.json`,
  );

  test("answers of its interface in files: who left a list, or never confirmed, is not on it", async () => {
    const ran = await run(["listmonk", ...JSON_FILES, "--apply"]);
    expect(importTable(ran.json, "applied")).toEqual(LISTMONK);
    expect(importRefusals(ran.json, "applied")).toEqual(["template Cart"]);
    await expectListmonk();
    const again = await run(["listmonk", ...JSON_FILES, "--apply"]);
    expect(importTable(again.json, "applied")).toMatchObject({
      Contacts: [6, 0, 0, 6, 4, 0],
      Segments: [2, 0, 0, 2, null, 0],
      Layouts: [1, 0, 0, 1, null, 0],
      Templates: [2, 0, 0, 1, null, 1],
      Campaigns: [1, 0, 0, 1, null, 0],
    });
  });

  test("its interface by URL and key", async () => {
    const file = (name: string) => Bun.file(join(IMPORT_FIXTURES, `listmonk/${name}.json`)).text();
    runs.answerWith(async (url, request) => {
      expect(request.headers.get("authorization")).toBe(`Basic ${btoa("api:token")}`);
      const name = url.pathname.slice("/api/".length);
      return new Response(await file(name));
    });
    const words = ["listmonk", "--from", runs.productUrl(), "--apply"];
    const ran = await run(words, { LISTMONK_API_KEY: "api:token" });
    expect([ran.code, ran.stderr]).toEqual([0, ""]);
    expect(importTable(ran.json, "applied")).toEqual(LISTMONK);
    await expectListmonk();
  });

  test("an API user that may not read campaigns, and a campaign that is too large", async () => {
    const file = (name: string) => Bun.file(join(IMPORT_FIXTURES, `listmonk/${name}.json`)).text();
    let campaigns = Response.json({ message: "permission denied" }, { status: 403 });
    runs.answerWith(async ({ pathname }) =>
      pathname === "/api/campaigns" ? campaigns : new Response(await file(pathname.slice(5))),
    );
    const words = ["listmonk", "--from", runs.productUrl()];
    const denied = await run(words, { LISTMONK_API_KEY: "api:token" });
    expect(listAt(denied.json, "notes")).toContain(
      "The API user may not read campaigns, so their history stays behind",
    );
    const large = "x".repeat(1_100_000);
    campaigns = new Response((await file("campaigns")).replaceAll("<p>Hello", `<p>${large}`));
    const ran = await run(words, { LISTMONK_API_KEY: "api:token" });
    expect(importTable(ran.json)["Campaigns"]).toEqual([1, 0, 0, 0, null, 1]);
    expect(importRefusals(ran.json)).toContain("campaign March letter");
  });

  test("its CSV export only beside that of people who unsubscribed", async () => {
    const alone = await run(["listmonk", "listmonk/subscribers.csv", "--apply"]);
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining("who left a list")]);
    const both = ["listmonk", "listmonk/subscribers.csv", "listmonk/unsubscribed.csv", "--apply"];
    const ran = await run(both);
    expect(importTable(ran.json, "applied")["Contacts"]).toEqual([3, 3, 0, 0, 2, 0]);
    expect(subscribers()).toEqual(["ada@harbour.example"]);
    expect(storedContacts(t)[0]?.data).toMatchObject({ name: "Ada Byron", city: "Berlin" });
  });
});

const PLUNK_CONTACTS = [
  { email: "ada@harbour.example", subscribed: true, data: { plan: "pro", orders: 3, id: 7 } },
  { email: "grace@harbour.example", subscribed: true, data: null },
  { email: "hedy@harbour.example", subscribed: false, data: { plan: "free" } },
].map((contact, i) => ({ id: `c${i}`, createdAt: "2024-01-01", ...contact }));
const PRO = {
  logic: "AND",
  groups: [{ filters: [{ field: "data.plan", operator: "equals", value: "pro" }] }],
};

/** Answers as Plunk does, with two contacts on a page. */
function answerAsPlunk(url: URL, request: Request): unknown {
  if (request.headers.get("authorization") !== "Bearer sk_plunk") {
    return Response.json({ error: { message: "Invalid key" } }, { status: 401 });
  }
  switch (url.pathname) {
    case "/contacts": {
      const rest = PLUNK_CONTACTS.slice(url.searchParams.get("cursor") === "c1" ? 2 : 0);
      const hasMore = rest.length > 2;
      return { data: rest.slice(0, 2), hasMore, total: 3, ...(hasMore ? { cursor: "c1" } : {}) };
    }
    case "/segments":
      return [
        { id: "s1", name: "Beta", type: "STATIC", condition: null, memberCount: 2 },
        { id: "s2", name: "Pro", type: "DYNAMIC", condition: PRO },
        { id: "s3", name: "Odd", type: "DYNAMIC", condition: { logic: "AND", groups: "?" } },
      ];
    case "/segments/s1/contacts": {
      const page = Number(url.searchParams.get("page"));
      return { data: PLUNK_CONTACTS.slice(page - 1, page), total: 2, page, totalPages: 2 };
    }
    case "/templates":
      return {
        data: [
          {
            name: "Hi",
            subject: "Hi {{name}}",
            body: "<p>{{name ?? 'you'}}</p>",
            type: "MARKETING",
          },
          { name: "Reset", subject: "Reset", body: "<p>{{link}}</p>", type: "HEADLESS" },
        ],
        total: 2,
        page: 1,
        pageSize: 100,
        totalPages: 1,
      };
    case "/campaigns":
      return {
        data: [
          {
            id: "k1",
            name: "Launch",
            subject: "We are open",
            body: "<p>{{name ?? 'you'}}, come in</p>",
            from: "news@harbour.example",
            fromName: "Harbour Books",
            replyTo: null,
            type: "MARKETING",
            status: "SENT",
            audienceType: "ALL",
            totalRecipients: 40,
            sentCount: 39,
            deliveredCount: 38,
            openedCount: 20,
            clickedCount: 5,
            bouncedCount: 1,
            scheduledFor: null,
            sentAt: "2024-05-01T09:00:00.000Z",
          },
        ],
        total: 1,
        page: 1,
        pageSize: 20,
        totalPages: 1,
      };
    case "/suppressions":
      return [
        { id: "r1", name: "one", kind: "ADDRESS", pattern: "no@harbour.example", enabled: true },
        { id: "r2", name: "all", kind: "DOMAIN", pattern: "spam.example", enabled: true },
      ];
    default:
      return undefined;
  }
}

describe("Plunk", () => {
  const words = () => ["plunk", "--from", runs.productUrl()];

  test("contacts, segments of both kinds, templates and suppressed addresses by key", async () => {
    runs.answerWith(answerAsPlunk);
    const key = { PLUNK_API_KEY: "sk_plunk" };
    const expected = {
      Contacts: [3, 3, 0, 0, 1, 0],
      Suppressions: [1, 1, 0, 0, null, 0],
      Segments: [3, 2, 0, 0, null, 1],
      Layouts: [0, 0, 0, 0, null, 0],
      Templates: [2, 2, 0, 0, null, 0],
      Campaigns: [1, 1, 0, 0, null, 0],
    };
    const ran = await run([...words(), "--apply"], key);
    expect([importTable(ran.json), importTable(ran.json, "applied")]).toEqual([expected, expected]);
    expect(importRefusals(ran.json, "applied")).toEqual(["suppression rule all", "segment Odd"]);
    expect(subscribers()).toEqual(["ada@harbour.example", "grace@harbour.example"]);
    expect(storedContacts(t)[0]?.data).toEqual({ plan: "pro", orders: 3 });
    expect(suppressions()).toEqual([["no@harbour.example", "MANUAL"]]);
    expect(await members()).toEqual({
      Beta: ["ada@harbour.example", "grace@harbour.example"],
      Pro: ["ada@harbour.example"],
    });
    expect(await history()).toEqual([
      [
        "Launch",
        "We are open",
        "<p>{{name ?? 'you'}}, come in</p>",
        "news@harbour.example",
        "Plunk",
        "2024-05-01T09:00:00.000Z",
        { recipients: 40, sent: 39, delivered: 38, opened: 20, clicked: 5, bounced: 1 },
      ],
    ]);
    const again = await run([...words(), "--apply"], key);
    expect(importTable(again.json, "applied")).toMatchObject({
      Contacts: [3, 0, 0, 3, 1, 0],
      Segments: [3, 0, 0, 2, null, 1],
      Templates: [2, 0, 0, 2, null, 0],
      Campaigns: [1, 0, 0, 1, null, 0],
    });
  });

  test("its CSV export; a refused key and an answer of another form change nothing", async () => {
    const csv = join(runs.folder(), "contacts.csv");
    writeFileSync(csv, "email,subscribed,plan\na@x.example,true,pro\nb@x.example,false,free\n");
    const ran = await run(["plunk", csv, "--apply"]);
    expect(importTable(ran.json, "applied")["Contacts"]).toEqual([2, 2, 0, 0, 1, 0]);
    expect(subscribers()).toEqual(["a@x.example"]);
    writeFileSync(csv, "email,plan\nc@x.example,pro\n");
    const silent = await run(["plunk", csv, "--apply"]);
    expect([silent.code, silent.stderr]).toEqual([2, expect.stringContaining("who is subscribed")]);
    runs.answerWith(answerAsPlunk);
    const refused = await run([...words(), "--apply"], { PLUNK_API_KEY: "sk_other" });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("Invalid key")]);
    runs.answerWith(() => ({ contacts: [] }));
    const other = await run([...words(), "--apply"], { PLUNK_API_KEY: "sk_plunk" });
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining("unknown form")]);
    expect(storedContacts(t)).toHaveLength(2);
  });
});

describe("Resend", () => {
  const HARBOUR = { type: "string", value: "Harbour" };
  const CONTACTS = [
    { id: "1", email: "ada@harbour.example", first_name: "Ada", last_name: "Byron" },
    { id: "2", email: "grace@harbour.example", first_name: "Grace", last_name: null },
    { id: "3", email: "hedy@harbour.example", unsubscribed: true },
    { id: "4", email: "ida@harbour.example", properties: { company: HARBOUR, age: 40 } },
  ].map((contact) => ({ unsubscribed: false, created_at: "2024-01-01", ...contact }));
  let limited = 0;

  /** Answers as Resend does, with two items on a page and a limit of requests. */
  function answerAsResend({ pathname, searchParams }: URL): unknown {
    if (limited++ === 1) {
      const headers = { "retry-after": "0" };
      return Response.json(
        { name: "rate_limit_exceeded", message: "Slow" },
        { status: 429, headers },
      );
    }
    const page = <T extends { id: string }>(items: readonly T[]) => {
      const start = items.findIndex(({ id }) => id === searchParams.get("after")) + 1;
      const data = items.slice(start, start + 2);
      return { object: "list", data, has_more: start + 2 < items.length };
    };
    switch (pathname) {
      case "/contacts":
        return page(CONTACTS);
      case "/segments":
        return page([{ id: "s", name: "Friends" }]);
      case "/segments/s/contacts":
        return page(CONTACTS.slice(0, 3));
      case "/suppressions":
        return page([
          { id: "x", email: "ida@harbour.example", origin: "bounce" },
          { id: "y", email: "angry@harbour.example", origin: "complaint" },
        ]);
      case "/templates":
        return page([{ id: "t", name: "order" }]);
      case "/broadcasts":
        return page([
          { id: "b1", name: "Opening", status: "sent" },
          { id: "b2", name: "Later", status: "draft" },
        ]);
      case "/broadcasts/b1":
        return {
          object: "broadcast",
          id: "b1",
          name: "Opening",
          segment_id: "s",
          from: "Harbour Books <news@harbour.example>",
          subject: "Come in, {{{contact.first_name|you}}}",
          reply_to: ["hello@harbour.example"],
          preview_text: "We open",
          html: "<p>{{{contact.first_name|you}}} <a href='{{{RESEND_UNSUBSCRIBE_URL}}}'>x</a></p>",
          text: "you",
          status: "sent",
          created_at: "2024-05-01 08:00:00.123456+00",
          scheduled_at: null,
          sent_at: "2024-05-01 09:00:00.977+00",
        };
      case "/templates/t":
        return {
          id: "t",
          name: "order",
          subject: "Order {{{NUMBER}}}",
          html: "<p>{{{contact.first_name|there}}}, {{{PRODUCT}}} <a href='{{{RESEND_UNSUBSCRIBE_URL}}}'>x</a></p>",
          variables: [{ key: "PRODUCT", type: "string", fallback_value: "item" }],
        };
      default:
        return undefined;
    }
  }

  test("contacts, suppressions, segments and templates by key, at the pace that it allows", async () => {
    runs.answerWith(answerAsResend);
    const words = ["resend", "--from", runs.productUrl(), "--apply"];
    const ran = await run(words, { RESEND_API_KEY: "re_x" });
    expect([ran.code, ran.stderr]).toEqual([0, ""]);
    expect(importTable(ran.json, "applied")).toEqual({
      Contacts: [4, 4, 0, 0, 2, 0],
      Suppressions: [2, 2, 0, 0, null, 0],
      Segments: [1, 1, 0, 0, null, 0],
      Layouts: [0, 0, 0, 0, null, 0],
      Templates: [1, 1, 0, 0, null, 0],
      Campaigns: [1, 1, 0, 0, null, 0],
    });
    expect(subscribers()).toEqual(["ada@harbour.example", "grace@harbour.example"]);
    expect(suppressions()).toEqual([
      ["angry@harbour.example", "COMPLAINT"],
      ["ida@harbour.example", "HARD_BOUNCE"],
    ]);
    expect(storedContacts(t).map(({ data }) => data)).toEqual([
      { firstName: "Ada", lastName: "Byron" },
      { firstName: "Grace" },
      {},
      { company: "Harbour", age: 40 },
    ]);
    expect(await members()).toEqual({
      Friends: ["ada@harbour.example", "grace@harbour.example", "hedy@harbour.example"],
    });
    expect(await history()).toEqual([
      [
        "Opening",
        "Come in, {{ firstName ?? 'you' }}",
        "<p>{{ firstName ?? 'you' }} <a href='{{ unsubscribeUrl }}'>x</a></p>",
        "news@harbour.example",
        "Resend",
        "2024-05-01T09:00:00.977Z",
        {},
      ],
    ]);
    const [template] = listAt((await t.call("GET", "/templates")).body, "data.items");
    expect([valueAt(template, "subject"), valueAt(template, "body")]).toEqual([
      "Order {{ NUMBER }}",
      "<p>{{ firstName ?? 'there' }}, {{ PRODUCT ?? 'item' }} <a href='{{ unsubscribeUrl }}'>x</a></p>",
    ]);
  });
});

/** Answers as Brevo does; each list has one page. */
function answerAsBrevo(url: URL, request: Request): unknown {
  if (request.headers.get("api-key") !== "xkeysib-x") {
    return Response.json({ code: "unauthorized", message: "Key not found" }, { status: 401 });
  }
  const contact = { smsBlacklisted: false, createdAt: "2024-01-01", modifiedAt: "2024-01-01" };
  switch (url.pathname) {
    case "/v3/contacts/lists":
      return { lists: [{ id: 2, name: "News", totalSubscribers: 2 }], count: 1 };
    case "/v3/contacts":
      return {
        contacts: [
          ["ada@x.example", false, [2], null],
          ["grace@x.example", false, [2], [5]],
          ["hedy@x.example", true, [], null],
          [null, false, [], null],
        ].map(([email, emailBlacklisted, listIds, listUnsubscribed], id) => ({
          id,
          ...contact,
          ...(email === null ? {} : { email }),
          emailBlacklisted,
          listIds,
          listUnsubscribed,
          attributes: { FIRSTNAME: "A" },
        })),
        count: 4,
      };
    case "/v3/smtp/templates":
      return {
        count: 2,
        templates: [
          {
            id: 1,
            name: "Order",
            subject: "Order {{ params.number }}",
            isActive: true,
            testSent: false,
            sender: { name: "Harbour Books", email: "news@x.example", id: "1" },
            replyTo: "news@x.example",
            toField: "",
            tag: "",
            htmlContent: "<p>{{ contact.FIRSTNAME | default : 'you' }}</p>",
            createdAt: "2024-01-01T00:00:00.000Z",
            modifiedAt: "2024-01-01T00:00:00.000Z",
          },
          {
            id: 2,
            name: "Mirror",
            subject: "x",
            isActive: true,
            htmlContent: "<p>{{ mirror }}</p>",
          },
        ],
      };
    case "/v3/emailCampaigns":
      return { count: 1, campaigns: [{ id: 12, name: "Summer", status: "sent" }] };
    case "/v3/emailCampaigns/12":
      return {
        id: 12,
        name: "Summer",
        subject: "Summer for {{ contact.FIRSTNAME }}",
        previewText: "20 %",
        type: "classic",
        status: "sent",
        htmlContent: "<p>{{ contact.FIRSTNAME }} <a href='{{ unsubscribe }}'>x</a></p>",
        sender: { id: 1, name: "Harbour Books", email: "news@x.example" },
        replyTo: "news@x.example",
        sentDate: "2024-06-01T12:30:00.000+02:00",
        statistics: {
          globalStats: {
            sent: 20,
            delivered: 18,
            hardBounces: 1,
            softBounces: 1,
            deferred: 0,
            uniqueViews: 9,
            viewed: 12,
            trackableViews: 5,
            uniqueClicks: 3,
            clickers: 4,
            complaints: 0,
            unsubscriptions: 1,
          },
        },
      };
    default:
      return undefined;
  }
}

test("Brevo by key: nobody who left a list is subscribed; sent campaigns have their numbers", async () => {
  runs.answerWith(answerAsBrevo);
  const words = ["brevo", "--from", runs.productUrl(), "--apply"];
  const ran = await run(words, { BREVO_API_KEY: "xkeysib-x" });
  expect([ran.code, ran.stderr]).toEqual([0, ""]);
  expect(importTable(ran.json, "applied")).toMatchObject({
    Contacts: [3, 3, 0, 0, 2, 0],
    Suppressions: [1, 1, 0, 0, null, 0],
    Templates: [2, 1, 0, 0, null, 1],
    Campaigns: [1, 1, 0, 0, null, 0],
  });
  expect(importRefusals(ran.json, "applied")).toEqual(["template Mirror"]);
  const [order] = listAt((await t.call("GET", "/templates")).body, "data.items");
  expect([valueAt(order, "subject"), valueAt(order, "body")]).toEqual([
    "Order {{ number }}",
    "<p>{{ FIRSTNAME | default : 'you' }}</p>",
  ]);
  expect(subscribers()).toEqual(["ada@x.example"]);
  expect(await members()).toEqual({ News: ["ada@x.example", "grace@x.example"] });
  expect(await history()).toEqual([
    [
      "Summer",
      "Summer for {{ FIRSTNAME }}",
      "<p>{{ FIRSTNAME }} <a href='{{ unsubscribeUrl }}'>x</a></p>",
      "news@x.example",
      "Brevo",
      "2024-06-01T10:30:00.000Z",
      {
        sent: 20,
        delivered: 18,
        opened: 9,
        opens: 12,
        clicked: 3,
        clicks: 4,
        bounced: 2,
        complained: 0,
        unsubscribed: 1,
      },
    ],
  ]);
});

/** Answers as SendGrid does, with one template on each page; the list has no contents. */
function answerAsSendgrid(url: URL, request: Request): unknown {
  if (request.headers.get("authorization") !== "Bearer SG.x") {
    return Response.json({ errors: [{ message: "denied", field: null }] }, { status: 401 });
  }
  const page = Number(url.searchParams.get("page_token") ?? "1");
  const self = "https://api.sendgrid.com/v3/templates?generations=dynamic&page_size=100";
  const version = (html: string, active = 1) => ({
    id: "v",
    template_id: `d-${page}`,
    active,
    name: "Version 1",
    subject: "Order {{number}}",
    html_content: html,
    plain_content: "Order",
    generate_plain_content: true,
    editor: "code",
    updated_at: "2024-01-01 00:00:00",
  });
  switch (url.pathname) {
    case "/v3/templates":
      return {
        result: [{ id: `d-${page}`, name: "listed", generation: "dynamic", versions: [] }],
        _metadata: {
          self,
          count: 3,
          ...(page < 3 ? { next: `${self}&page_token=${page + 1}` } : {}),
        },
      };
    case "/v3/templates/d-1":
      return {
        id: "d-1",
        name: "Order",
        generation: "dynamic",
        versions: [
          version("<p>old</p>", 0),
          version("{{#each items}}<p>{{name}}</p>{{/each}}<a href='{{{unsubscribe}}}'>x</a>"),
        ],
      };
    case "/v3/templates/d-2":
      return {
        id: "d-2",
        name: "Dates",
        generation: "dynamic",
        versions: [version('<p>\n{{formatDate at "DD"}}</p>')],
      };
    case "/v3/templates/d-3":
      return { id: "d-3", name: "Empty", generation: "dynamic", versions: [] };
    default:
      return undefined;
  }
}

describe("SendGrid", () => {
  test("dynamic templates by key: the active version; what has no equal here is named", async () => {
    runs.answerWith(answerAsSendgrid);
    const words = ["sendgrid", "--from", runs.productUrl(), "--apply"];
    const ran = await run(words, { SENDGRID_API_KEY: "SG.x" });
    expect([ran.code, ran.stderr]).toEqual([0, ""]);
    expect(importTable(ran.json, "dryRun")["Templates"]).toEqual([2, 1, 0, 0, null, 1]);
    expect(importTable(ran.json, "applied")["Templates"]).toEqual([2, 1, 0, 0, null, 1]);
    expect(listAt(ran.json, "dryRun.refused")).toEqual([
      {
        what: "template Dates",
        reason: "body, line 2: the helper formatDate has no equal here",
      },
    ]);
    const [order] = listAt((await t.call("GET", "/templates")).body, "data.items");
    expect([valueAt(order, "subject"), valueAt(order, "body")]).toEqual([
      "Order {{ number }}",
      "{% for item in items %}<p>{{ item.name }}</p>{% endfor %}<a href='{{ unsubscribeUrl }}'>x</a>",
    ]);
    const denied = await run(words, { SENDGRID_API_KEY: "SG.y" });
    expect(denied.code).toBe(1);
  });

  test("contacts and the lists of those who left; a bounced address is no contact", async () => {
    const ran = await run(["sendgrid", "sendgrid", "--apply"]);
    expect(importTable(ran.json, "applied")).toMatchObject({
      Contacts: [5, 5, 0, 0, 3, 0],
      Suppressions: [3, 3, 0, 0, null, 0],
    });
    expect(subscribers()).toEqual(["ada@harbour.example", "grace@harbour.example"]);
    expect(storedContacts(t).map(({ email }) => email)).toContain("gone@harbour.example");
    expect(suppressions()).toEqual([
      ["angry@harbour.example", "COMPLAINT"],
      ["ida@harbour.example", "HARD_BOUNCE"],
      ["lost@harbour.example", "HARD_BOUNCE"],
    ]);
    const again = await run(["sendgrid", "sendgrid", "--apply"]);
    expect(importTable(again.json, "applied")).toMatchObject({
      Contacts: [5, 0, 0, 5, 3, 0],
      Suppressions: [3, 0, 0, 3, null, 0],
    });
  });

  test("refuses contacts without the list of those who unsubscribed, and a list without a name", async () => {
    const alone = await run(["sendgrid", "sendgrid/contacts.csv", "--apply"]);
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining("who unsubscribed")]);
    const list = join(runs.folder(), "list.csv");
    cpSync(join(IMPORT_FIXTURES, "sendgrid/suppression_global_unsubscribes.csv"), list);
    const unnamed = await run(["sendgrid", list, "--apply"]);
    expect([unnamed.code, unnamed.stderr]).toEqual([2, expect.stringContaining("by its name")]);
    expect(storedContacts(t)).toEqual([]);
  });
});

test("Brevo: blocklisted contacts are suppressed, lists are segments", async () => {
  const ran = await run(["brevo", "brevo/contacts.csv", "--apply"]);
  expect(importTable(ran.json, "applied")).toMatchObject({
    Contacts: [3, 3, 0, 0, 1, 0],
    Suppressions: [1, 1, 0, 0, null, 0],
    Segments: [2, 2, 0, 0, null, 0],
  });
  expect(subscribers()).toEqual(["ada@harbour.example", "grace@harbour.example"]);
  expect(suppressions()).toEqual([["hedy@harbour.example", "MANUAL"]]);
  expect((await members())["Brevo list 5"]).toEqual(["ada@harbour.example"]);
});

test("columns may have the names of fields, and of members of objects", async () => {
  const csv = join(runs.folder(), "subscribed_names.csv");
  writeFileSync(
    csv,
    "Email Address,Status,data,constructor,import_status\na@x.example,gold,x,y,z\n",
  );
  const words = ["--mapping", '{"Status":"data.Status"}', "--apply"];
  const ran = await run(["mailchimp", csv, ...words]);
  expect([ran.code, ran.stderr]).toEqual([0, ""]);
  expect(storedContacts(t)).toEqual([
    {
      email: "a@x.example",
      subscribed: true,
      data: { Status: "gold", data: "x", constructor: "y", import_status: "z" },
    },
  ]);
});

test("a file with a person of an unknown form is refused with its place", async () => {
  const json = join(runs.folder(), "subscribers.json");
  const person = { email: "a@x.example", name: "A", status: "enabled", attribs: null, lists: [] };
  const results = [person, { ...person, status: 1 }, { ...person, lists: [{ id: 1 }] }];
  writeFileSync(json, JSON.stringify({ data: { results, total: 3 } }));
  const ran = await run(["listmonk", json, "--apply"]);
  const place = "subscribers.json has an unknown form at /data/results/1/status: Expected string";
  expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining(place)]);
});

test("a CSV export of Resend has the names that its interface here reads", async () => {
  const csv = join(runs.folder(), "people.csv");
  writeFileSync(csv, "email,first_name,last_name,unsubscribed\na@x.example,Ada,Byron,false\n");
  const ran = await run(["resend", csv, "--apply", "--mapping", '{"last_name":"data.surname"}']);
  expect([ran.code, ran.stderr]).toEqual([0, ""]);
  expect(storedContacts(t).map(({ data }) => data)).toEqual([
    { firstName: "Ada", surname: "Byron" },
  ]);
});

describe("a person", () => {
  test("who left, and whose data is too large, is out, and named", async () => {
    await t.create("/contacts", { email: "a@x.example", subscribed: true }, "id");
    await t.create("/contacts", { email: "b@x.example", subscribed: true }, "id");
    const attribs = { text: "x".repeat(70_000) };
    const person = { name: "A\nB", status: "disabled", attribs, lists: [] };
    const results = [
      { ...person, attribs: null, email: "c@x.example" },
      { ...person, email: "a@x.example" },
      { ...person, email: "b@x.example", status: "blocklisted" },
    ];
    const json = join(runs.folder(), "subscribers.json");
    writeFileSync(json, JSON.stringify({ data: { results, total: 3 } }));
    const ran = await run(["listmonk", json, "--apply"]);
    expect([ran.code, ran.stderr]).toEqual([0, ""]);
    expect(importRefusals(ran.json, "applied")).toEqual(["a@x.example", "b@x.example"]);
    expect([subscribers(), suppressions()]).toEqual([[], [["b@x.example", "MANUAL"]]]);
    expect(importTable(ran.json, "applied")).toMatchObject({
      Contacts: [3, 1, 0, 0, 3, 2],
      Suppressions: [1, 1, 0, 0, null, 0],
    });
  });

  test("of a row that is cut off before its status is not imported", async () => {
    const csv = join(runs.folder(), "people.csv");
    writeFileSync(csv, "email,unsubscribed\na@x.example\nb@x.example,\n");
    const ran = await run(["resend", csv, "--apply"]);
    expect(importRefusals(ran.json, "applied")).toEqual(["a@x.example"]);
    expect(subscribers()).toEqual(["b@x.example"]);
  });

  test("who left in one of several rows is out, whatever the order and spelling", async () => {
    const csv = join(runs.folder(), "people.csv");
    const rows = ["email,subscribed", "Ada@x.example,yes", "ada@X.example,no", "ada@x.example,yes"];
    writeFileSync(csv, `${rows.join("\n")}\n`);
    const ran = await run(["plunk", csv, "--apply"]);
    expect(importTable(ran.json, "applied")["Contacts"]).toEqual([1, 1, 0, 0, 1, 0]);
    expect(storedContacts(t)).toMatchObject([{ email: "ada@x.example", subscribed: false }]);
  });

  test("with a row that cannot be read is not subscribed because of another row", async () => {
    const csv = join(runs.folder(), "people.csv");
    writeFileSync(
      csv,
      "email,status\na@x.example,subscribed\na@x.example,zzz\nb@x.example,subscribed\n",
    );
    const ran = await run(["plunk", csv, "--apply"]);
    expect(importRefusals(ran.json, "applied")).toEqual(["a@x.example"]);
    expect(storedContacts(t).map(({ email }) => email)).toEqual(["b@x.example"]);
  });
});

/** Files in a folder of their own, and the result of an import of this folder. */
function runFolder(product: string, files: Record<string, string>, ...words: string[]) {
  const path = mkdtempSync(join(runs.folder(), "export-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return run([product, path, "--apply", ...words]);
}

describe("a list of people who left is read as a whole, or nothing is imported:", () => {
  const subscribers = {
    data: {
      results: ["ada", "bob"].map((name, i) => ({
        id: i,
        email: `${name}@x.example`,
        name,
        status: "enabled",
        attribs: null,
        lists: [{ id: 1, name: "News", subscription_status: "confirmed" }],
      })),
      total: 2,
    },
  };

  test("one page of several of the bounces of listmonk", async () => {
    const results = [{ id: 1, email: "ada@x.example", type: "hard" }];
    const ran = await runFolder("listmonk", {
      "subscribers.json": JSON.stringify(subscribers),
      "bounces.json": JSON.stringify({ data: { results, total: 2 } }),
    });
    const message = "bounces.json has only 1 of 2 entries: save it again with ?per_page=all";
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(storedContacts(t)).toEqual([]);
  });

  const OPEN_QUOTE = 'email\n"bob@x.example\neve@x.example\n';
  test.each([
    [
      "mailchimp",
      { "subscribed_a.csv": "Email\nbob@x.example\n", "unsubscribed_b.csv": OPEN_QUOTE },
    ],
    [
      "sendgrid",
      {
        "contacts.csv": "email,first_name\nbob@x.example,Bob\n",
        "suppression_unsubscribes.csv": OPEN_QUOTE,
      },
    ],
  ])("a row of %s that cannot be read", async (product, files) => {
    const ran = await runFolder(product, files);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining("it says who left")]);
    expect(storedContacts(t)).toEqual([]);
  });

  test("a file of the folder that leads nowhere", async () => {
    const path = mkdtempSync(join(runs.folder(), "export-"));
    writeFileSync(join(path, "subscribed_a.csv"), "Email\nbob@x.example\n");
    symlinkSync(join(path, "gone"), join(path, "unsubscribed_b.csv"));
    const ran = await run(["mailchimp", path, "--apply"]);
    const message = "unsubscribed_b.csv: no file or folder has this name";
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(message)]);
    rmSync(join(path, "unsubscribed_b.csv"));
    symlinkSync("unsubscribed_c.csv", join(path, "unsubscribed_c.csv"));
    const looped = await run(["mailchimp", path, "--apply"]);
    const why = "cannot be read: ELOOP";
    expect([looped.code, looped.stderr]).toEqual([2, expect.stringContaining(why)]);
  });
});

test("control characters of a file are not printed as they are", async () => {
  const csv = join(runs.folder(), "subscribed_escapes.csv");
  writeFileSync(csv, 'Email\n"bad\u001B[31mred"\n');
  const env = { MAILSTEAD_API_KEY: t.secretKey };
  const words = ["import", "mailchimp", csv, "--server", runs.serverUrl()];
  const { stdout } = await mailstead(words, env, { cwd: IMPORT_FIXTURES });
  expect(stdout).toContain("  bad [31mred: is no email address");
});

test.each([
  [["hubspot", "x.csv"], "unknown product"],
  [["brevo"], "BREVO_API_KEY"],
  [["sendgrid"], "SENDGRID_API_KEY"],
  [["mailchimp"], "name the export files of Mailchimp"],
  [["plunk"], "PLUNK_API_KEY"],
  [["listmonk", "missing.csv"], "no file or folder has this name"],
  [["brevo", "brevo/contacts.csv", "--mapping", "{"], "--mapping: expected JSON"],
  [["brevo", "brevo/contacts.csv", "--encoding", "klingon"], "--encoding"],
  [
    ["brevo", "brevo/contacts.csv", "--mapping", '{"Nmae":"data.name"}'],
    "no file has a column Nmae",
  ],
  [["brevo", "brevo/contacts.csv", "--mapping", '{"SMS":"email"}'], "two columns with addresses"],
  [["plunk", "brevo/contacts.csv", "--from", "http://127.0.0.1:1"], "there must be no FILES"],
])("refuses %j", async (words, message) => {
  const ran = await run(words);
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(message)]);
});

test("shows the table, what is refused and what stays behind as text", async () => {
  const env = { MAILSTEAD_API_KEY: t.secretKey };
  const words = ["import", "mailchimp", "mailchimp", "--server", runs.serverUrl()];
  const { stdout } = await mailstead(words, env, { cwd: IMPORT_FIXTURES });
  expect(stdout).toContain("              read  new  changed  unchanged  out  refused");
  expect(stdout).toContain("Contacts         7    6        0          0    3        1");
  expect(stdout).toContain("  not-an-address: is no email address");
  expect(stdout).toContain(
    "Files that are not imported: 1, such as reports/aggregate_activity/opens.csv",
  );
  expect(stdout).toContain("Nothing was changed. Repeat the command with --apply to import.");
});
