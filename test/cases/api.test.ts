/** Requests as programs send them that were written for other services. */

import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import path from "node:path";
import { chain } from "../modules/workflows/graphs.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { mailingOf } from "../support/mailing.ts";
import { submissionApp } from "../support/submission.ts";
import { startAutomation } from "../support/automation.ts";
import { startWebServer } from "../support/web-server.ts";

let t: TestApp;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function setUp(): Promise<TestApp> {
  t = await testApp({ project: "acme" });
  closers.push(() => t.close());
  return t;
}

const textOf = (file: string): string =>
  readFileSync(path.join(import.meta.dir, file), "utf8").replaceAll(".example>", ".test>");
/** The JSON of a file; the domain of its sender is that of the test project. */
const jsonOf = (file: string): Record<string, unknown> =>
  JSON.parse(
    readFileSync(path.join(import.meta.dir, file), "utf8").replaceAll("acme.example", "acme.test"),
  );

/** The refusal of a request as its fields, each with its message. */
async function refusalOf(url: string, body: unknown): Promise<Record<string, string>> {
  const before = t.contents();
  const answer = await t.call("POST", url, body);
  expect(answer.status).toBe(422);
  expect(t.contents()).toEqual(before);
  const errors = [answer.at("error.errors")].flat();
  return Object.fromEntries(
    errors.map((error) => [String(Object(error)["field"]), String(Object(error)["message"])]),
  );
}

const template = (body: string) => ({ name: "T", type: "TRANSACTIONAL", subject: "S", body });

describe("a template in the syntax of another language is refused when it is saved:", () => {
  const cases: [name: string, line: string, instead: string][] = [
    ["triple-braces", "{{{ name }}}", "write {{ name | raw }}"],
    ["handlebars-if", "{{#if premium}}", "write {% if premium %} … {% endif %}"],
    ["go-tracklink", "{{ .Subscriber.Name }}", "write {{ name }}"],
  ];
  test.each(cases)("%s", async (name, construct, instead) => {
    await setUp();
    const body = textOf(`${name}/body.html`);
    const { body: message } = await refusalOf("/templates", template(body));
    expect(message).toContain(construct);
    expect(message).toContain(instead);
    const campaign = { name: "N", subject: "s", body, from: "hi@acme.test", audienceType: "ALL" };
    expect(await refusalOf("/campaigns", campaign)).toEqual({ body: String(message) });
    const mail = { to: "ada@x.example", from: "hi@acme.test", subject: "s", body };
    expect(await refusalOf("/v1/send", mail)).toEqual({ body: String(message) });
    const id = await t.create("/templates", template("<p>x</p>"), "data.id");
    expect((await t.call("PATCH", `/templates/${id}`, { body })).status).toBe(422);
  });

  test.each(["lenient", "lenient=true"])("unless the writer means it: ?%s", async (query) => {
    await setUp();
    const body = "<p>{{#if premium}}</p>";
    expect((await t.call("POST", `/templates?${query}`, template(body))).status).toBe(201);
    const mail = { to: "ada@x.example", from: "hi@acme.test", subject: "s", body };
    expect((await t.call("POST", `/v1/send?${query}`, mail)).status).toBe(200);
    expect((await t.call("POST", "/v1/send?lenient=false", mail)).status).toBe(422);
  });
});

describe("a placeholder in a field that is sent as it is is refused:", () => {
  test("fromname-liquid", async () => {
    await setUp();
    const input = jsonOf("fromname-liquid/template.json");
    const message = expect.stringContaining("only subject and body are rendered");
    expect(await refusalOf("/templates", input)).toEqual({ fromName: message });
    const campaign = { ...input, type: undefined, audienceType: "ALL" };
    expect(await refusalOf("/campaigns", campaign)).toEqual({ fromName: message });
  });

  test("header-and-filename-liquid", async () => {
    await setUp();
    const input = jsonOf("header-and-filename-liquid/send.json");
    const message = expect.stringContaining("only subject and body are rendered");
    expect(await refusalOf("/v1/send", input)).toEqual({
      "from.name": message,
      "headers.X-Order": message,
      "attachments.0.filename": message,
    });
    const plain = { to: "f2@x.example", from: "hi@acme.test", subject: "s", body: "b" };
    const to = { email: "f2@x.example", name: "{{ x }}" };
    expect(await refusalOf("/v1/send", { ...plain, to })).toEqual({ "to.name": message });
    expect(await refusalOf("/v1/send", { ...plain, name: "{% x %}" })).toEqual({ name: message });
  });

  test("values that a workflow stores, and names of fields that a step does not have", async () => {
    await setUp();
    const flow = (config: object) => ({
      name: "F",
      trigger: { type: "EVENT", eventName: "seen" },
      steps: [{ id: "a", type: "UPDATE_CONTACT", config }],
      transitions: [],
    });
    const refused = await refusalOf("/workflows", flow({ updates: { plan: { a: "{{ plan }}" } } }));
    expect(refused).toEqual({
      "steps.0.config.updates.plan.a": expect.stringContaining("stored as it is"),
    });
    const misspelt = flow({ updates: { a: 1 }, subscriptionActions: "subscribe" });
    expect(await refusalOf("/workflows", misspelt)).toEqual({
      "steps.0.config.subscriptionActions": expect.stringContaining("use subscriptionAction"),
    });
  });
});

describe("a date in a template", () => {
  const preview = async (subject: string, data: object): Promise<unknown> => {
    const id = await t.create("/templates", { ...template("<p>x</p>"), subject }, "data.id");
    const answer = await t.call("POST", `/templates/${id}/preview`, { data });
    return answer.at("data.subject");
  };

  test("date-offset-lost", async () => {
    await setUp();
    const source = textOf("date-offset-lost/template.txt").trim();
    expect(await preview(source, jsonOf("date-offset-lost/data.json"))).toBe("18:00");
  });

  test("is written in the language of the project, in mails as in previews", async () => {
    await setUp();
    t.db.sqlite.run("UPDATE projects SET language = 'de'");
    const source = '{{ at | date: "%A, %d. %B %Y" }} {{ project.language }}';
    const data = { at: "2026-07-01T18:00:00Z" };
    expect(await preview(source, data)).toBe("Mittwoch, 01. Juli 2026 de");
    const mail = { to: "ada@x.test", from: "hi@acme.test", subject: source, body: "b", data };
    const sent = await t.call("POST", "/v1/send", mail);
    const email = await t.call("GET", `/emails/${sent.text("data.emails.0.email")}`);
    expect(email.at("data.subject")).toBe("Mittwoch, 01. Juli 2026 de");
  });
});

describe("the body of a WEBHOOK step is valid JSON:", () => {
  /** The body that the step of a case sends for the event of the case. */
  async function bodyOf(name: string, change: object = {}): Promise<unknown> {
    const server = await startWebServer({ answer: () => ({}) });
    closers.push(() => server.close());
    const a = await startAutomation();
    closers.push(() => a.close());
    const step = jsonOf(`${name}/step.json`);
    const config = { ...Object(step["config"]), url: `${server.origin}/hook`, ...change };
    await a.workflow(chain({ ...step, config }));
    await a.track("signed-up", jsonOf(`${name}/event.json`));
    const [request] = server.requests;
    expect(request?.headers["content-type"]).toBe("application/json");
    return JSON.parse(request?.body ?? "");
  }

  test("webhook-string-json", async () => {
    expect(await bodyOf("webhook-string-json")).toEqual({
      text: 'New lead: Ada "The Countess" Example',
    });
    expect(await bodyOf("webhook-string-json", { headers: {} })).toEqual({
      text: 'New lead: Ada "The Countess" Example',
    });
  });

  test("webhook-string-json-newline", async () => {
    expect(await bodyOf("webhook-string-json-newline")).toEqual({ note: "line1\nline2\\" });
  });

  test("webhook-object-number", async () => {
    expect(await bodyOf("webhook-object-number")).toEqual({ n: 5 });
    expect(await bodyOf("webhook-object-number", { body: '{"n":{{ n }},"s":"{{ n }}"}' })).toEqual({
      n: 5,
      s: "5",
    });
    expect(
      await bodyOf("webhook-object-number", { body: { n: "no. {{ n }}", m: "{{ x }}" } }),
    ).toEqual({
      n: "no. 5",
      m: "",
    });
  });
});

describe("an address may have a display name wherever an address is taken:", () => {
  test("send-named-string", async () => {
    await setUp();
    const input = jsonOf("send-named-string/send.json");
    const sent = await t.call("POST", "/v1/send", input);
    expect([sent.status, sent.at("data.emails.0.contact.email")]).toEqual([200, "ada@x.example"]);
    const row = t.db.sqlite
      .query(
        `SELECT from_address, from_name, reply_to, to_address, to_name FROM emails
         JOIN messages ON messages.seq = emails.message_seq`,
      )
      .get();
    expect(row).toEqual({
      from_address: "hi@acme.test",
      from_name: "Acme",
      reply_to: "Support <help@acme.test>",
      to_address: "ada@x.example",
      to_name: "Ada Example",
    });
  });

  test("a name beside the address wins, and one with a placeholder is refused", async () => {
    await setUp();
    const input = jsonOf("send-named-string/send.json");
    const from = { email: "Acme <hi@acme.test>", name: "Shop" };
    expect((await t.call("POST", "/v1/send", { ...input, from })).status).toBe(200);
    expect(t.db.sqlite.query("SELECT from_name FROM messages").get()).toEqual({
      from_name: "Shop",
    });
    const refused = await refusalOf("/v1/send", { ...input, from: "{{ x }} <hi@acme.test>" });
    expect(Object.keys(refused)).toEqual(["from"]);
    const two = await refusalOf("/v1/send", { ...input, to: "a@x.test, b@x.test" });
    expect(Object.keys(two)).toEqual(["to"]);
  });

  test("in contacts, events, suppressions, templates, campaigns and projects", async () => {
    await setUp();
    const ada = "Ada <Ada@X.example>";
    expect((await t.call("POST", "/contacts", { email: ada })).at("email")).toBe("ada@x.example");
    expect((await t.call("POST", "/v1/track", { email: ada, event: "seen" })).status).toBe(200);
    const suppressed = await t.call("POST", "/suppressions", { email: ada });
    expect(suppressed.at("data.email")).toBe("ada@x.example");
    const sender = { from: '"Acme, Inc." <hi@acme.test>', replyTo: "Help <help@acme.test>" };
    const stored = { from: "hi@acme.test", fromName: "Acme, Inc.", replyTo: sender.replyTo };
    const made = await t.call("POST", "/templates", { ...template("x"), ...sender });
    expect(made.at("data")).toMatchObject(stored);
    const campaign = { name: "N", subject: "s", body: "b", ...sender, audienceType: "ALL" };
    const created = await t.call("POST", "/campaigns", campaign);
    expect(created.at("data")).toMatchObject(stored);
    const named = await t.call("PATCH", `/campaigns/${created.text("data.id")}`, {
      from: "Acme <hi@acme.test>",
      fromName: "Shop",
    });
    expect(named.at("data")).toMatchObject({ from: "hi@acme.test", fromName: "Shop" });
  });
});

describe("a mail is accepted", () => {
  test("attachment-base64-76", async () => {
    await setUp();
    const input = jsonOf("attachment-base64-76/send.json");
    expect((await t.call("POST", "/v1/send", input)).status).toBe(200);
    const broken = { filename: "a.txt", content: "QUFB\r\nQQ=" };
    expect(await refusalOf("/v1/send", { ...input, attachments: [broken] })).toEqual({
      "attachments.0.content": "must be base64",
    });
  });

  test("newline-in-send-batch", async () => {
    await setUp();
    for (const [email, company] of Object.entries({
      "n1@x.test": "ACME\nInc.",
      "n2@x.test": "B",
    })) {
      await t.call("POST", "/contacts", { email, data: { company } });
    }
    const id = await t.create(
      "/templates",
      jsonOf("newline-in-send-batch/template.json"),
      "data.id",
    );
    const to = ["n1@x.test", "n2@x.test"];
    const sent = await t.call("POST", "/v1/send", { to, template: id });
    expect(sent.status).toBe(200);
    const emails = await t.call("GET", "/emails");
    expect(emails.at("data.items")).toMatchObject([
      { to: "n2@x.test", subject: "Hello B" },
      { to: "n1@x.test", subject: "Hello ACME Inc." },
    ]);
  });

  test("newline-in-cell-subject", async () => {
    await setUp();
    const subject = textOf("newline-in-cell-subject/subject.txt").trim();
    const [, company] = /"([^"]*)"/.exec(textOf("newline-in-cell-subject/contacts.csv")) ?? [];
    const data = { company };
    const mail = { to: "n1@x.example", from: "hi@acme.test", subject, body: "x", data };
    const sent = await t.call("POST", "/v1/send", mail);
    const email = await t.call("GET", `/emails/${sent.text("data.emails.0.email")}`);
    expect(email.at("data.subject")).toBe("News for ACME Inc.");
  });
});

test("one-click-text-plain", async () => {
  const { submit, isSubscribed, send } = mailingOf(await setUp());
  const letter = await send({ to: "ada@example.net" });
  const [head = "", body = ""] = textOf("one-click-text-plain/request.txt").split("\n\n");
  const type = /Content-Type: (.*)/.exec(head)?.[1] ?? "";
  expect((await submit(letter.unsubscribe, body, type)).status).toBe(200);
  expect(isSubscribed("ada@example.net")).toBe(false);
});

test("long-references", async () => {
  const app = await submissionApp({ config: { transport: "capture" } });
  closers.push(() => app.close());
  const client = await app.signIn();
  const message = readFileSync(path.join(import.meta.dir, "long-references/mail.eml"), "utf8")
    .replace("hi@acme.example", "hi@acme.test")
    .replaceAll(/\r?\n/g, "\r\n");
  await client.say("MAIL FROM:<hi@acme.test>\r\n");
  await client.say("RCPT TO:<u@x.example>\r\n");
  await client.say("DATA\r\n");
  expect(await client.say(`${message}\r\n.\r\n`)).toStartWith("250 ");
  client.end();
  const [sent = ""] = await app.sent(1);
  const references = /^References:(?:.*\r\n)(?:[ \t].*\r\n)*/m.exec(sent)?.[0] ?? "";
  const longest = Math.max(...references.split("\r\n").map((line) => line.length));
  expect(longest).toBeLessThanOrEqual(998);
  expect(references.replaceAll("\r\n", "").trim()).toBe(
    /^References:.*$/m.exec(message)?.[0].trim() ?? "",
  );
});
