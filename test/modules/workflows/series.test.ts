/**
 * The series of the README, as it stands there, from its event to its end: one contact opens the
 * first mail, the other one does not. Mails are read as they left, the webhook of the step and those
 * of the project come to a real HTTP server, and the signature is verified by the public package.
 */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type ParsedMail, simpleParser } from "mailparser";
import { Webhook } from "standardwebhooks";
import { type Automation, DAY, MINUTE, startAutomation } from "../../support/automation.ts";
import { manualClock } from "../../support/clock.ts";
import { eventually } from "../../support/eventually.ts";
import { listAt, textAt } from "../../support/json.ts";
import { BROWSER } from "../../support/mailing.ts";
import { startWebServer, type WebServer } from "../../support/web-server.ts";

const ADA = "ada@example.net";
const BOB = "bob@example.net";

let a: Automation;
let server: WebServer;
beforeAll(async () => {
  server = await startWebServer({});
  // The package compares with the clock of the machine, at which the series ends.
  a = await startAutomation({ clock: manualClock(Date.now() - 2 * DAY - MINUTE) });
});
afterAll(async () => {
  await a.close();
  await server.close();
});

/** What the README sends to /workflows, with templates and a CRM that are there. */
async function series(): Promise<string> {
  const readme = await Bun.file(join(import.meta.dir, "../../../README.md")).text();
  const [, json = ""] = /curl \$URL\/workflows [^']*'[^']*' -d '([^']*)'/.exec(readme) ?? [];
  return json
    .replace("WELCOME_ID", await a.template({ name: "Welcome", subject: "Welcome, {{ name }}" }))
    .replace("REMINDER_ID", await a.template({ name: "Reminder", subject: "Still there?" }))
    .replace("https://crm.example", server.origin);
}

/** Mails of an address as they left, oldest first. */
async function mailsTo(email: string): Promise<ParsedMail[]> {
  await a.t.deliver();
  const list = await a.t.call("GET", `/emails?contactId=${a.contactId(email)}`);
  const ids = listAt(list.body, "data.items").map((mail) => textAt(mail, "id"));
  return Promise.all(
    ids.toReversed().map(async (id) => {
      const raw = (await a.t.call("GET", `/emails/${id}/raw`)).text("");
      return simpleParser(raw, { skipTextToHtml: true });
    }),
  );
}

/** As the mail program of a person does, which shows pictures. */
async function open(mail: ParsedMail | undefined): Promise<void> {
  const [, path = ""] = /<img src="https?:\/\/[^/]+(\/o\/[^"]+)"/.exec(String(mail?.html)) ?? [];
  const request = new Request(`http://localhost${path}`, { headers: { "user-agent": BROWSER } });
  expect((await a.t.app.handle(request)).status).toBe(200);
}

test("the README's series, taken as it stands there, does what it says", async () => {
  const hook = { url: `${server.origin}/events`, events: ["email.sent"] };
  const secret = await a.t.create("/webhooks", hook, "data.secret");
  const created = await a.t.call("POST", "/workflows", JSON.parse(await series()));
  expect(created.status).toBe(201);
  const id = created.text("data.id");

  await a.track("signed-up", { name: "Ada" }, ADA);
  await a.track("signed-up", { name: "Bob" }, BOB);
  const [hello] = await mailsTo(ADA);
  expect([hello?.subject, (await mailsTo(BOB))[0]?.subject]).toEqual([
    "Welcome, Ada",
    "Welcome, Bob",
  ]);
  await a.advance(MINUTE);
  await open(hello);

  // A minute before the two days are over, nothing has happened yet.
  await a.advance(2 * DAY - 2 * MINUTE);
  const waiting = await a.executions(id);
  expect(waiting.map(({ status, currentStepId }) => [status, currentStepId])).toEqual([
    ["WAITING", "rest"],
    ["WAITING", "rest"],
  ]);
  server.requests.length = 0;

  await a.advance(MINUTE);
  await a.t.deliver();
  const [ada, bob] = await a.executions(id);
  expect([ada?.status, ada?.exitReason, ada?.steps]).toEqual([
    "EXITED",
    "opened",
    ["trigger", "hello", "rest", "opened:yes", "done"].map(done),
  ]);
  expect([bob?.status, bob?.steps]).toEqual([
    "COMPLETED",
    ["trigger", "hello", "rest", "opened:no", "again", "tell", "mark"].map(done),
  ]);
  expect((await mailsTo(ADA)).map(({ subject }) => subject)).toEqual(["Welcome, Ada"]);
  expect((await mailsTo(BOB)).map(({ subject }) => subject)).toEqual([
    "Welcome, Bob",
    "Still there?",
  ]);
  const contact = await a.t.call("GET", `/contacts/${a.contactId(BOB)}`);
  expect(contact.at("data")).toEqual({ name: "Bob", lead: true });

  const [lead, ...others] = server.requests.filter(({ path }) => path === "/leads");
  expect([lead?.method, others]).toEqual(["POST", []]);
  expect(textAt(JSON.parse(lead?.body ?? ""), "contact.email")).toBe(BOB);

  await eventually(() => server.requests.some(({ path }) => path === "/events"));
  const told = server.requests.find(({ path }) => path === "/events");
  const event = new Webhook(secret).verify(told?.body ?? "", Object(told?.headers));
  expect([textAt(event, "type"), textAt(event, "data.contactEmail")]).toEqual(["email.sent", BOB]);
});

/** `opened COMPLETED:yes` of `opened:yes`. */
function done(step: string): string {
  const [id, branch] = step.split(":");
  return `${id} COMPLETED${branch === undefined ? "" : `:${branch}`}`;
}
