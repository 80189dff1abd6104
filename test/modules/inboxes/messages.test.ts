/** The routes of messages: list, get, change, delete, and their contents. */

import { beforeEach, describe, expect, test } from "bun:test";
import { sendRaw } from "../../support/smtp-client.ts";
import { emptyInboxes, type InboxApp, invalid } from "../../support/inbox.ts";
import { listAt, stringAt, valueAt } from "../../support/json.ts";
import { expectError } from "../../support/refusal.ts";

const inboxes = emptyInboxes();
let t: InboxApp;
beforeEach(async () => {
  t = await inboxes.next();
});

const MESSAGES = "/inboxes/default/messages";
const PIXEL = Buffer.from("R0lGODlhAQABAAAAACw=", "base64");
const notFound = (what: string) => ({ status: 404, code: `${what}_NOT_FOUND` });

const subjects = (body: unknown) =>
  listAt(body, "data.items").map((item) => stringAt(item, "subject"));

async function idOf(subject: string): Promise<string> {
  const { body } = await t.call("GET", MESSAGES);
  const found = listAt(body, "data.items").find((item) => valueAt(item, "subject") === subject);
  return stringAt(found, "id");
}

describe("the list", () => {
  test("has every message directly after its 250, newest first, in pages", async () => {
    for (const subject of ["one", "two", "three"]) await t.mail({ subject });
    const first = await t.call("GET", `${MESSAGES}?limit=2`);
    expect(subjects(first.body)).toEqual(["three", "two"]);
    expect([first.at("data.hasMore"), first.at("data.total")]).toEqual([true, 3]);
    const cursor = first.text("data.nextCursor");
    const second = await t.call("GET", `${MESSAGES}?limit=2&cursor=${cursor}`);
    expect(subjects(second.body)).toEqual(["one"]);
    expect(second.at("data.hasMore")).toBe(false);
  });

  test("shows addresses, envelope and state of a message", async () => {
    await t.mail({ to: "Ada <ada@example.com>", cc: "bo@example.com", bcc: "cy@example.com" });
    const { body } = await t.call("GET", MESSAGES);
    expect(valueAt(body, "data.items.0")).toMatchObject({
      from: { name: "Shop", address: "shop@example.com" },
      to: [{ name: "Ada", address: "ada@example.com" }],
      cc: [{ name: "", address: "bo@example.com" }],
      bcc: [{ name: "", address: "cy@example.com" }],
      snippet: "Hello Ada",
      read: false,
      pinned: false,
      tags: [],
      emailId: null,
      parseError: null,
      envelope: {
        from: "shop@example.com",
        to: ["ada@example.com", "bo@example.com", "cy@example.com"],
        peer: "127.0.0.1",
        bareLf: false,
      },
    });
  });
});

describe("a search", () => {
  const search = async (query: string) =>
    subjects((await t.call("GET", `${MESSAGES}?query=${encodeURIComponent(query)}`)).body);

  test("finds a part of a word, and with quotes the exact address", async () => {
    await t.mail({ subject: "first", to: "a@x.example" });
    await t.mail({ subject: "second", to: "aa@x.example", text: "Your code is 123456" });
    expect(await search("to:a@x.example")).toEqual(["second", "first"]);
    expect(await search('to:"a@x.example"')).toEqual(["first"]);
    expect(await search("23456")).toEqual(["second"]);
    expect(await search("is:unread -subject:first")).toEqual(["second"]);
  });

  test("counts the matches, and pages through them", async () => {
    for (let i = 0; i < 5; i++) await t.mail({ subject: `even ${i % 2 === 0}` });
    const path = `${MESSAGES}?query=true&limit=2`;
    const first = await t.call("GET", path);
    expect([first.at("data.total"), first.at("data.hasMore")]).toEqual([3, true]);
    const next = await t.call("GET", `${path}&cursor=${first.text("data.nextCursor")}`);
    expect(subjects(next.body)).toHaveLength(1);
  });

  test("with a term without a value is 422, also for DELETE and wait", async () => {
    await t.mail();
    const fault = invalid("query", "invalid_format");
    expectError(await t.call("GET", `${MESSAGES}?query=to:`), fault);
    expectError(await t.call("DELETE", MESSAGES, { query: "to:" }), fault);
    expectError(await t.call("GET", "/inboxes/default/wait?query=to:"), fault);
    expect((await t.call("GET", MESSAGES)).at("data.total")).toBe(1);
  });

  test("deletes what matches and nothing else", async () => {
    for (const to of ["a@x.example", "b@x.example", "a@x.example"]) await t.mail({ to });
    const deleted = await t.call("DELETE", MESSAGES, { query: 'to:"a@x.example"' });
    expect(deleted.at("data.deleted")).toBe(2);
    expect((await t.call("GET", MESSAGES)).at("data.items.0.to.0.address")).toBe("b@x.example");
  });
});

describe("one message", () => {
  test("has text, HTML, headers and parts; latest stands for the newest", async () => {
    await t.mail({ subject: "old" });
    await t.mail({
      subject: "new",
      html: "<p>Hi</p>",
      headers: { "X-Campaign": "spring" },
      attachments: [{ filename: "bill.pdf", content: "%PDF", contentType: "application/pdf" }],
    });
    const { body } = await t.call("GET", `${MESSAGES}/latest`);
    expect(valueAt(body, "data")).toMatchObject({ subject: "new", html: "<p>Hi</p>" });
    expect(stringAt(body, "data.text")).toContain("Hello Ada");
    expect(listAt(body, "data.headers")).toContainEqual({ name: "X-Campaign", value: "spring" });
    expect(listAt(body, "data.parts")).toMatchObject([
      { filename: "bill.pdf", contentType: "application/pdf", inline: false, size: 4 },
    ]);
    const same = await t.call("GET", `${MESSAGES}/${stringAt(body, "data.id")}`);
    expect(same.body).toEqual(body);
    const headers = await t.call("GET", `${MESSAGES}/latest/headers`);
    expect(headers.at("data")).toEqual(valueAt(body, "data.headers"));
  });

  test("of an empty inbox, of another inbox, or unknown is 404", async () => {
    expectError(await t.call("GET", `${MESSAGES}/latest`), notFound("MESSAGE"));
    expectError(await t.call("GET", `${MESSAGES}/none`), notFound("MESSAGE"));
    await t.mail({ subject: "mine" });
    await t.createInbox("other");
    const path = `/inboxes/other/messages/${await idOf("mine")}`;
    expectError(await t.call("GET", path), notFound("MESSAGE"));
  });

  test("is shown raw with the bytes that were sent", async () => {
    const client = await t.connect();
    await sendRaw(client, "Subject: raw\r\n\r\nHello\r\n..\r\nend");
    client.end();
    const raw = await t.call("GET", `${MESSAGES}/latest/raw`);
    expect(raw.headers.get("content-type")).toBe("message/rfc822");
    expect(String(raw.body)).toEndWith("Subject: raw\r\n\r\nHello\r\n.\r\nend\r\n");
  });

  test("is shown as HTML that cannot run scripts, with its inline parts", async () => {
    await t.mail({
      html: '<img src="cid:logo@shop"><script>alert(1)</script>',
      attachments: [{ filename: "logo.gif", content: PIXEL, cid: "logo@shop" }],
    });
    const page = await t.call("GET", `${MESSAGES}/latest/html`);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("content-security-policy")).toStartWith(
      "sandbox allow-popups allow-popups-to-escape-sandbox; ",
    );
    const link = /src="([^"]+)"/.exec(String(page.body))?.[1] ?? "";
    expect(link).toMatch(/^\/inboxes\/default\/messages\/\w{22}\/parts\/[\d.]+$/);
    const part = await t.call("GET", link);
    expect([part.status, part.headers.get("content-type")]).toEqual([200, "image/gif"]);
    expect(part.headers.get("content-security-policy")).toStartWith("sandbox; default-src 'none'");
    expect(part.headers.get("content-disposition")).toStartWith('inline; filename="logo.gif"');
  });

  test("loads nothing from other servers, except on request", async () => {
    await t.mail({ html: '<img src="https://tracker.example/open.gif">' });
    const policy = async (query: string) =>
      (await t.call("GET", `${MESSAGES}/latest/html${query}`)).headers.get(
        "content-security-policy",
      );
    const sandbox = "sandbox allow-popups allow-popups-to-escape-sandbox";
    const closed =
      `${sandbox}; default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; ` +
      "base-uri 'none'";
    expect(await policy("")).toBe(closed);
    expect(await policy("?images=false")).toBe(closed);
    expect(await policy("?images=true")).toBe(sandbox);
    expectError(
      await t.call("GET", `${MESSAGES}/latest/html?images=maybe`),
      invalid("images", "invalid_type"),
    );
  });

  test("connects to no other server, and runs no script of an image", async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
    const hint = '<link rel="preconnect" href="https://tracker.example">';
    await t.mail({
      html: `${hint}<noscript>${hint}</noscript><img src="cid:pic@shop">`,
      attachments: [{ filename: "pic.svg", content: svg, cid: "pic@shop" }],
    });
    const page = await t.call("GET", `${MESSAGES}/latest/html`);
    expect(String(page.body)).toMatch(/^<img src="\/inboxes[^"]+">\s*$/);
    expect(page.headers.get("x-dns-prefetch-control")).toBe("off");
    const image = await t.call("GET", /src="([^"]+)"/.exec(String(page.body))?.[1] ?? "");
    expect(image.headers.get("content-type")).toBe("image/svg+xml");
    expect(image.headers.get("content-security-policy")).toBe(
      "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'",
    );
    const preview = await t.call("GET", `${MESSAGES}/latest/preview`);
    expect(String(preview.body)).not.toContain("tracker.example");
  });

  test("without HTML is 404 as HTML; its text is the text of the HTML if it has no text", async () => {
    await t.mail();
    expectError(await t.call("GET", `${MESSAGES}/latest/html`), notFound("PART"));
    expect(String((await t.call("GET", `${MESSAGES}/latest/text`)).body)).toContain("Hello Ada");
    await t.mail({ text: "", html: "<p>Only <b>HTML</b></p>" });
    expect(String((await t.call("GET", `${MESSAGES}/latest/text`)).body)).toBe("Only HTML");
  });

  test("a part with a hostile name and type is downloaded as bytes", async () => {
    await t.mail({
      attachments: [{ filename: 'a"\r\nb☃.html', content: "<script>", contentType: "text/html" }],
    });
    const { body } = await t.call("GET", `${MESSAGES}/latest`);
    const partId = stringAt(body, "data.parts.0.partId");
    const part = await t.call("GET", `${MESSAGES}/latest/parts/${partId}`);
    expect(part.headers.get("content-disposition")).toMatch(/^attachment; filename="[ -~]+"; /);
    expect(part.headers.get("x-content-type-options")).toBe("nosniff");
    expectError(await t.call("GET", `${MESSAGES}/latest/parts/99`), notFound("PART"));
  });
});

describe("PATCH", () => {
  test("sets read state, pin and tags, and leaves the others", async () => {
    await t.mail();
    const patch = (body: unknown) => t.call("PATCH", `${MESSAGES}/latest`, body);
    expect((await patch({ read: true })).at("data")).toMatchObject({ read: true, pinned: false });
    expect((await patch({ tags: ["b", "a"], pinned: true })).at("data")).toMatchObject({
      read: true,
      pinned: true,
      tags: ["a", "b"],
    });
    expect((await t.call("GET", "/inboxes/default")).at("data.unread")).toBe(0);
    expect((await patch({ tags: [], read: false })).at("data")).toMatchObject({ tags: [] });
    expect((await t.call("GET", "/inboxes/default")).at("data.unread")).toBe(1);
  });
});

describe("DELETE", () => {
  const total = async () => (await t.call("GET", MESSAGES)).at("data.total");

  test("removes one message, the listed ones, or all", async () => {
    for (const subject of ["a", "b", "c", "d"]) await t.mail({ subject });
    expect((await t.call("DELETE", `${MESSAGES}/${await idOf("a")}`)).status).toBe(204);
    const ids = [await idOf("b"), await idOf("b"), "unknown"];
    expect((await t.call("DELETE", MESSAGES, { ids })).at("data.deleted")).toBe(1);
    expect(subjects((await t.call("GET", MESSAGES)).body)).toEqual(["d", "c"]);
    expect((await t.call("DELETE", MESSAGES, { all: true })).at("data.deleted")).toBe(2);
    expect(await total()).toBe(0);
  });

  const bad: [body: unknown, field: string, code: string][] = [
    [{}, "", "required"],
    [{ query: "  " }, "query", "too_small"],
    [{ all: false }, "all", "invalid_value"],
    [{ ids: ["a"], all: true }, "all", "invalid_value"],
    [undefined, "", "invalid_type"],
  ];
  test("deletes nothing if the body does not say what", async () => {
    await t.mail();
    for (const [body, field, code] of bad) {
      expectError(await t.call("DELETE", MESSAGES, body), invalid(field, code));
    }
    expect(await total()).toBe(1);
  });
});
