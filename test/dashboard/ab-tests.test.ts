/** An A/B test is made, sent, won by a click and read in the dashboard. */

import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { HOLD_OUT, REST } from "../../src/modules/campaigns/ab-tests/ab-groups.ts";
import { type AbDraft, insertAbContacts } from "../support/ab-contacts.ts";
import { openData } from "../support/dashboard-server.ts";
import { expectSoon } from "../support/eventually.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";
import { BROWSER } from "../support/mailing.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { newProjectWithPeople, openAs, type PeopledProject } from "./people.ts";

let project: PeopledProject;
/** A draft that is not sent. */
let other: string;
beforePages(async () => {
  project = await newProjectWithPeople();
  other = await makeDraft();
});

/** Contacts who are in these groups of a draft. */
function addContacts(draft: AbDraft, sizes: Readonly<Record<string, number>>): void {
  using db = openData(project);
  insertAbContacts(db, draft, sizes);
}

const read = async (id: string, field: string): Promise<unknown> =>
  valueAt(await project.call("GET", `/campaigns/${id}`), `data.${field}`);

/** The messages that a search finds, newest first. */
const messages = async (search: string): Promise<readonly unknown[]> => {
  const query = `query=${encodeURIComponent(search)}&limit=100`;
  return listAt(await project.call("GET", `/inboxes/default/messages?${query}`), "data.items");
};

/** A person clicks the link of a message that is an hour old. */
async function click(message: unknown): Promise<void> {
  const id = stringAt(message, "id");
  const whole = await project.call("GET", `/inboxes/default/messages/${id}`);
  const [url = ""] = /http[^"]*\/c\/[^"]*/.exec(stringAt(whole, "data.html")) ?? [];
  await fetch(url, { headers: { "user-agent": BROWSER }, redirect: "manual" });
}

function change(sql: string, id: string): void {
  using db = openData(project);
  db.run(sql, [id]);
}

/** A change of any campaign wakes the runner of all campaigns, which otherwise looks every 5 s. */
const fieldSoon = (id: string, field: string, expected: string) =>
  expectSoon(async () => {
    const found = await read(id, field);
    if (found !== expected) await project.call("PATCH", `/campaigns/${other}`, { name: "Other" });
    return found;
  }, expected);

async function makeDraft(): Promise<string> {
  const draft = {
    name: "Summer",
    subject: "News",
    body: '<p>Hello</p><a href="https://shop.example/summer">Summer</a>',
    from: "news@acme.example",
    audienceType: "ALL",
  };
  return stringAt(await project.call("POST", "/campaigns/drafts", draft), "data.id");
}

const saved = (page: Page) =>
  page
    .locator(".save-state")
    .getByText(/^Saved/)
    .waitFor();

describe("an A/B test", () => {
  pageTest("is written, sent, won by a click, and the rest gets the winner", async () => {
    const id = await makeDraft();
    addContacts({ id, share: 25, holdOut: 10 }, { A: 2, B: 2, [REST]: 10, [HOLD_OUT]: 2 });
    const opened = await openAs(project, `/campaigns/${id}`, { person: "editor", isLive: true });
    const { page, problems } = opened;
    const section = page.getByRole("region", { name: "A/B test" });
    await section.getByRole("button", { name: "Add an A/B test" }).click();
    await section.getByText("Write what is different in B").waitFor();
    const second = section.getByRole("article", { name: "Variant B" });
    await second.getByRole("textbox", { name: "Subject" }).fill("Summer is here");
    const slider = section.getByRole("slider", { name: "In the test" });
    for (let i = 0; i < 5; i++) await slider.press("ArrowRight");
    await section.getByRole("textbox", { name: "Held out" }).fill("10");
    const groups = section.getByRole("group", { name: "Who gets which variant" });
    await expectSoon(
      () => groups.getByRole("listitem").allTextContents(),
      ["Variant Aabout 2", "Variant Babout 2", "The winnerabout 10", "Nothingabout 2"],
    );
    await saved(page);
    const funnel = page.getByRole("group", { name: "Who would get it now" });
    await funnel.getByText("= about 14").waitFor();
    await second.getByRole("button", { name: "Preview variant B" }).click();
    const preview = page.getByRole("dialog", { name: "Variant B" });
    await preview.locator(".contact-preview-subject").getByText("Summer is here").waitFor();
    await page.keyboard.press("Escape");
    expect(await read(id, "abTest")).toMatchObject({
      share: 25,
      holdOut: 10,
      variants: [
        { id: "A", subject: null },
        { id: "B", subject: "Summer is here" },
      ],
      winner: { by: "CLICKS", eventName: null, afterMinutes: 240 },
    });

    await page.getByRole("button", { name: "Review and send" }).click();
    const review = page.getByRole("dialog", { name: "Review and send" });
    await review.getByText("The winner has most clicks after 4 hours.").waitFor();
    await review.getByText("A: News").waitFor();
    await review.getByText("B: Summer is here").waitFor();
    await review.getByText("of them by the A/B test").waitFor();
    await review.getByRole("button", { name: "Send to 14 contacts" }).click();
    await page.getByText(/^Sending in \d+ s$/).waitFor();
    await project.call("POST", `/campaigns/${id}/send`);
    const report = page.getByRole("region", { name: "A/B test" });
    await fieldSoon(id, "abTestState.phase", "WAITING");
    await report.getByText("The winner by most clicks after 4 hours is chosen").waitFor();

    const tested = await messages("subject:summer");
    change(
      `UPDATE emails SET sent_at = sent_at - 3600000, created_at = created_at - 3600000
       WHERE campaign_seq = (SELECT seq FROM campaigns WHERE id = ?)`,
      id,
    );
    await click(tested[0]);
    await click(tested[1]);
    await expectSoon(async () => await readHits(id), [0, 2]);
    await report.getByText("2 of 2 recipients clicked").waitFor();

    change(
      "UPDATE ab_tests SET waits_until = 0 WHERE campaign_seq = (SELECT seq FROM campaigns WHERE id = ?)",
      id,
    );
    await fieldSoon(id, "abTestState.phase", "REST");
    await report.getByText("Winner", { exact: true }).waitFor();
    await report.getByText(/^B was chosen by most clicks after 4 hours/).waitFor();
    await fieldSoon(id, "status", "SENT");
    const figures = valueAt(await project.call("GET", `/campaigns/${id}/ab-test`), "data");
    expect([tested.length, valueAt(figures, "rest.sent")]).toEqual([2, 10]);
    expect(await messages("subject:summer")).toHaveLength(12);
    await report.getByRole("link", { name: "2", exact: true }).first().click();
    await page.getByText("Variant B", { exact: true }).waitFor();
    await expectSoon(() => page.locator("[data-row]").count(), 2);
    expect(problems).toEqual([]);
    await opened.close();
  });

  pageTest("is decided by a person, and shown to a viewer without buttons", async () => {
    const id = await makeDraft();
    const abTest = {
      variants: [{}, { subject: "Chosen", name: "Short" }],
      share: 50,
      winner: { by: "MANUAL" },
    };
    addContacts({ id, share: 50, holdOut: 0 }, { A: 1, B: 1, [REST]: 1 });
    await project.call("PATCH", `/campaigns/${id}`, { abTest });
    await project.call("POST", `/campaigns/${id}/send`);
    await fieldSoon(id, "abTestState.phase", "WAITING");
    const viewer = await openAs(project, `/campaigns/${id}`, { person: "viewer" });
    await viewer.page.getByText("waits until you choose the winner").waitFor();
    expect(await viewer.page.getByRole("button", { name: "Choose B" }).count()).toBe(0);
    await viewer.close();
    const opened = await openAs(project, `/campaigns/${id}`, { person: "editor" });
    const { page, problems } = opened;
    await page.getByRole("button", { name: "Choose B" }).click();
    const question = page.getByRole("dialog", { name: "Send Short (B) to the rest?" });
    await question.getByRole("button", { name: "Choose B" }).click();
    await page.getByText("B was chosen by a person").waitFor();
    await page.getByRole("link", { name: "Email", exact: true }).click();
    await page.getByText("B: Short").click();
    await page.locator(".contact-preview-subject").getByText("Chosen").waitFor();
    expect(problems).toEqual([]);
    await opened.close();
  });
});

/** The hits of the variants. */
async function readHits(id: string): Promise<number[]> {
  const report = await project.call("GET", `/campaigns/${id}/ab-test`);
  return listAt(report, "data.variants").map((variant) => Number(valueAt(variant, "hits")));
}
