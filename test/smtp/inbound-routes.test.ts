/** Mail for inbound routes: what arrives over SMTP, its event, its record and its attachments. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createReceivedRows } from "../../src/modules/inbound-routes/rows.ts";
import { type InboundApp, inboundApp, mail } from "../modules/inbound-routes/inbound-app.ts";
import { waitUntil } from "../support/eventually.ts";
import { valueAt } from "../support/json.ts";

const DAY_MS = 24 * 3_600_000;
const HEAD = [
  "From: Ada <ada@example.net>",
  "To: support@in.acme.test",
  "Subject: =?utf-8?q?Caf=C3=A9?=",
  "Message-ID: <one@example.net>",
];
const TO = "support@in.acme.test";

let t: InboundApp;
beforeAll(async () => {
  t = await inboundApp();
  await t.start();
  await t.route(TO);
});
afterAll(() => t.close());

/** Sends a message to the route and returns the data of its event. */
async function receive(message: string | Uint8Array, from?: string): Promise<unknown> {
  const { dot } = await t.submit(message, { to: [TO], ...(from === undefined ? {} : { from }) });
  expect(dot).toBe("250 2.0.0 Ok: received");
  return t.received().at(-1);
}

const idOf = (data: unknown): string => String(valueAt(data, "id"));

describe("RCPT", () => {
  test("accepts addresses with a route, in any case, and no others", async () => {
    const to = [TO, "SUPPORT@In.Acme.Test", "sales@in.acme.test", "support@acme.test"];
    const { rcpt } = await t.submit(mail(HEAD), { to });
    expect(rcpt.map((reply) => reply.slice(0, 9))).toEqual([
      "250 2.1.5",
      "250 2.1.5",
      "550 5.1.1",
      "550 5.1.1",
    ]);
  });

  test("accepts postmaster of a domain with a route", async () => {
    const { dot } = await t.submit(mail(HEAD), { to: ["postmaster@in.acme.test"] });
    expect(dot).toBe("250 2.0.0 Ok: received");
    const latest = await t.call("GET", "/inboxes/postmaster/messages/latest");
    expect(latest.at("data.subject")).toBe("Café");
  });

  test("refuses the address when its domain is not verified any more", async () => {
    const set = (status: string) =>
      t.db.sqlite.run("UPDATE domains SET status = ? WHERE domain = 'acme.test'", [status]);
    set("FAILED");
    const { rcpt } = await t.submit(mail(HEAD), { to: [TO] });
    set("VERIFIED");
    expect(rcpt).toEqual(["550 5.1.1 No such address here"]);
  });

  test("puts off recipients of another project", async () => {
    const other = await t.makeProject("other");
    t.server.records["in.other.test"] = { MX: ["10 sender.test"] };
    const body = { address: "a@in.other.test", action: { webhook: true } };
    await t.create("/inbound-routes", body, "data.id", { key: other.secretKey });
    const { rcpt } = await t.submit(mail(HEAD), { to: [TO, "a@in.other.test"] });
    expect(rcpt[1]).toBe("452 4.5.3 Send to this recipient in another transaction");
  });
});

describe("a mail", () => {
  test("is an event before it is answered with 250", async () => {
    const data = await receive(mail(HEAD, "Hello"));
    const base = `${t.app.url}/received-mails/${idOf(data)}`;
    expect(data).toEqual({
      id: idOf(data),
      from: "ada@example.net",
      fromName: "Ada",
      to: [TO],
      subject: "Café",
      text: "Hello\n",
      html: "",
      isShortened: false,
      isAutomatic: false,
      attachments: [],
      raw: `${base}/raw`,
      spf: "skipped",
      dkim: "none",
      dmarc: "none",
      arc: "none",
      messageId: "<one@example.net>",
      inReplyTo: null,
      forwarded: [],
    });
  });

  test("is kept octet for octet", async () => {
    const raw = Buffer.concat([
      Buffer.from(mail(HEAD, ".a line with a dot\r\n")),
      Buffer.from([0xff, 0x00, 0x80, 0x0d, 0x0a]),
    ]);
    // sendRaw does not double dots.
    const stuffed = Buffer.from(raw.toString("latin1").replace("\r\n.", "\r\n.."), "latin1");
    const id = idOf(await receive(stuffed));
    const request = new Request(`http://localhost/received-mails/${id}/raw`, {
      headers: { authorization: `Bearer ${t.secretKey}` },
    });
    const answer = await t.app.handle(request);
    expect(answer.headers.get("content-type")).toBe("message/rfc822");
    expect(Buffer.from(await answer.arrayBuffer()).equals(raw)).toBe(true);
  });

  test("has links to its attachments", async () => {
    const parts = [
      "--x",
      "Content-Type: text/html; charset=utf-8",
      "",
      "<p>Hi</p>",
      "--x",
      "Content-Type: text/csv",
      'Content-Disposition: attachment; filename="a.csv"',
      "Content-Transfer-Encoding: base64",
      "",
      btoa("id,total\n1,2\n"),
      "--x--",
    ].join("\n");
    const type = 'Content-Type: multipart/mixed; boundary="x"';
    const data = await receive(mail([...HEAD, "MIME-Version: 1.0", type], parts));
    const id = idOf(data);
    const path = `/received-mails/${id}/attachments/2`;
    expect(valueAt(data, "html")).toBe("<p>Hi</p>");
    const file = { id: "2", filename: "a.csv", contentType: "text/csv", size: 13 };
    expect(valueAt(data, "attachments")).toEqual([{ ...file, url: t.app.url + path }]);
    const content = await t.call("GET", path);
    expect([content.status, content.body]).toEqual([200, "id,total\n1,2\n"]);
    expect(content.headers.get("content-disposition")).toStartWith('attachment; filename="a.csv"');
    expect((await t.call("GET", `${path}9`)).status).toBe(404);
    const record = await t.call("GET", `/received-mails/${id}`);
    expect(record.at("data.attachments")).toEqual([{ ...file, url: t.app.url + path }]);
    expect(record.at("data.sender")).toBe("ada@example.net");
    const other = await t.makeProject("third");
    const foreign = await t.call("GET", path, undefined, { key: other.secretKey });
    expect(foreign.status).toBe(404);
  });

  test("is shown as a document that loads nothing, with the images that are in it", async () => {
    const parts = [
      "--x",
      "Content-Type: text/html; charset=utf-8",
      "",
      '<script>alert(1)</script><p>Hi <img src="cid:logo"><a href="https://a.example/">link</a></p>',
      "--x",
      "Content-Type: image/gif",
      "Content-ID: <logo>",
      "Content-Transfer-Encoding: base64",
      "",
      "R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw==",
      "--x--",
    ].join("\n");
    const type = 'Content-Type: multipart/related; boundary="x"';
    const path = `/received-mails/${idOf(await receive(mail([...HEAD, type], parts)))}/preview`;
    const shown = await t.call("GET", path);
    expect(shown.body).toContain('<img src="data:image/gif;base64,R0lGOD');
    expect(shown.body).toContain('target="_blank"');
    expect(shown.body).not.toContain("<script>");
    const policy = shown.headers.get("content-security-policy");
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("https:");
    const withImages = await t.call("GET", `${path}?images=true`);
    expect(withImages.headers.get("content-security-policy")).toContain("https:");
    const other = await t.makeProject("fourth");
    expect((await t.call("GET", path, undefined, { key: other.secretKey })).status).toBe(404);
  });

  test("without HTML is shown as text", async () => {
    const id = idOf(await receive(mail(HEAD, "Hello <b>Bob</b>")));
    const shown = await t.call("GET", `/received-mails/${id}/preview`);
    expect(shown.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(shown.body).toBe("Hello <b>Bob</b>\n");
  });

  test("that is long is shortened in the event only", async () => {
    const data = await receive(mail(HEAD, "a".repeat(70_000).replace(/.{900}/g, "$&\n")));
    expect(String(valueAt(data, "text"))).toHaveLength(16 * 1024);
    expect(valueAt(data, "isShortened")).toBe(true);
  });

  test.each([
    ["a vacation note", "Auto-Submitted: auto-replied"],
    ["a newsletter", "List-Id: <news.example.net>"],
    ["a program", "Auto-Submitted: auto-generated"],
  ])("of %s is marked as automatic", async (_, field) => {
    expect(valueAt(await receive(mail([...HEAD, field])), "isAutomatic")).toBe(true);
  });

  test("without any header is received", async () => {
    const data = await receive("\r\nHello\r\n");
    expect([valueAt(data, "from"), valueAt(data, "subject")]).toEqual([null, ""]);
  });
});

describe("a reply", () => {
  const reply = (ids: string) => mail([...HEAD, `In-Reply-To: ${ids}`]);

  test("to a mail of the project is tied to its contact", async () => {
    const id = await t.sent("ada@example.net");
    const data = await receive(reply(`<${id}@acme.test>`));
    expect(valueAt(data, "inReplyTo")).toBe(id);
    const contactId = (await t.call("GET", `/emails/${id}`)).at("data.contactId");
    const events = await t.call("GET", "/events?event=email.received&limit=1");
    expect(events.at("data.items.0.contactId")).toBe(contactId);
    expect(events.at("data.items.0.emailId")).toBe(id);
    const record = await t.call("GET", `/received-mails/${idOf(data)}`);
    expect(record.at("data.contactId")).toBe(contactId);
  });

  test("is found by References as well", async () => {
    const id = await t.sent("ref@example.net");
    const references = `References: <first@example.net>\n <${id}@acme.test>`;
    expect(valueAt(await receive(mail([...HEAD, references])), "inReplyTo")).toBe(id);
  });

  test("that names another domain, or a mail of another project, is no reply", async () => {
    const other = await t.makeProject("fourth");
    const foreign = await t.sent("x@example.net", {
      key: other.secretKey,
      from: "hello@fourth.test",
    });
    const own = await t.sent("y@example.net");
    for (const id of [`<${foreign}@fourth.test>`, `<${own}@evil.test>`, "<x>", "<<>"]) {
      expect(valueAt(await receive(reply(id)), "inReplyTo")).toBeNull();
    }
  });

  test("is removed with its contact", async () => {
    const id = await t.sent("gone@example.net");
    const data = await receive(reply(`<${id}@acme.test>`));
    const contact = (await t.call("GET", `/emails/${id}`)).text("data.contactId");
    expect((await t.call("DELETE", `/contacts/${contact}`)).status).toBe(204);
    expect((await t.call("GET", `/received-mails/${idOf(data)}`)).status).toBe(404);
  });
});

test("a reply starts workflows and is delivered to webhooks", async () => {
  const webhook = { url: "https://shop.example/hook", events: ["email.received"] };
  const webhookId = await t.create("/webhooks", webhook, "data.id");
  const workflow = {
    name: "Replies",
    enabled: true,
    trigger: { type: "EVENT", eventName: "email.received" },
    steps: [{ id: "end", type: "EXIT", config: {} }],
    transitions: [{ from: "trigger", to: "end" }],
  };
  const workflowId = await t.create("/workflows", workflow, "data.id");
  const id = await t.sent("flow@example.net");
  await receive(mail([...HEAD, `In-Reply-To: <${id}@acme.test>`]));
  const tables = ["webhook_deliveries", "workflow_executions"];
  await waitUntil(() => tables.every((table) => t.countRows(table) > 0));
  const deliveries = await t.call("GET", `/webhooks/${webhookId}/deliveries`);
  expect(deliveries.at("data.total")).toBe(1);
  const executions = await t.call("GET", `/workflows/${workflowId}/executions`);
  expect(executions.at("data.total")).toBe(1);
});

test("a caller cannot track the event", async () => {
  const own = { event: "email.received", email: "ada@example.net" };
  const forged = await t.call("POST", "/v1/track", own);
  expect([forged.status, forged.at("error.errors.0.code")]).toEqual([422, "reserved_event"]);
});

describe("a message is refused", () => {
  test.each([
    ["after more than 25 servers", Array.from({ length: 26 }, (_, i) => `Received: by h${i}`)],
    ["that was here before", ["Delivered-To: Support@in.acme.test"]],
  ])("%s", async (_, fields) => {
    const before = t.countRows("received_mails");
    const { dot } = await t.submit(mail([...fields, ...HEAD]), { to: [TO] });
    expect(dot).toBe("554 5.4.6 The message is in a loop of mail servers");
    expect(t.countRows("received_mails")).toBe(before);
  });

  test("with a bare LF, or that is too large, and leaves nothing", async () => {
    const before = t.countRows("received_pieces");
    const bare = await t.submit("Subject: a\n\nb", { to: [TO] });
    expect(bare.dot).toStartWith("550 5.6.0 ");
    const line = "x".repeat(998).concat("\r\n");
    const large = await t.submit(line.repeat(27 * 1024), { to: [TO] });
    expect(large.dot).toStartWith("552 5.3.4 ");
    expect(t.countRows("received_pieces")).toBe(before);
  });
});

test("a message of several MiB is kept in pieces of a MiB", async () => {
  const line = "x".repeat(998).concat("\r\n");
  const raw = mail(HEAD) + line.repeat(3 * 1024);
  const id = idOf(await receive(raw));
  const record = await t.call("GET", `/received-mails/${id}`);
  expect(record.at("data.size")).toBe(raw.length);
  const [row] = t.db.sqlite
    .query<{ n: number }, [string]>(
      "SELECT count(*) AS n FROM received_pieces p JOIN received_mails m ON m.seq = p.mail_seq WHERE m.id = ?",
    )
    .all(id);
  expect(row?.n).toBe(3);
});

test("the total of the list has no mail that is still arriving", async () => {
  const listed = () => t.call("GET", "/received-mails");
  const total = (await listed()).at("data.total");
  const { begin, remove } = createReceivedRows(t.db);
  const seq = begin(t.project.seq, t.clock.now());
  expect((await listed()).at("data.total")).toBe(total);
  remove(seq);
  expect((await listed()).at("data.total")).toBe(total);
});

test("mails are listed in pages, newest first, and removed after 30 days", async () => {
  const first = await t.call("GET", "/received-mails?limit=2");
  expect(first.at("data.items.0.size")).toBeGreaterThan(3_000_000);
  const cursor = encodeURIComponent(first.text("data.nextCursor"));
  const second = await t.call("GET", `/received-mails?limit=2&cursor=${cursor}`);
  expect(second.at("data.items.0.id")).not.toBe(first.at("data.items.1.id"));
  const step = t.app.recurring.find(({ name }) => name === "received mails");
  t.clock.advance(29 * DAY_MS);
  await step?.run();
  expect((await t.call("GET", "/received-mails")).at("data.total")).toBeGreaterThan(10);
  t.clock.advance(2 * DAY_MS);
  await step?.run();
  expect((await t.call("GET", "/received-mails")).at("data.total")).toBe(0);
  expect(t.countRows("received_pieces")).toBe(0);
});
