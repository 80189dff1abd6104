/** Tests the send calls of other providers, over sockets as their clients make them. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { API_KEY, BEARER, providerApp, SIGNATURE, TOKEN } from "../../../support/providers.ts";
import { testApp } from "../../../support/app.ts";

let dev: Awaited<ReturnType<typeof providerApp>>;
beforeAll(async () => {
  dev = await providerApp();
});
afterAll(() => dev.close());

let inboxes = 0;
/** The name of a new inbox. */
async function newInbox(): Promise<string> {
  const name = `inbox-${++inboxes}`;
  await dev.createInbox(name);
  return name;
}

const form = (fields: Record<string, string>) => new URLSearchParams(fields);
const base64 = (text: string) => Buffer.from(text).toString("base64");

const SENDGRID = {
  personalizations: [{ to: [{ email: "ada@example.com", name: "Ada" }] }],
  from: { email: "shop@example.org", name: "Shop" },
  subject: "Hello",
  content: [{ type: "text/plain", value: "Hello Ada" }],
};
const POSTMARK = {
  From: "Shop <shop@example.org>",
  To: '"Lovelace, Ada" <ada@example.com>, bob@example.com',
  Subject: "Hello",
  TextBody: "Hello Ada",
};
const MAILGUN = {
  from: "Shop <shop@example.org>",
  to: "ada@example.com",
  subject: "Hello",
  text: "Hello Ada",
};
const SES = {
  FromEmailAddress: "Shop <shop@example.org>",
  Destination: { ToAddresses: ["ada@example.com"] },
  Content: { Simple: { Subject: { Data: "Hello" }, Body: { Text: { Data: "Hello Ada" } } } },
};
const SES_QUERY = {
  Action: "SendEmail",
  Version: "2010-12-01",
  Source: "shop@example.org",
  "Destination.ToAddresses.member.1": "ada@example.com",
  "Message.Subject.Data": "Hello",
  "Message.Body.Text.Data": "Hello Ada",
};
const { "Message.Subject.Data": _, ...NO_SUBJECT } = SES_QUERY;
const RAW =
  "From: shop@example.org\nTo: Ada <ada@example.com>\nBcc: bob@example.com\nSubject: Raw\n\nHi\n";

type Provider = {
  path: string;
  headers: (key: string) => Record<string, string>;
  body: unknown;
};
const PROVIDERS: Record<string, Provider> = {
  SendGrid: { path: "/v3/mail/send", headers: BEARER, body: SENDGRID },
  Postmark: { path: "/email", headers: TOKEN, body: POSTMARK },
  Mailgun: { path: "/v3/mg.example.org/messages", headers: API_KEY, body: form(MAILGUN) },
  "Amazon SES": { path: "/v2/email/outbound-emails", headers: SIGNATURE, body: SES },
  "Amazon SES, version 1": { path: "/", headers: SIGNATURE, body: form(SES_QUERY) },
};
const each = Object.entries(PROVIDERS).map(([name, provider]) => ({ name, ...provider }));

describe("every provider", () => {
  test.each(each)("$name: the key chooses the inbox by its name", async (provider) => {
    const inbox = await newInbox();
    const { path, body } = provider;
    const { status } = await dev.post(path, { body, headers: provider.headers(inbox) });
    expect(status).toBeOneOf([200, 202]);
    const [message, ...others] = dev.caughtIn(inbox);
    expect(others).toEqual([]);
    expect(message?.raw).toMatch(/^From: (?:Shop <shop@example.org>|shop@example.org)\r$/m);
    expect(message?.raw).toMatch(/\r\nSubject: Hello\r\n[^]*\r\n\r\nHello Ada/);
    expect(message?.to).toContain("ada@example.com");
    expect(message?.username).toBe(inbox);
  });

  test.each(each)(
    "$name: another key chooses the default inbox and is not stored",
    async (provider) => {
      const before = dev.caughtIn("default").length;
      const { path, body } = provider;
      const headers = provider.headers("SG.a-secret-of-another-service");
      expect((await dev.post(path, { body, headers })).status).toBeOneOf([200, 202]);
      const caught = dev.caughtIn("default");
      expect(caught.length).toBe(before + 1);
      expect(caught.at(-1)?.username).toBe("");
      expect(JSON.stringify(dev.contents())).not.toContain("a-secret-of-another-service");
    },
  );

  test.each(each)("$name: a call without a key is refused", async ({ path, body }) => {
    const { status } = await dev.post(path, { body, headers: {} });
    expect(status).toBeOneOf([401, 403]);
  });

  test.each(each)("$name: a page of another origin is refused", async (provider) => {
    const headers = { ...provider.headers("default"), origin: "https://evil.example" };
    const before = dev.caughtIn("default").length;
    expect((await dev.post(provider.path, { body: provider.body, headers })).status).toBe(403);
    expect(dev.caughtIn("default").length).toBe(before);
  });

  test.each(each)("$name: another machine needs the password of the inbox", async (provider) => {
    const name = await newInbox();
    const inbox = dev.inboxes.find(dev.project.seq, name);
    const password = inbox === null ? "" : dev.inboxes.passwordOf(inbox);
    // A request without a socket has no known client.
    const status = async (key: string) => {
      const { path, body } = provider;
      const isForm = body instanceof URLSearchParams;
      const request = new Request(`http://localhost${path}`, {
        method: "POST",
        headers: provider.headers(key),
        body: isForm ? body : JSON.stringify(body),
      });
      return (await dev.app.handle(request)).status;
    };
    expect(await status(name)).toBeOneOf([401, 403]);
    expect(await status(`${name}:wrong`)).toBeOneOf([401, 403]);
    expect(dev.caughtIn(name)).toEqual([]);
    expect(await status(`${name}:${password}`)).toBeOneOf([200, 202]);
    expect(dev.caughtIn(name).length).toBe(1);
  });

  test("serve has no such route", async () => {
    const serve = await testApp();
    for (const { path, headers, body } of each) {
      const isForm = body instanceof URLSearchParams;
      const raw = isForm ? body.toString() : JSON.stringify(body);
      const { status } = await serve.call("POST", path, undefined, {
        key: null,
        headers: headers("default"),
        raw,
      });
      expect([path, status]).toEqual([path, path === "/" ? 405 : 404]);
    }
    await serve.close();
  });
});

/** The refusal of a field, in the form that the clients of the provider read. */
describe("a field that is not valid is named, and nothing is stored", () => {
  const sendgrid = (message: string, field: string) => ({
    errors: [{ message: expect.stringContaining(message), field, help: null }],
  });
  const cases: Record<
    string,
    { of: Provider | undefined; body: unknown; status: number; answer: unknown }
  > = {
    "SendGrid: no recipient": {
      of: PROVIDERS["SendGrid"],
      body: { ...SENDGRID, personalizations: [{ to: [] }] },
      status: 400,
      answer: sendgrid("personalizations.0.to", "personalizations.0.to"),
    },
    "SendGrid: an address without @": {
      of: PROVIDERS["SendGrid"],
      body: { ...SENDGRID, personalizations: [{ to: [{ email: "ada" }] }] },
      status: 400,
      answer: sendgrid("no @", "personalizations.0.to.0.email"),
    },
    "SendGrid: an address twice": {
      of: PROVIDERS["SendGrid"],
      body: {
        ...SENDGRID,
        personalizations: [{ to: [{ email: "a@b.example" }], cc: [{ email: "A@b.example" }] }],
      },
      status: 400,
      answer: sendgrid("twice", "personalizations.0"),
    },
    "SendGrid: an unknown field": {
      of: PROVIDERS["SendGrid"],
      body: { ...SENDGRID, subjekt: "x" },
      status: 400,
      answer: sendgrid("subjekt: is not a known field", "subjekt"),
    },
    "SendGrid: no content": {
      of: PROVIDERS["SendGrid"],
      body: { ...SENDGRID, content: [] },
      status: 400,
      answer: sendgrid("template_id", "content"),
    },
    "SendGrid: an attachment that is not base64": {
      of: PROVIDERS["SendGrid"],
      body: { ...SENDGRID, attachments: [{ content: "%", filename: "a.txt" }] },
      status: 400,
      answer: sendgrid("base64", "attachments.0.content"),
    },
    "SendGrid: a line break in a header": {
      of: PROVIDERS["SendGrid"],
      body: { ...SENDGRID, headers: { "X-Order": "7\r\nBcc: eve@example.com" } },
      status: 400,
      answer: {
        errors: [{ message: expect.stringContaining("X-Order"), field: null, help: null }],
      },
    },
    "SendGrid: no JSON": {
      of: PROVIDERS["SendGrid"],
      body: "{",
      status: 400,
      answer: { errors: [{ message: expect.stringContaining("JSON"), field: null, help: null }] },
    },
    "SendGrid: JSON that is nested too deeply": {
      of: PROVIDERS["SendGrid"],
      body: `{"a":${"[".repeat(1000)}${"]".repeat(1000)}}`,
      status: 400,
      answer: { errors: [{ message: expect.stringContaining("nested"), field: null, help: null }] },
    },
    "Postmark: no body": {
      of: PROVIDERS["Postmark"],
      body: { ...POSTMARK, TextBody: "" },
      status: 422,
      answer: { ErrorCode: 300, Message: expect.stringContaining("TextBody") },
    },
    "Postmark: no recipient": {
      of: PROVIDERS["Postmark"],
      body: { ...POSTMARK, To: undefined },
      status: 422,
      answer: { ErrorCode: 300, Message: "to: has no recipient" },
    },
    "Postmark: an unknown field": {
      of: PROVIDERS["Postmark"],
      body: { ...POSTMARK, Text: "x" },
      status: 422,
      answer: { ErrorCode: 300, Message: "Text: is not a known field" },
    },
    "Postmark: no JSON": {
      of: PROVIDERS["Postmark"],
      body: "{",
      status: 422,
      answer: { ErrorCode: 402, Message: expect.stringContaining("JSON") },
    },
    "Postmark: too many recipients": {
      of: PROVIDERS["Postmark"],
      body: { ...POSTMARK, Cc: Array.from({ length: 51 }, (_, i) => `a${i}@b.example`).join() },
      status: 422,
      answer: { ErrorCode: 300, Message: expect.stringContaining("Cc: has more than 50") },
    },
    "Mailgun: no recipient": {
      of: PROVIDERS["Mailgun"],
      body: form({ from: "a@b.example", subject: "x", text: "y" }),
      status: 400,
      answer: { message: "to: parameter is missing" },
    },
    "Mailgun: an unknown parameter": {
      of: PROVIDERS["Mailgun"],
      body: form({ ...MAILGUN, body: "x" }),
      status: 400,
      answer: { message: "body: is not a known parameter" },
    },
    "Mailgun: a subject twice": {
      of: PROVIDERS["Mailgun"],
      body: new URLSearchParams([...Object.entries(MAILGUN), ["subject", "Another"]]),
      status: 400,
      answer: { message: "subject: is given more than once" },
    },
    "Mailgun: an attachment that is a text": {
      of: PROVIDERS["Mailgun"],
      body: form({ ...MAILGUN, attachment: "%PDF" }),
      status: 400,
      answer: { message: "attachment: must be a file, not a text" },
    },
    "Mailgun: variables that are no JSON": {
      of: PROVIDERS["Mailgun"],
      body: form({ ...MAILGUN, "recipient-variables": "{" }),
      status: 400,
      answer: { message: expect.stringContaining("recipient-variables: is not JSON") },
    },
    "Mailgun: JSON instead of a form": {
      of: PROVIDERS["Mailgun"],
      body: MAILGUN,
      status: 400,
      answer: { message: expect.stringContaining("must be a form") },
    },
    "Amazon SES: no content": {
      of: PROVIDERS["Amazon SES"],
      body: { ...SES, Content: {} },
      status: 400,
      answer: { message: "Content: must have exactly one of Simple, Raw and Template" },
    },
    "Amazon SES: a file of a template with a description": {
      of: PROVIDERS["Amazon SES"],
      body: {
        ...SES,
        Content: {
          Template: {
            TemplateName: "welcome",
            Attachments: [{ FileName: "a.txt", RawContent: "YQ==", ContentDescription: "x" }],
          },
        },
      },
      status: 400,
      answer: {
        message: "Content.Template.Attachments.0.ContentDescription: is not supported",
      },
    },
    "Amazon SES: an unknown field": {
      of: PROVIDERS["Amazon SES"],
      body: { ...SES, From: "x" },
      status: 400,
      answer: { message: "From: is not a known field" },
    },
    "Amazon SES: a raw message without From": {
      of: PROVIDERS["Amazon SES"],
      body: { Content: { Raw: { Data: base64("Subject: x\r\n\r\ny") } } },
      status: 400,
      answer: { message: "Content.Raw.Data: has no From" },
    },
    "Amazon SES, version 1: an invalid sender": {
      of: PROVIDERS["Amazon SES, version 1"],
      body: form({ ...SES_QUERY, Source: "<nobody>" }),
      status: 400,
      answer: expect.stringContaining("<Message>Source: is not a valid address"),
    },
    "Amazon SES, version 1: no subject": {
      of: PROVIDERS["Amazon SES, version 1"],
      body: form(NO_SUBJECT),
      status: 400,
      answer: expect.stringContaining("<Message>Message.Subject.Data: "),
    },
    "Amazon SES, version 1: another action": {
      of: PROVIDERS["Amazon SES, version 1"],
      body: form({ Action: "VerifyEmailIdentity" }),
      status: 400,
      answer: expect.stringContaining("<Code>InvalidParameterValue</Code>"),
    },
  };

  test.each(Object.entries(cases))("%s", async (_, { of, body, status, answer }) => {
    const inbox = await newInbox();
    const { path = "", headers = BEARER } = of ?? {};
    const response = await dev.post(path, { body, headers: headers(inbox) });
    expect(response.status).toBe(status);
    expect(response.body).toEqual(answer);
    expect(dev.caughtIn(inbox)).toEqual([]);
  });

  test("Amazon SES: the type of the error is in a header", async () => {
    const { path = "", headers = SIGNATURE } = PROVIDERS["Amazon SES"] ?? {};
    const response = await dev.post(path, { body: {}, headers: headers("default") });
    expect(response.headers.get("x-amzn-errortype")).toBe("BadRequestException");
  });
});

describe("SendGrid", () => {
  const send = async (body: unknown) => {
    const inbox = await newInbox();
    const response = await dev.post("/v3/mail/send", { body, headers: BEARER(inbox) });
    return { response, caught: dev.caughtIn(inbox) };
  };

  test("makes a message for each personalization, with its own texts", async () => {
    const { response, caught } = await send({
      ...SENDGRID,
      personalizations: [
        { to: [{ email: "ada@example.com" }], bcc: [{ email: "b@example.com" }] },
        {
          to: [{ email: "bob@example.com" }],
          from: { email: "sales@example.org" },
          subject: "For -name-",
          headers: { "X-Order": "8" },
          substitutions: { "-name-": "Bob" },
          custom_args: { order: "8" },
          send_at: 1_900_000_000,
        },
      ],
      content: [
        { type: "text/plain", value: "Hello -name-" },
        { type: "text/html; charset=utf-8", value: "<p>Hello -name-</p>" },
        { type: "text/calendar", value: "BEGIN:VCALENDAR" },
      ],
      reply_to_list: [{ email: "help@example.org" }, { email: "other@example.org" }],
      headers: { "X-Order": "7", "X-Shop": "Harbour" },
      categories: ["orders", "new"],
      asm: { group_id: 3 },
    });
    expect(response.status).toBe(202);
    expect(response.body).toBeUndefined();
    const id = response.headers.get("x-message-id") ?? "";
    const [first, second] = caught;
    expect(first?.to).toEqual(["ada@example.com", "b@example.com"]);
    expect(first?.raw).not.toContain("b@example.com");
    for (const part of [`X-Message-Id: ${id}`, "X-Order: 7", "Hello -name-"]) {
      expect(first?.raw).toContain(part);
    }
    for (const part of [
      "From: sales@example.org",
      "To: bob@example.com",
      "Reply-To: help@example.org, other@example.org",
      "Subject: For Bob",
      "Hello Bob",
      "<p>Hello Bob</p>",
      "Content-Type: text/calendar",
      "X-Order: 8",
      "X-Shop: Harbour",
      "X-SendGrid-Categories: orders, new",
      'X-SendGrid-Asm: {"group_id":3}',
      'X-SendGrid-Custom-Args: {"order":"8"}',
      "X-SendGrid-Send-At: 1900000000",
    ]) {
      expect(second?.raw).toContain(part);
    }
  });

  test("shows a template by its name and its data", async () => {
    const { caught } = await send({
      personalizations: [
        { to: [{ email: "ada@example.com" }], dynamic_template_data: { code: "4711" } },
      ],
      from: SENDGRID.from,
      template_id: "d-7",
    });
    expect(caught[0]?.raw).toContain("Subject: Template d-7 of SendGrid");
    expect(caught[0]?.raw).toContain('"code": "4711"');
    expect(caught[0]?.raw).toContain("X-SendGrid-Template-Id: d-7");
  });

  test("answers 200 in the sandbox mode, and catches the message", async () => {
    const settings = { sandbox_mode: { enable: true } };
    const { response, caught } = await send({ ...SENDGRID, mail_settings: settings });
    expect(response.status).toBe(200);
    expect(caught.length).toBe(1);
  });

  test("refuses substitutions that make a text too large", async () => {
    const substitutions = { a: "b".repeat(1024 * 1024) };
    const { response, caught } = await send({
      ...SENDGRID,
      personalizations: [{ to: [{ email: "ada@example.com" }], substitutions }],
      content: [{ type: "text/plain", value: "a".repeat(100) }],
    });
    expect(response.status).toBe(413);
    expect(caught).toEqual([]);
  });

  test("refuses a call whose messages are too large together, and stores none", async () => {
    const content = "A".repeat(128 * 1024);
    const personalizations = Array.from({ length: 700 }, (_, i) => ({
      to: [{ email: `a${i}@example.com` }],
    }));
    const attachments = [{ content, filename: "a.bin" }];
    const { response, caught } = await send({ ...SENDGRID, personalizations, attachments });
    expect([response.status, response.text("errors.0.message")]).toEqual([
      413,
      "The messages of this call are larger than 64 MiB together.",
    ]);
    expect(caught).toEqual([]);
  });
});

test("a recipient with the suffix of an inbox chooses it", async () => {
  const name = await newInbox();
  const { id = "" } = dev.inboxes.find(dev.project.seq, name) ?? {};
  const personalizations = [{ to: [{ email: `ada@${id}.inbox.test` }] }];
  const body = { ...SENDGRID, personalizations };
  await dev.post("/v3/mail/send", { body, headers: BEARER("default") });
  expect(dev.caughtIn(name).length).toBe(1);
});

test("with users of --send-api-auth, the key is a user with a password", async () => {
  const sendApiAuth = [{ user: "ada", password: "secret" }];
  const app = await providerApp({ config: { sendApiAuth } });
  await app.createInbox("orders");
  const statusOf = async (key: string) =>
    (await app.post("/email", { body: POSTMARK, headers: TOKEN(key) })).status;
  expect(await statusOf("orders")).toBe(401);
  expect(await statusOf("ada:wrong")).toBe(401);
  expect(await statusOf("ada:secret")).toBe(200);
  expect(app.caughtIn("default").length).toBe(1);
  expect(app.caughtIn("orders")).toEqual([]);
  await app.close();
});

test("all messages of a call are stored, or none", async () => {
  const broken = await providerApp();
  const personalizations = ["a", "b"].map((name) => ({ to: [{ email: `${name}@example.com` }] }));
  const headers = BEARER("default");
  await broken.post("/v3/mail/send", { body: SENDGRID, headers });
  broken.app.app.db.sqlite.run(`
    CREATE TEMP TRIGGER fault BEFORE INSERT ON main.inbox_messages
    WHEN (SELECT count(*) FROM main.inbox_messages) = 2 BEGIN SELECT RAISE(ABORT, 'no'); END`);
  const response = await broken.post("/v3/mail/send", {
    body: { ...SENDGRID, personalizations },
    headers,
  });
  expect(response.status).toBe(500);
  expect(broken.caughtIn("default").length).toBe(1);
  await broken.close();
});

test("a body that is too large is refused in the form of the provider", async () => {
  const body = { ...MAILGUN, text: "x" };
  const headers = { ...API_KEY("default"), "content-length": String(60 * 1024 * 1024) };
  const request = new Request("http://localhost/v3/mg.example.org/messages", {
    method: "POST",
    headers: { ...headers, ...passwordHeaders() },
    body: form(body),
  });
  const response = await dev.app.handle(request);
  expect([response.status, await response.json()]).toEqual([
    413,
    { message: "http: request body too large" },
  ]);
});

/** The key of the default inbox with its password, for a request without a socket. */
function passwordHeaders(): Record<string, string> {
  const inbox = dev.inboxes.find(dev.project.seq, "default");
  return API_KEY(`default:${inbox === null ? "" : dev.inboxes.passwordOf(inbox)}`);
}

describe("Postmark", () => {
  test("answers as Postmark does, and shows its fields as headers", async () => {
    const inbox = await newInbox();
    const response = await dev.post("/email", {
      headers: TOKEN(inbox),
      body: {
        ...POSTMARK,
        Bcc: "hidden@example.com",
        ReplyTo: "Help <help@example.org>",
        HtmlBody: '<img src="cid:logo">',
        Tag: "orders",
        Metadata: { order: "7" },
        Headers: [{ Name: "X-Order", Value: "7" }],
        TrackOpens: true,
        TrackLinks: "None",
        MessageStream: "outbound",
        Attachments: [
          {
            Name: "logo.png",
            Content: base64("png"),
            ContentType: "image/png",
            ContentID: "cid:logo",
          },
        ],
      },
    });
    expect(response.body).toEqual({
      To: POSTMARK.To,
      Bcc: "hidden@example.com",
      SubmittedAt: new Date(dev.clock.now()).toISOString(),
      MessageID: expect.stringMatching(/^[0-9a-f-]{36}$/),
      ErrorCode: 0,
      Message: "OK",
    });
    const [message] = dev.caughtIn(inbox);
    expect(message?.to).toEqual(["ada@example.com", "bob@example.com", "hidden@example.com"]);
    expect(message?.raw).not.toContain("hidden@example.com");
    for (const part of [
      'To: "Lovelace, Ada" <ada@example.com>, bob@example.com',
      `Message-ID: <${response.text("MessageID")}@mtasv.net>`,
      "X-PM-Tag: orders",
      'X-PM-Metadata: {"order":"7"}',
      "X-PM-Track-Opens: true",
      "X-PM-Message-Stream: outbound",
      "X-Order: 7",
      "Content-ID: <logo>",
      "Content-Disposition: inline",
    ]) {
      expect(message?.raw).toContain(part);
    }
  });

  test("takes a mail that has only recipients in Cc", async () => {
    const inbox = await newInbox();
    const body = { ...POSTMARK, To: undefined, Cc: "ada@example.com" };
    const response = await dev.post("/email", { body, headers: TOKEN(inbox) });
    expect(response.body).toMatchObject({ To: "", Cc: "ada@example.com", ErrorCode: 0 });
    expect(dev.caughtIn(inbox)[0]?.to).toEqual(["ada@example.com"]);
  });

  test("a batch has an outcome for each message", async () => {
    const inbox = await newInbox();
    const body = [
      POSTMARK,
      { ...POSTMARK, To: "nobody" },
      { ...POSTMARK, Headers: [{ Name: "Subject", Value: "x" }] },
      { ...POSTMARK, Subject: "Last" },
    ];
    const response = await dev.post("/email/batch", { body, headers: TOKEN(inbox) });
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject([
      { ErrorCode: 0 },
      { ErrorCode: 300, Message: expect.stringContaining("To:") },
      { ErrorCode: 300, Message: expect.stringContaining("Subject") },
      { ErrorCode: 0 },
    ]);
    expect(dev.caughtIn(inbox).length).toBe(2);
  });

  test("a batch of more than 500 messages is refused", async () => {
    const body = Array.from({ length: 501 }, () => POSTMARK);
    const response = await dev.post("/email/batch", { body, headers: TOKEN("default") });
    expect([response.status, response.at("ErrorCode")]).toEqual([422, 410]);
  });

  test("templates are shown by their names and data", async () => {
    const inbox = await newInbox();
    const email = { From: POSTMARK.From, To: "ada@example.com", TemplateModel: { code: "4711" } };
    await dev.post("/email/withTemplate", {
      body: { ...email, TemplateAlias: "welcome" },
      headers: TOKEN(inbox),
    });
    const response = await dev.post("/email/batchWithTemplates", {
      body: { Messages: [{ ...email, TemplateId: 12 }, email] },
      headers: TOKEN(inbox),
    });
    expect(response.body).toMatchObject([{ ErrorCode: 0 }, { ErrorCode: 300 }]);
    const [first, second] = dev.caughtIn(inbox);
    expect(first?.raw).toContain("Subject: Template welcome of Postmark");
    expect(first?.raw).toContain('"code": "4711"');
    expect(second?.raw).toContain("X-PM-Template-Id: 12");
  });
});

describe("Mailgun", () => {
  const send = async (body: unknown, path = "messages") => {
    const inbox = await newInbox();
    const call = { body, headers: API_KEY(inbox) };
    const response = await dev.post(`/v3/mg.example.org/${path}`, call);
    return { response, caught: dev.caughtIn(inbox) };
  };

  test("takes a multipart form with files, options and headers", async () => {
    const body = new FormData();
    for (const [name, value] of Object.entries(MAILGUN)) body.append(name, value);
    body.append("to", "Bob <bob@example.com>, carol@example.com");
    body.append("html", "<p>Hello</p>");
    body.append("amp-html", "<html amp4email></html>");
    body.append("o:tag", "orders");
    body.append("o:tag", "new");
    body.append("o:deliverytime", "Fri, 25 Oct 2030 23:10:10 -0000");
    body.append("h:X-Order", "7");
    body.append("h:Reply-To", "help@example.org");
    body.append("v:order", "7");
    body.append("attachment", new File(["%PDF"], "Rechnung März.pdf", { type: "application/pdf" }));
    body.append("inline", new File(["png"], "logo.png", { type: "image/png" }));
    const { response, caught } = await send(body);
    expect(response.body).toEqual({
      id: expect.stringMatching(/^<\d{14}\.\w{16}@mg\.example\.org>$/),
      message: "Queued. Thank you.",
    });
    expect(caught[0]?.to).toEqual(["ada@example.com", "bob@example.com", "carol@example.com"]);
    for (const part of [
      `Message-ID: ${response.text("id")}`,
      "To: ada@example.com, Bob <bob@example.com>, carol@example.com",
      "Reply-To: help@example.org",
      "X-Order: 7",
      "X-Mailgun-Tag: orders",
      "X-Mailgun-Tag: new",
      "X-Mailgun-Deliverytime: Fri, 25 Oct 2030 23:10:10 -0000",
      'X-Mailgun-Variables: {"order":"7"}',
      "Content-Type: text/x-amp-html",
      "Content-ID: <logo.png>",
      "Content-Type: application/pdf",
    ]) {
      expect(caught[0]?.raw).toContain(part);
    }
  });

  test("makes a message for each recipient that has variables", async () => {
    const { caught } = await send(
      form({
        ...MAILGUN,
        to: "ada@example.com, bob@example.com",
        subject: "For %recipient.name%",
        text: "Code %recipient.code%, %recipient.missing%",
        "recipient-variables": JSON.stringify({ "ada@example.com": { name: "Ada $&", code: 1 } }),
      }),
    );
    const [first, second] = caught;
    expect([first?.to, second?.to]).toEqual([["ada@example.com"], ["bob@example.com"]]);
    expect(first?.raw).toContain("Subject: For Ada $&");
    expect(first?.raw).toContain("Code 1, %recipient.missing%");
    expect(second?.raw).toContain("Subject: For %recipient.name%");
  });

  test("takes a message in MIME, and adds what it lacks", async () => {
    const { response, caught } = await send(
      form({ to: "bob@example.com", message: RAW, "o:tag": "orders" }),
      "messages.mime",
    );
    expect(caught[0]?.to).toEqual(["bob@example.com"]);
    expect(caught[0]?.raw).toBe(
      `Message-ID: ${response.text("id")}\r\nX-Mailgun-Tag: orders\r\n${RAW.replaceAll("\n", "\r\n")}`,
    );
  });

  test("refuses a domain that cannot exist", async () => {
    const call = { body: form(MAILGUN), headers: API_KEY("default") };
    const response = await dev.post("/v3/nodomain/messages", call);
    expect([response.status, response.body]).toEqual([
      404,
      { message: "Domain not found: nodomain" },
    ]);
  });
});

describe("Amazon SES", () => {
  const send = async (body: unknown) => {
    const inbox = await newInbox();
    const call = { body, headers: SIGNATURE(inbox) };
    const response = await dev.post("/v2/email/outbound-emails", call);
    return { response, caught: dev.caughtIn(inbox) };
  };

  test("takes a simple message with headers, files and tags", async () => {
    const { response, caught } = await send({
      ...SES,
      ReplyToAddresses: ["help@example.org"],
      EmailTags: [
        { Name: "kind", Value: "order" },
        { Name: "shop", Value: "harbour" },
      ],
      ConfigurationSetName: "production",
      ConfigurationOverrides: { any: true },
      FeedbackForwardingEmailAddress: "bounces@example.org",
      ListManagementOptions: { ContactListName: "people" },
      Content: {
        Simple: {
          Subject: { Data: "Hello", Charset: "UTF-8" },
          Body: { Html: { Data: "<p>Hello</p>" } },
          Headers: [{ Name: "X-Order", Value: "7" }],
          Attachments: [{ RawContent: base64("%PDF"), FileName: "invoice.pdf" }],
        },
      },
    });
    for (const part of [
      `Message-ID: <${response.text("MessageId")}@eu-west-1.amazonses.com>`,
      "Reply-To: help@example.org",
      "X-SES-Message-Tags: kind=order, shop=harbour",
      "X-SES-Configuration-Set-Name: production",
      'X-SES-Configuration-Overrides: {"any":true}',
      "X-SES-Feedback-Forwarding-Email-Address: bounces@example.org",
      'X-SES-List-Management-Options: {"ContactListName":"people"}',
      "X-Order: 7",
      "Content-Type: application/pdf",
    ]) {
      expect(caught[0]?.raw).toContain(part);
    }
  });

  test("takes a raw message, whose header names the recipients", async () => {
    const { caught } = await send({ Content: { Raw: { Data: base64(RAW) } } });
    expect(caught[0]?.to).toEqual(["ada@example.com", "bob@example.com"]);
    expect(caught[0]?.raw).toEndWith(RAW.replaceAll("\n", "\r\n"));
    expect(caught[0]?.raw).toMatch(/^Message-ID: <.*@eu-west-1.amazonses.com>\r\nDate: /);
  });

  test("a raw message without From gets the sender of the call", async () => {
    const Raw = { Data: base64("Subject: x\r\n\r\ny") };
    const { caught } = await send({ ...SES, Content: { Raw } });
    expect(caught[0]?.raw).toStartWith("From: Shop <shop@example.org>\r\n");
  });

  test("the recipients of the call replace those of the header", async () => {
    const Destination = { ToAddresses: ["carol@example.com"] };
    const { caught } = await send({ Destination, Content: { Raw: { Data: base64(RAW) } } });
    expect(caught[0]?.to).toEqual(["carol@example.com"]);
  });

  test("shows a stored template by its name, and a template of the call as its source", async () => {
    const data = { TemplateData: '{"code":"4711"}' };
    const stored = await send({
      ...SES,
      Content: { Template: { TemplateName: "welcome", ...data } },
    });
    expect(stored.caught[0]?.raw).toContain("Subject: Template welcome of Amazon SES");
    expect(stored.caught[0]?.raw).toContain('"code": "4711"');
    const TemplateContent = { Subject: "Code {{code}}", Text: "It is {{code}}" };
    const own = await send({ ...SES, Content: { Template: { TemplateContent, ...data } } });
    expect(own.caught[0]?.raw).toContain("Subject: Code {{code}}");
    expect(own.caught[0]?.raw).toContain('X-SES-Template-Data: {"code":"4711"}');
  });

  test("version 1 takes lists, tags and raw messages, and answers in XML", async () => {
    const inbox = await newInbox();
    const headers = SIGNATURE(inbox);
    const simple = form({
      ...SES_QUERY,
      "Destination.ToAddresses.member.2": "bob@example.com",
      "ReplyToAddresses.member.1": "help@example.org",
      "Tags.member.1.Name": "kind",
      "Tags.member.1.Value": "order",
    });
    const first = await dev.post("/", { body: simple, headers });
    expect(first.body).toMatch(/^<SendEmailResponse xmlns="[^"]+"><SendEmailResult><MessageId>/);
    const raw = form({ Action: "SendRawEmail", "RawMessage.Data": base64(RAW) });
    const second = await dev.post("/", { body: raw, headers });
    expect(second.body).toMatch(/^<SendRawEmailResponse [^]*<RequestId>/);
    const caught = dev.caughtIn(inbox);
    expect(caught[0]?.to).toEqual(["ada@example.com", "bob@example.com"]);
    expect(caught[0]?.raw).toContain("X-SES-Message-Tags: kind=order");
    expect(caught[1]?.raw).toContain("Subject: Raw");
  });
});
