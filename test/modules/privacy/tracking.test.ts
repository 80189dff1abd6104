/** The choice of a contact limits the tracking that its project has set. */

import { expect, test } from "bun:test";
import type { TrackingMode } from "../../../src/db/schema/projects.ts";
import { settleEventLoop } from "../../support/eventually.ts";
import { mailingOf } from "../../support/mailing.ts";
import { projectPerTest } from "../../support/project-per-test.ts";

const projects = projectPerTest();

const CASES: [mode: TrackingMode, choice: boolean | null, isTracked: boolean][] = [
  ["MARKETING_ONLY", null, true],
  ["MARKETING_ONLY", false, false],
  ["MARKETING_ONLY", true, true],
  ["ENABLED", false, false],
  ["CONSENT", null, false],
  ["CONSENT", false, false],
  ["CONSENT", true, true],
  ["DISABLED", true, false],
];

test("a mail is tracked as the project and its contact allow", async () => {
  const { t, send, setProject } = mailingOf(await projects.next());
  const id = await t.create("/contacts", { email: "ada@example.net" }, "id");
  for (const [mode, choice, isTracked] of CASES) {
    setProject({ tracking: mode });
    const { status, body } = await t.call("PATCH", `/contacts/${id}`, { tracking: choice });
    expect(status).toBe(200);
    expect(body).toMatchObject(choice === null ? {} : { tracking: choice });
    const { pixel } = await send({ to: "ada@example.net" });
    expect([mode, choice, pixel !== null]).toEqual([mode, choice, isTracked]);
  }
  const ledger = await t.call("GET", `/contacts/${id}/consents?limit=100`);
  expect(ledger.text("data.items.0.purpose")).toBe("TRACKING");
});

test("an open of a mail that was sent before the contact refused is not recorded", async () => {
  const { t, send, fetchAs, events } = mailingOf(await projects.next());
  const { pixel } = await send({ to: "ada@example.net" });
  const id = (await t.call("GET", "/contacts?search=ada@example.net")).text("contacts.0.id");
  await t.call("PATCH", `/contacts/${id}`, { tracking: false });
  t.clock.advance(60_000);
  expect((await fetchAs("GET", pixel ?? "")).status).toBe(200);
  t.clock.advance(2_000);
  await settleEventLoop();
  expect(events().filter(({ name }) => name.startsWith("email."))).toEqual([]);
});
