/** The welcome series of the README, run through: mails as their recipients have them. */

import { afterEach, beforeEach, expect, test } from "bun:test";
import { simpleParser } from "mailparser";
import { type Automation, DAY, startAutomation } from "../../support/automation.ts";
import { listAt, textAt } from "../../support/json.ts";
import { startWebServer, type WebServer } from "../../support/web-server.ts";
import { delay, graph, step, trigger } from "./graphs.ts";

let a: Automation;
let crm: WebServer;
let series: string;
beforeEach(async () => {
  crm = await startWebServer({
    answer: () => ({ headers: { "content-type": "application/json" }, body: '{"lead":42}' }),
  });
  a = await startAutomation();
  const first = await a.template({
    subject: "Welcome, {{ name }}",
    body: '<p>Hello {{ name }}, you chose {{ plan }}.</p><a href="https://acme.test/start">Start</a>',
  });
  const second = await a.template({
    subject: "Still there?",
    body: "<p>We miss you, {{ name }}.</p>",
  });
  series = await a.workflow(
    graph(
      [
        trigger("signed-up"),
        step("welcome", "SEND_EMAIL", { templateId: first }),
        delay("two-days", 2, "days"),
        step("opened", "CONDITION", { field: "email.opened", operator: "triggered" }),
        step("happy", "EXIT", { reason: "opened" }),
        step("reminder", "SEND_EMAIL", { templateId: second }),
        step("tell", "WEBHOOK", {
          url: `${crm.origin}/leads/{{ id }}`,
          method: "POST",
          body: { email: "{{ email }}", plan: "{{ plan }}" },
        }),
        step("mark", "UPDATE_CONTACT", { updates: { stage: "cold" } }),
      ],
      [
        "start>welcome",
        "welcome>two-days",
        "two-days>opened",
        "opened>happy:yes",
        "opened>reminder:no",
        "reminder>tell",
        "tell>mark",
      ],
    ),
  );
});
afterEach(async () => {
  await a.close();
  await crm.close();
});

/** Mails that were captured, oldest first. */
async function captured() {
  await a.t.deliver();
  await a.settle();
  const { body } = await a.t.call("GET", "/emails");
  const ids = listAt(body, "data.items").map((item) => textAt(item, "id"));
  return Promise.all(
    ids.toReversed().map(async (id) => {
      const raw = (await a.t.call("GET", `/emails/${id}/raw`)).text("");
      const { subject, html, to } = await simpleParser(raw, { skipImageLinks: true });
      return { subject, html: String(html), to: Array.isArray(to) ? to[0]?.text : to?.text };
    }),
  );
}

const signUp = () => a.track("signed-up", { name: "Ada", plan: "pro" });

test("who does not open is reminded, told about and marked", async () => {
  await signUp();
  const [welcome, ...none] = await captured();
  expect(none).toEqual([]);
  expect(welcome).toMatchObject({ subject: "Welcome, Ada", to: "ada@example.net" });
  expect(welcome?.html).toContain("Hello Ada, you chose pro.");
  await a.advance(2 * DAY - 1);
  expect(await captured()).toHaveLength(1);
  await a.advance(1);
  const [, reminder] = await captured();
  expect(reminder).toMatchObject({ subject: "Still there?", to: "ada@example.net" });
  expect(reminder?.html).toContain("We miss you, Ada.");
  expect(crm.requests).toHaveLength(1);
  expect(crm.requests[0]).toMatchObject({
    method: "POST",
    path: `/leads/${a.contactId()}`,
    body: '{"email":"ada@example.net","plan":"pro"}',
  });
  const contact = await a.t.call("GET", `/contacts/${a.contactId()}`);
  expect(contact.at("data")).toEqual({ name: "Ada", plan: "pro", stage: "cold" });
  expect(await a.only(series)).toMatchObject({
    status: "COMPLETED",
    context: { name: "Ada", plan: "pro", webhook: { lead: 42 } },
    steps: [
      "start COMPLETED",
      "welcome COMPLETED",
      "two-days COMPLETED",
      "opened COMPLETED:no",
      "reminder COMPLETED",
      "tell COMPLETED",
      "mark COMPLETED",
    ],
  });
});

test("who opens the first mail is left alone", async () => {
  await signUp();
  const [welcome] = await captured();
  const [, pixel = ""] = /<img src="https?:\/\/[^/]+(\/o\/[^"]+)"/.exec(welcome?.html ?? "") ?? [];
  a.t.clock.advance(DAY);
  const headers = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0" };
  await a.t.app.handle(new Request(`http://localhost${pixel}`, { headers }));
  await a.advance(DAY);
  expect(await a.only(series)).toMatchObject({ status: "EXITED", exitReason: "opened" });
  expect(await captured()).toHaveLength(1);
  expect(crm.requests).toEqual([]);
});

test("who unsubscribes in between gets no reminder, and the rest goes on", async () => {
  await signUp();
  await a.t.call("PATCH", `/contacts/${a.contactId()}`, { subscribed: false });
  await a.advance(2 * DAY);
  expect(await a.only(series)).toMatchObject({ status: "COMPLETED" });
  expect((await a.only(series)).steps).toContain("reminder SKIPPED");
  expect(crm.requests).toHaveLength(1);
});
