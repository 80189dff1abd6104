/** A contact with so many mails and events that it is removed in parts. */

import { afterEach, expect, test } from "bun:test";
import { checkSteps } from "../../../src/cli/check/steps.ts";
import { contactMails } from "../../../src/outbox/contact-mails.ts";
import { erasures } from "../../../src/db/schema/erasures.ts";
import { erasedAddresses, erasePerson, removePart } from "../../../src/modules/privacy/erasures.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { startAutomation } from "../../support/automation.ts";
import { waitUntilRead } from "../../support/eventually.ts";
import { ACCEPTED, testTransport } from "../../support/transport.ts";
import { chain, delay, step } from "../workflows/graphs.ts";

const ADA = "ada@example.com";
const MAIL = { from: "a@acme.test", to: ADA, subject: "Hello", body: "<p>Dear Ada</p>" };

const LATER = "2026-03-03T10:00:00.000Z";

let t: TestApp;
afterEach(() => t.close());

/** An application whose clock shows at each look that the time of a part is over. */
async function open(options: Parameters<typeof testApp>[0] = {}): Promise<void> {
  let looks = 0;
  const clock = manualClock();
  const ticking = { ...clock, elapsed: () => clock.elapsed() + 10 * looks++ };
  const transport = testTransport({ answer: ACCEPTED });
  t = await testApp({ clock: ticking, transport, ...options });
}

/** A contact with 600 events of two names, and some mails, of which the last waits. */
async function fill(): Promise<void> {
  for (let i = 0; i < 600; i++) {
    await t.call("POST", "/v1/track", { event: `e${i % 2}`, email: ADA, data: { name: "Ada" } });
  }
  for (const subject of ["One", "Two"]) await t.call("POST", "/v1/send", { ...MAIL, subject });
  await t.deliver();
  await t.call("POST", "/v1/send", { ...MAIL, subject: "Three", scheduledAt: LATER });
}

function findings(): string[] {
  return checkSteps(t.db.sqlite).flatMap(({ name, pieces }) =>
    pieces.flatMap(({ find }) => find()).map(({ id, finding }) => `${name}: ${id} ${finding}`),
  );
}

const left = () => ({
  contacts: t.countRows("contacts"),
  mails: t.countRows("emails WHERE contact_seq IS NOT NULL OR to_address IS NOT NULL"),
  events: t.countRows("events WHERE contact_seq IS NOT NULL OR data LIKE '%Ada%'"),
  summaries: t.countRows("contact_events"),
  bodies: t.countRows("messages WHERE html <> ''"),
});
const NOTHING = { contacts: 0, mails: 0, events: 0, summaries: 0, bodies: 0 };

test("nothing is left when the request is answered, and waiting mail is cancelled", async () => {
  await open();
  await fill();
  const id = (await t.call("GET", "/contacts")).text("contacts.0.id");
  const erase = () =>
    t.call("POST", `/contacts/${id}/erasure`, undefined, { headers: { "idempotency-key": "one" } });
  const answer = await erase();
  expect(answer.status).toBe(201);
  expect(left()).toEqual(NOTHING);
  expect((await t.call("GET", `/contacts/${id}`)).status).toBe(404);
  expect(t.countRows("emails WHERE status = 'CANCELLED'")).toBe(1);
  expect(answer.at("data.counts")).toMatchObject({ contacts: 1, emails: 3 });
  expect((await erase()).body).toEqual(answer.body);
  expect((await t.call("GET", "/erasures")).at("data.total")).toBe(1);
});

test("each part leaves a consistent database, and a restart goes on", async () => {
  await open();
  await fill();
  const { app } = t.app;
  const person = { projectSeq: t.project.seq, email: ADA };
  const row = await app.writer.write(() => erasePerson(app, person, { kind: "PERSON" }));
  const before = left();
  expect(before).toMatchObject({ contacts: 1, mails: 3 });
  for (let i = 0; i < 5; i++) {
    expect(await app.writer.write(() => removePart(app, row.seq))).toBe(true);
    expect(findings()).toEqual([]);
  }
  expect(left().mails).toBe(0);
  expect(left().events).toBeLessThan(before.events - 200);
  const { db } = t;
  await t.close();

  await open({ db, project: "other" });
  await t.start();
  await waitUntilRead(async () => {
    t.clock.advance(1_000);
    return t.countRows("erasures WHERE state = 'COMPLETED'") === 1;
  });
  expect(left()).toEqual(NOTHING);
  expect(findings()).toEqual([]);
});

test("a contact that is erased again, with another address meanwhile, has one receipt and leaves neither", async () => {
  await open();
  await fill();
  const { app } = t.app;
  const { seq: projectSeq } = t.project;
  const erase = (email: string) =>
    app.writer.write(() => erasePerson(app, { projectSeq, email }, { kind: "PERSON" }));
  const first = await erase(ADA);
  const id = (await t.call("GET", "/contacts")).text("contacts.0.id");
  await t.call("PATCH", `/contacts/${id}`, { email: "countess@example.com" });
  expect((await erase("countess@example.com")).id).toBe(first.id);
  while (await app.writer.write(() => removePart(app, first.seq)));
  const [row] = app.db.select().from(erasures).all();
  if (row === undefined) throw new Error("there is no receipt");
  expect(erasedAddresses(app, row)).toEqual([ADA, "countess@example.com"]);
  expect(t.countRows("erasures")).toBe(1);
});

test("an erasure that cannot go on does not hold back the next one", async () => {
  await open();
  for (const email of [ADA, "eve@example.com"]) await t.call("POST", "/erasures", { email });
  t.db.sqlite.run("UPDATE erasures SET subject = x'00' WHERE seq = 1");
  await t.start();
  await waitUntilRead(async () => {
    t.clock.advance(1_000);
    return t.countRows("erasures WHERE state = 'COMPLETED'") === 1;
  });
  expect(t.countRows("erasures WHERE state = 'RUNNING' AND seq = 1")).toBe(1);
});

test("a message of which a copy still waits is left to the last part", async () => {
  await open();
  await t.call("POST", "/v1/send", MAIL);
  await t.deliver();
  await t.call("POST", "/v1/send", { ...MAIL, scheduledAt: LATER });
  expect(t.countRows("messages")).toBe(1);
  const contact = t.db.sqlite.query<{ seq: number }, []>("SELECT seq FROM contacts").get();
  const ended = () => contactMails(t.app.app).ended(contact?.seq ?? 0, 10);
  expect(ended()).toEqual([]);
  t.db.sqlite.run("UPDATE emails SET next_at = NULL, status = 'CANCELLED' WHERE status = 'QUEUED'");
  expect(ended()).toHaveLength(2);
});

test("received mails leave one after another, because each may be large", async () => {
  await open();
  await t.call("POST", "/contacts", { email: ADA });
  const { sqlite } = t.db;
  for (let i = 0; i < 11; i++) {
    sqlite.run(
      `INSERT INTO received_mails (id, project_seq, contact_seq, state, received_at, size)
       SELECT ?, project_seq, seq, 'RECEIVED', 1, 1 FROM contacts`,
      [`received ${i}`],
    );
  }
  const { app } = t.app;
  const person = { projectSeq: t.project.seq, email: ADA };
  const row = await app.writer.write(() => erasePerson(app, person, { kind: "PERSON" }));
  const counts = [t.countRows("received_mails")];
  while (await app.writer.write(() => removePart(app, row.seq))) {
    counts.push(t.countRows("received_mails"));
  }
  expect(counts).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  expect(left()).toEqual(NOTHING);
  expect(JSON.parse(row.counts)).toMatchObject({ received_mails: 11 });
});

test("workflows of the contact end with the first change, so that they mail nobody between the parts", async () => {
  const a = await startAutomation();
  t = a.t;
  const templateId = await a.template({ type: "TRANSACTIONAL" });
  await a.workflow(chain(delay("wait"), step("mail", "SEND_EMAIL", { templateId })));
  await a.track("signed-up", {}, ADA);
  for (let i = 0; i < 500; i++) await t.call("POST", "/v1/track", { event: "seen", email: ADA });
  const { app } = t.app;
  const statuses = await app.writer.write(() => {
    erasePerson(app, { projectSeq: t.project.seq, email: ADA }, { kind: "PERSON" });
    const sql = "SELECT status FROM workflow_executions WHERE contact_seq IS NOT NULL";
    return t.db.sqlite.query<{ status: string }, []>(sql).all();
  });
  expect(statuses).toEqual([{ status: "CANCELLED" }]);
});
