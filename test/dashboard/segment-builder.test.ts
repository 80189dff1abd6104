/** Segments are created and changed in the dashboard, as rows and as JSON. */

import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import {
  faultOf,
  newGroup,
  newRow,
  readDraft,
  type Row,
  toCondition,
  toDraft,
  withoutIds,
} from "../../src/dashboard/pages/segments/builder/draft.ts";
import { addressesOf, partsOf } from "../../src/dashboard/pages/segments/addresses.ts";
import { faultsOf, NO_FAULTS } from "../support/browser.ts";
import { valueAt } from "../support/json.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { newProjectWithPeople, openAs, type PeopledProject } from "./people.ts";

const filter = (field: string, operator: string, value?: unknown, unit?: string) => ({
  field,
  operator,
  ...(value === undefined ? {} : { value }),
  ...(unit === undefined ? {} : { unit }),
});
const all = (...filters: object[]) => ({ logic: "AND", groups: [{ filters }] });

test("pasted addresses may have names, commas and lines, and count once", () => {
  const text = 'Ada <ada@x.io>, "Bob" <bob@x.io>;\n\nada@x.io\tcyd@x.io no';
  expect(addressesOf(text)).toEqual(["ada@x.io", "bob@x.io", "cyd@x.io"]);
  expect(partsOf(Array.from({ length: 2_001 }, (_, i) => i)).map(({ length }) => length)).toEqual([
    1_000, 1_000, 1,
  ]);
});

describe("a condition as rows", () => {
  test.each([
    all(filter("data.plan", "equals", "pro")),
    all(filter("data.orders", "greaterThan", 3), filter("subscribed", "equals", true)),
    all(filter("event.purchase", "triggeredWithin", 30, "days")),
    all(filter("data.city", "in", ["Rome", "Bath"]), filter("data.born", "within", 5, "hours")),
    all(
      filter("event.purchase", "triggeredAtLeast", 3),
      { ...filter("event.purchase", "triggeredWith", "pro"), property: "plan", test: "equals" },
      {
        ...filter("event.purchase", "triggeredWith", 5, "days"),
        property: "until",
        test: "within",
      },
    ),
    all(
      filter("campaign.1", "wasNotOpened"),
      filter("template.1", "wasClickedWithin", 5, "days"),
      filter("link.https://x.io/a.b?c=d", "wasClicked"),
    ),
    all(filter("segment.1", "notMemberOf"), filter("email.opened", "notTriggered")),
    {
      logic: "OR",
      groups: [
        { filters: [filter("email", "endsWith", "@x.io")] },
        { filters: [filter("data.a", "exists"), filter("data.b", "equals", false)] },
      ],
    },
    {
      logic: "AND",
      groups: [
        { filters: [filter("subscribed", "equals", true)] },
        {
          filters: [],
          conditions: {
            logic: "OR",
            groups: [
              { filters: [filter("data.city", "equals", "Rome")] },
              { filters: [filter("data.city", "equals", "Bath")] },
            ],
          },
        },
      ],
    },
  ])("is the same after it was shown: %j", (condition) => {
    const draft = toDraft(condition);
    const made: unknown = draft === null ? null : toCondition(draft);
    expect(made).toEqual(condition);
  });

  test.each([
    // A third level, an unknown operator, a value of another type, and a list with numbers.
    {
      logic: "OR",
      groups: [
        {
          filters: [filter("data.a", "exists")],
          conditions: {
            logic: "OR",
            groups: [
              { filters: [filter("data.b", "exists")] },
              { filters: [filter("data.c", "exists")] },
            ],
          },
        },
        { filters: [filter("data.d", "exists")] },
      ],
    },
    all(filter("data.a", "soundsLike", "x")),
    all(filter("data.a", "contains", 5)),
    all(filter("data.a", "in", [1, "2"])),
    "nonsense",
  ])("that has no rows stays JSON: %j", (condition) => {
    expect(toDraft(condition)).toBeNull();
  });

  test("is incomplete while a value is missing", () => {
    const draft = toDraft(all(filter("data.plan", "equals", "pro")));
    const [row] = draft?.items ?? [];
    if (draft === null || row?.kind !== "row") throw new Error("there is no row");
    expect(toCondition({ ...draft, items: [{ ...row, text: "" }] })).toBeNull();
    expect(toCondition({ ...draft, items: [] })).toBeNull();
  });
});

test("rows that are kept are read again with new ids, also if they are not complete", () => {
  const city = { ...newRow(), field: "data.city", operator: "in", list: ["Rome"] };
  const draft = { logic: "OR", items: [city, newGroup(), newRow()] } as const;
  const kept: unknown = JSON.parse(JSON.stringify(withoutIds(draft)));
  const read = readDraft(kept);
  expect(read === null ? null : withoutIds(read)).toEqual(withoutIds(draft));
  const ids = (read?.items ?? []).flatMap((item) =>
    item.kind === "row" ? [item.id] : [item.id, ...item.rows.map(({ id }) => id)],
  );
  expect(new Set(ids).size).toBe(5);
  for (const other of [null, {}, { items: [] }, { items: [{}] }, { items: [{ kind: "row" }] }]) {
    expect(readDraft(other)).toBeNull();
  }
});

describe("the fault of a row", () => {
  const cases: [row: Partial<Row>, fault: string | null][] = [
    [{}, "Choose a field."],
    [{ field: "data.city", operator: "equals" }, "Enter a value."],
    [{ field: "data.city", operator: "equals", text: "Rome" }, null],
    [{ field: "data.city", operator: "in" }, "Enter at least one value."],
    [{ field: "createdAt", operator: "within" }, "Enter a number of days."],
    [
      { field: "createdAt", operator: "within", text: "0", unit: "hours" },
      "Enter a number of hours.",
    ],
    [{ field: "createdAt", operator: "within", text: "1.5" }, "Enter a number of days."],
    [{ field: "createdAt", operator: "within", text: "7" }, null],
    [{ field: "createdAt", operator: "equals" }, "Choose a date."],
    [{ field: "subscribed", operator: "equals" }, "Choose yes or no."],
    [
      { field: "event.buy", operator: "triggeredAtLeast", text: "0" },
      "Enter a whole number of at least 1.",
    ],
    [
      { field: "event.buy", operator: "triggeredWith", test: "equals" },
      "Enter the name of a property.",
    ],
    [{ field: "event.buy", operator: "triggered" }, null],
    [{ field: "data.n", dataKind: "number", operator: "equals", text: "x" }, "Enter a number."],
  ];
  test.each(cases)("%j is %p", (row, fault) => {
    expect(faultOf({ ...newRow(), ...row })?.text ?? null).toBe(fault);
  });
});

let project: PeopledProject;
beforePages(async () => {
  project = await newProjectWithPeople();
  const contacts = [
    { email: "ada@x.io", data: { city: "Berlin", orders: 5 } },
    { email: "bob@x.io", data: { city: "Berlin", orders: 1 } },
    { email: "cyd@x.io", data: { city: "Rome", orders: 9 } },
  ];
  for (const contact of contacts) await project.call("POST", "/contacts", contact);
  const bought = { event: "purchase", data: { plan: "pro" } };
  await project.call("POST", "/v1/track", { email: "ada@x.io", ...bought });
});

async function select(page: Page, label: string, option: string): Promise<void> {
  await page.locator(`input[aria-label="${label}"]`).click();
  await page.getByRole("option", { name: option, exact: true }).click();
}

describe("a segment", () => {
  pageTest(
    "is built from rows with its number at once, saved, changed as JSON, and listed",
    async () => {
      const opened = await openAs(project, "/segments", { person: "editor" });
      const { page, problems } = opened;
      await page.getByRole("link", { name: "Create a segment" }).click();
      await page.getByLabel("Name").fill("Buyers in Berlin");
      await select(page, "Field of Condition 1", "city");
      await page.getByLabel("Value of Condition 1").fill("Berlin");
      await page.getByText("2 contacts").waitFor();
      await page.getByRole("button", { name: "Add a condition" }).click();
      await select(page, "Field of Condition 2", "purchase");
      await select(page, "Operator of Condition 2", "with");
      await page.getByLabel("Property of Condition 2").fill("plan");
      await page.getByLabel("Value of Condition 2").fill("free");
      await page.getByText("0 contacts").waitFor();
      await page.getByLabel("Value of Condition 2").fill("pro");
      await page.getByText("1 contact", { exact: false }).first().waitFor();
      await opened.screenshot("segment-builder-event");
      await select(page, "Operator of Condition 2", "in the last");
      await page.getByLabel("Value of Condition 2").fill("30");
      await page.getByText("1 contact", { exact: false }).first().waitFor();
      await page.getByRole("list", { name: "The newest of them" }).getByText("ada@x.io").waitFor();
      await page.getByRole("button", { name: "Add a group" }).click();
      await select(page, "Field of Condition 3, part 1", "orders");
      await select(page, "Operator of Condition 3, part 1", "is at least");
      await page.getByLabel("Value of Condition 3, part 1").fill("5");
      await select(page, "Field of Condition 3, part 2", "Subscribed");
      await select(page, "Value of Condition 3, part 2", "no");
      await page.getByText("1 contact", { exact: false }).first().waitFor();
      for (const layout of ["light", "phone-dark"] as const) {
        await opened.setLayout(layout);
        await opened.screenshot("segment-builder");
        expect(await faultsOf(opened)).toEqual(NO_FAULTS);
      }
      await opened.setLayout("light");
      await page.getByRole("button", { name: "Create the segment" }).click();
      await page.getByRole("heading", { level: 1, name: "Buyers in Berlin" }).waitFor();
      await page.getByRole("link", { name: "Edit" }).click();
      await page.getByRole("button", { name: "Edit as JSON" }).click();
      const json = page.getByLabel("Condition as JSON");
      const text = await json.inputValue();
      await json.fill(text.replace("Berlin", "Rome"));
      await page.getByText("0 contacts").waitFor();
      await json.fill("{");
      await page.getByText("This is no JSON object.").waitFor();
      expect(await page.getByRole("button", { name: "Save", exact: true }).isDisabled()).toBe(true);
      await json.fill(
        text.replace('"purchase"', '"purchase2"').replace("triggeredWithin", "sounds"),
      );
      await page.getByRole("alert").getByText("operator", { exact: false }).first().waitFor();
      await json.fill(JSON.stringify(all(filter("data.city", "equals", "Rome"))));
      await page.getByText("1 contact", { exact: false }).first().waitFor();
      await page.getByRole("button", { name: "Edit as rows" }).click();
      expect(await page.getByLabel("Value of Condition 1").inputValue()).toBe("Rome");
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await page.getByRole("heading", { level: 1, name: "Buyers in Berlin" }).waitFor();
      const list = await project.call("GET", "/segments");
      expect(valueAt(list, "data.items.0.condition")).toEqual(
        all(filter("data.city", "equals", "Rome")),
      );
      expect(problems.filter((problem) => !problem.includes("status of 422"))).toEqual([]);
      await opened.close();
    },
  );

  pageTest(
    "that is not complete names what is missing, and survives leaving the page",
    async () => {
      const own = await newProjectWithPeople();
      const opened = await openAs(own, "/segments/new", { person: "editor" });
      const { page, problems, close } = opened;
      await page.getByLabel("Name").fill("Recent buyers");
      await select(page, "Field of Condition 1", "Added");
      await page.getByRole("button", { name: "Add a condition" }).click();
      const missing = page.getByText("Enter a number of days.");
      await missing.waitFor();
      const amount = page.getByRole("textbox", { name: "Value of Condition 1" });
      expect(await amount.getAttribute("aria-invalid")).toBe("true");
      expect(await amount.getAttribute("aria-describedby")).toBe(await missing.getAttribute("id"));
      await opened.screenshot("segment-builder-missing");
      // The row that was just added is not faulty yet.
      expect(await page.getByText("Choose a field.").count()).toBe(0);
      await page.getByRole("link", { name: "Segments" }).first().click();
      await page.getByText("No segments yet").waitFor();
      await page.goBack();
      await page.getByText("These changes were kept in this browser").waitFor();
      expect(await page.getByLabel("Name").inputValue()).toBe("Recent buyers");
      await opened.screenshot("segment-builder-kept");
      await page.getByRole("group", { name: "Condition 2" }).waitFor();
      await amount.fill("30");
      await page.getByRole("button", { name: "Remove Condition 2" }).click();
      await page.getByRole("button", { name: "Create the segment" }).click();
      await page.getByRole("heading", { level: 1, name: "Recent buyers" }).waitFor();

      await page.getByRole("link", { name: "Edit" }).click();
      await amount.fill("");
      await page.reload();
      await page.getByText("These changes were kept in this browser").waitFor();
      expect(await amount.inputValue()).toBe("");
      await page.getByRole("button", { name: "Start over" }).click();
      expect(await amount.inputValue()).toBe("30");
      await amount.fill("40");
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("button", { name: "Discard" }).click();
      await page.getByRole("link", { name: "Edit" }).click();
      await amount.waitFor();
      expect(await amount.inputValue()).toBe("30");
      expect(await page.getByText("These changes were kept").count()).toBe(0);
      expect(problems).toEqual([]);
      await close();
    },
  );

  pageTest("that is a list gets pasted contacts, and loses them with an undo", async () => {
    const { page, problems, close } = await openAs(project, "/segments/new", { person: "editor" });
    await page.getByLabel("Name").fill("Speakers");
    await page.getByText("A list that you fill").click();
    await page.getByRole("button", { name: "Create the segment" }).click();
    await page.getByRole("link", { name: "0 members" }).click();
    await page.getByRole("button", { name: "Add contacts" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Email addresses").fill("Ada <ada@x.io>, bob@x.io\nnew@x.io\n");
    await form.getByRole("button", { name: "Add 3 contacts" }).click();
    await form.getByText("1 address has no contact and was not added: new@x.io").waitFor();
    await form.getByLabel("Create contacts for new addresses", { exact: false }).check();
    await form.getByRole("button", { name: "Add 3 contacts" }).click();
    await form.waitFor({ state: "detached" });
    await page.locator("[data-row]").getByText("new@x.io").waitFor();
    await page.locator("[data-row]", { hasText: "ada@x.io" }).getByRole("checkbox").check();
    await page.getByRole("button", { name: "Remove from the list" }).click();
    await page.getByText("Removed 1 contact.").waitFor();
    await page.locator("[data-row]").getByText("ada@x.io").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await page.locator("[data-row]").getByText("ada@x.io").waitFor();
    expect(problems).toEqual([]);
    await close();
  });
});
