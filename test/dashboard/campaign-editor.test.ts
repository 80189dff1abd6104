/** A campaign is written, tried, reviewed, undone and sent in the dashboard. */

import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { openData } from "../support/dashboard-server.ts";
import { expectSoon } from "../support/eventually.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { newProjectWithPeople, openAs, type PeopledProject } from "./people.ts";

let project: PeopledProject;
beforePages(async () => {
  project = await newProjectWithPeople();
  const people = [
    { email: "ada@x.io", data: { name: "Ada", city: "Berlin" } },
    { email: "bob@x.io", data: { name: "Bob", city: "Berlin" } },
    { email: "cyd@x.io", data: { city: "Rome" } },
  ];
  for (const person of people) await project.call("POST", "/contacts", person);
  await project.call("POST", "/contacts", { email: "dan@x.io", subscribed: false });
  await project.call("POST", "/suppressions", { email: "cyd@x.io" });
  const template = {
    name: "Spring",
    subject: "News for {{ name ?? you }}",
    type: "MARKETING",
    body: "<p>Hello {{ name ?? friend }}</p>",
  };
  await project.call("POST", "/templates", template);
});

const SENDER = "news@acme.example";

const saved = (page: Page) =>
  page
    .locator(".save-state")
    .getByText(/^Saved/)
    .waitFor();

/** The id in the address of the page. */
const idOf = (page: Page): string => new URL(page.url()).pathname.split("/").at(-1) ?? "";

const read = async (id: string, field: string): Promise<unknown> =>
  valueAt(await project.call("GET", `/campaigns/${id}`), `data.${field}`);

const createDraft = async (fields: object = {}): Promise<string> => {
  const draft = {
    name: "News",
    subject: "Hello",
    body: "<p>One</p>",
    from: SENDER,
    audienceType: "ALL",
    ...fields,
  };
  return stringAt(await project.call("POST", "/campaigns/drafts", draft), "data.id");
};

/** The text of the element that has the focus. */
const focusedText = (page: Page) => page.evaluate("document.activeElement.textContent");

describe("a campaign", () => {
  pageTest(
    "is made from a template for a counted audience, rehearsed, tested, undone and sent",
    async () => {
      const opened = await openAs(project, "/campaigns", { person: "editor", isLive: true });
      const { page, problems } = opened;
      await page.getByRole("button", { name: "Create a campaign" }).first().click();
      await page.getByLabel("Name of the campaign").fill("Spring news");
      // An empty letter of the visual editor is not yet something to send.
      const content = page.getByRole("region", { name: "Content" });
      await content.getByRole("textbox", { name: "Body", exact: true }).waitFor();
      await content.getByText("Needs a subject and a body").waitFor();

      const audience = page.getByRole("region", { name: "Audience" });
      await audience.getByText("Everybody", { exact: true }).click();
      const funnel = audience.getByRole("group", { name: "Who would get it now" });
      await funnel.getByText("= 2").waitFor();
      await funnel.getByRole("link", { name: "1", exact: true }).first().click();
      const drawer = page.getByRole("dialog", { name: "Not subscribed" });
      await drawer.getByText("dan@x.io").waitFor();
      await page.keyboard.press("Escape");
      await drawer.waitFor({ state: "hidden" });

      await page.getByRole("combobox", { name: "From" }).fill(SENDER);
      await page.getByRole("button", { name: "Start from a template" }).click();
      await page.getByRole("button", { name: /^Spring/ }).click();
      await page
        .frameLocator(".preview-stage iframe:not(.preview-next)")
        .getByText("Hello friend")
        .waitFor();
      await saved(page);
      const id = idOf(page);
      expect(await read(id, "missing")).toEqual([]);

      await page.getByRole("button", { name: "Rehearse" }).click();
      const table = page.getByRole("table", { name: "The campaign for different contacts" });
      await table.getByText("News for Ada").last().waitFor();
      expect(await table.getByRole("link", { name: /^Mail to/ }).count()).toBe(2);
      const inbox = page.getByRole("link", { name: "Open the 2 mails in the inbox" });
      expect(await inbox.getAttribute("href")).toEndWith("/inboxes/rehearsal");
      await expectSoon(() => focusedText(page), "Rehearse again");

      await page.getByRole("button", { name: "Send a test" }).click();
      await page.getByLabel("Email address").fill("bea@x.io");
      const shown = page.getByRole("combobox", { name: "With the data of" });
      await expectSoon(() => shown.inputValue(), "bob@x.io");
      await shown.fill("ada");
      await page.getByRole("option", { name: "ada@x.io" }).click();
      await page.getByRole("button", { name: "Send the test" }).click();
      await page.getByText("The test was sent to bea@x.io.").waitFor();
      const messages = "/inboxes/default/messages?query=to:bea@x.io";
      await expectSoon(
        async () =>
          listAt(await project.call("GET", messages), "data.items").map((message) =>
            stringAt(message, "subject"),
          ),
        ["[TEST] News for Ada"],
      );

      await page.getByRole("button", { name: "Review and send" }).click();
      const review = page.getByRole("dialog", { name: "Review and send" });
      await review.getByText("2 contacts", { exact: true }).waitFor();
      // Twice at once is once.
      await review.getByRole("button", { name: "Send to 2 contacts" }).dblclick();
      await page.getByText(/^Sending in \d+ s$/).waitFor();
      await page.reload();
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByLabel("Name of the campaign").waitFor();
      expect(await read(id, "status")).toBe("DRAFT");
      await expectSoon(() => focusedText(page), "Review and send");

      await page.keyboard.press("Enter");
      await review.getByText("This server captures mail").waitFor();
      await review.getByRole("button", { name: "Send to 2 contacts" }).click();
      await page.getByText(/^Sending in \d+ s$/).waitFor();
      await project.call("POST", `/campaigns/${id}/send`);
      await page.getByRole("heading", { name: "Who got it" }).waitFor();
      await expectSoon(() => read(id, "status"), "SENT");
      const news = "/inboxes/default/messages?query=subject:news";
      await expectSoon(async () => listAt(await project.call("GET", news), "data.items").length, 3);
      expect(problems).toEqual([]);
      await opened.close();
    },
  );

  pageTest("for more than a thousand contacts needs their number", async () => {
    const many = await newProjectWithPeople();
    using db = openData(many);
    addContacts(db, many.project, 1_200);
    const draft = { name: "Big", subject: "Hello", body: "<p>One</p>", from: SENDER };
    const made = await many.call("POST", "/campaigns/drafts", { ...draft, audienceType: "ALL" });
    const id = stringAt(made, "data.id");
    const opened = await openAs(many, `/campaigns/${id}`, { person: "editor" });
    const { page, problems } = opened;
    await page.getByText("1,200 recipients").first().waitFor();
    await page.getByRole("button", { name: "Review and send" }).click();
    const send = page.getByRole("button", { name: "Send to 1,200 contacts" });
    const field = page.getByLabel("Type the number of recipients", { exact: false });
    await field.fill("120");
    expect(await send.isDisabled()).toBe(true);
    await field.fill("1,200");
    await field.press("Enter");
    expect(await send.isEnabled()).toBe(true);
    expect(valueAt(await many.call("GET", `/campaigns/${id}`), "data.status")).toBe("DRAFT");
    await send.click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByLabel("Name of the campaign").waitFor();
    expect(problems).toEqual([]);
    await opened.close();
  });

  pageTest("is planned for a time in a zone, goes back to a draft, and is copied", async () => {
    const id = await createDraft({ name: "Planned" });
    const opened = await openAs(project, `/campaigns/${id}`, { person: "editor" });
    const { page, problems } = opened;
    await page.getByRole("radio", { name: "At a time", exact: true }).check();
    await page.getByLabel("Time", { exact: true }).fill("2029-07-01T09:00");
    await page.getByRole("combobox", { name: "Zone" }).fill("Tokyo");
    await page.getByRole("option", { name: "Asia/Tokyo" }).click();
    await page.getByRole("button", { name: "Review and send" }).click();
    // The server takes the request, and its answer is lost: the page reads what became of it.
    let requests = 0;
    await page.route("**/send", async (route) => {
      requests += 1;
      await route.fetch();
      await route.abort();
    });
    await page.getByRole("button", { name: "Schedule for 2 contacts" }).click();
    await page.getByRole("button", { name: "Back to draft" }).waitFor();
    expect(requests).toBe(1);
    expect([await read(id, "scheduledAt"), await read(id, "timeZone")]).toEqual([
      "2029-07-01T00:00:00.000Z",
      "Asia/Tokyo",
    ]);
    await page.getByRole("button", { name: "Back to draft" }).click();
    await page.getByLabel("Name of the campaign").waitFor();
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Duplicate" }).click();
    await page.getByRole("heading", { level: 1, name: "Planned (copy)" }).waitFor();
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete the campaign" }).click();
    await page.getByRole("heading", { level: 1, name: "Campaigns" }).waitFor();
    expect(problems.filter((text) => !text.includes("ERR_FAILED"))).toEqual([]);
    await opened.close();
  });

  pageTest("says what it needs, and a notice needs an admin", async () => {
    const id = await createDraft({ name: "Empty", subject: null, body: null, from: null });
    const opened = await openAs(project, `/campaigns/${id}`, { person: "editor" });
    const { page, problems } = opened;
    await page.getByText("Needs a subject and a body").first().waitFor();
    await page.getByRole("button", { name: "Review and send" }).click();
    await page.getByRole("button", { name: "Go to Content" }).click();
    await expectSoon(() => page.locator(":focus").textContent(), "Content");
    await page.getByLabel("Subject").fill("New terms");
    await page.getByRole("combobox", { name: "From" }).fill(SENDER);
    await page.getByRole("textbox", { name: "Body, HTML with Liquid" }).click();
    await page.keyboard.insertText("<p>Our terms have changed.</p>");
    await page.getByLabel("A notice, not marketing").click();
    await page.getByText("The law of most countries", { exact: false }).waitFor();
    await page.getByText("3 recipients").first().waitFor();
    await saved(page);
    await page.getByRole("button", { name: "Review and send" }).click();
    await page.getByText("only an admin can send it", { exact: false }).last().waitFor();
    await page.keyboard.press("Escape");
    await page.reload();
    await page.getByText("New terms").first().waitFor();
    expect(await read(id, "category")).toBe("TRANSACTIONAL");
    expect(problems).toEqual([]);
    await opened.close();
    const viewed = await openAs(project, `/campaigns/${id}`, { person: "viewer" });
    await viewed.page.getByRole("heading", { name: "Who would get it now" }).waitFor();
    expect(await viewed.page.getByRole("button", { name: "Review and send" }).count()).toBe(0);
    await viewed.close();
  });

  pageTest("gets its conditions as rows, which become a segment", async () => {
    const id = await createDraft({ name: "Filtered" });
    const opened = await openAs(project, `/campaigns/${id}`, { person: "editor" });
    const { page, problems } = opened;
    await page.getByText("By conditions").click();
    await page.getByText("Complete the conditions").first().waitFor();
    await page.locator('input[aria-label="Field of Condition 1"]').click();
    await page.getByRole("option", { name: "city", exact: true }).click();
    await page.getByLabel("Value of Condition 1").fill("Berlin");
    const funnel = page.getByRole("group", { name: "Who would get it now" });
    await funnel.getByText("= 2").waitFor();
    await saved(page);
    expect(await read(id, "audienceType")).toBe("FILTERED");
    await page.getByRole("button", { name: "Save as a segment" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("Berliners");
    await page.getByRole("button", { name: "Create the segment" }).click();
    await page.getByText("The segment Berliners was created", { exact: false }).waitFor();
    await saved(page);
    await expectSoon(() => read(id, "audienceType"), "SEGMENT");
    expect(problems).toEqual([]);
    await opened.close();
  });

  pageTest(
    "is sent to those who did not open it, with its words in the visual editor",
    async () => {
      const id = await createDraft({ name: "First", subject: "First mail" });
      await project.call("POST", `/campaigns/${id}/send`);
      await expectSoon(() => read(id, "status"), "SENT");
      const opened = await openAs(project, `/campaigns/${id}`, { person: "editor" });
      const { page, problems } = opened;
      await page.getByRole("button", { name: "More actions" }).click();
      await page.getByRole("menuitem", { name: "Send to those who did not open" }).click();
      await page.getByRole("heading", { level: 1, name: "First (not opened)" }).waitFor();
      const funnel = page.getByRole("group", { name: "Who would get it now" });
      await funnel.getByText("= 2").waitFor();
      await page.getByRole("textbox", { name: "Body, HTML with Liquid" }).click();
      await page.keyboard.press("ControlOrMeta+a");
      await page.keyboard.press("Delete");
      await page.getByRole("button", { name: "Write in the visual editor" }).click();
      const text = page.getByRole("textbox", { name: "Body", exact: true });
      await text.click();
      await page.keyboard.press("ControlOrMeta+a");
      await page.keyboard.type("Did you see this?");
      await saved(page);
      const followUp = idOf(page);
      await expectSoon(
        async () => String(await read(followUp, "body")).includes("Did you see"),
        true,
      );
      expect(await read(followUp, "format")).toBe("VISUAL");
      expect(problems).toEqual([]);
      await opened.close();
    },
  );

  pageTest("of two people loses nothing, also without a connection", async () => {
    const id = await createDraft({ name: "Shared" });
    const first = await openAs(project, `/campaigns/${id}`, { person: "editor" });
    const second = await openAs(project, `/campaigns/${id}`, { person: "admin" });
    await second.page.getByLabel("Subject").fill("From the second");
    await saved(second.page);
    await first.page.getByLabel("Preheader").fill("From the first");
    await saved(first.page);
    await expectSoon(() => first.page.getByLabel("Subject").inputValue(), "From the second");
    expect([await read(id, "subject"), await read(id, "preheader")]).toEqual([
      "From the second",
      "From the first",
    ]);
    await second.page.getByLabel("Preheader").fill("From the second");
    await second.page.getByRole("dialog", { name: /Somebody else changed/ }).waitFor();
    await second.page.getByRole("button", { name: "Keep all of mine" }).click();
    await saved(second.page);
    expect(await read(id, "preheader")).toBe("From the second");
    await second.close();

    await first.page.context().setOffline(true);
    await first.page.getByLabel("Subject").fill("Written in a tunnel");
    await first.page
      .getByText(/Kept in this browser/)
      .first()
      .waitFor();
    await first.page.context().setOffline(false);
    await expectSoon(() => read(id, "subject"), "Written in a tunnel");
    await first.close();
  });

  pageTest("is written and planned by keyboard alone", async () => {
    const opened = await openAs(project, "/campaigns", { person: "editor" });
    const { page, problems } = opened;
    const { keyboard } = page;
    await page.getByRole("heading", { level: 1, name: "Campaigns" }).waitFor();
    await keyboard.press("c");
    await page.getByLabel("Name of the campaign").waitFor();
    const focus = async (name: string) => {
      for (let presses = 0; presses < MOST_TABS; presses++) {
        if ((await describeFocus(page)).startsWith(name)) return;
        await keyboard.press("Tab");
      }
      throw new Error(`Tab does not reach ${name}`);
    };
    await focus("radio ALL");
    await keyboard.press("Space");
    await page.getByText("2 recipients").first().waitFor();
    await focus("From");
    await keyboard.type(SENDER);
    await keyboard.press("Escape");
    await focus("Subject");
    await keyboard.type("By keyboard");
    await focus("Body");
    await keyboard.type("Hello");
    await keyboard.press("Escape");
    await keyboard.press("Tab");
    await focus("As soon as you send it");
    await keyboard.press("ArrowDown");
    await focus("Time");
    await keyboard.press("Home");
    await saved(page);
    await focus("Review and send");
    await keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Review and send" }).waitFor();
    await focus("Schedule for 2 contacts");
    await keyboard.press("Enter");
    await page.getByRole("button", { name: "Back to draft" }).waitFor();
    expect(await read(idOf(page), "status")).toBe("SCHEDULED");
    expect(problems).toEqual([]);
    await opened.close();
  });
});

const MOST_TABS = 120;

/** The name of the element that has the focus. */
const describeFocus = (page: Page): Promise<string> =>
  page.evaluate<string>(`(() => {
    const element = document.activeElement;
    if (element.type === "radio" && element.labels[0].textContent.length < 12) return "radio " + element.value;
    return element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent;
  })()`);

/** Contacts are many, and the interface takes one after the other. */
function addContacts(db: ReturnType<typeof openData>, projectId: string, count: number): void {
  const made = `
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
    INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
    SELECT 'many' || i, (SELECT seq FROM projects WHERE id = ?), 'p' || i || '@x.io', 1, '{}', 1, 1 FROM n`;
  db.run(made, [count, projectId]);
}
