/** Every route that a viewer may read shows no secret of mails, events, contacts and webhooks. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventLog } from "../../src/events/log.ts";
import { createRouteRules } from "../../src/http/route-rules.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { settleEventLoop } from "../support/eventually.ts";
import { signIn } from "../support/session.ts";
import { upload, waitForJob } from "../modules/contacts/upload.ts";

const SECRET = "s3cr3tOfTheOwner";
/** A secret that only its place shows to be one. */
const SHORT = "hunterx";
const LINK = `https://shop.example/reset?token=${SECRET}`;
/** No server listens there. */
const HOST = "127.0.0.1:1024";
const EMAIL = "ada@example.com";

let t: TestApp;
let editor: Awaited<ReturnType<typeof signIn>>;
let viewer: Awaited<ReturnType<typeof signIn>>;
/** The ids in paths, by the parameter and the first segment of the path. */
const ids = new Map<string, string>();

async function member(role: "EDITOR" | "VIEWER") {
  const user = await signIn(t, { email: `${role.toLowerCase()}@example.com`, isOwner: false });
  await t.app.writer.write(() => t.app.accounts.members.put(t.project.seq, user.user.seq, role));
  return user;
}

beforeAll(async () => {
  t = await testApp({ config: { allowPrivateAddresses: true } });
  await t.app.start();
  [editor, viewer] = [await member("EDITOR"), await member("VIEWER")];
  const data = {
    link: LINK,
    nested: [{ text: `Open ${LINK} now`, password: SECRET }],
    plan: "pro",
    loginCode: SHORT,
    json: JSON.stringify({ token: SHORT }),
    sentence: `Your password is ${SHORT}`,
    fields: [{ name: "Verification code", value: SHORT }],
    started: `https://shop.example/reset/${SHORT}`,
  };
  const condition = {
    logic: "AND",
    groups: [{ filters: [{ field: "data.loginCode", operator: "equals", value: SHORT }] }],
  };
  const webhook = { url: `http://${HOST}/${SHORT}?token=${SECRET}`, events: ["*"] };
  ids.set("id webhooks", await t.create("/webhooks", webhook, "data.id"));
  const config = {
    url: `http://${HOST}/${SHORT}/?token=${SECRET}`,
    method: "POST",
    headers: { Authorization: SECRET },
    body: { key: SECRET },
  };
  const workflow = {
    name: "Flow",
    enabled: true,
    trigger: { type: "EVENT", eventName: "asked" },
    steps: [
      { id: "check", type: "CONDITION", config: { condition } },
      { id: "set", type: "UPDATE_CONTACT", config: { updates: { pin: SHORT } } },
      { id: "call", type: "WEBHOOK", config },
    ],
    transitions: [
      { from: "trigger", to: "check" },
      { from: "check", to: "set", branch: "yes" },
      { from: "set", to: "call" },
    ],
  };
  ids.set("id workflows", await t.create("/workflows", workflow, "data.id"));
  const template = {
    name: "Reset",
    type: "TRANSACTIONAL",
    subject: "Reset",
    body: '<a href="{{ link }}">{{ nested[0].text }} {{ nested[0].password }}</a> {{ loginCode }} {{ plan }}',
    from: "a@acme.test",
  };
  const templateId = await t.create("/templates", template, "data.id");
  ids.set("id templates", templateId);
  ids.set("id contacts", await t.create("/contacts", { email: EMAIL, data }, "id"));
  const segment = await t.create("/segments", { name: "All", type: "STATIC" }, "data.id");
  ids.set("id segments", segment);
  await t.call("POST", `/segments/${segment}/members`, { emails: [EMAIL] });
  await t.create("/segments", { name: "Some", type: "DYNAMIC", condition }, "data.id");
  const audience = { audienceType: "FILTERED", audienceFilter: condition };
  const campaign = { ...template, name: "News", ...audience, type: undefined };
  ids.set("id campaigns", await t.create("/campaigns", campaign, "data.id"));
  await t.call("POST", "/v1/track", { event: "asked", email: EMAIL, data });
  await t.call("POST", "/v1/send", { to: EMAIL, template: templateId, data });
  await recordEvents();
  await settleEventLoop();
  await t.app.automation.idle();
  const first = async (path: string) => (await t.call("GET", path)).text("data.items.0.id");
  ids.set("id emails", await first("/emails"));
  ids.set("id events", await first("/events?event=email.received"));
  ids.set("executionId", await first(`/workflows/${ids.get("id workflows")}/executions`));
  const deliveries = `/webhooks/${ids.get("id webhooks")}/deliveries`;
  const page = await t.call("GET", `${deliveries}?limit=100`);
  ids.set("deliveryId", page.text("data.items.0.id"));
});
afterAll(() => t.close());

/** The events of a click, and of a mail that arrived. */
async function recordEvents(): Promise<void> {
  const { projectSeq, seq: contactSeq } = t.db.sqlite
    .query<{ projectSeq: number; seq: number }, []>(
      "SELECT project_seq AS projectSeq, seq FROM contacts LIMIT 1",
    )
    .get() ?? { projectSeq: 0, seq: 0 };
  const at = t.clock.now();
  const received = { id: "1", from: EMAIL, subject: SECRET, text: SECRET, html: SECRET };
  await t.app.writer.write(() => {
    for (const [name, data] of [
      ["email.clicked", { url: LINK }],
      ["email.received", received],
    ] as const) {
      eventLog(t.app.app).record({ projectSeq, name, contactSeq, data, at });
    }
  });
}

/** The path with the ids of the objects above; null if it names another one. */
function pathOf(pattern: string): string | null {
  const [, noun = ""] = pattern.split("/");
  const path = pattern.replaceAll(/:(\w+)/g, (parameter, name: string) => {
    const own = noun === "projects" ? t.project.id : ids.get(`${name} ${noun}`);
    return own ?? ids.get(name) ?? parameter;
  });
  return path.includes(":") ? null : path;
}

const get = (user: typeof viewer, path: string) =>
  user.call("GET", path, undefined, { "x-project": t.project.id });

/** The routes whose answers have the secret. */
const SECRET_ROUTES = [
  "/campaigns",
  "/campaigns/:id",
  "/campaigns/:id/preview",
  "/contacts",
  "/contacts/:id",
  "/contacts/:id/activity",
  "/contacts/:id/executions",
  "/emails/:id/content",
  "/emails/:id/preview",
  "/emails/:id/source",
  "/events",
  "/events/:id",
  "/segments",
  "/segments/:id/contacts",
  "/templates/:id/preview",
  "/webhooks",
  "/webhooks/:id",
  "/webhooks/:id/deliveries/:deliveryId",
  "/workflows",
  "/workflows/:id",
  "/workflows/:id/executions",
  "/workflows/:id/executions/:executionId",
] as const;

/** Whether the answer to a user has the secret. */
async function showsSecret(user: typeof viewer, path: string): Promise<boolean> {
  const query = path.endsWith("/preview") ? `?contactId=${ids.get("id contacts")}` : "";
  return hasSecret((await get(user, path + query)).body);
}

function hasSecret(body: unknown): boolean {
  const text = JSON.stringify(body);
  return text.includes(SECRET) || text.includes(SHORT);
}

test("a viewer sees the secret in no answer to GET", async () => {
  const rules = createRouteRules();
  rules.registerRoutes(t.app.http.routes);
  const patterns = t.app.http.routes
    .filter(({ method, path }) => method === "GET" && !path.includes("*"))
    .filter(({ method, path }) => rules.ruleOf(method, path).role === "VIEWER")
    .map(({ path }) => path)
    // A stream, which has only the names of events.
    .filter((path) => path !== "/app/api/live");
  expect(patterns).toEqual(expect.arrayContaining([...SECRET_ROUTES]));
  for (const path of [...new Set(patterns)].map(pathOf)) {
    if (path !== null) expect([path, await showsSecret(viewer, path)]).toEqual([path, false]);
  }
});

test.each(SECRET_ROUTES)("an editor sees it in %s", async (pattern) => {
  expect(await showsSecret(editor, pathOf(pattern) ?? "")).toBe(true);
});

test("a viewer sees the other values", async () => {
  const activity = await get(viewer, `/contacts/${ids.get("id contacts")}/activity?limit=100`);
  const text = JSON.stringify(activity.body);
  expect(text).toContain('"url":"https://shop.example/reset"');
  const found = await get(viewer, `/contacts/${ids.get("id contacts")}`);
  expect(found.at("data")).toEqual({
    link: "https://shop.example/reset",
    nested: [{ text: "Open https://shop.example/reset now", password: "(hidden)" }],
    plan: "pro",
    loginCode: "(hidden)",
    json: '{"token":"(hidden)"}',
    sentence: "(hidden)",
    fields: [{ name: "Verification code", value: "(hidden)" }],
    started: "https://shop.example/reset/…",
    pin: "(hidden)",
  });
});

test("a viewer reads marketing mail with the data of the contact that viewers see", async () => {
  const template = {
    name: "Offer",
    type: "MARKETING",
    subject: "Offer",
    body: "<p>{{ loginCode }} {{ plan }} {{ started }}</p>",
    from: "a@acme.test",
  };
  const id = await t.create("/templates", template, "data.id");
  await t.call("PATCH", `/contacts/${ids.get("id contacts")}`, { subscribed: true });
  const sent = await t.call("POST", "/v1/send", { to: EMAIL, template: id });
  const email = sent.text("data.emails.0.email");
  for (const part of ["content", "preview", "source"]) {
    const seen = (user: typeof viewer) => get(user, `/emails/${email}/${part}`);
    const [ofViewer, ofEditor] = [await seen(viewer), await seen(editor)];
    expect([ofViewer.status, ofEditor.status]).toEqual([200, 200]);
    expect([part, hasSecret(ofViewer.body), hasSecret(ofEditor.body)]).toEqual([part, false, true]);
    expect(JSON.stringify(ofViewer.body)).toContain("pro");
  }
});

test("a viewer sees no rows of an import that is tried", async () => {
  const file = `email,Login code\nbob@example.com,${SHORT}\n`;
  const started = await upload(t, file, { query: "?dryRun=true" });
  const path = `/contacts/import/${started.text("data.jobId")}`;
  await waitForJob(t, started.text("data.jobId"));
  const [ofViewer, ofEditor] = [await get(viewer, path), await get(editor, path)];
  expect([hasSecret(ofViewer.body), hasSecret(ofEditor.body)]).toEqual([false, true]);
  expect(ofViewer.at("data.processed")).toBe(ofEditor.at("data.processed"));
});

test("a viewer cannot search for what is hidden", async () => {
  const condition = {
    logic: "AND",
    groups: [{ filters: [{ field: "data.loginCode", operator: "equals", value: SHORT }] }],
  };
  const headers = { "x-project": t.project.id };
  const preview = await viewer.call("POST", "/segments/preview", { condition }, headers);
  expect(preview.status).toBe(403);
  expect((await get(viewer, `/contacts/export?search=${EMAIL}`)).status).toBe(403);
  expect((await get(viewer, `/contacts?search=${SHORT}`)).at("total")).toBe(0);
  // No list has a parameter for the data: the answers are the same for a right and a wrong guess.
  for (const list of ["/contacts", "/events", "/emails", "/segments", "/campaigns", "/workflows"]) {
    for (const name of ["data", "data.loginCode", "filter", "sort", "q"]) {
      const guess = async (value: string) => {
        const { status, body } = await get(viewer, `${list}?${name}=${value}`);
        return [
          list,
          name,
          status,
          JSON.stringify(body).replaceAll(/"(?:timestamp|requestId)":"[^"]*"/g, ""),
        ];
      };
      expect(await guess(SHORT)).toEqual(await guess("other"));
    }
  }
});

test.each(["templates", "campaigns"])("a viewer previews %s without it", async (noun) => {
  const body = { contactId: ids.get("id contacts") };
  const path = `/${noun}/${ids.get(`id ${noun}`)}/preview`;
  const headers = { "x-project": t.project.id };
  for (const [user, isShown] of [
    [viewer, false],
    [editor, true],
  ] as const) {
    const answer = await user.call("POST", path, body, headers);
    expect([answer.status, hasSecret(answer.body)]).toEqual([200, isShown]);
  }
});

test("a viewer does not find the hidden part of the URL of a webhook", async () => {
  const found = async (user: typeof viewer, url: string) =>
    (await get(user, `/webhooks?url=${url}`)).at("data.total");
  expect(await found(viewer, HOST)).toBe(1);
  for (const text of [SECRET.slice(0, 3), SHORT, SHORT.slice(0, 3)]) {
    expect(await found(viewer, text)).toBe(0);
  }
  expect(await found(editor, SECRET.slice(0, 3))).toBe(1);
});
