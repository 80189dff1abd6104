/** Sign-up forms from their page to the contact, as browsers, robots and other sites use them. */

import { beforeEach, describe, expect, test } from "bun:test";
import { purgeSubmissions, shiftSubmissions } from "../../../src/modules/forms/submissions.ts";
import { writeViews } from "../../../src/modules/forms/counts.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import { expectError } from "../../support/refusal.ts";
import { listAt, valueAt } from "../../support/json.ts";
import { signIn } from "../../support/session.ts";
import { readRefusedProxy } from "../../../src/http/client-address.ts";
import { parseAddressRange } from "../../../src/lib/address-ranges.ts";

const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;

const FORM = {
  name: "Newsletter",
  title: "Our newsletter",
  description: "One letter a month.",
  fields: [
    { name: "first_name", label: "First name", kind: "TEXT", isRequired: true },
    { name: "born", label: "Born", kind: "DATE" },
  ],
  consent: { wording: "Acme may send me its newsletter.", hasBox: true },
};
const TIPS = { name: "Tips", description: "Once a week" };
const ADA = { email: "Ada@Example.com", first_name: "Ada", born: "1815-12-10", consent: "yes" };

let t: TestApp;
beforeEach(async () => {
  t = await testApp();
  t.db.sqlite.run("UPDATE projects SET from_address = 'shop@acme.test', from_name = 'Acme'");
});

const create = (fields: object = {}) => t.create("/forms", { ...FORM, ...fields }, "data.id");

type Fields = Record<string, string | readonly string[]>;

function bodyOf(fields: Fields): string {
  const body = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    for (const each of [value].flat()) body.append(name, each);
  }
  return body.toString();
}

const request = (method: string, path: string, raw?: string, headers: object = {}) =>
  t.call(method, path, undefined, {
    key: null,
    ...(raw === undefined ? {} : { raw }),
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
  });

const post = (id: string, fields: Fields, headers: object = {}) =>
  request("POST", `/f/${id}`, bodyOf(fields), headers);

const json = { accept: "application/json" };

/** The paths of the links in the confirmation mails, oldest first. */
function linksIn(): string[] {
  return t.db.sqlite
    .query<{ url: string }, []>(
      `SELECT coalesce(variables ->> 'confirmUrl', variables ->> '$.mail.link') AS url
       FROM emails ORDER BY seq`,
    )
    .all()
    .map(({ url }) => new URL(url).pathname);
}

const confirm = (path: string) => request("POST", path, "action=confirm");

/** The contact with an address; null without one. */
function contactOf(email: string): object | null {
  const row = t.db.sqlite
    .query<{ email: string; subscribed: number; data: string }, [string]>(
      "SELECT email, is_subscribed AS subscribed, data FROM contacts WHERE email = ?",
    )
    .get(email);
  if (row === null) return null;
  const data: unknown = JSON.parse(row.data);
  return { ...row, subscribed: row.subscribed === 1, data };
}

describe("a submission with DOUBLE", () => {
  test("subscribes with its data and consents by the button behind the link, once", async () => {
    const topicId = await t.create("/topics", { name: "News" }, "data.id");
    const id = await create({ topics: [{ topicId }] });
    const page = await request("GET", `/f/${id}`);
    expect(page.status).toBe(200);
    expect(page.body).toContain('<label for="first_name">First name</label>');
    expect(page.body).toContain('<label for="email">Email address</label>');
    t.clock.advance(5_000);
    const answer = await post(id, { ...ADA, topics: [topicId] });
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toBe(`/f/${id}?done`);
    expect((await request("GET", `/f/${id}?done`)).body).toContain("Please check your inbox");
    expect(contactOf("ada@example.com")).toBeNull();

    const [link = ""] = linksIn();
    for (const _ of [1, 2]) {
      const shown = await request("GET", link);
      expect(shown.body).toContain('<button name="action" value="confirm">Confirm</button>');
    }
    expect(t.countRows("contacts")).toBe(0);
    t.clock.advance(HOUR);
    const [first, second] = await Promise.all([confirm(link), confirm(link)]);
    const bodies = [first.body, second.body].join();
    expect(bodies).toContain("You are subscribed");
    expect(bodies).toContain("You are already confirmed");

    expect(contactOf("ada@example.com")).toMatchObject({
      subscribed: true,
      data: { first_name: "Ada", born: "1815-12-10" },
    });
    const consents = t.db.sqlite
      .query(
        `SELECT kind, source_type, source_id, w.text, at FROM consents c
         JOIN consent_wordings w ON w.seq = c.wording_seq ORDER BY c.seq`,
      )
      .all();
    expect(consents).toEqual([
      {
        kind: "GIVEN",
        source_type: "FORM",
        source_id: id,
        text: FORM.consent.wording,
        at: t.clock.now() - HOUR,
      },
      {
        kind: "CONFIRMED",
        source_type: "FORM",
        source_id: id,
        text: [
          "Confirm your subscription",
          `${t.project.name} will then send newsletters to {email}.`,
          "[Confirm]",
        ].join("\n\n"),
        at: t.clock.now(),
      },
    ]);
    expect(t.eventNames()).toEqual([
      "form.submitted",
      "contact.subscribed",
      "contact.topic_subscribed",
      "consent.given",
      "consent.confirmed",
      "form.confirmed",
    ]);
    const confirmed = t.db.sqlite
      .query<{ data: string; contact: number }, []>(
        "SELECT data, contact_seq AS contact FROM events WHERE name = 'form.confirmed'",
      )
      .get();
    expect(confirmed?.contact).toBe(1);
    expect(JSON.parse(confirmed?.data ?? "")).toEqual({
      formId: id,
      formName: "Newsletter",
      fields: { first_name: "Ada", born: "1815-12-10" },
      topicIds: [topicId],
      topicNames: ["News"],
    });
    // The mail is one of the contact now, and the submission has no personal data any more.
    expect(t.db.sqlite.query("SELECT contact_seq FROM emails").get()).toEqual({ contact_seq: 1 });
    const row = t.db.sqlite.query("SELECT email, data, client_address FROM form_submissions").get();
    expect(row).toEqual({ email: null, data: null, client_address: null });
    await writeViews(t.app.app);
    const form = await t.call("GET", `/forms/${id}`);
    expect(form.at("data.counts")).toEqual({ shown: 1, submitted: 1, confirmed: 1, withheld: 0 });
  });

  test("stores no token, and a link of seven days ago subscribes no contact", async () => {
    const id = await create();
    await post(id, ADA);
    const [link = ""] = linksIn();
    const token = link.split("/").at(-1) ?? "";
    expect(JSON.stringify(t.contents()["form_submissions"])).not.toContain(token);
    t.clock.advance(7 * DAY);
    expect((await request("GET", link)).status).toBe(410);
    expect((await confirm(link)).body).toContain("This link is no longer valid");
    await purgeSubmissions(t.app.app);
    expect((await confirm(link)).status).toBe(404);
    expect(t.countRows("contacts") + t.countRows("form_submissions")).toBe(0);
    // The address of who did not confirm leaves with it.
    expect(JSON.stringify(t.contents())).not.toContain("ada@example.com");
  });

  test("changes nothing of a contact before, and keeps the fields that the form does not have", async () => {
    const known = { email: "ada@example.com", data: { plan: "pro", first_name: "A." } };
    await t.call("POST", "/contacts", { ...known, subscribed: false });
    const id = await create();
    await post(id, ADA);
    expect(contactOf("ada@example.com")).toMatchObject({ ...known, subscribed: false });
    await confirm(linksIn()[0] ?? "");
    expect(contactOf("ada@example.com")).toMatchObject({
      subscribed: true,
      data: { plan: "pro", first_name: "Ada", born: "1815-12-10" },
    });
  });

  test("leaves with its form, together with the addresses in its mails", async () => {
    const id = await create();
    await post(id, ADA);
    const [link = ""] = linksIn();
    expect((await t.call("DELETE", `/forms/${id}`)).status).toBe(204);
    expect((await confirm(link)).status).toBe(404);
    expect(JSON.stringify(t.contents())).not.toContain("ada@example.com");
  });

  test("goes on after a step of the clock", async () => {
    const id = await create();
    await post(id, ADA);
    const byMs = 30 * DAY;
    await t.app.writer.write(() => shiftSubmissions(t.app.app, { byMs, after: 0 }));
    t.clock.advance(byMs);
    await post(id, ADA);
    expect(linksIn()).toHaveLength(1);
    expect((await confirm(linksIn()[0] ?? "")).body).toContain("You are subscribed");
  });

  test("leaves with the contact, together with its mail", async () => {
    const id = await create();
    await post(id, ADA);
    const [link = ""] = linksIn();
    const contact = await t.create("/contacts", { email: "ada@example.com" }, "id");
    await t.call("DELETE", `/contacts/${contact}`);
    expect(t.countRows("form_submissions")).toBe(0);
    expect(JSON.stringify(t.contents()["emails"])).not.toContain("ada@example.com");
    expect((await confirm(link)).status).toBe(404);
  });
});

describe("the answer is the same", () => {
  const standing: [who: string, prepare: () => Promise<unknown>, mails: number][] = [
    ["a new address", async () => {}, 1],
    ["a contact", () => t.call("POST", "/contacts", { email: ADA.email }), 1],
    [
      "an unsubscribed contact",
      () => t.call("POST", "/contacts", { email: ADA.email, subscribed: false }),
      1,
    ],
    ["a suppressed address", () => t.call("POST", "/suppressions", { email: ADA.email }), 0],
    [
      "an address that got a mail in the last hour",
      async () => {
        await t.call("POST", "/contacts", { email: ADA.email });
        await post(await create(), ADA);
        t.clock.advance(HOUR - 1);
      },
      1,
    ],
  ];
  for (const confirmation of ["DOUBLE", "SINGLE"]) {
    test.each(standing)(`for %s with ${confirmation}`, async (who, prepare, mails) => {
      await prepare();
      const id = await create({ confirmation });
      const before = contactOf("ada@example.com");
      const answer = await post(id, ADA, json);
      const texts =
        confirmation === "DOUBLE" ? "Please check your inbox" : "Thank you for signing up";
      expect(answer.status).toBe(200);
      expect(answer.at("data.title")).toBe(texts);
      const isAtOnce = confirmation === "SINGLE" && t.countRows("emails") === 0 && mails === 1;
      expect(isAtOnce).toBe(confirmation === "SINGLE" && who === "a new address");
      if (isAtOnce) {
        expect(contactOf("ada@example.com")).toMatchObject({ subscribed: true });
        expect(t.eventNames()).toContain("form.submitted");
      } else {
        expect(t.countRows("emails")).toBe(mails);
        expect(contactOf("ada@example.com")).toEqual(before);
      }
    });
  }

  // A change that writes nothing waits for no disk, so each path changes exactly one of the figures.
  const suppressed = (email: string) => t.call("POST", "/suppressions", { email });
  const paths: [
    who: string,
    confirmation: string,
    prepare: (id: string) => unknown,
    counts: object,
  ][] = [
    ["a new address", "DOUBLE", () => {}, { submitted: 1 }],
    ["a new address", "SINGLE", () => {}, { submitted: 1, confirmed: 1 }],
    [
      "a contact",
      "SINGLE",
      () => t.call("POST", "/contacts", { email: ADA.email }),
      { submitted: 1 },
    ],
    ["a suppressed address", "DOUBLE", () => suppressed("ada@example.com"), { withheld: 1 }],
    ["a suppressed address", "SINGLE", () => suppressed("ada@example.com"), { withheld: 1 }],
    [
      "a suppressed contact",
      "SINGLE",
      async () => {
        await t.call("POST", "/contacts", { email: ADA.email });
        await suppressed("ada@example.com");
      },
      { withheld: 1 },
    ],
    [
      "an address that got a mail in the last hour",
      "DOUBLE",
      (id) => post(id, ADA),
      { submitted: 1, withheld: 1 },
    ],
    [
      "too many addresses of a mailbox",
      "DOUBLE",
      async (id) => {
        for (let i = 0; i < 5; i++) await post(id, { ...ADA, email: `ada+${i}@example.com` });
      },
      { submitted: 5, withheld: 1 },
    ],
  ];
  test.each(paths)(
    "and a figure changes for %s with %s",
    async (who, confirmation, prepare, counts) => {
      const id = await create({ confirmation });
      await prepare(id);
      const email = who.startsWith("too many") ? "ada+9@example.com" : ADA.email;
      const mails = t.countRows("emails");
      expect((await post(id, { ...ADA, email })).status).toBe(303);
      const expected = { shown: 0, submitted: 0, confirmed: 0, withheld: 0, ...counts };
      expect((await t.call("GET", `/forms/${id}`)).at("data.counts")).toEqual(expected);
      if ("withheld" in counts) expect(t.countRows("emails")).toBe(mails);
      expect((await t.call("GET", `/forms/${id}/report`)).at("data.totals")).toEqual(expected);
    },
  );

  test("while the queue is full, also for addresses that would get no mail", async () => {
    t = await testApp({ db: t.db, clock: t.clock, config: { quotaQueuedMails: 1 } });
    const id = await create({ confirmation: "SINGLE" });
    await suppressed("no@example.com");
    await t.call("POST", "/contacts", { email: "known@example.com" });
    const first = await post(id, { ...ADA, email: "known@example.com" });
    expect(first.status).toBe(303);
    for (const email of ["new@example.com", "no@example.com", "known@example.com"]) {
      expect([email, (await post(id, { ...ADA, email })).status]).toEqual([email, 503]);
    }
  });

  test("for a robot, and nothing is stored", async () => {
    const id = await create();
    const shown = await request("GET", `/f/${id}`);
    const madeAt = /name="_t" value="([^"]+)"/.exec(String(shown.body))?.[1] ?? "";
    for (const mark of [{ _website: "http://spam.example" }, { _t: madeAt }]) {
      const answer = await post(id, { ...ADA, ...mark });
      expect(answer.headers.get("location")).toBe(`/f/${id}?done`);
    }
    expect(t.countRows("form_submissions") + t.countRows("emails")).toBe(0);
    // The same page a second later, and a page whose time is not signed, count as sent by people.
    t.clock.advance(1_000);
    await post(id, { ...ADA, _t: madeAt });
    await post(id, { ...ADA, email: "b@example.com", _t: "zzzz.AAAAAAAAAAAAAAAA" });
    expect(t.countRows("form_submissions")).toBe(2);
  });
});

test("a person who was erased after leaving comes back by their own confirmation only", async () => {
  const contact = await t.create("/contacts", { email: "ada@example.com", subscribed: true }, "id");
  await t.call("PATCH", `/contacts/${contact}`, { subscribed: false });
  await t.call("POST", `/contacts/${contact}/erasure`);
  const id = await create({ confirmation: "SINGLE" });
  expect((await post(id, ADA)).status).toBe(303);
  expect(contactOf("ada@example.com")).toBeNull();
  await confirm(linksIn().at(-1) ?? "");
  expect(contactOf("ada@example.com")).toMatchObject({ subscribed: true });
});

describe("limits", () => {
  test("one mail for an address and hour, also after a restart", async () => {
    const id = await create();
    await post(id, ADA);
    const again = await testApp({ db: t.db, clock: t.clock });
    t = again;
    await post(id, ADA);
    expect(t.countRows("emails")).toBe(1);
    t.clock.advance(HOUR);
    await post(id, ADA);
    expect(t.countRows("emails")).toBe(2);
    // Both links work until one of them has been used.
    for (const link of linksIn()) expect((await request("GET", link)).status).toBe(200);
  });

  test("five mails in an hour for addresses that differ in the part after a plus sign", async () => {
    const id = await create();
    for (let i = 0; i < 8; i++) await post(id, { ...ADA, email: `ada+${i}@example.com` });
    expect(linksIn()).toHaveLength(5);
    for (const email of ["ada@example.com", "adam+1@example.com", "ada+9@example.net"]) {
      expect((await post(id, { ...ADA, email })).status).toBe(303);
    }
    expect(linksIn()).toHaveLength(8);
    t.clock.advance(HOUR);
    await post(id, { ...ADA, email: "ada+9@example.com" });
    expect(linksIn()).toHaveLength(9);
  });

  test("30 submissions of a network in an hour; more send no mail", async () => {
    const id = await create();
    const statuses = new Map<number, number>();
    for (let i = 0; i < 40; i++) {
      const { status } = await post(id, { ...ADA, email: `a${i}@example.com` }, json);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect(Object.fromEntries(statuses)).toEqual({ 200: 30, 429: 10 });
    expect(t.countRows("emails")).toBe(30);
    t.clock.advance(HOUR);
    expect((await post(id, { ...ADA, email: "z@example.com" })).status).toBe(303);
  });

  const proxies: [trusted: string[], refused: number, fix: string | null][] = [
    [[], 3, "--trusted-proxy 127.0.0.1"],
    [["127.0.0.1"], 0, null],
  ];
  test.each(proxies)(
    "for people behind a proxy, with %j trusted",
    async (trusted, refused, fix) => {
      const trustedProxies = trusted.flatMap((text) => parseAddressRange(text) ?? []);
      t = await testApp({ db: t.db, clock: t.clock, config: { port: 0, trustedProxies } });
      const url = `http://127.0.0.1:${await t.app.listen()}/f/${await create()}`;
      const send = async (person: number) => {
        const headers = { ...json, "x-forwarded-for": `20.0.${person}.1` };
        const body = bodyOf({ ...ADA, email: `p${person}@example.com` });
        const type = { "content-type": "application/x-www-form-urlencoded" };
        return (await fetch(url, { method: "POST", headers: { ...headers, ...type }, body }))
          .status;
      };
      const people = Array.from({ length: 33 }, (_, person) => person);
      for (const person of people) {
        if (person === 30) expect(readRefusedProxy(t.app.app)).toBeNull();
        expect([person, await send(person)]).toEqual([person, person < 33 - refused ? 200 : 429]);
      }
      const system = await (await signIn(t)).get("/system");
      const found = listAt(system.body, "data.checks.findings").find(
        (each) => valueAt(each, "what") === "reverse proxy",
      );
      if (fix === null) expect(found).toBeUndefined();
      else expect(found).toMatchObject({ level: "fail", fix: expect.stringContaining(fix) });
      await t.close();
    },
  );

  test("a body above 64 KiB is refused unread", async () => {
    const id = await create();
    const answer = await post(id, { ...ADA, first_name: "x".repeat(1024 * 1024) });
    expect(answer.status).toBe(413);
    const long = await post(id, { ...ADA, first_name: "x".repeat(60_000) }, json);
    expect(long.at("error.errors")).toEqual([
      { field: "first_name", message: "Please enter at most 200 characters." },
    ]);
    expect(t.countRows("form_submissions")).toBe(0);
  });
});

describe("faults", () => {
  test("are shown at their fields, with the values that were filled in, escaped", async () => {
    const id = await create({ title: "<b>&</b>", fields: [{ ...FORM.fields[0], label: '"><i>' }] });
    const answer = await post(id, { email: '"><script>', first_name: "" });
    expect(answer.status).toBe(422);
    const page = String(answer.body);
    expect(page).toContain("&lt;b&gt;&amp;&lt;/b&gt;");
    expect(page).toContain('value="&quot;&gt;&lt;script&gt;"');
    expect(page).not.toContain("<i>");
    expect(page).toContain('aria-invalid="true" aria-describedby="email-error" autofocus');
    expect(page).toContain('<span class="error" id="consent-error">');
  });

  const closings: [why: string, close: (id: string) => Promise<unknown> | void][] = [
    ["is disabled", (id) => t.call("PATCH", `/forms/${id}`, { isEnabled: false })],
    ["was deleted", (id) => t.call("DELETE", `/forms/${id}`)],
    ["has a disabled project", () => void t.db.sqlite.run("UPDATE projects SET is_enabled = 0")],
  ];
  test.each(closings)("a form that %s says that it is closed", async (_, close) => {
    const id = await create();
    await close(id);
    for (const answer of [await request("GET", `/f/${id}`), await post(id, ADA)]) {
      expect(answer.status).toBe(404);
      expect(answer.body).toContain("This form is closed");
    }
    expect((await post(id, ADA, json)).at("success")).toBe(false);
    expect(t.countRows("form_submissions")).toBe(0);
  });

  test("a project without a sender accepts no submission of any address", async () => {
    t.db.sqlite.run("UPDATE projects SET from_address = NULL");
    for (const confirmation of ["DOUBLE", "SINGLE"]) {
      const id = await create({ confirmation });
      expect((await post(id, ADA)).status).toBe(503);
    }
    expect(t.countRows("contacts") + t.countRows("form_submissions")).toBe(0);
  });
});

describe("other sites", () => {
  const origins: [origin: string | null, allowed: string[], isAllowed: boolean][] = [
    [null, ["https://acme.example"], true],
    ["https://acme.example", ["https://acme.example"], true],
    ["http://localhost", ["https://acme.example"], true],
    ["https://evil.example", [], true],
    ["https://evil.example", ["https://acme.example"], false],
    ["https://acme.example.evil.example", ["https://acme.example"], false],
    ["null", ["https://acme.example"], false],
  ];
  test.each(origins)("%p may use a form for %j: %p", async (origin, allowed, isAllowed) => {
    const id = await create({ origins: allowed });
    const headers = { host: "localhost", ...(origin === null ? {} : { origin }) };
    const answer = await post(id, ADA, { ...headers, ...json });
    expect(answer.status).toBe(isAllowed ? 200 : 403);
    const permission = isAllowed ? origin : null;
    expect(answer.headers.get("access-control-allow-origin")).toBe(permission);
    expect((await post(id, { ...ADA, email: "b@b.co" }, headers)).status).toBe(
      isAllowed ? 303 : 403,
    );
  });

  test("get HTML that works alone, and a small script", async () => {
    const id = await create();
    const code = await t.call("GET", `/forms/${id}/code`);
    expect(code.text("data.html")).toContain(`method="post" action="${t.app.app.url}/f/${id}"`);
    expect(code.text("data.html")).toContain('<p hidden style="display:none">');
    const topics = [{ topicId: await t.create("/topics", TIPS, "data.id") }];
    const withTopic = await t.call("GET", `/forms/${await create({ topics })}/code`);
    expect(withTopic.text("data.html")).toContain(
      '<span>Tips</span> – <span class="mailstead-hint">Once a week</span>',
    );
    const script = await request("GET", "/f/embed.js");
    expect(Buffer.byteLength(String(script.body))).toBeLessThanOrEqual(3_000);
    expect(script.body).not.toContain("eval");
    const etag = script.headers.get("etag") ?? "";
    const same = await request("GET", "/f/embed.js", undefined, { "if-none-match": etag });
    expect(same.status).toBe(304);
  });

  test("are left for the addresses of the form", async () => {
    const urls = {
      successUrl: "https://acme.example/thanks",
      confirmedUrl: "https://acme.example/hi",
    };
    const id = await create(urls);
    const page = await request("GET", `/f/${id}`);
    expect(page.headers.get("content-security-policy")).toContain(
      "form-action 'self' https: http:",
    );
    expect((await post(id, ADA)).headers.get("location")).toBe(urls.successUrl);
    const [link = ""] = linksIn();
    for (const _ of [1, 2]) {
      const answer = await confirm(link);
      expect([answer.status, answer.headers.get("location")]).toEqual([303, urls.confirmedUrl]);
    }
    expect(t.countRows("contacts")).toBe(1);
  });
});

describe("the confirmation mail", () => {
  const template = {
    name: "Confirm",
    subject: "Hello {{ first_name }}",
    body: '<a href="{{ confirmUrl }}">Yes</a>',
    type: "TRANSACTIONAL",
  };

  test("is made of the template of the form", async () => {
    const templateId = await t.create("/templates", template, "data.id");
    const id = await create({ templateId });
    await post(id, ADA);
    const mails = await t.call("GET", "/emails");
    expect(Object(mails.at("data.items.0"))).toMatchObject({
      subject: "Hello Ada",
      to: "ada@example.com",
    });
    expectError(await t.call("DELETE", `/templates/${templateId}`), {
      status: 409,
      code: "CONFLICT",
    });
    // A template that was changed since is replaced by the built-in mail.
    await t.call("PATCH", `/templates/${templateId}`, { body: "<p>No link</p>" });
    await post(id, { ...ADA, email: "b@b.co" });
    expect(linksIn()).toHaveLength(2);
  });

  test("is in the language of the form, and names cannot change its header", async () => {
    t.db.sqlite.run("UPDATE projects SET name = 'Eve {{ x }}'");
    const id = await create({ language: "de" });
    await post(id, ADA);
    const mails = await t.call("GET", "/emails");
    expect(Object(mails.at("data.items.0")).subject).toBe(
      "Bitte bestätigen Sie Ihr Abonnement bei Eve {{ x }}",
    );
    await t.deliver();
    const raw = t.db.sqlite
      .query<{ raw: Uint8Array }, []>("SELECT raw FROM captured_messages")
      .get();
    expect(Buffer.from(raw?.raw ?? []).toString()).toContain("/confirm/");
  });
});

describe("POST /forms", () => {
  const refused: [field: string, fields: object][] = [
    ["title", { title: " " }],
    ["fields.0.name", { fields: [{ name: "email", label: "x", kind: "TEXT" }] }],
    ["fields.0.name", { fields: [{ name: "_t", label: "x", kind: "TEXT" }] }],
    ["fields.1.name", { fields: ["a", "a"].map((name) => ({ name, label: "x", kind: "TEXT" })) }],
    ["fields.0.options", { fields: [{ name: "a", label: "x", kind: "CHOICE" }] }],
    ["fields.0.kind", { fields: [{ name: "a", label: "x", kind: "FILE" }] }],
    ["successUrl", { successUrl: "javascript:alert(1)" }],
    ["confirmedUrl", { confirmedUrl: "//acme.example" }],
    ["origins.0", { origins: ["https://acme.example/shop"] }],
    ["topics.0.topicId", { topics: [{ topicId: "none" }] }],
    ["templateId", { templateId: "none" }],
    ["language", { language: "xx" }],
  ];
  test.each(refused)("refuses %s", async (field, fields) => {
    const answer = await t.call("POST", "/forms", { ...FORM, ...fields });
    expect(answer.status).toBe(422);
    expect(answer.at("error.errors.0.field")).toBe(field);
    expect(t.countRows("forms")).toBe(0);
  });

  test("changes a form by its revision, and reports its days", async () => {
    const id = await create();
    const headers = { "if-match": '"1"' };
    const changed = await t.call(
      "PATCH",
      `/forms/${id}`,
      { title: "New", consent: null },
      { headers },
    );
    expect(changed.at("data")).toMatchObject({ title: "New", consent: null, revision: 2 });
    const stale = await t.call("PATCH", `/forms/${id}`, { title: "Old" }, { headers });
    expect(stale.status).toBe(412);
    await post(id, ADA);
    await post(id, ADA);
    t.clock.advance(DAY);
    const report = await t.call("GET", `/forms/${id}/report?days=2`);
    const counts = { shown: 0, submitted: 1, confirmed: 0, withheld: 1 };
    expect(Object(report.at("data")).totals).toEqual(counts);
    expect(Object(report.at("data")).days).toMatchObject([counts, { submitted: 0, withheld: 0 }]);
    expect(Object((await t.call("GET", "/forms?name=new")).at("data.items"))).toHaveLength(1);
    const preview = await t.call("POST", "/forms/preview", { ...FORM, title: "Draft" });
    const shown = await t.call("GET", preview.text("data.documentUrl"));
    expect(shown.body).toContain("<h1>Draft</h1>");
  });
});
