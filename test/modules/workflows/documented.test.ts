/** The example of docs/workflows.md waits for an open after its first mail (series.test.ts runs all of it). */

import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Automation, DAY, HOUR, startAutomation } from "../../support/automation.ts";
import { settleEventLoop } from "../../support/eventually.ts";
import { BROWSER, received } from "../../support/mailing.ts";

const page = readFileSync(join(import.meta.dir, "../../../docs/workflows.md"), "utf8");
const ADA = "ada@example.net";

let a: Automation;
beforeEach(async () => {
  a = await startAutomation();
});
afterEach(() => a.close());

/** Creates the workflow of the page. */
async function documentedWorkflow(): Promise<string> {
  const [, text = ""] = /-d '([^]*?)'\n```/.exec(page) ?? [];
  const templateId = await a.template({ body: "<body>Hello</body>" });
  return a.workflow(Object(JSON.parse(text.replaceAll(`'"$TEMPLATE_ID"'`, templateId))));
}

/** Opens the latest mail to Ada as a person does. */
async function openLatestMail(): Promise<void> {
  const latest = (await a.t.call("GET", `/emails?to=${ADA}`)).text("data.items.0.id");
  const raw = (await a.t.call("GET", `/emails/${latest}/raw`)).text("");
  const { pixel } = await received(latest, raw);
  const request = new Request(`http://localhost${pixel}`, { headers: { "user-agent": BROWSER } });
  expect((await a.t.app.handle(request)).status).toBe(200);
  await a.advance(2_000);
  await settleEventLoop();
  await a.settle();
}

async function signUp(): Promise<void> {
  await a.track("signed-up");
  await a.t.deliver();
  await a.advance(HOUR);
}

test("the second mail is sent to a contact who opened only earlier mail", async () => {
  const template = await a.template({ body: "<body>Earlier</body>" });
  await a.t.call("POST", "/v1/send", { to: ADA, template, subscribed: true });
  await a.t.deliver();
  await a.advance(HOUR);
  await openLatestMail();
  expect(a.t.eventNames()).toContain("email.opened");
  const id = await documentedWorkflow();
  await signUp();
  expect((await a.only(id)).currentStepId).toBe("opened");
  await a.advance(2 * DAY);
  expect((await a.only(id)).steps).toContain("again COMPLETED");
  expect(a.mails()).toHaveLength(2);
});
