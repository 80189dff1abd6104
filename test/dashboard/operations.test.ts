/**
 * Every operation of the interface has its place in the dashboard: the operations of the OpenAPI
 * document are compared with the calls in src/dashboard (operation-scan.ts). An operation without a
 * place is in the table of exceptions, with its reason.
 */

import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { isRecord } from "../../src/http/validation.ts";
import { openApiDocument } from "../support/openapi.ts";
import { type Call, findCalls, isCalled, type Operation } from "./operation-scan.ts";

const FOLDER = join(import.meta.dir, "../../src/dashboard");

const RECIPIENT = "A recipient opens it from a mail.";
const READER = "It is a public page of campaigns, for readers.";
const MONITOR = "Load balancers and monitors ask for it; the page System shows what it finds.";
const WORKFLOW_EDITOR = "The editor saves the whole graph.";
const PRIVACY = "The tab Privacy shows it in the list of receipts.";
const MESSAGE = "The page shows it from the message, which has it as well.";

/** The operations that the dashboard does not call, with the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  getLiveness: MONITOR,
  getReadiness: MONITOR,
  getTopic: "The list has the whole topic.",
  getTopicUsage: "A refused deletion names what uses the topic.",
  getErasure: PRIVACY,
  listProjects: "A page reads the projects of the user with the state of the session.",
  showTemplateDraft: "The frame of a preview opens the URL that the server answered with.",
  showImage: RECIPIENT,
  getTrackingPixel: RECIPIENT,
  followTrackedLink: RECIPIENT,
  showUnsubscribePage: RECIPIENT,
  unsubscribe: RECIPIENT,
  showSubscribePage: RECIPIENT,
  subscribe: RECIPIENT,
  showPreferences: RECIPIENT,
  changePreferences: RECIPIENT,
  showPreferenceRequest: RECIPIENT,
  confirmPreferenceRequest: RECIPIENT,
  showForm: RECIPIENT,
  submitForm: RECIPIENT,
  showConfirmation: RECIPIENT,
  confirmSubscription: RECIPIENT,
  listArchive: READER,
  showArchived: READER,
  sendBatch: "Programs send batches.",
  rescheduleEmail: "The program that scheduled a mail moves it; a page only cancels it.",
  listCampaigns: "The pages read the summaries, which are the same campaigns with their figures.",
  createCampaign: "The pages create drafts, which need no content yet.",
  importCampaign: "`mailstead import` brings the campaigns of another product.",
  addWorkflowStep: WORKFLOW_EDITOR,
  updateWorkflowStep: WORKFLOW_EDITOR,
  deleteWorkflowStep: WORKFLOW_EDITOR,
  addWorkflowTransition: WORKFLOW_EDITOR,
  updateWorkflowTransition: WORKFLOW_EDITOR,
  deleteWorkflowTransition: WORKFLOW_EDITOR,
  getWorkflowEntry: "The page reads the list, which has the same runs.",
  processReport: "Mail servers and webhooks of other services report bounces with it.",
  suppressList: "Programs send lists with it; the page takes a CSV file.",
  importInboxMessage: "Tests put messages into an inbox with it, without a mail.",
  getInboxMessageHtml: MESSAGE,
  getInboxMessageText: MESSAGE,
  getInboxMessageHeaders: MESSAGE,
  waitForInboxMessages: "Tests wait with it; the page gets new messages as live events.",
  deleteInboxRules: "Tests remove all rules at their end; the page removes one at a time.",
};

let sources: ReadonlyMap<string, string>;
let operations: readonly Operation[];
let calls: readonly Call[];
beforeAll(async () => {
  const files = [...new Glob("**/*.{ts,tsx}").scanSync(FOLDER)];
  sources = new Map(
    await Promise.all(
      files.map(async (file) => [file, await Bun.file(join(FOLDER, file)).text()] as const),
    ),
  );
  operations = operationsOf((await openApiDocument()).body);
  calls = findCalls(sources);
});

function operationsOf(document: unknown): Operation[] {
  if (!isRecord(document) || !isRecord(document["paths"])) throw new Error("no OpenAPI document");
  return Object.entries(document["paths"]).flatMap(([path, item]) =>
    Object.entries(isRecord(item) ? item : {}).map(([method, operation]) => ({
      id: isRecord(operation) ? String(operation["operationId"]) : "",
      method: method.toUpperCase(),
      path,
    })),
  );
}

const idsWithoutPlace = (found: readonly Call[]): string[] =>
  operations.filter((operation) => !isCalled(operation, found)).map(({ id }) => id);

/** The calls after a text was removed from a file of the dashboard. */
function callsWithout(file: string, text: string): Call[] {
  const source = sources.get(file) ?? "";
  if (!source.includes(text)) throw new Error(`${file} does not contain ${text}`);
  return findCalls(new Map([...sources, [file, source.replaceAll(text, "")]]));
}

describe("the operations of the interface", () => {
  test("have their place in the dashboard or are in the table of exceptions", () => {
    expect(operations.length).toBeGreaterThan(150);
    expect(idsWithoutPlace(calls).sort()).toEqual(Object.keys(EXCEPTIONS).sort());
  });

  test.each([
    ["pages/contacts/add-dialog.tsx", '"/contacts"', "upsertContact"],
    ["pages/suppressions/suppressions-page.tsx", "api.delete(", "unsuppressAddress"],
    ["pages/campaigns/editor/campaign-menu.tsx", '"follow-up"', "followUpCampaign"],
    ["pages/campaigns/editor/campaign-menu.tsx", "useDeletion({", "deleteCampaign"],
    ["pages/campaigns/ab/ab-card.tsx", "/winner", "chooseAbWinner"],
    ["pages/webhooks/settings.tsx", "rotate-secret", "rotateWebhookSecret"],
    ["pages/relay-reports/set-up.tsx", "/test`", "testReportSource"],
    ["pages/relay-reports/mailbox-view.tsx", "/test`", "testReportMailbox"],
    ["pages/inbox/use-messages.ts", "/messages/$", "getInboxMessage"],
  ])("are missed when %s no longer has %s", (file, text, id) => {
    expect(idsWithoutPlace(callsWithout(file, text))).toContain(id);
  });

  test.each([
    ["GET", "/contacts/{id}/notes"],
    ["POST", "/contacts/{id}/activity"],
    ["DELETE", "/events/{id}"],
    ["POST", "/campaigns/{id}/publish"],
    ["GET", "/contacts/fields/{key}"],
    ["PUT", "/templates/{id}"],
  ])("are missed when %s %s is added", (method, path) => {
    expect(isCalled({ id: "new", method, path }, calls)).toBe(false);
  });
});

describe("the scan of the dashboard", () => {
  const scan = (text: string, file = "pages/things/page.tsx") =>
    findCalls(
      new Map([
        [file, text],
        ["pages/things/path.ts", "export const thingPath = (id: string) => `/things/${id}`;"],
      ]),
    )
      .filter((call) => call.file === file)
      .map(({ method, pattern }) => `${method} ${pattern}`);

  test.each([
    ["a call", 'api.post("/things", body)', ["POST /things"]],
    ["a call with types", "api.patch<Thing<A>>(`/things/${id}`)", ["PATCH /things/*"]],
    ["a broken line", 'api\n  .delete(\n    "/things")', ["DELETE /things"]],
    ["a query", "api.get(`/things?limit=${LIMIT}`)", ["GET /things"]],
    ["a part of a segment", "api.get(`/things/${id}.csv`)", ["GET /things/*"]],
    ["a list", 'useList("things", "/things")', ["GET /things"]],
    ["a name", 'const path = "/things";\napi.put(path)', ["PUT /things", "GET /things"]],
    [
      "an imported function",
      'import { thingPath as pathOf } from "./path.ts";\napi.post(`${pathOf(id)}/test`)',
      ["POST /things/*/test"],
    ],
    ["a deletion", "useDeletion({ path: `/things/${id}`, leave })", ["DELETE /things/*"]],
    ["a comment", '// api.post("/things")\n/* api.get("/things") */', []],
    ["a parameter", "api.post(path); api.post(`${base}/things`)", []],
    ["a page", "navigate(`/p/${project}/things`)", []],
  ])("reads %s", (_, text, expected) => {
    expect(scan(text).filter((call) => !call.includes("/p/"))).toEqual([...expected]);
  });

  test("counts a path without a method only in the folder of its noun and in ui/", () => {
    expect(scan('"/things"', "pages/others/page.tsx")).toEqual([]);
    expect(scan('"/things"', "ui/list.tsx")).toEqual(["GET /things"]);
    expect(scan('path: "/things"', "router.tsx")).toEqual([]);
  });

  test("takes a variable segment for a parameter or for a word of the file", () => {
    const path = "/things/{id}/stop";
    const call = "api.post(`/things/${id}/${action}`)";
    const found = (text: string, called: string) =>
      isCalled({ id: "x", method: "POST", path: called }, findCalls(new Map([["a.ts", text]])));
    expect(found(`${call}; run("stop")`, path)).toBe(true);
    expect(found(call, path)).toBe(false);
    expect(found(call, "/things/{id}/{part}")).toBe(true);
    expect(found('api.post("/things/new")', "/things/{id}")).toBe(false);
  });
});
