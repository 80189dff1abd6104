/** Fills an application with data of every kind, through its API, as a month of use does. */

import type { Outcome } from "../../src/outbox/outcome.ts";
import { FASTEST_PERSON_MS } from "../../src/modules/tracking/machines.ts";
import type { Db } from "../../src/db/open.ts";
import { type TestApp, testApp } from "./app.ts";
import { waitUntil, settleEventLoop } from "./eventually.ts";
import { BROWSER, received } from "./mailing.ts";
import { drawImage } from "./images.ts";
import { signIn } from "./session.ts";
import { ACCEPTED, DEFERRED, type HandedMail, testTransport } from "./transport.ts";
import { startWebServer } from "./web-server.ts";
import { processReport } from "../../src/modules/bounces/bounces.ts";
import { abGroup, REST } from "../../src/modules/campaigns/ab-tests/ab-groups.ts";

const SECOND = 1_000;
const HOUR = 60 * 60 * SECOND;

const BOUNCED: Outcome = {
  kind: "bounced",
  class: "no_such_recipient",
  reason: "550 5.1.1 no such user",
  conversations: [],
};
const FAILED: Outcome = { ...BOUNCED, kind: "failed", class: "content" };

/** Outcomes by the first word of the recipient's address. All other mails are accepted. */
const OUTCOMES: Readonly<Record<string, Outcome>> = {
  bounce: BOUNCED,
  later: DEFERRED,
  fail: FAILED,
  direct: { ...ACCEPTED, kind: "accepted", class: "accepted", final: true },
};

function outcomeOf(mail: HandedMail | undefined): Outcome {
  return OUTCOMES[mail?.object.envelope.to.split(/[-@]/)[0] ?? ""] ?? ACCEPTED;
}

/** Fills the database and closes the application on it. */
export async function fillDatabase(db: Db, folder: string): Promise<void> {
  const server = await startWebServer({
    answer: ({ path }) => ({ status: path === "/gone" ? 500 : 200, body: "{}" }),
  });
  const transport = testTransport();
  transport.answer = () => outcomeOf(transport.handed.at(-1));
  const t = await testApp({
    db,
    folder,
    transport,
    config: {
      allowPrivateAddresses: true,
      transport: "relay",
      relayUrl: { host: "relay.test", port: 25, tls: "none" },
      systemFrom: { address: "mailstead@acme.test", name: null },
    },
  });
  await t.app.start();
  try {
    await use(t, server.origin, (to) => rawOf(transport.handed, to));
  } finally {
    await t.close();
    await server.close();
  }
}

function rawOf(handed: readonly HandedMail[], to: string): string {
  const mail = handed.findLast(({ object }) => object.envelope.to === to);
  if (mail === undefined) throw new Error(`no mail to ${to}`);
  return Buffer.from(mail.object.message).toString();
}

async function use(t: TestApp, origin: string, raw: (to: string) => string): Promise<void> {
  const settle = async () => {
    for (let i = 0; i < 5; i++) {
      await t.app.campaigns.tick();
      await settleEventLoop();
    }
    await waitUntil(() => t.countRows("emails WHERE status = 'SENDING'") === 0);
    await t.app.automation.idle();
    await t.app.campaigns.tick();
  };
  await addWebhooks(t, origin);
  await addTemplates(t);
  await addWorkflows(t, origin);
  await addContacts(t);
  await addForm(t);
  await addTopics(t);
  await sendMails(t);
  await settle();
  await addSegments(t);
  await sendCampaign(t, settle);
  await openAndClick(t, raw);
  await stopCampaigns(t, settle);
  await testVariants(t, settle);
  await removeSome(t);
  await settle();
  await addReports(t);
  await addAccounts(t);
}

async function addWebhooks(t: TestApp, origin: string): Promise<void> {
  for (const [path, events] of [
    ["/hook", ["*"]],
    ["/gone", ["email.*"]],
  ] as const) {
    await t.create("/webhooks", { url: origin + path, events }, "data.id");
  }
}

async function addTemplates(t: TestApp): Promise<void> {
  const layout = { name: "Letter", body: "<body>{{ content }}</body>" };
  const layoutId = await t.create("/layouts", layout, "data.id");
  const design = { blocks: ["Hello"] };
  const visual = { format: "VISUAL", design, body: "<p>Hello</p>", preheader: "Soon", layoutId };
  const fields = { name: "Visual", subject: "Hello", type: "MARKETING", ...visual };
  const id = await t.create("/templates", fields, "data.id");
  await t.call("POST", `/templates/${id}/duplicate`);
  t.clock.advance(HOUR);
  await t.call("PATCH", `/templates/${id}`, { subject: "Good day" });
  await t.call("POST", "/images?name=dot", undefined, {
    raw: await drawImage(4, 4, "png"),
    headers: { "content-type": "image/png" },
  });
}

/** A topic with its mail and a choice, and one that was deleted after its mail was sent. */
async function addTopics(t: TestApp): Promise<void> {
  const from = "hello@acme.test";
  const content = { subject: "Tips", body: "<p>Tips</p>", type: "MARKETING", from };
  for (const name of ["Tips", "Former"]) {
    const topicId = await t.create("/topics", { name, default: "SUBSCRIBED" }, "data.id");
    const template = await t.create("/templates", { ...content, name, topicId }, "data.id");
    const mail = { to: `${name.toLowerCase()}@example.com`, template, subscribed: true };
    const contact = await t.create("/v1/send", mail, "data.emails.0.contact.id");
    const topics = [{ topicId, subscribed: true }];
    await t.call("PUT", `/contacts/${contact}/topics`, { topics });
    if (name === "Tips") continue;
    await t.call("PATCH", `/templates/${template}`, { topicId: null });
    await t.call("DELETE", `/topics/${topicId}`);
  }
}

/** A form with a submission that was confirmed, and one that waits. */
async function addForm(t: TestApp): Promise<void> {
  t.db.sqlite.run("UPDATE projects SET from_address = 'forms@acme.test'");
  const fields = [{ name: "firstName", label: "First name", kind: "TEXT" }];
  const content = { name: "Footer", title: "Letters", fields, consent: { wording: "Yes" } };
  const id = await t.create("/forms", content, "data.id");
  const post = (path: string, raw: string) =>
    t.call("POST", path, undefined, {
      key: null,
      raw,
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
  await post(`/f/${id}`, "email=form@example.com&firstName=Fay");
  const mail = t.db.sqlite
    .query<{ url: string }, []>(
      "SELECT variables ->> '$.mail.link' AS url FROM emails WHERE to_address = 'form@example.com'",
    )
    .get();
  await post(new URL(mail?.url ?? "").pathname, "action=confirm");
  await post(`/f/${id}`, "email=waiting@example.com&firstName=Wim");
  t.db.sqlite.run("UPDATE projects SET from_address = NULL");
}

async function addWorkflows(t: TestApp, origin: string): Promise<void> {
  const template = await t.create(
    "/templates",
    { name: "Hello", type: "MARKETING", subject: "Hello", body: "<p>Hi</p>", from: "a@acme.test" },
    "data.id",
  );
  const steps = [
    { id: "mail", type: "SEND_EMAIL", config: { templateId: template } },
    { id: "call", type: "WEBHOOK", config: { url: `${origin}/step`, method: "POST" } },
    { id: "rest", type: "DELAY", config: { amount: 1, unit: "hours" } },
    { id: "wait", type: "WAIT_FOR_EVENT", config: { eventName: "paid" } },
  ];
  const transitions = [
    { from: "mail", to: "call" },
    { from: "call", to: "rest" },
    { from: "rest", to: "wait" },
  ];
  const trigger = { type: "EVENT", eventName: "signed-up" };
  const flow = { name: "Flow", enabled: true, trigger, steps, transitions };
  await t.create("/workflows", flow, "data.id");
  await t.create(
    "/workflows",
    { ...flow, name: "Short", steps: steps.slice(0, 1), transitions: [] },
    "data.id",
  );
}

async function addContacts(t: TestApp): Promise<void> {
  for (const name of ["ada", "bob", "cem", "dee", "bounce-1", "later-1", "fail-1", "direct-1"]) {
    await t.create("/contacts", { email: `${name}@example.com`, data: { name } }, "id");
    await t.call("POST", "/v1/track", { event: "signed-up", email: `${name}@example.com` });
    await t.call("POST", "/v1/track", { event: "login", email: `${name}@example.com` });
  }
  await t.call("POST", "/v1/track", { event: "paid", email: "ada@example.com" });
  await t.app.automation.idle();
  t.clock.advance(HOUR + SECOND);
  await t.app.automation.idle();
  await t.call("POST", "/v1/track", { event: "paid", email: "bob@example.com" });
  await t.app.automation.idle();
}

async function sendMails(t: TestApp): Promise<void> {
  const mail = { from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };
  const attachments = [{ filename: "a.txt", content: btoa("hello") }];
  await t.call("POST", "/suppressions", { email: "blocked@example.com" });
  for (const name of ["ada", "bounce-2", "later-2", "fail-2", "direct-2", "blocked"]) {
    const sent = { ...mail, to: `${name}@example.com`, attachments };
    const answer = await t.call("POST", "/v1/send", sent);
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  }
}

async function addSegments(t: TestApp): Promise<void> {
  const condition = {
    logic: "AND",
    groups: [{ filters: [{ field: "event.login", operator: "triggered" }] }],
  };
  const dynamic = { name: "Active", type: "DYNAMIC", condition, trackMembership: true };
  await t.create("/segments", dynamic, "data.id");
  const fixed = await t.create("/segments", { name: "Fixed", type: "STATIC" }, "data.id");
  await t.call("POST", `/segments/${fixed}/members`, { emails: ["ada@example.com"] });
  await t.app.segments.recompute();
}

const CAMPAIGN = {
  name: "Spring",
  subject: "Hello {{ name }}",
  body: '<p>Dear {{ name }}, <a href="https://example.com/spring">read</a></p>',
  from: "news@acme.test",
  audienceType: "ALL",
};

const campaign = (t: TestApp, rest: object = {}) =>
  t.create("/campaigns", { ...CAMPAIGN, ...rest }, "data.id");

async function sendCampaign(t: TestApp, settle: () => Promise<void>): Promise<void> {
  await t.create("/contacts", { email: "bounce-3@example.com" }, "id");
  const test = { email: "ada@example.com" };
  await t.call("POST", `/campaigns/${await campaign(t)}/test`, test);
  await t.call("POST", `/campaigns/${await campaign(t)}/send`);
  await settle();
}

/** Creates a scheduled campaign, one that is paused and one that is cancelled while it is sent. */
async function stopCampaigns(t: TestApp, settle: () => Promise<void>): Promise<void> {
  const scheduledFor = new Date(t.clock.now() + 24 * HOUR).toISOString();
  await campaign(t, {
    name: "Notice",
    category: "TRANSACTIONAL",
    preheader: "In short",
    format: "VISUAL",
    design: { type: "doc", content: [] },
    utm: { source: "news" },
    archived: true,
  });
  const scheduled = await campaign(t, { name: "Scheduled" });
  await t.call("POST", `/campaigns/${scheduled}/send`, { scheduledFor });
  for (const action of ["pause", "cancel"]) {
    const slow = await campaign(t, { name: action, rate: 1 / 60 });
    await t.call("POST", `/campaigns/${slow}/send`);
    await settle();
    await t.call("POST", `/campaigns/${slow}/${action}`);
    await settle();
  }
}

/** Sends the variants of an A/B test, which waits for a person to choose the winner. */
async function testVariants(t: TestApp, settle: () => Promise<void>): Promise<void> {
  const abTest = {
    variants: [{ name: "Plain" }, { subject: "{{ name }}?", body: "<p>Short</p>" }],
    share: 50,
    holdOut: 30,
    winner: { by: "MANUAL" },
  };
  const id = await campaign(t, { name: "Variants", abTest });
  const plan = { ...abTest, variantIds: ["A", "B"] };
  // Without a contact outside of the test, the campaign would end by itself.
  for (let contact = "", tried = 0; contact === "" || abGroup(plan, id, contact) !== REST;) {
    contact = await t.create("/contacts", { email: `rest-${++tried}@example.com` }, "id");
  }
  await t.call("POST", `/campaigns/${id}/send`);
  await settle();
}

/** Opens and clicks the last campaign mails, as people and as machines. */
async function openAndClick(t: TestApp, raw: (to: string) => string): Promise<void> {
  const fetchAs = (method: string, path: string, body: URLSearchParams | null = null) =>
    t.app.handle(
      new Request(new URL(path, "http://localhost").href, {
        method,
        headers: { "user-agent": BROWSER },
        body,
      }),
    );
  /** Waits until the clicks are counted; hits are counted together, a second later. */
  const counted = (clicks: number) => {
    t.clock.advance(2 * SECOND);
    return waitUntil(() => t.countRows("events WHERE name = 'email.clicked'") === clicks);
  };
  const linksOf = async (to: string) => {
    const { hrefs, pixel, unsubscribe } = await received(to, raw(to));
    return { link: hrefs.find((href) => href.includes("/c/")) ?? "", pixel, unsubscribe };
  };
  const [ada, bob, cem] = await Promise.all(
    ["ada", "bob", "cem"].map((name) => linksOf(`${name}@example.com`)),
  );
  await fetchAs("HEAD", cem?.link ?? "");
  t.clock.advance(FASTEST_PERSON_MS.click + SECOND);
  await fetchAs("GET", ada?.link ?? "");
  await fetchAs("GET", bob?.pixel ?? "");
  await counted(1);
  t.clock.advance(20 * SECOND);
  await fetchAs("GET", ada?.link ?? "");
  await counted(2);
  const oneClick = new URLSearchParams({ "List-Unsubscribe": "One-Click" });
  await fetchAs("POST", bob?.unsubscribe ?? "", oneClick);
}

async function removeSome(t: TestApp): Promise<void> {
  for (const email of ["dee@example.com", "later-1@example.com"]) {
    const found = await t.call("GET", `/contacts?search=${email}`);
    await t.call("DELETE", `/contacts/${found.text("contacts.0.id")}`);
  }
}

/** A bounce that arrives later, and a complaint. */
async function addReports(t: TestApp): Promise<void> {
  const reports = [
    ["direct-2@example.com", "delivery-status", "Action: failed\r\nStatus: 5.1.1"],
    ["ada@example.com", "feedback-report", "Feedback-Type: abuse"],
  ];
  for (const [to = "", type = "", fields = ""] of reports) {
    const found = await t.call("GET", `/emails?to=${to}&source=TRANSACTIONAL`);
    const messageId = found.text("data.items.0.messageId");
    const lines = [
      "From: MAILER-DAEMON@mx.example.com",
      'Content-Type: multipart/report; boundary="b"',
      `In-Reply-To: ${messageId}`,
      "",
      "--b",
      `Content-Type: message/${type}`,
      "",
      `${fields}\r\nFinal-Recipient: rfc822; ${to}`,
      "--b--",
    ];
    const { effect } = await processReport(t.app.app, Buffer.from(lines.join("\r\n")), null);
    if (effect === "none") throw new Error(`the report about the mail to ${to} had no effect`);
  }
}

/** An owner with a session, a member with a saved view, and an invitation that is still to be mailed. */
async function addAccounts(t: TestApp): Promise<void> {
  const owner = await signIn(t, { email: "owner@example.com" });
  await owner.call("PATCH", "/app/api/account", { name: "Olga", preferences: { theme: "dark" } });
  const { user, call } = await signIn(t, { email: "member@example.com", isOwner: false });
  const { members, invitations } = t.app.accounts;
  await t.app.writer.write(() => members.put(t.project.seq, user.seq, "EDITOR"));
  const view = { page: "emails", name: "Bounced", query: "status=bounced", isShared: true };
  await call("POST", "/views", view, { "x-project": t.project.id });
  const invited = { email: "new@example.com", role: "VIEWER", by: "owner@example.com" } as const;
  await t.app.writer.write(invitations.invite(t.project, invited));
}
