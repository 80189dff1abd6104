/** Tests WAIT_FOR_EVENT: the events that end the wait, and the race with its timeout. */

import { beforeEach, describe, expect, test } from "bun:test";
import { type Automation, HOUR, MINUTE, automationPerTest } from "../../support/automation.ts";
import { summarizeLog } from "../../support/log.ts";
import { chain, graph, step, trigger } from "./graphs.ts";

let a: Automation;
const next = automationPerTest();
beforeEach(async () => {
  a = await next();
});

/** Waits one hour for `purchase`, then exits with the reason `bought` or `late`. */
const race = () =>
  graph(
    [
      trigger(),
      step("wait", "WAIT_FOR_EVENT", { eventName: "purchase", timeout: 3600 }),
      step("bought", "EXIT", { reason: "bought" }),
      step("late", "EXIT", { reason: "late" }),
    ],
    ["start>wait", "wait>bought", "wait>late:timeout"],
  );

const outcome = async (id: string) => (await a.only(id)).exitReason;

/** Inserts an event into the log without waking the runner. */
function recorded(name: string, at: number, data: unknown = null): void {
  a.t.db.sqlite.run(
    `INSERT INTO events (id, project_seq, name, contact_seq, data, created_at)
     SELECT ?, project_seq, ?, seq, ?, ? FROM contacts WHERE email = 'ada@example.net' AND project_seq = ?`,
    [crypto.randomUUID(), name, JSON.stringify(data), at, a.t.project.seq],
  );
  summarizeLog(a.t.db.sqlite);
}

describe("an event", () => {
  test("of the contact ends the wait, and its data is added to the context", async () => {
    const id = await a.workflow(race());
    await a.track("signed-up", { plan: "pro", amount: 0 });
    expect(await a.only(id)).toMatchObject({ status: "WAITING", currentStepId: "wait" });
    await a.track("purchase", { amount: 20 });
    expect(await a.only(id)).toMatchObject({
      status: "EXITED",
      exitReason: "bought",
      context: { plan: "pro", amount: 20 },
      steps: ["start COMPLETED", "wait COMPLETED", "bought COMPLETED"],
      details: [null, { event: "purchase" }, null],
    });
  });

  test("of another contact, name or project does not end the wait", async () => {
    const id = await a.workflow(race());
    await a.track("signed-up");
    await a.track("purchase", {}, "bob@example.net");
    await a.track("purchases");
    const other = await a.t.makeProject("other");
    const body = { event: "purchase", email: "ada@example.net" };
    await a.t.call("POST", "/v1/track", body, { key: other.secretKey });
    await a.settle();
    expect(await a.only(id)).toMatchObject({ status: "WAITING" });
  });

  test("ends the waits of all workflows and starts those that it triggers", async () => {
    const first = await a.workflow(race());
    const second = await a.workflow(race());
    const third = await a.workflow({
      ...chain(step("end", "EXIT")),
      steps: [trigger("purchase"), step("end", "EXIT")],
    });
    await a.track("signed-up");
    await a.track("purchase");
    expect([await outcome(first), await outcome(second)]).toEqual(["bought", "bought"]);
    expect(await a.only(third)).toMatchObject({ status: "EXITED" });
  });

  test("that started the execution does not end a wait for its own name", async () => {
    const id = await a.workflow(chain(step("wait", "WAIT_FOR_EVENT", { eventName: "signed-up" })));
    await a.track("signed-up");
    expect(await a.only(id)).toMatchObject({ status: "WAITING" });
    await a.track("signed-up");
    expect(await a.only(id)).toMatchObject({ status: "COMPLETED" });
  });

  test("that the service records ends the wait", async () => {
    const id = await a.workflow(
      chain(step("wait", "WAIT_FOR_EVENT", { eventName: "contact.unsubscribed" })),
    );
    await a.track("signed-up");
    await a.t.call("PATCH", `/contacts/${a.contactId()}`, { subscribed: false });
    await a.settle();
    expect(await a.only(id)).toMatchObject({ status: "COMPLETED" });
  });
});

describe("the race with the timeout", () => {
  test("an event in the last millisecond wins", async () => {
    const id = await a.workflow(race());
    await a.track("signed-up");
    await a.advance(HOUR);
    expect(await a.only(id)).toMatchObject({ status: "WAITING" });
    await a.track("purchase");
    expect(await outcome(id)).toBe("bought");
  });

  test("the timeout wins one millisecond later", async () => {
    const id = await a.workflow(race());
    await a.track("signed-up");
    await a.advance(HOUR + 1);
    expect(await outcome(id)).toBe("late");
    await a.track("purchase");
    expect((await a.only(id)).steps[1]).toBe("wait COMPLETED:timeout");
  });

  test.each([
    ["the event was earlier", HOUR - 1, "bought"],
    ["both came at the same moment", HOUR, "bought"],
    ["the event was later", HOUR + 1, "late"],
  ])("a late runner decides by the times if %s", async (_, after, reason) => {
    const id = await a.workflow(race());
    await a.track("signed-up");
    const now = a.t.clock.now();
    // The event is recorded and the timeout passes before the runner reads the log.
    recorded("purchase", now + after, { amount: 20 });
    await a.advance(2 * HOUR);
    expect(await outcome(id)).toBe(reason);
  });

  test("an event before the wait is ignored, and one after its beginning ends it", async () => {
    const id = await a.workflow(
      chain(
        step("pause", "DELAY", { amount: 10, unit: "minutes" }),
        step("wait", "WAIT_FOR_EVENT", { eventName: "purchase" }),
      ),
    );
    await a.track("signed-up");
    const now = a.t.clock.now();
    recorded("purchase", now + 5 * MINUTE, { number: 1 });
    recorded("purchase", now + 15 * MINUTE, { number: 2 });
    await a.advance(20 * MINUTE);
    expect(await a.only(id)).toMatchObject({ status: "COMPLETED", context: { number: 2 } });
  });

  test("a click that is not in the log yet wins if it was earlier than the timeout", async () => {
    const templateId = await a.template({ body: '<a href="https://example.com/">x</a>' });
    const id = await a.workflow(
      graph(
        [
          trigger(),
          step("mail", "SEND_EMAIL", { templateId }),
          step("wait", "WAIT_FOR_EVENT", { eventName: "email.clicked", timeout: 3600 }),
          step("clicked", "EXIT", { reason: "clicked" }),
        ],
        ["start>mail", "mail>wait", "wait>clicked"],
      ),
    );
    await a.track("signed-up");
    await a.t.deliver();
    await a.settle();
    const emailId = (await a.t.call("GET", "/emails")).text("data.items.0.id");
    const raw = (await a.t.call("GET", `/emails/${emailId}/raw`)).text("");
    const [, path = ""] =
      /href="https?:\/\/[^/]+(\/c\/[^"]+)"/.exec(
        raw.replaceAll("=\r\n", "").replaceAll("=3D", "="),
      ) ?? [];
    a.t.clock.advance(HOUR - 500);
    await a.t.app.handle(
      new Request(`http://localhost${path}`, {
        headers: { "user-agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0" },
      }),
    );
    await a.advance(501);
    expect(await outcome(id)).toBe("clicked");
  });
});

test("a step without a timeout waits for an unlimited time", async () => {
  const id = await a.workflow(chain(step("wait", "WAIT_FOR_EVENT", { eventName: "purchase" })));
  await a.track("signed-up");
  await a.advance(1000 * 24 * HOUR);
  expect(await a.only(id)).toMatchObject({ status: "WAITING" });
});

test("a clock that is set back does not end or lose a wait", async () => {
  const id = await a.workflow(race());
  await a.track("signed-up");
  a.t.clock.advance(-HOUR);
  await a.advance(HOUR);
  expect(await a.only(id)).toMatchObject({ status: "WAITING" });
  await a.advance(HOUR + 1);
  expect(await outcome(id)).toBe("late");
});
