/**
 * Runs the first workflow of docs/workflows.md to its end: one contact opens the first mail, the
 * other one does not. The test reads the raw mails; a real HTTP server receives the call of the
 * WEBHOOK step and the project's webhook, whose signature the package `standardwebhooks` verifies.
 */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type ParsedMail, simpleParser } from "mailparser";
import { Webhook } from "standardwebhooks";
import { type Automation, DAY, MINUTE, startAutomation } from "../../support/automation.ts";
import { manualClock } from "../../support/clock.ts";
import { waitUntil } from "../../support/eventually.ts";
import { listAt, stringAt } from "../../support/json.ts";
import { BROWSER } from "../../support/mailing.ts";
import { startWebServer, type WebServer } from "../../support/web-server.ts";

const ADA = "ada@example.net";
const BOB = "bob@example.net";
const HOUR_MS = 60 * 60_000;

let a: Automation;
let server: WebServer;
beforeAll(async () => {
  server = await startWebServer({});
  // The package compares timestamps with the system clock, so the series ends at the present time.
  a = await startAutomation({ clock: manualClock(Date.now() - 2 * DAY - MINUTE) });
});
afterAll(async () => {
  await a.close();
  await server.close();
});

const TEMPLATE_ID = `'"$TEMPLATE_ID"'`;

/** The first workflow of docs/workflows.md, with ids of stored templates and the URL of the server. */
async function series(): Promise<string> {
  const page = await Bun.file(join(import.meta.dir, "../../../docs/workflows.md")).text();
  const [, json = ""] = /-d '(\{\n.*?\]\})'\n```/s.exec(page) ?? [];
  return json
    .replace(TEMPLATE_ID, await a.template({ name: "Welcome", subject: "Welcome, {{ name }}" }))
    .replace(TEMPLATE_ID, await a.template({ name: "Reminder", subject: "Still there?" }))
    .replace("https://crm.example", server.origin);
}

/** The mails sent to an address, oldest first. */
async function mailsTo(email: string): Promise<ParsedMail[]> {
  await a.t.deliver();
  const list = await a.t.call("GET", `/emails?contactId=${a.contactId(email)}`);
  const ids = listAt(list.body, "data.items").map((mail) => stringAt(mail, "id"));
  return Promise.all(
    ids.toReversed().map(async (id) => {
      const raw = (await a.t.call("GET", `/emails/${id}/raw`)).text("");
      return simpleParser(raw, { skipTextToHtml: true });
    }),
  );
}

/** Loads the tracking pixel, like a mail program that shows images. */
async function open(mail: ParsedMail | undefined): Promise<void> {
  const [, path = ""] = /<img src="https?:\/\/[^/]+(\/o\/[^"]+)"/.exec(String(mail?.html)) ?? [];
  const request = new Request(`http://localhost${path}`, { headers: { "user-agent": BROWSER } });
  expect((await a.t.app.handle(request)).status).toBe(200);
}

test("the workflow of docs/workflows.md does what the page says", async () => {
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

  // A minute before the end of the timeout, the contact who opened nothing still waits.
  await a.advance(2 * DAY - 2 * MINUTE);
  const waiting = await a.executions(id);
  expect(waiting.map(({ status, currentStepId }) => [status, currentStepId])).toEqual([
    ["EXITED", null],
    ["WAITING", "opened"],
  ]);
  server.requests.length = 0;

  await a.advance(2 * MINUTE);
  await a.t.deliver();
  const [ada, bob] = await a.executions(id);
  expect([ada?.status, ada?.exitReason, ada?.steps]).toEqual([
    "EXITED",
    "opened",
    ["trigger", "hello", "opened", "done"].map(completed),
  ]);
  expect([bob?.status, bob?.steps]).toEqual([
    "COMPLETED",
    ["trigger", "hello", "opened:timeout", "again", "crm", "mark"].map(completed),
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
  expect(stringAt(JSON.parse(lead?.body ?? ""), "contact.email")).toBe(BOB);

  // An event of the first day may arrive late.
  const ofToday = ({ path, headers }: (typeof server.requests)[number]) =>
    path === "/events" && Number(headers["webhook-timestamp"]) * 1_000 > Date.now() - HOUR_MS;
  await waitUntil(() => server.requests.some(ofToday));
  const request = server.requests.find(ofToday);
  const event = new Webhook(secret).verify(request?.body ?? "", Object(request?.headers));
  expect([stringAt(event, "type"), stringAt(event, "data.contactEmail")]).toEqual([
    "email.sent",
    BOB,
  ]);
});

/** Returns `opened COMPLETED:yes` for `opened:yes`. */
function completed(step: string): string {
  const [id, branch] = step.split(":");
  return `${id} COMPLETED${branch === undefined ? "" : `:${branch}`}`;
}
