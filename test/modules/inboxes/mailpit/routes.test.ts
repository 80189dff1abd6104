/** Each route of Mailpit's interface, with the whole form of its answer. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { VERSION } from "../../../../src/lib/version.ts";
import { mailpitApp } from "../../../support/mailpit.ts";
import { valueAt } from "../../../support/json.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";
const HTML = `<html><body><a href="https://example.com/a?b=1&amp;c=2">Go</a>\n<img src="cid:logo@x"></body></html>`;

const RICH = `Return-Path: <ada@example.com>
From: "Ada Lovelace" <ada@example.com>
To: Bob <bob@example.com>, carl@example.com
Cc: dora@example.com
Reply-To: answers@example.com
Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?= from
 Ada
Message-ID: <one@example.com>
Date: Sun, 1 Mar 2026 12:00:00 +0000
List-Unsubscribe: <https://example.com/u>, <mailto:u@example.com>
List-Unsubscribe-Post: List-Unsubscribe=One-Click
X-Tags: news, first
X-Custom: one
X-Custom: two
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="m"

--m
Content-Type: multipart/related; boundary="r"

--r
Content-Type: multipart/alternative; boundary="a"

--a
Content-Type: text/plain; charset=utf-8

Hello Bob
--a
Content-Type: text/html; charset=utf-8

${HTML}
--a--
--r
Content-Type: image/png
Content-ID: <logo@x>
Content-Disposition: inline; filename="logo.png"
Content-Transfer-Encoding: base64

${PNG}
--r--
--m
Content-Type: application/pdf
Content-Disposition: attachment; filename="bill 1.pdf"
Content-Transfer-Encoding: base64

JVBERi0=
--m--
`;

let server: Awaited<ReturnType<typeof mailpitApp>>;
beforeAll(async () => {
  server = await mailpitApp();
});
afterAll(() => server.close());

const plain = (subject: string, to = "bob@example.com", rest = "") =>
  `From: ada@example.com\nTo: ${to}\nSubject: ${subject}\n${rest}\nText of ${subject}`;

const address = (Address: string, Name = "") => ({ Name, Address });

describe("with one message", () => {
  let id = "";
  const summary = () => ({
    ID: id,
    MessageID: "one@example.com",
    Read: false,
    From: address("ada@example.com", "Ada Lovelace"),
    To: [address("bob@example.com", "Bob"), address("carl@example.com")],
    Cc: [address("dora@example.com")],
    Bcc: [address("hidden@example.com")],
    ReplyTo: [address("answers@example.com")],
    Subject: "Grüße from Ada",
    Created: new Date(server.clock.now()).toISOString().replace(".000Z", "Z"),
    Username: "",
    Tags: ["first", "news"],
    Size: Buffer.byteLength(RICH.replaceAll("\n", "\r\n")),
    Attachments: 1,
    Snippet: "Hello Bob",
  });
  const list = (messages: unknown[], counts: object = {}) => ({
    total: 1,
    unread: 1,
    count: messages.length,
    messages_count: 1,
    messages_unread: 1,
    start: 0,
    tags: ["first", "news"],
    messages,
    ...counts,
  });

  beforeEach(async () => {
    await server.mailpit("DELETE", "/api/v1/messages");
    const to = ["bob@example.com", "carl@example.com", "dora@example.com", "hidden@example.com"];
    id = await server.deliver(RICH, "ada@example.com", to);
  });

  test("GET /messages", async () => {
    expect((await server.mailpit("GET", "/api/v1/messages")).body).toEqual(list([summary()]));
  });

  test("GET /search", async () => {
    const found = await server.mailpit(
      "GET",
      "/api/v1/search?query=to:carl+subject:gr%C3%BC%C3%9Fe",
    );
    expect(found.body).toEqual(list([summary()]));
    const missed = await server.mailpit("GET", "/api/v1/search?query=to:nobody");
    const none = { messages_count: 0, messages_unread: 0 };
    expect(missed.body).toEqual(list([], none));
  });

  test("GET /message/{id}, which marks it as read", async () => {
    const answer = await server.mailpit("GET", `/api/v1/message/${id}`);
    const { Read, Created, Attachments, Snippet, ...shared } = summary();
    expect([Read, Attachments, Snippet]).toEqual([false, 1, "Hello Bob"]);
    expect(Created).toBeString();
    expect(answer.body).toEqual({
      ...shared,
      Read: true,
      ReturnPath: "ada@example.com",
      Date: "2026-03-01T12:00:00Z",
      ListUnsubscribe: {
        Header: "<https://example.com/u>, <mailto:u@example.com>",
        Links: ["https://example.com/u", "mailto:u@example.com"],
        Errors: "",
        HeaderPost: "List-Unsubscribe=One-Click",
      },
      Text: "Hello Bob",
      HTML: HTML.replaceAll("\n", "\r\n"),
      Inline: [
        {
          PartID: answer.text("Inline.0.PartID"),
          FileName: "logo.png",
          ContentType: "image/png",
          ContentID: "logo@x",
          Size: 70,
          Checksums: {
            MD5: new Bun.CryptoHasher("md5").update(Buffer.from(PNG, "base64")).digest("hex"),
            SHA1: new Bun.CryptoHasher("sha1").update(Buffer.from(PNG, "base64")).digest("hex"),
            SHA256: new Bun.CryptoHasher("sha256").update(Buffer.from(PNG, "base64")).digest("hex"),
          },
        },
      ],
      Attachments: [
        {
          PartID: answer.text("Attachments.0.PartID"),
          FileName: "bill 1.pdf",
          ContentType: "application/pdf",
          ContentID: "",
          Size: 5,
          Checksums: {
            MD5: new Bun.CryptoHasher("md5").update("%PDF-").digest("hex"),
            SHA1: new Bun.CryptoHasher("sha1").update("%PDF-").digest("hex"),
            SHA256: new Bun.CryptoHasher("sha256").update("%PDF-").digest("hex"),
          },
        },
      ],
    });
    const after = await server.mailpit("GET", "/api/v1/messages");
    expect(after.body).toEqual(
      list([{ ...summary(), Read: true }], { unread: 0, messages_unread: 0 }),
    );
  });

  test("GET /message/latest, also with a query", async () => {
    expect((await server.mailpit("GET", "/api/v1/message/latest")).at("ID")).toBe(id);
    await server.deliver(plain("Later"));
    const found = await server.mailpit("GET", "/api/v1/message/latest?query=to:carl");
    expect(found.at("ID")).toBe(id);
    const missed = await server.mailpit("GET", "/api/v1/message/latest?query=to:nobody");
    expect([missed.status, missed.body]).toEqual([404, "Message not found"]);
  });

  test("GET /message/{id}/headers", async () => {
    const { body } = await server.mailpit("GET", `/api/v1/message/${id}/headers`);
    expect(body).toEqual({
      Cc: ["dora@example.com"],
      "Content-Type": [`multipart/mixed; boundary="m"`],
      Date: ["Sun, 1 Mar 2026 12:00:00 +0000"],
      From: [`"Ada Lovelace" <ada@example.com>`],
      "List-Unsubscribe": ["<https://example.com/u>, <mailto:u@example.com>"],
      "List-Unsubscribe-Post": ["List-Unsubscribe=One-Click"],
      "Message-Id": ["<one@example.com>"],
      "Mime-Version": ["1.0"],
      "Reply-To": ["answers@example.com"],
      "Return-Path": ["<ada@example.com>"],
      Subject: ["=?UTF-8?Q?Gr=C3=BC=C3=9Fe?= from Ada"],
      To: ["Bob <bob@example.com>, carl@example.com"],
      "X-Custom": ["one", "two"],
      "X-Tags": ["news, first"],
    });
    expect(Object.keys(valueAt(body, "") ?? body ?? {}).length).toBe(14);
  });

  test("GET /message/{id}/raw", async () => {
    const answer = await server.mailpit("GET", `/api/v1/message/${id}/raw`);
    expect(answer.body).toBe(RICH.replaceAll("\n", "\r\n"));
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    const download = await server.mailpit("GET", `/api/v1/message/${id}/raw?dl=1`);
    expect(download.headers.get("content-disposition")).toContain(`${id}.eml`);
  });

  test("GET /message/{id}/part/{part} and its thumbnail", async () => {
    const message = await server.mailpit("GET", `/api/v1/message/${id}`);
    const inline = `/api/v1/message/${id}/part/${message.text("Inline.0.PartID")}`;
    const image = await server.app.handle(
      new Request(`http://localhost${inline}`, { headers: { authorization: server.credentials } }),
    );
    expect(image.headers.get("content-type")).toBe("image/png");
    expect(image.headers.get("content-security-policy")).toStartWith("sandbox; default-src");
    expect(Buffer.from(await image.arrayBuffer()).toString("base64")).toBe(PNG);
    const file = await server.mailpit(
      "GET",
      `/api/v1/message/${id}/part/${message.text("Attachments.0.PartID")}`,
    );
    expect(file.headers.get("content-disposition")).toBe(`inline; filename="bill%201.pdf"`);
    for (const path of [
      inline,
      `/api/v1/message/${id}/part/${message.text("Attachments.0.PartID")}`,
    ]) {
      const thumb = await server.app.handle(
        new Request(`http://localhost${path}/thumb`, {
          headers: { authorization: server.credentials },
        }),
      );
      expect(thumb.headers.get("content-type")).toBe("image/jpeg");
      const { width, height, format } = await new Bun.Image(await thumb.arrayBuffer()).metadata();
      expect([width, height, format]).toEqual([180, 120, "jpeg"]);
    }
    expect((await server.mailpit("GET", `/api/v1/message/${id}/part/99`)).status).toBe(404);
  });

  test("GET /view/{id}.html is the HTML with addresses of inline parts, in a sandbox", async () => {
    const answer = await server.mailpit("GET", `/view/${id}.html`);
    const sent = HTML.replaceAll("\n", "\r\n");
    expect(answer.body).toBe(sent.replace("cid:logo@x", `/api/v1/message/${id}/part/1.2`));
    expect(answer.headers.get("content-security-policy")).toBe(
      "sandbox allow-popups allow-popups-to-escape-sandbox",
    );
    const embedded = await server.mailpit("GET", "/view/latest.html?embed=1");
    expect(embedded.body).toContain(`target="_blank" rel="noreferrer noopener"`);
    expect(embedded.body).toContain(`/api/v1/message/${id}/part/`);
  });

  test.each([
    ["GET", "//view/latest.html?embed=1", "/view/latest.html?embed=1"],
    ["POST", "//api/v1/send", "/api/v1/send"],
    ["GET", "//api//elsewhere.example/", "/api//elsewhere.example/"],
  ])("%s %s leads to %s, and never to another server", async (method, path, target) => {
    const { status, headers } = await server.mailpit(method, path);
    expect([status, headers.get("location")]).toEqual([308, target]);
  });

  test("GET /view/{id}.txt and /view/latest", async () => {
    expect((await server.mailpit("GET", `/view/${id}.txt`)).body).toBe("Hello Bob");
    const latest = await server.mailpit("GET", "/view/latest");
    expect([latest.status, latest.headers.get("location")]).toEqual([302, `/view/${id}.html`]);
    const text = await server.deliver(plain("Only text"));
    expect((await server.mailpit("GET", `/view/${text}.html`)).status).toBe(404);
  });

  test("POST /message/{id}/release is not enabled", async () => {
    const options = { body: { To: ["x@example.com"] } };
    const answer = await server.mailpit("POST", `/api/v1/message/${id}/release`, options);
    expect([answer.status, answer.body]).toEqual([400, "message relaying is not enabled"]);
  });

  test("GET /message/{id}/sa-check is off", async () => {
    expect((await server.mailpit("GET", `/api/v1/message/${id}/sa-check`)).status).toBe(404);
  });

  test("GET /info", async () => {
    const { body } = await server.mailpit("GET", "/api/v1/info");
    const number = expect.any(Number);
    expect(body).toEqual({
      Version: VERSION,
      LatestVersion: "disabled",
      Database: expect.any(String),
      DatabaseSize: number,
      Messages: 1,
      Unread: 1,
      Tags: { first: 1, news: 1 },
      RuntimeStats: {
        Uptime: number,
        Memory: number,
        MessagesDeleted: number,
        SMTPAccepted: number,
        SMTPAcceptedSize: number,
        SMTPRejected: 0,
        SMTPIgnored: 0,
      },
    });
  });

  test("GET /webui", async () => {
    expect((await server.mailpit("GET", "/api/v1/webui")).body).toEqual({
      Label: "",
      MessageRelay: {
        Enabled: false,
        SMTPServer: "",
        ReturnPath: "",
        AllowedRecipients: "",
        BlockedRecipients: "",
        OverrideFrom: "",
        PreserveMessageIDs: false,
        RecipientAllowlist: "",
      },
      SpamAssassin: false,
      ChaosEnabled: true,
      DuplicatesIgnored: false,
      HideDeleteAllButton: false,
    });
  });

  test("the tags: GET, PUT, rename, DELETE", async () => {
    const tags = async () => (await server.mailpit("GET", "/api/v1/tags")).body;
    expect(await tags()).toEqual(["first", "news"]);
    const set = await server.mailpit("PUT", "/api/v1/tags", {
      body: { ids: [id], TAGS: ["b", "a", "b"] },
    });
    expect(set.body).toBe("ok");
    expect(await tags()).toEqual(["a", "b"]);
    await server.mailpit("PUT", "/api/v1/tags/A", { body: { Name: "c d" } });
    expect(await tags()).toEqual(["b", "c d"]);
    await server.mailpit("DELETE", "/api/v1/tags/c%20d");
    expect(await tags()).toEqual(["b"]);
    await server.mailpit("PUT", "/api/v1/tags", { body: { IDs: [id], Tags: [] } });
    expect(await tags()).toEqual([]);
    const mixed = { IDs: [id], Tags: ["Paid", "<x>", "march 2026", "PAID"] };
    expect((await server.mailpit("PUT", "/api/v1/tags", { body: mixed })).status).toBe(200);
    const { body } = await server.mailpit("GET", `/api/v1/message/${id}`);
    expect(valueAt(body, "Tags")).toEqual(["march 2026", "Paid", "x"]);
    const bad = await server.mailpit("PUT", "/api/v1/tags/Paid", { body: { Name: "//" } });
    expect([bad.status, bad.body]).toEqual([400, "invalid tag name: //"]);
    const unknown = await server.mailpit("DELETE", "/api/v1/tags/none");
    expect([unknown.status, unknown.body]).toEqual([400, "tag not found: none"]);
  });

  test("the routes of MailHog", async () => {
    const { body } = await server.mailpit("GET", "/api/v2/messages?limit=1");
    const path = (Mailbox: string) => ({
      Relays: null,
      Mailbox,
      Domain: "example.com",
      Params: "",
    });
    expect(body).toEqual({
      total: 1,
      count: 1,
      start: 0,
      items: [
        {
          ID: id,
          From: path("ada"),
          To: ["bob", "carl", "dora", "hidden"].map(path),
          Content: expect.objectContaining({ Size: summary().Size }),
          Created: summary().Created,
          MIME: expect.anything(),
          Raw: {
            From: "ada@example.com",
            To: ["bob@example.com", "carl@example.com", "dora@example.com", "hidden@example.com"],
            Data: RICH.replaceAll("\n", "\r\n").replace(/\r\n$/, ""),
            Helo: "",
          },
        },
      ],
    });
    expect(valueAt(body, "items.0.Content.Headers.X-Custom")).toEqual(["one", "two"]);
    expect(valueAt(body, "items.0.MIME.Parts.1.Body")).toBe("JVBERi0=");
    expect(valueAt(body, "items.0.MIME.Parts.0.MIME.Parts.0.MIME.Parts.0.Body")).toBe("Hello Bob");
    const total = async (query: string) =>
      (await server.mailpit("GET", `/api/v2/search?${query}`)).at("total");
    expect(await total("kind=to&query=hidden")).toBe(1);
    expect(await total("kind=from&query=bob")).toBe(0);
    expect(await total("kind=containing&query=hello")).toBe(1);
    expect((await server.mailpit("GET", "/api/v2/search?kind=x&query=y")).status).toBe(400);
    expect((await server.mailpit("GET", "/api/v2/jim")).status).toBe(404);
    expect((await server.mailpit("GET", "/api/v2/outgoing-smtp")).body).toEqual({});
    expect((await server.mailpit("GET", `/api/v1/messages/${id}`)).at("ID")).toBe(id);
    expect((await server.mailpit("GET", `/api/v1/messages/${id}/download`)).status).toBe(200);
    await server.mailpit("DELETE", `/api/v1/messages/${id}`);
    expect((await server.mailpit("GET", "/api/v1/messages")).at("total")).toBe(0);
  });
});

describe("with several messages", () => {
  let ids: string[] = [];
  beforeEach(async () => {
    await server.mailpit("DELETE", "/api/v1/messages");
    ids = [];
    for (let i = 0; i < 6; i++) {
      server.clock.advance(60_000);
      ids.unshift(await server.deliver(plain(`Number ${i}`, `user${i % 2}@example.com`)));
    }
  });
  const subjects = async (path: string): Promise<unknown> => {
    const { body } = await server.mailpit("GET", path);
    const messages = valueAt(body, "messages");
    return Array.isArray(messages) ? messages.map((each) => valueAt(each, "Subject")) : body;
  };
  const names = (...numbers: number[]) => numbers.map((i) => `Number ${i}`);

  test("lists are paged, newest first", async () => {
    expect(await subjects("/api/v1/messages")).toEqual(names(5, 4, 3, 2, 1, 0));
    expect(await subjects("/api/v1/messages?start=2&limit=2")).toEqual(names(3, 2));
    expect(await subjects("/api/v1/messages?limit=0")).toEqual(names(5, 4, 3, 2, 1, 0));
    expect(await subjects("/api/v1/messages?start=-1&limit=x")).toEqual(names(5, 4, 3, 2, 1, 0));
    expect(await subjects("/api/v1/search?query=number&start=4")).toEqual(names(1, 0));
    expect(await subjects("/api/v1/search?query=to:user1&limit=2")).toEqual(names(5, 3));
    expect(await subjects("/api/v1/search?query=number&limit=0")).toEqual([]);
    const before = new Date(server.clock.now() - 90_000).toISOString();
    expect(await subjects(`/api/v1/messages?before=${before}`)).toEqual(names(3, 2, 1, 0));
    expect(await subjects(`/api/v1/search?query=to:user1&before=${before}`)).toEqual(names(3, 1));
  });

  test("PUT /messages sets the read state by ids, by search and of all", async () => {
    const set = async (body?: object) => {
      const answer = await server.mailpit(
        "PUT",
        "/api/v1/messages",
        body === undefined ? {} : { body },
      );
      return [answer.status, answer.body];
    };
    const unread = async () => (await server.mailpit("GET", "/api/v1/messages")).at("unread");
    expect(await set({ IDs: ids.slice(0, 2), Read: true })).toEqual([200, "ok"]);
    expect(await unread()).toBe(4);
    expect(await set({ search: "to:user0", READ: true })).toEqual([200, "ok"]);
    expect(await unread()).toBe(2);
    expect(await set({ Read: true })).toEqual([200, "ok"]);
    expect(await unread()).toBe(0);
    expect(await set()).toEqual([200, "ok"]);
    expect(await unread()).toBe(6);
    expect((await set({ IDs: ids, Search: "x" }))[0]).toBe(400);
  });

  test("PUT /messages with a form sets the read state of the ids of the form", async () => {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const put = (raw: string) => server.mailpit("PUT", "/api/v1/messages", { raw, headers });
    expect((await put(`ids=${ids[0]}&ids=${ids[1]}&Read=True`)).body).toBe("ok");
    expect((await server.mailpit("GET", "/api/v1/messages")).at("unread")).toBe(4);
    expect((await put("Read=True")).status).toBe(400);
  });

  test("DELETE /messages deletes by ids", async () => {
    const answer = await server.mailpit("DELETE", "/api/v1/messages", {
      body: { ids: ids.slice(0, 2) },
    });
    expect([answer.status, answer.body, answer.headers.get("content-type")]).toEqual([
      200,
      "ok",
      "text/plain; charset=utf-8",
    ]);
    expect(await subjects("/api/v1/messages")).toEqual(names(3, 2, 1, 0));
  });

  test("DELETE /messages with a form deletes the ids of the form", async () => {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    await server.mailpit("DELETE", "/api/v1/messages", {
      raw: `ids=${ids[0]}&ids=${ids[5]}`,
      headers,
    });
    expect(await subjects("/api/v1/messages")).toEqual(names(4, 3, 2, 1));
    const other = await server.mailpit("DELETE", "/api/v1/messages", { raw: "x=1", headers });
    expect(other.status).toBe(400);
  });

  for (const raw of ["", `{"IDs":[]}`, `{"IDs":null}`, "{}", "null"]) {
    test(`DELETE /messages with the body ${JSON.stringify(raw)} deletes all`, async () => {
      await server.mailpit("DELETE", "/api/v1/messages", { raw });
      expect(await subjects("/api/v1/messages")).toEqual([]);
    });
  }

  test("DELETE /messages with another body is refused and deletes nothing", async () => {
    for (const raw of ["ids", "[]", `{"IDs":"x"}`, `{"IDs":[1]}`, "{", "[".repeat(10_000)]) {
      const { status } = await server.mailpit("DELETE", "/api/v1/messages", { raw });
      expect([raw, status]).toEqual([raw, 400]);
    }
    expect(await subjects("/api/v1/messages")).toEqual(names(5, 4, 3, 2, 1, 0));
  });

  test("DELETE /search deletes what matches", async () => {
    const answer = await server.mailpit("DELETE", "/api/v1/search?query=to:user1");
    expect([answer.status, answer.body]).toEqual([200, "ok"]);
    expect(await subjects("/api/v1/messages")).toEqual(names(4, 2, 0));
  });

  test("DELETE /search without a valid query is refused and deletes nothing", async () => {
    const invalid = ["", "%20", "to:", `""`, "to:user1+before:x", "x".repeat(20_000)];
    for (const query of ["", ...invalid.map((text) => `?query=${text}`)]) {
      const { status } = await server.mailpit("DELETE", `/api/v1/search${query}`);
      expect([query.slice(0, 30), status]).toEqual([query.slice(0, 30), 400]);
    }
    expect((await server.mailpit("GET", "/api/v1/messages")).at("total")).toBe(6);
    expect((await server.mailpit("GET", "/api/v1/search")).status).toBe(400);
  });

  const queries = [
    `"`,
    "%%%",
    "'--",
    "NEAR(",
    "\u0000x",
    "x".repeat(10_000),
    "a ".repeat(5_000),
    `"to:`,
    "*",
  ];
  test("GET /search answers odd queries", async () => {
    for (const query of queries) {
      const path = `/api/v1/search?query=${encodeURIComponent(query)}`;
      const { status } = await server.mailpit("GET", path);
      expect([query.slice(0, 12), status]).toEqual([query.slice(0, 12), 200]);
    }
  });
});

describe("POST /send", () => {
  const send = (body: unknown) => server.mailpit("POST", "/api/v1/send", { body });
  const FROM = { Email: "ada@example.com", Name: "Ada" };

  test("stores a message with exactly these headers", async () => {
    const answer = await send({
      From: FROM,
      To: [{ Email: "bob@example.com", Name: "Bob, Jr." }, { Email: "b2@example.com" }],
      Cc: [{ Email: "carl@example.com" }],
      Bcc: ["hidden@example.com"],
      ReplyTo: [{ Email: "reply@example.com" }],
      Subject: "Grüße",
      Text: "Hello",
      HTML: "<p>Hello <b>you</b></p>",
      Headers: { "List-Unsubscribe": "<https://example.com/u>" },
    });
    expect(answer.body).toEqual({ ID: expect.any(String) });
    const id = answer.text("ID");
    const headers = await server.mailpit("GET", `/api/v1/message/${id}/headers`);
    expect(Object.keys(headers.body ?? {})).toEqual(
      "Bcc,Cc,Content-Type,Date,From,List-Unsubscribe,Message-Id,Mime-Version,Reply-To,Return-Path,Subject,To".split(
        ",",
      ),
    );
    const message = await server.mailpit("GET", `/api/v1/message/${id}`);
    expect(message.body).toMatchObject({
      From: { Name: "Ada", Address: "ada@example.com" },
      To: [
        { Name: "Bob, Jr.", Address: "bob@example.com" },
        { Name: "", Address: "b2@example.com" },
      ],
      Cc: [{ Name: "", Address: "carl@example.com" }],
      Bcc: [{ Name: "", Address: "hidden@example.com" }],
      ReplyTo: [{ Name: "", Address: "reply@example.com" }],
      Subject: "Grüße",
      Text: "Hello",
      HTML: "<p>Hello <b>you</b></p>",
      Tags: [],
    });
  });

  test("stores tags and attachments", async () => {
    const answer = await send({
      from: FROM,
      to: [{ email: "bob@example.com" }],
      html: `<img src="cid:logo">`,
      tags: ["One", "Two"],
      attachments: [
        { content: `data:image/png;base64,${PNG}`, filename: "logo.png", contentid: "logo" },
        { content: "aGVsbG8=", filename: "notes.txt" },
      ],
    });
    const message = await server.mailpit("GET", `/api/v1/message/${answer.text("ID")}`);
    expect(message.body).toMatchObject({
      Tags: ["One", "Two"],
      Inline: [{ FileName: "logo.png", ContentType: "image/png", ContentID: "logo" }],
      Attachments: [{ FileName: "notes.txt", ContentType: "text/plain", Size: 5 }],
    });
  });

  const REFUSED: [name: string, body: unknown][] = [
    ["no body", undefined],
    ["no sender", { To: [{ Email: "bob@example.com" }] }],
    ["a wrong address", { From: { Email: "nobody" } }],
    ["a line break in a subject", { From: FROM, Subject: "a\r\nBcc: x@example.com" }],
    ["a line break in a header", { From: FROM, Headers: { "X-A": "a\nBcc: x@example.com" } }],
    ["a reserved header", { From: FROM, Headers: { Subject: "x" } }],
    ["X-Tags beside tags", { From: FROM, Tags: ["a"], Headers: { "X-Tags": "b" } }],
    [
      "an attachment that is not base64",
      { From: FROM, Attachments: [{ Content: "%%%", Filename: "x" }] },
    ],
  ];
  test.each(REFUSED)("refuses %s", async (_, body) => {
    const answer = await send(body);
    expect([answer.status, answer.body]).toEqual([400, { Error: expect.any(String) }]);
  });

  test("refuses a body that is too large with 413", async () => {
    const headers = { "content-length": String(40 * 1024 * 1024) };
    const answer = await server.mailpit("POST", "/api/v1/send", { raw: "{}", headers });
    expect([answer.status, answer.body]).toEqual([413, { Error: expect.any(String) }]);
  });
});

describe("the other rules", () => {
  test("OPTIONS answers 200 with an empty body", async () => {
    const answer = await server.mailpit("OPTIONS", "/api/v1/messages");
    expect([answer.status, answer.body]).toEqual([200, undefined]);
  });

  test("unknown paths answer 404 in plain text", async () => {
    for (const path of ["/api/v1/nothing", "/api/v1/message/x/y/z", "/view/a/b"]) {
      const answer = await server.mailpit("GET", path);
      expect([answer.status, answer.body]).toEqual([404, "404 page not found"]);
    }
    const message = await server.mailpit("GET", "/api/v1/message/unknown");
    expect([message.status, message.body]).toEqual([404, "404 page not found"]);
  });

  test("broken percent-encoding and foreign methods get no error 500", async () => {
    expect((await server.mailpit("GET", "/api/v1/message/%zz")).status).toBe(404);
    expect((await server.mailpit("GET", "/view/%ff.html")).status).toBe(404);
    expect((await server.mailpit("GET", "/api/v1/search?query=%ff%zz")).status).toBe(200);
    expect((await server.mailpit("PATCH", "/api/v1/messages")).status).toBe(405);
  });

  test("/livez and /readyz need no credentials", async () => {
    const withoutUser = { headers: { authorization: "" } };
    expect((await server.mailpit("GET", "/livez", withoutUser)).status).toBe(200);
    // It answers 503 until the server has started.
    expect((await server.mailpit("GET", "/readyz", withoutUser)).status).toBe(503);
  });

  test("GET /swagger.json leads to the description of the routes", async () => {
    const answer = await server.mailpit("GET", "/api/v1/swagger.json");
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "/openapi.json"]);
  });

  test("a body of more than 5 MB is refused", async () => {
    const raw = JSON.stringify({ IDs: ["x".repeat(6 * 1024 * 1024)] });
    expect((await server.mailpit("DELETE", "/api/v1/messages", { raw })).status).toBe(413);
  });
});

test("GET and PUT /chaos", async () => {
  const chaos = (body: unknown) => server.mailpit("PUT", "/api/v1/chaos", { body });
  const off = { ErrorCode: 451, Probability: 0 };
  const auth = { ErrorCode: 535, Probability: 0 };
  const set = await chaos({ sender: { errorcode: 421, probability: 100 } });
  const state = {
    Sender: { ErrorCode: 421, Probability: 100 },
    Recipient: off,
    Authentication: auth,
  };
  expect(set.body).toEqual(state);
  expect((await server.mailpit("GET", "/api/v1/chaos")).body).toEqual(state);
  expect((await chaos({ Sender: { ErrorCode: 399, Probability: 1 } })).status).toBe(400);
  expect((await chaos({ Sender: { ErrorCode: 451, Probability: 101 } })).status).toBe(400);
  const reset = await chaos({});
  expect(reset.body).toEqual({ Sender: off, Recipient: off, Authentication: auth });
});
