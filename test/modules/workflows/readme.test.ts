/** The series of the README, as it stands there. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type TestApp, testApp } from "../../support/app.ts";
import { listAt, textAt } from "../../support/json.ts";

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
afterAll(() => t.close());

/** What the README sends to /workflows, with templates that are there. */
async function series(): Promise<string> {
  const readme = await Bun.file(join(import.meta.dir, "../../../README.md")).text();
  const [, json = ""] = /curl \$URL\/workflows [^']*'[^']*' -d '([^']*)'/.exec(readme) ?? [];
  const template = (name: string) =>
    t.create(
      "/templates",
      { name, subject: name, body: `<p>${name}</p>`, type: "MARKETING", from: "a@acme.test" },
      "data.id",
    );
  return json
    .replace("WELCOME_ID", await template("Welcome"))
    .replace("REMINDER_ID", await template("Reminder"));
}

test("the README's series is taken as it stands there, and begins with its first mail", async () => {
  const answer = await t.call("POST", "/workflows", JSON.parse(await series()));
  expect(answer.status).toBe(201);
  expect(answer.at("data.trigger.eventName")).toBe("signed-up");
  const ids = listAt(answer.body, "data.steps").map((step) => textAt(step, "id"));
  expect(ids).toEqual(["trigger", "hello", "rest", "opened", "done", "again", "tell", "mark"]);
  const [, ...ways] = listAt(answer.body, "data.transitions").toReversed();
  expect(ways).toHaveLength(6);
  expect(answer.at("data.transitions.6")).toMatchObject({ from: "trigger", to: "hello" });
});
