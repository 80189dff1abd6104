/** `GET /emails/{id}/content`, `/preview`, `/source` and `/checks`. */

import { beforeEach, describe, expect, test } from "bun:test";
import { simpleParser } from "mailparser";
import { FetchRefused } from "../../../src/protocols/fetch-guarded/refusal.ts";
import { addDomain, type TestApp, testApp, type TestOptions } from "../../support/app.ts";
import { listAt, valueAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";
import { signIn } from "../../support/session.ts";

/** Addresses that were requested. */
let asked: string[] = [];
const OPTIONS: TestOptions = {
  config: { trackingUrl: "https://track.test", url: "https://mail.test" },
  async fetchGuarded(url) {
    asked.push(url);
    if (url.includes("private")) throw new FetchRefused("private_address", "No public address.");
    return { status: 204, headers: new Headers(), body: new Uint8Array(), isTruncated: false };
  },
};
/** Nothing is sent, because no test starts the application. */
const projects = projectPerTest(OPTIONS);
let t: TestApp;
beforeEach(async () => {
  asked = [];
  t = await projects.next();
  t.db.sqlite.run("UPDATE projects SET tracking = 'ENABLED'");
});

const mail = {
  to: { name: "Ada", email: "ada@example.com" },
  from: "a@acme.test",
  subject: "Hi {{ name }}",
  body: '<p>Hello {{ name }}, <a href="https://acme.test/orders">your orders</a></p>',
  data: { name: "Ada" },
};
const send = (fields: object = {}) =>
  t.create("/v1/send", { ...mail, ...fields }, "data.emails.0.email");
const read = (id: string, part: string) => t.call("GET", `/emails/${id}/${part}`);

/** The preview of a mail with this body. */
async function preview(body: string, query = ""): Promise<string> {
  const id = await send({ body, data: {} });
  return String((await read(id, `preview${query}`)).body);
}

describe("the content of a mail", () => {
  test("has the rendered parts, the headers and the files, and no tracking", async () => {
    const attachments = [
      { filename: "a.txt", content: Buffer.from("hello").toString("base64") },
      { filename: "b.bin", content: "AAAA", contentType: "application/x-thing" },
    ];
    const answer = await read(await send({ attachments, headers: { "X-Order": "7" } }), "content");
    expect(answer.status).toBe(200);
    expect(answer.at("data")).toMatchObject({
      subject: "Hi Ada",
      html: '<p>Hello Ada, <a href="https://acme.test/orders">your orders</a></p>',
      isShortened: false,
      signedHeaders: [],
      attachments: [
        { filename: "a.txt", contentType: "text/plain", size: 5 },
        { filename: "b.bin", contentType: "application/x-thing", size: 3 },
      ],
      isMarketing: false,
      usesCurrentData: false,
    });
    expect(answer.text("data.text")).toContain("Hello Ada, your orders");
    expect(listAt(answer.body, "data.headers")).toContainEqual(["X-Order", "7"]);
    expect(JSON.stringify(answer.body)).not.toContain("track.test");
  });

  test("names the headers that are signed", async () => {
    await addDomain(t.app, t.project.seq, "signed.test");
    const answer = await read(await send({ from: "a@signed.test" }), "content");
    expect(listAt(answer.body, "data.signedHeaders")).toEqual(
      expect.arrayContaining(["from", "to", "subject", "message-id", "list-unsubscribe"]),
    );
  });

  test("is the same after the mail was sent, and reading it changes nothing", async () => {
    t = await testApp(OPTIONS);
    const id = await send();
    const before = await read(id, "content");
    await t.deliver();
    const counts = () =>
      t.db.sqlite.query("SELECT * FROM emails, (SELECT count(*) FROM events)").values();
    const stored = counts();
    for (const part of ["content", "preview", "source", "checks"]) await read(id, part);
    expect((await read(id, "content")).body).toEqual(before.body);
    expect(counts()).toEqual(stored);
    await t.close();
  });

  test("of campaign mail is rendered with the present data, with its subject", async () => {
    const id = await send({ data: { name: { value: "Ada", persistent: true } } });
    t.db.sqlite.run(
      "UPDATE emails SET campaign_seq = 1, variables = NULL, subject = 'For {{ name }}'",
    );
    t.db.sqlite.run(`UPDATE contacts SET data = '{"name":"Grace"}'`);
    const answer = await read(id, "content");
    expect(answer.at("data")).toMatchObject({ subject: "For Grace", usesCurrentData: true });
    expect(answer.text("data.html")).toContain("Hello Grace");
    t.db.sqlite.run("UPDATE emails SET sent_at = 1, subject = 'For {{ sale }}'");
    expect((await read(id, "content")).text("data.subject")).toBe("For {{ sale }}");
  });

  test("cannot be read once it was purged or its contact deleted", async () => {
    const ids = [await send(), await send({ to: "bob@example.com", body: "other" })];
    t.db.sqlite.run(
      `UPDATE messages SET html = '', headers = '[]', digest = 'purged ' || seq
       WHERE seq = (SELECT message_seq FROM emails WHERE id = ?)`,
      [ids[0] ?? ""],
    );
    const { body } = await t.call("GET", "/contacts");
    for (const contact of listAt(body, "contacts")) {
      if (valueAt(contact, "email") !== "bob@example.com") continue;
      await t.call("DELETE", `/contacts/${String(valueAt(contact, "id"))}`);
    }
    for (const id of ids) {
      for (const part of ["content", "preview", "source", "checks"]) {
        expectError(await read(id, part), { status: 404, code: "CONTENT_PURGED" });
      }
    }
  });

  test("that cannot be rendered ends with the reason, and other requests go on meanwhile", async () => {
    const id = await send();
    const work = "{% for i in (1..20000) %}{% assign x = i | plus: 1 %}{% endfor %}";
    t.db.sqlite.run("UPDATE messages SET html = ?", [`${work}{% for i in (1..99999999) %}`]);
    let isRead = false;
    const reading = read(id, "content").finally(() => (isRead = true));
    expect((await t.call("GET", `/emails/${id}`)).status).toBe(200);
    expect(isRead).toBe(false);
    expectError(await reading, { status: 409, code: "CONFLICT" });
  });

  test("is cut after a mebibyte", async () => {
    const id = await send();
    t.db.sqlite.run("UPDATE messages SET html = ?", [
      `<p>{% for i in (1..300) %}${"text ".repeat(1_000)}{% endfor %}`,
    ]);
    const answer = await read(id, "content");
    expect(answer.at("data.isShortened")).toBe(true);
    expect(answer.text("data.html")).toHaveLength(1024 * 1024);
  });
});

describe("a user who is signed in", () => {
  async function member(role: "VIEWER" | "EDITOR") {
    const session = await signIn(t, { email: `${role.toLowerCase()}@b.co`, isOwner: false });
    const { members } = t.app.accounts;
    await t.app.writer.write(() => members.put(t.project.seq, session.user.seq, role));
    return session;
  }
  const parts = ["content", "preview", "source", "checks"];

  test("reads the bodies of all mails as an editor, of marketing mail as a viewer", async () => {
    const id = await send();
    const at = (part: string) => `/emails/${id}/${part}?project=${t.project.id}`;
    const [viewer, editor] = [await member("VIEWER"), await member("EDITOR")];
    for (const part of parts) {
      expect([part, (await editor.get(at(part))).status]).toEqual([part, 200]);
      expectError(await viewer.get(at(part)), { status: 403, code: "FORBIDDEN" });
    }
    expect((await viewer.get(`/emails/${id}?project=${t.project.id}`)).status).toBe(200);
    t.db.sqlite.run("UPDATE messages SET is_marketing = 1");
    for (const part of parts) {
      expect([part, (await viewer.get(at(part))).status]).toEqual([part, 200]);
    }
  });

  test("shows a viewer links that name no mail, and the Message-ID of the mail", async () => {
    const body = '<p><a href="{{ unsubscribeUrl }}">Unsubscribe</a></p>';
    const id = await send({ body, data: {} });
    t.db.sqlite.run("UPDATE messages SET is_marketing = 1");
    const at = `/emails/${id}/content?project=${t.project.id}`;
    const pressed = [];
    for (const role of ["VIEWER", "EDITOR"] as const) {
      const content = await (await member(role)).get(at);
      expect(JSON.stringify(content.at("data.headers"))).toContain(`<${id}@acme.test>`);
      const [link = ""] = /\/unsubscribe\/[\w-]+/.exec(content.text("data.html")) ?? [];
      pressed.push((await t.call("POST", link, undefined, { key: null })).status);
    }
    expect(pressed).toEqual([404, 200]);
  });
});

describe("the preview of a mail", () => {
  test("has a policy that allows no scripts and no requests", async () => {
    const answer = await read(await send(), "preview");
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.headers.get("content-security-policy")).toBe(
      "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src data: https://mail.test/i/; " +
        "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    );
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  test("allows images by https only on request", async () => {
    const id = await send();
    const policy = async (query: string) =>
      (await read(id, `preview${query}`)).headers.get("content-security-policy");
    expect(await policy("?images=true")).toContain("img-src data: https://mail.test/i/ https:;");
    expect(await policy("?images=false")).toContain("img-src data: https://mail.test/i/;");
    expect((await read(id, "preview?images=maybe")).status).toBe(422);
    expect((await read(id, "preview?part=raw")).status).toBe(422);
  });

  test("shows the text part as text", async () => {
    const answer = await read(
      await send({ body: "<p>a &lt;script&gt; b</p>" }),
      "preview?part=text",
    );
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(answer.headers.get("content-security-policy")).toStartWith("sandbox ");
    expect(String(answer.body).trim()).toBe("a <script> b");
  });

  test("opens links in new tabs, without tracking, and removes other schemes", async () => {
    const shown = await preview(
      '<a href="https://a.test/x" target="_top" rel="opener" ping="https://p.test">a</a>' +
        '<a href="java&#115;cript:alert(1)">b</a><a HREF=" data:text/html,x">c</a>' +
        '<a href="mailto:a@b.co">d</a><svg><a xlink:href="javascript:1">e</a></svg>',
    );
    expect(shown).toContain(
      '<a href="https://a.test/x" target="_blank" rel="noopener noreferrer">a</a>',
    );
    expect(shown).toContain('<a target="_blank" rel="noopener noreferrer">b</a>');
    expect(shown).toContain('<a target="_blank" rel="noopener noreferrer">c</a>');
    expect(shown).toContain('href="mailto:a@b.co"');
    expect(shown).not.toMatch(/javascript|xlink|_top|p\.test|track\.test/);
  });

  const hostile: [name: string, html: string][] = [
    ["a script", "<script>fetch('https://evil.test')</script>"],
    ["a script that does not end", "<script>fetch('https://evil.test')"],
    ["a base address", '<base href="https://evil.test/" target="_top">'],
    ["a redirection", '<META HTTP-EQUIV="refresh" content="0; url=https://evil.test">'],
    ["the preparation of a connection", '<link rel="dns-prefetch" href="//evil.test">'],
    ["a style sheet", '<link rel=stylesheet href="https://evil.test/a.css">'],
    ["a frame", '<iframe src="https://evil.test"></iframe>'],
    ["an object", '<object data="https://evil.test"><embed src="https://evil.test"></object>'],
  ];
  test("has no elements that run or request something", async () => {
    for (const [name, html] of hostile) {
      const shown = await preview(`<p>before</p>${html}`);
      expect([name, shown]).toEqual([name, expect.stringContaining("before")]);
      expect([name, shown]).toEqual([name, expect.not.stringContaining("evil.test")]);
    }
  });

  test("contains inline images, each only as often as fits", async () => {
    const attachments = [
      {
        filename: "a.png",
        content: Buffer.from("png").toString("base64"),
        contentType: "image/png",
        contentId: "logo",
        disposition: "inline",
      },
      {
        filename: "a.svg",
        content: Buffer.from("<svg/>").toString("base64"),
        contentType: "image/svg+xml",
        contentId: "drawing",
        disposition: "inline",
      },
    ];
    const body = '<img src="cid:logo"><img src="cid:drawing"><img src="cid:none">';
    const id = await send({ body, attachments });
    const shown = String((await read(id, "preview")).body);
    expect(shown).toContain('<img src="data:image/png;base64,cG5n">');
    expect(shown).toContain('<img src="cid:drawing">');
    t.db.sqlite.run("UPDATE attachment_contents SET bytes = zeroblob(3000000)");
    t.db.sqlite.run("UPDATE messages SET html = ?", ['<img src="cid:logo">'.repeat(100)]);
    expect(String((await read(id, "preview")).body).length).toBeLessThan(15_000_000);
  });
});

describe("the source of a mail", () => {
  test("is the message as it leaves, as text", async () => {
    const id = await send();
    const answer = await read(id, "source");
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(answer.headers.get("content-security-policy")).toStartWith("sandbox;");
    const parsed = await simpleParser(String(answer.body));
    expect([parsed.subject, parsed.messageId]).toEqual(["Hi Ada", `<${id}@acme.test>`]);
    expect(String(parsed.html)).toContain("https://track.test/");
  });
});

describe("the checks of a mail", () => {
  test("have findings, the support of mail programs and the links, and request nothing", async () => {
    const body =
      '<div style="display:grid"><img src="https://a.test/x.png">' +
      '<a href="http://a.test/">a</a><a href="{{ unsubscribeUrl }}">Unsubscribe</a></div>';
    const answer = await read(await send({ body }), "checks");
    const status = (name: string) => {
      const found = listAt(answer.body, "data.findings").find(
        (each) => valueAt(each, "name") === name,
      );
      return valueAt(found, "status");
    };
    expect(status("text-part")).toBe("OK");
    expect(status("image-texts")).toBe("WARNING");
    expect(status("link-schemes")).toBe("WARNING");
    expect(status("html-size")).toBe("OK");
    const slugs = listAt(answer.body, "data.features").map((each) => valueAt(each, "slug"));
    expect(slugs).toContain("css-display-grid");
    expect(answer.at("data.urls")).toEqual(["http://a.test/"]);
    expect(answer.at("data.links")).toBeNull();
    expect(asked).toEqual([]);
  });

  test("request the links on request, but none of the service", async () => {
    const body =
      '<a href="https://a.test/">a</a><a href="http://private.test/">b</a>' +
      '<a href="{{ unsubscribeUrl }}">Unsubscribe</a>';
    const answer = await read(await send({ body }), "checks?links=true");
    expect(listAt(answer.body, "data.links")).toEqual(
      expect.arrayContaining([
        { url: "https://a.test/", status: 204, error: null },
        { url: "http://private.test/", status: null, error: "No public address." },
      ]),
    );
    expect(asked.sort()).toEqual(["http://private.test/", "https://a.test/"]);
  });
});
