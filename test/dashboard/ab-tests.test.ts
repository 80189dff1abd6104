/** An A/B test is made, sent, won by a click and read in the dashboard. */

import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { openData } from "../support/dashboard-server.ts";
import { expectSoon } from "../support/eventually.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";
import { BROWSER } from "../support/mailing.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { newProjectWithPeople, openAs, type PeopledProject } from "./people.ts";

const CONTACTS = 40;

let project: PeopledProject;
beforePages(async () => {
  project = await newProjectWithPeople();
  using db = openData(project);
  db.run(
    `INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
     WITH numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)
     SELECT 'ab-' || n || '-' || projects.seq, projects.seq, 'reader-' || n || '@x.io', 1, '{}', 0, 0
     FROM numbers CROSS JOIN projects WHERE projects.id = ?2`,
    [CONTACTS, project.project],
  );
});

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

/** A change of the status wakes what leads the campaigns. */
async function wake(id: string): Promise<void> {
  await project.call("POST", `/campaigns/${id}/pause`);
  await project.call("POST", `/campaigns/${id}/resume`);
}

const phaseSoon = (id: string, phase: string) =>
  expectSoon(async () => {
    if ((await read(id, "abTestState.phase")) !== phase) await wake(id);
    return await read(id, "abTestState.phase");
  }, phase);

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
    const opened = await openAs(project, `/campaigns/${id}`, { person: "editor", isLive: true });
    const { page, problems } = opened;
    const section = page.getByRole("region", { name: "A/B test" });
    await section.getByRole("button", { name: "Add an A/B test" }).click();
    await section.getByText("Write what is different in B").waitFor();
    const second = section.getByRole("article", { name: "Variant B" });
    await second.getByRole("textbox", { name: "Subject" }).fill("Summer is here");
    const slider = section.getByRole("slider", { name: "In the test" });
    await slider.focus();
    for (let i = 0; i < 40; i++) await page.keyboard.press("ArrowRight");
    await section.getByRole("textbox", { name: "Held out" }).fill("10");
    const groups = section.getByRole("group", { name: "Who gets which variant" });
    await expectSoon(
      () => groups.getByRole("listitem").allTextContents(),
      ["Variant Aabout 12", "Variant Babout 12", "The winnerabout 12", "Nothingabout 4"],
    );
    await saved(page);
    await second.getByRole("button", { name: "Preview variant B" }).click();
    const preview = page.getByRole("dialog", { name: "Variant B" });
    await preview.locator(".contact-preview-subject").getByText("Summer is here").waitFor();
    await page.keyboard.press("Escape");
    expect(await read(id, "abTest")).toMatchObject({
      share: 60,
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
    await review.getByRole("button", { name: `Send to ${CONTACTS} contacts` }).click();
    await page.getByText(/^Sending in \d+ s$/).waitFor();
    await project.call("POST", `/campaigns/${id}/send`);
    const report = page.getByRole("region", { name: "A/B test" });
    await phaseSoon(id, "WAITING");
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
    await report.getByText(/^2 of \d+ recipients clicked$/).waitFor();

    change(
      "UPDATE ab_tests SET waits_until = 0 WHERE campaign_seq = (SELECT seq FROM campaigns WHERE id = ?)",
      id,
    );
    await phaseSoon(id, "REST");
    await report.getByText("Winner", { exact: true }).waitFor();
    await report.getByText(/^B was chosen by most clicks after 4 hours/).waitFor();
    await expectSoon(async () => {
      if ((await read(id, "status")) === "SENDING") await wake(id);
      return await read(id, "status");
    }, "SENT");
    const figures = valueAt(await project.call("GET", `/campaigns/${id}/ab-test`), "data");
    const rest = Number(valueAt(figures, "rest.sent"));
    expect(rest).toBeGreaterThan(0);
    expect(await messages("subject:summer")).toHaveLength(tested.length + rest);
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
    await project.call("PATCH", `/campaigns/${id}`, { abTest });
    await project.call("POST", `/campaigns/${id}/send`);
    await phaseSoon(id, "WAITING");
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
