/**
 * Executions after a crash. A copy of the database stands for the state that a crash leaves. Each
 * step must happen once.
 */

import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../../src/db/open.ts";
import { type Automation, HOUR, MINUTE, startAutomation } from "../../support/automation.ts";
import { manualClock } from "../../support/clock.ts";
import { startWebServer, type WebServer } from "../../support/web-server.ts";
import { chain, delay, step } from "./graphs.ts";

const folders: string[] = [];
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function start(options: Parameters<typeof startAutomation>[0] = {}): Promise<Automation> {
  const a = await startAutomation(options);
  closers.push(() => a.close());
  return a;
}

/** Starts an application on a copy of the database, as if `laterMs` after a crash. */
async function afterCrash({ t: { db, clock } }: Automation, laterMs = 0): Promise<Automation> {
  const folder = mkdtempSync(join(tmpdir(), "mailstead-test-"));
  folders.push(folder);
  const file = join(folder, "copy.db");
  db.sqlite.run("VACUUM INTO ?", [file]);
  const a = await start({ db: openDatabase(file), clock: manualClock(clock.now() + laterMs) });
  await a.settle();
  return a;
}

test("an event that was not read before the crash starts its workflow once", async () => {
  const before = await start();
  const id = await before.workflow(chain(step("end", "EXIT")));
  await before.t.call("POST", "/v1/track", { event: "signed-up", email: "ada@example.net" });
  // The test has not waited for the runner, so it has not read the event yet.
  expect(before.t.countRows("workflow_executions")).toBe(0);
  const after = await afterCrash(before);
  expect(await after.only(id)).toMatchObject({ status: "EXITED" });
  const again = await afterCrash(after);
  expect(await again.only(id)).toMatchObject({ status: "EXITED" });
});

test("a SEND_EMAIL step that was completed before the crash is not repeated", async () => {
  const before = await start();
  const templateId = await before.template();
  const id = await before.workflow(
    chain(step("mail", "SEND_EMAIL", { templateId }), delay("wait")),
  );
  await before.track("signed-up");
  const after = await afterCrash(before);
  expect(after.mails()).toHaveLength(1);
  expect((await after.only(id)).steps).toEqual(["start COMPLETED", "mail COMPLETED"]);
});

test.each([
  ["in time", HOUR],
  ["late", 30 * HOUR],
])("a delay ends in the next process, %s", async (_, laterMs) => {
  const before = await start();
  const id = await before.workflow(chain(delay("wait", 1, "hours"), step("end", "EXIT")));
  await before.track("signed-up");
  const after = await afterCrash(before, laterMs);
  expect(await after.only(id)).toMatchObject({ status: "EXITED" });
});

describe("a wait", () => {
  const flow = () =>
    chain(
      step("wait", "WAIT_FOR_EVENT", { eventName: "bought", timeout: 3600 }),
      step("end", "EXIT"),
    );

  test("is ended by an event in the next process", async () => {
    const before = await start();
    const id = await before.workflow(flow());
    await before.track("signed-up");
    const after = await afterCrash(before, 10 * MINUTE);
    await after.track("bought", { n: 1 });
    expect(await after.only(id)).toMatchObject({ status: "EXITED", context: { n: 1 } });
  });

  test("is ended by an event that was recorded before the crash and before its timeout", async () => {
    const before = await start();
    const id = await before.workflow(flow());
    await before.track("signed-up");
    await before.t.call("POST", "/v1/track", { event: "bought", email: "ada@example.net" });
    const after = await afterCrash(before, 2 * HOUR);
    expect(await after.only(id)).toMatchObject({ status: "EXITED" });
  });

  test("times out in the next process", async () => {
    const before = await start();
    const id = await before.workflow(flow());
    await before.track("signed-up");
    const after = await afterCrash(before, 2 * HOUR);
    expect((await after.only(id)).steps[1]).toBe("wait COMPLETED:timeout");
  });
});

test("an execution that was started through the API continues", async () => {
  const before = await start();
  const id = await before.workflow(chain(step("end", "EXIT")));
  const contact = await before.t.call("POST", "/contacts", { email: "ada@example.net" });
  await before.settle();
  await before.t.call("POST", `/workflows/${id}/executions`, { contactId: contact.text("id") });
  const after = await afterCrash(before);
  expect(await after.only(id)).toMatchObject({ status: "EXITED" });
});

describe("a webhook", () => {
  let server: WebServer;
  async function called(answer: WebServer["answer"]) {
    server = await startWebServer({ answer });
    closers.push(() => server.close());
    const before = await start();
    const url = `${server.origin}/hook`;
    const id = await before.workflow(
      chain(step("call", "WEBHOOK", { url, method: "POST" }), step("end", "EXIT")),
    );
    return { before, id };
  }

  test("under way at the crash is called again a few seconds later with the same id", async () => {
    const held: (() => void)[] = [];
    const { before, id } = await called((_, count) =>
      count === 1 ? { write: (response) => void held.push(() => response.end()) } : { status: 200 },
    );
    const tracked = before.track("signed-up");
    while (server.requests.length === 0) await Bun.sleep(0);
    const after = await afterCrash(before);
    expect(server.requests).toHaveLength(1);
    await after.advance(6_000);
    expect(await after.only(id)).toMatchObject({ status: "EXITED" });
    expect(server.requests).toHaveLength(2);
    const ids = server.requests.map(({ headers }) => String(headers["webhook-id"]));
    expect(new Set(ids).size).toBe(1);
    for (const release of held) release();
    await tracked;
  });

  test("under way in version 0.1, which stored that in the row, is called again", async () => {
    const held: (() => void)[] = [];
    const { before, id } = await called((_, count) =>
      count === 1 ? { write: (response) => void held.push(() => response.end()) } : { status: 200 },
    );
    const tracked = before.track("signed-up");
    while (server.requests.length === 0) await Bun.sleep(0);
    before.t.db.sqlite.run(
      "UPDATE workflow_executions SET due_for = 'ANSWER', due_at = due_at + 60000",
    );
    const after = await afterCrash(before);
    await after.advance(MINUTE);
    expect(await after.only(id)).toMatchObject({ status: "EXITED" });
    for (const release of held) release();
    await tracked;
  });

  test("whose result was stored is not called again", async () => {
    const { before, id } = await called(() => ({ status: 200 }));
    await before.track("signed-up");
    const after = await afterCrash(before);
    await after.advance(HOUR);
    expect(await after.only(id)).toMatchObject({ status: "EXITED" });
    expect(server.requests).toHaveLength(1);
  });

  test("that waits for a retry keeps its due time and its number of tries", async () => {
    const { before, id } = await called((_, count) => ({ status: count === 1 ? 500 : 200 }));
    await before.track("signed-up");
    const after = await afterCrash(before);
    expect(server.requests).toHaveLength(1);
    await after.advance(2 * MINUTE);
    expect(await after.only(id)).toMatchObject({ status: "EXITED" });
  });

  test("under way when the process stops is called again by the next one", async () => {
    const { before, id } = await called((_, count) =>
      count === 1 ? { write: () => {} } : { status: 200 },
    );
    void before.track("signed-up");
    while (server.requests.length === 0) await Bun.sleep(0);
    const stop = { isOver: false };
    void before.t.app.automation.stop().then(() => (stop.isOver = true));
    while (!stop.isOver) {
      before.t.clock.advance(1_000);
      await Bun.sleep(0);
    }
    const after = await afterCrash(before);
    await after.advance(6_000);
    expect(await after.only(id)).toMatchObject({ status: "EXITED" });
  });
});

test("an UPDATE_CONTACT step that was completed before the crash is not repeated", async () => {
  const before = await start();
  const config = { updates: { plan: "pro" }, subscriptionAction: "unsubscribe" };
  const id = await before.workflow(chain(step("set", "UPDATE_CONTACT", config), delay("wait")));
  await before.track("signed-up");
  const after = await afterCrash(before);
  expect((await after.only(id)).steps).toEqual(["start COMPLETED", "set COMPLETED"]);
  expect(after.t.eventNames().filter((name) => name === "contact.unsubscribed")).toHaveLength(1);
});
