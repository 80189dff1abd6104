/** The versions of a workflow: the changes of each, and the way back to one. */

import { describe, expect } from "bun:test";
import { expectSoon } from "../support/eventually.ts";
import { stringAt, valueAt } from "../support/json.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { newProjectWithPeople, openAs, type PeopledProject } from "./people.ts";

let server: PeopledProject;
let id: string;

const graph = (amount: number, exits: object[] = []) => ({
  exits,
  trigger: { type: "EVENT", eventName: "signed_up" },
  steps: [{ id: "wait", type: "DELAY", name: "A short rest", config: { amount, unit: "days" } }],
});

beforePages(async () => {
  server = await newProjectWithPeople();
  const body = { name: "Welcome", ...graph(2) };
  id = stringAt(await server.call("POST", "/workflows", body), "data.id");
  await server.call("PATCH", `/workflows/${id}`, graph(3, [{ on: "UNSUBSCRIBED" }]));
});

describe("the versions of a workflow", () => {
  pageTest("name their changes, and one is restored by saving it", async () => {
    const { page, problems, close } = await openAs(server, `/workflows/${id}?tab=versions`, {
      person: "editor",
    });
    const list = page.getByRole("list", { name: "Versions, newest first" });
    await list.getByRole("button", { name: /^Version 2/ }).waitFor();
    const detail = page.getByRole("region", { name: "The chosen version" });
    await detail.getByText("Changed step “A short rest”").waitFor();
    await detail.getByText("exit when the contact unsubscribes").waitFor();
    expect(await detail.getByRole("definition").allInnerTexts()).toEqual(["2 → 3"]);

    await list.getByRole("button", { name: /^Version 1/ }).click();
    await detail.getByText("This is the oldest version that is kept.").waitFor();
    await detail.getByRole("button", { name: "Restore this version" }).click();
    await page.getByText("Unsaved changes").waitFor();
    await page.getByRole("button", { name: "Save changes" }).click();
    await expectSoon(async () => {
      const stored = await server.call("GET", `/workflows/${id}`);
      return [valueAt(stored, "data.steps.1.config.amount"), valueAt(stored, "data.exits")];
    }, [2, []]);
    expect(problems).toEqual([]);
    await close();
  });
});
