/**
 * The pages of the dashboard that `bun scripts/pages.ts dashboard` checks. A new page adds one line
 * here: its name, its path below /app, and its heading.
 */

import type { Page } from "playwright-core";
import { everyBlock } from "../../test/dashboard/visual-design.ts";
import { NO_COUNTS } from "../../src/modules/campaigns/imported-model.ts";
import { sampleAbReport, sampleAbTest } from "./sample-ab-tests.ts";
import { showAlerts } from "./sample-alerts.ts";
import { showMailboxes } from "./sample-mailboxes.ts";

/** FULL: the demonstration project. EMPTY: a new project. BROKEN: requests are answered with 500. */
export const PAGE_STATES = ["FULL", "EMPTY", "BROKEN"] as const;
export type PageState = (typeof PAGE_STATES)[number];

const DAY_MS = 24 * 60 * 60_000;

/** Lists of the API whose first object has a page of its own. */
export const OBJECT_LISTS = {
  email: { path: "/emails?status=BOUNCED&limit=1", id: "data.items.0.id" },
  contact: { path: "/contacts?limit=1", id: "contacts.0.id" },
  segment: { path: "/segments?limit=1", id: "data.items.0.id" },
  buyers: { path: "/segments?name=Recent%20buyers&limit=1", id: "data.items.0.id" },
  form: { path: "/forms?limit=1", id: "data.items.0.id" },
  // The newest campaign went to few recipients, of whom none bounced.
  campaign: { path: "/campaigns?status=SENT&limit=2", id: "data.items.1.id" },
  draft: { path: "/campaigns?status=DRAFT&limit=1", id: "data.items.0.id" },
  workflow: { path: "/workflows?limit=1", id: "data.items.0.id" },
  template: { path: "/templates?limit=1", id: "data.items.0.id" },
  webhook: { path: "/webhooks?limit=1", id: "data.items.0.id" },
  domain: { path: "/domains?limit=1", id: "data.items.0.id" },
  suppression: { path: "/suppressions?limit=1", id: "data.items.0.email" },
  message: { path: "/inboxes/default/messages?limit=1", id: "data.items.0.id" },
  received: { path: "/received-mails?limit=1", id: "data.items.0.id" },
} as const satisfies Record<string, { path: string; id: string }>;
export type ObjectName = keyof typeof OBJECT_LISTS;

/** The server and user with which a page is opened. */
export type Place = {
  /** Id of the project. */
  project: string;
  /** Id of the first object of each list of the demonstration project. */
  ids: Readonly<Record<ObjectName, string>>;
};

export type DashboardPage = {
  /** Name of its screenshots. */
  name: string;
  path: (place: Place) => string;
  /** Its heading of level 1, in every state. */
  heading: string | RegExp;
  /** Opens a part of the page, such as a dialog, which Escape closes. */
  open?: (page: Page) => Promise<void>;
  /** All states, if absent. */
  states?: readonly PageState[];
  /** The browser has no session. */
  isPublic?: true;
  /** The end of the path of a request whose refusal is expected, such as that of a used link. */
  refused?: string;
  /** A part of the messages in the console that are expected. */
  expected?: string;
  /** Members that replace those of the answer to GET /app/api/state. */
  appState?: (place: Place) => Readonly<Record<string, unknown>>;
};

/** Shows a page with images; the demonstration has none. Drawings stand for the files. */
async function showImages(page: Page): Promise<void> {
  const sizes = [
    ["harbour-logo.png", 600, 200],
    ["a-photo-with-a-long-name-from-a-camera-2029-12-24.jpg", 1200, 900],
    ["tall.webp", 400, 1200],
    ["dot.gif", 2, 2],
  ] as const;
  const items = sizes.map(([name, width, height], i) => ({
    id: String(i),
    name,
    url: `${new URL(page.url()).origin}/i/${i}.svg?size=${width}x${height}`,
    format: name.split(".").at(-1),
    width,
    height,
    sizeBytes: width * height,
    createdAt: new Date(Date.now() - i * 90_000_000).toISOString(),
  }));
  const answer = { items, total: items.length, hasMore: false, cursor: null };
  await page.route(/\/images\?/, (route) =>
    route.fulfill({ json: { success: true, data: answer } }),
  );
  await page.route(/\/i\/\d\.svg/, (route) => {
    const [, width, height] = sizes[Number(/(\d)\.svg/.exec(route.request().url())?.[1])] ?? [
      "",
      1,
      1,
    ];
    const body = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="#4338ca"/></svg>`;
    return route.fulfill({ body, contentType: "image/svg+xml" });
  });
  await page.reload();
  await page.getByRole("list", { name: "Images" }).getByRole("listitem").nth(3).waitFor();
}

/** Pages without a project look the same in a full and an empty one. */
const WITHOUT_PROJECT = ["FULL", "BROKEN"] as const;
/** The console's message about a remote image of a mail, which is not loaded until it is asked for. */
const BLOCKED_IMAGE = 'Content Security Policy directive: "img-src data:"';
/** The console's message about an object that does not exist. */
const NOT_FOUND = "the server responded with a status of 404";
/** The console's message about a link that was used. */
const REFUSED_LINK = "the server responded with a status of 4";
const PUBLIC = { isPublic: true, states: ["FULL"] } as const;

/** Replaces members of the object that the server answers at a path, and loads the page again. */
async function reloadWith(page: Page, path: RegExp, members: object): Promise<void> {
  await page.route(path, async (route) => {
    const isRead = route.request().method() === "GET";
    if (!isRead || route.request().resourceType() === "document") return route.continue();
    const response = await route.fetch();
    const answer: { data: object } = await response.json();
    await route.fulfill({ response, json: { ...answer, data: { ...answer.data, ...members } } });
  });
  await page.reload();
}

/** Shows the template as one of the visual editor, which has no template in the demonstration. */
async function openLetter(page: Page): Promise<void> {
  const document = { type: "doc", content: everyBlock };
  const path = /^https?:\/\/[^/]+\/templates\/[^/?]+$/;
  await reloadWith(page, path, {
    format: "VISUAL",
    design: { version: 1, theme: {}, document },
  });
  const letter = page.getByRole("textbox", { name: "Body" });
  await letter.getByText("For good customers").click();
  await page.getByRole("region", { name: "Condition" }).waitFor();
  await page.unroute(path);
}

const CAMPAIGN_PATH = /^https?:\/\/[^/]+\/campaigns\/[^/?]+$/;

/** Shows the campaign as one with an A/B test that variant B has won. */
async function showAbTest(page: Page): Promise<void> {
  const report = sampleAbReport();
  await page.route(/\/campaigns\/[^/?]+\/ab-test$/, (route) =>
    route.fulfill({ json: { success: true, data: report } }),
  );
  await reloadWith(page, CAMPAIGN_PATH, { abTest: sampleAbTest(), abTestState: report.state });
  await page.getByText("Winner", { exact: true }).waitFor();
  await page.unroute(CAMPAIGN_PATH);
}

/** Shows the campaign as one that another product has sent. */
async function showImported(page: Page): Promise<void> {
  const path = CAMPAIGN_PATH;
  const told = { recipients: 8_410, sent: 8_396, opens: 5_120, clicks: 874, bounced: 31 };
  const sentAt = new Date(Date.now() - 400 * DAY_MS).toISOString();
  const importedAt = new Date(Date.now() - 3 * DAY_MS).toISOString();
  await reloadWith(page, path, {
    startedAt: null,
    imported: {
      source: "listmonk",
      sourceId: "42",
      sentAt,
      importedAt,
      counts: { ...NO_COUNTS, ...told },
    },
  });
  await page.getByText("Imported from listmonk").waitFor();
  await page.unroute(path);
}

/** Shows the form of a relay with a test that failed at the login. */
async function showRelayTest(page: Page): Promise<void> {
  const said = { command: null, code: null, enhanced: null, ms: 12, isFailed: false };
  const login = { step: "auth", command: "AUTH PLAIN", code: 535, enhanced: "5.7.8" };
  await page.route(/\/system\/relay\/test$/, (route) =>
    route.fulfill({
      json: {
        success: true,
        data: {
          problem: {
            step: "auth",
            reason: "auth was answered 535 5.7.8 Authentication failed",
            fix: "check the user and the password; many providers want an API key",
          },
          steps: [
            { ...said, step: "connect", text: "192.0.2.25:587 connected" },
            { ...said, step: "greeting", code: 220, text: "smtp.example.com ESMTP" },
            { ...said, step: "tls", text: "TLSv1.3, certificate verified" },
            { ...said, ...login, text: "5.7.8 Authentication failed", isFailed: true },
          ],
          tls: "TLSv1.3",
          isAuthenticated: false,
          mail: null,
          notes: [],
        },
      },
    }),
  );
  await page.getByRole("button", { name: "Set up a relay" }).click();
  await page
    .getByLabel("Server", { exact: true })
    .fill("smtp://apikey:secret@smtp.example.com:587");
  await page.getByRole("button", { name: "Test", exact: true }).click();
  await page.getByText("The test failed.").waitFor();
}

/** Shows the backups of a server that makes some. */
async function showBackups(page: Page): Promise<void> {
  const hours = (count: number) => new Date(Date.now() + count * 60 * 60_000).toISOString();
  await reloadWith(page, /^https?:\/\/[^/]+\/system$/, {
    backup: {
      target: "s3://backups/harbour",
      keep: { days: 7, weeks: 4, months: 6 },
      running: null,
      nextAt: hours(9),
      last: {
        name: "mailstead-1a2b3c4d-20260102T031700Z",
        createdAt: hours(-15),
        verifiedAt: hours(-15),
        bytes: 1_482_000_000,
        sha256: "0",
      },
      failure: null,
    },
  });
  await page.getByRole("button", { name: "Run now" }).scrollIntoViewIfNeeded();
}

/** The project of a user who has only this one, as GET /app/api/state shows it. */
const onlyProject = (id: string) => ({ id, name: "Harbour", role: "OWNER", isEnabled: true });

export const DASHBOARD_PAGES: readonly DashboardPage[] = [
  { name: "login", path: () => "/login", heading: "Sign in", ...PUBLIC },
  {
    name: "setup",
    path: () => "/setup#token",
    heading: "Set up Mailstead",
    appState: () => ({ needsOwner: true, user: null }),
    ...PUBLIC,
  },
  { name: "reset", path: () => "/reset#token", heading: "Choose a new password", ...PUBLIC },
  {
    name: "invite",
    path: () => "/invite#token",
    heading: /./,
    refused: "/app/api/invitation",
    expected: REFUSED_LINK,
    ...PUBLIC,
  },
  {
    name: "link",
    path: () => "/link#token",
    heading: /./,
    refused: "/app/api/link",
    expected: REFUSED_LINK,
    ...PUBLIC,
  },
  {
    name: "welcome-project",
    path: () => "/welcome",
    heading: "Name your project",
    states: ["EMPTY"],
    appState: () => ({ projects: [] }),
  },
  { name: "welcome", path: () => "/welcome", heading: "How mail leaves", states: ["FULL"] },
  {
    name: "welcome-domain",
    path: () => "/welcome?step=domain",
    heading: "Your domain",
    states: ["EMPTY"],
    appState: ({ project }) => ({ projects: [onlyProject(project)] }),
  },
  {
    name: "welcome-record",
    path: () => "/welcome?step=domain",
    heading: "Your domain",
    states: ["FULL"],
  },
  {
    name: "welcome-no-domain",
    path: () => "/welcome?step=mail",
    heading: "Send yourself a mail",
    states: ["EMPTY"],
    appState: ({ project }) => ({
      projects: [onlyProject(project)],
      transport: "relay",
      requiresVerifiedDomain: true,
    }),
  },
  {
    name: "welcome-mail",
    path: () => "/welcome?step=mail",
    heading: "Send yourself a mail",
    states: ["FULL"],
  },
  { name: "account", path: () => "/account", heading: "Account", states: WITHOUT_PROJECT },
  { name: "system", path: () => "/admin/system", heading: "System", states: WITHOUT_PROJECT },
  { name: "users", path: () => "/admin/users", heading: "Users", states: WITHOUT_PROJECT },
  {
    name: "system-audit",
    path: () => "/admin/audit",
    heading: "Audit log",
    states: WITHOUT_PROJECT,
  },
  {
    name: "system-alerts",
    path: () => "/admin/system",
    heading: "System",
    open: showAlerts,
    states: ["FULL"],
  },
  {
    name: "server-settings",
    path: () => "/admin/settings",
    heading: "Server settings",
    states: WITHOUT_PROJECT,
  },
  {
    name: "server-settings-relay",
    path: () => "/admin/settings",
    heading: "Server settings",
    open: showRelayTest,
    states: ["FULL"],
  },
  {
    name: "system-backup",
    path: () => "/admin/system",
    heading: "System",
    open: showBackups,
    states: ["FULL"],
  },
  { name: "overview", path: ({ project }) => `/p/${project}`, heading: "Overview" },
  {
    name: "overview-table",
    path: ({ project }) => `/p/${project}?view=table`,
    heading: "Overview",
    states: ["FULL"],
  },
  { name: "inbox", path: ({ project }) => `/p/${project}/inboxes`, heading: "Inbox" },
  {
    name: "inbox-no-match",
    path: ({ project }) => `/p/${project}/inboxes?q=nothing`,
    heading: "Inbox",
    states: ["FULL"],
  },
  {
    name: "inbox-gone",
    path: ({ project }) => `/p/${project}/inboxes?message=unknown`,
    heading: "Inbox",
    states: ["FULL"],
    refused: "/messages/unknown",
    expected: NOT_FOUND,
  },
  {
    name: "inbox-message",
    path: ({ project, ids }) => `/p/${project}/inboxes?message=${ids.message}`,
    heading: "Inbox",
    states: ["FULL"],
  },
  ...["source", "headers", "parts", "links", "checks", "smtp"].map((tab): DashboardPage => ({
    name: `inbox-${tab}`,
    path: ({ project, ids }) => `/p/${project}/inboxes?message=${ids.message}&tab=${tab}`,
    heading: "Inbox",
    states: ["FULL"],
  })),
  {
    name: "inbox-connect",
    path: ({ project }) => `/p/${project}/inboxes?panel=connect`,
    heading: "Inbox",
    states: ["FULL"],
  },
  {
    name: "inbox-rules",
    path: ({ project }) => `/p/${project}/inboxes?panel=rules`,
    heading: "Inbox",
    states: ["FULL"],
  },
  { name: "received", path: ({ project }) => `/p/${project}/received`, heading: "Received" },
  ...["preview", "attachments", "sender", "headers", "source"].map((tab): DashboardPage => ({
    name: `received-${tab}`,
    path: ({ project, ids }) => `/p/${project}/received?mail=${ids.received}&tab=${tab}`,
    heading: "Received",
    states: ["FULL"],
  })),
  {
    name: "received-routes",
    path: ({ project }) => `/p/${project}/received/routes`,
    heading: "Received",
  },
  {
    name: "received-routes-add",
    path: ({ project }) => `/p/${project}/received/routes`,
    heading: "Received",
    open: async (page) => {
      await page.getByRole("button", { name: "Add a route" }).first().click();
      await page.getByRole("radio", { name: "The same" }).check();
      await page.getByLabel("Forward to").waitFor();
    },
    states: ["FULL"],
  },
  { name: "emails", path: ({ project }) => `/p/${project}/emails`, heading: "Emails" },
  {
    name: "emails-filtered",
    path: ({ project }) => `/p/${project}/emails?status=bounced&to=@nobody.example`,
    heading: "Emails",
    states: ["FULL"],
  },
  {
    name: "email-transcript",
    path: ({ project, ids }) => `/p/${project}/emails?email=${ids.email}&tab=transcript`,
    heading: "Emails",
    states: WITHOUT_PROJECT,
  },
  {
    name: "email-preview",
    path: ({ project, ids }) => `/p/${project}/emails?email=${ids.email}&tab=preview`,
    heading: "Emails",
    states: ["FULL"],
    expected: BLOCKED_IMAGE,
  },
  ...["text", "source", "headers", "timeline", "checks"].map((tab): DashboardPage => ({
    name: `email-${tab}`,
    path: ({ project, ids }) => `/p/${project}/emails?email=${ids.email}&tab=${tab}`,
    heading: "Emails",
    states: ["FULL"],
  })),
  {
    // The mails of the past were not captured.
    name: "email-raw",
    path: ({ project, ids }) => `/p/${project}/emails?email=${ids.email}&tab=raw`,
    heading: "Emails",
    states: ["FULL"],
    refused: "/raw",
    expected: NOT_FOUND,
  },
  {
    name: "email-queued",
    path: ({ project }) => `/p/${project}/emails?status=queued`,
    heading: "Emails",
    open: async (page) => {
      const rows = page.locator(".email-table [data-row]");
      await rows.filter({ hasText: "Deferred" }).first().locator("[data-primary]").click();
      await page.getByText("MAIL FROM:").first().waitFor();
    },
    states: ["FULL"],
  },
  {
    name: "email",
    path: ({ project, ids }) => `/p/${project}/emails/${ids.email}?tab=timeline`,
    heading: /./,
    states: WITHOUT_PROJECT,
  },
  {
    name: "contact-import",
    path: ({ project }) => `/p/${project}/contacts/import`,
    heading: "Import contacts",
    states: ["FULL"],
  },
  { name: "contacts", path: ({ project }) => `/p/${project}/contacts`, heading: "Contacts" },
  {
    name: "contacts-selected",
    path: ({ project }) => `/p/${project}/contacts?data=city:berlin&sort=-email`,
    heading: "Contacts",
    states: ["FULL"],
    open: async (page) => {
      await page.getByLabel("Select row 1", { exact: true }).check();
      await page.getByRole("button", { name: "More" }).click();
      await page.getByRole("menuitem", { name: "Set a value" }).click();
      await page.getByRole("dialog").getByRole("combobox", { name: "Name of the field" }).waitFor();
    },
  },
  {
    name: "contacts-search",
    path: ({ project }) => `/p/${project}/contacts`,
    heading: "Contacts",
    open: async (page) => {
      await page.getByLabel("Search: address, name").pressSequentially("ci");
      await page.getByText("Press Enter to search").waitFor();
    },
    states: ["FULL"],
  },
  {
    name: "contact",
    path: ({ project, ids }) => `/p/${project}/contacts/${ids.contact}`,
    heading: /./,
    states: WITHOUT_PROJECT,
  },
  {
    name: "contacts-check",
    path: ({ project }) => `/p/${project}/contacts`,
    heading: "Contacts",
    open: async (page) => {
      await page.getByRole("button", { name: "Check an address" }).first().click();
      await page.getByRole("dialog").getByLabel("Email address").fill("ada@");
      await page.getByRole("dialog").getByRole("button", { name: "Check the address" }).click();
      await page.getByText("Mail to this address cannot arrive.").waitFor();
    },
    states: ["EMPTY"],
  },
  {
    name: "contact-delete",
    path: ({ project, ids }) => `/p/${project}/contacts/${ids.contact}`,
    heading: /./,
    open: async (page) => {
      await page.getByRole("button", { name: "Delete", exact: true }).click();
      await page.getByRole("dialog", { name: "Delete this contact?" }).waitFor();
    },
    states: ["FULL"],
  },
  {
    name: "segment-new",
    path: ({ project }) => `/p/${project}/segments/new`,
    heading: "New segment",
    states: ["FULL"],
  },
  {
    // A form that was left: the browser kept it, and a row lacks its value.
    name: "segment-new-kept",
    path: ({ project }) => `/p/${project}/segments/new`,
    heading: "New segment",
    open: async (page) => {
      await page.getByLabel("Name").fill("Readers of the last weeks");
      await page.getByRole("combobox", { name: "Field of Condition 1" }).click();
      await page.getByRole("option", { name: "Added", exact: true }).click();
      await page.reload();
      await page.getByText("These changes were kept in this browser").waitFor();
      await page.getByRole("textbox", { name: "Value of Condition 1" }).focus();
      await page.getByLabel("Note").focus();
      await page.getByText("Enter a number of days.").waitFor();
    },
    states: ["FULL"],
  },
  { name: "topics", path: ({ project }) => `/p/${project}/topics`, heading: "Topics" },
  {
    name: "topics-create",
    path: ({ project }) => `/p/${project}/topics`,
    heading: "Topics",
    open: async (page) => {
      await page.getByRole("button", { name: "Create a topic" }).first().click();
      await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).waitFor();
    },
    states: ["FULL"],
  },
  { name: "segments", path: ({ project }) => `/p/${project}/segments`, heading: "Segments" },
  {
    name: "segment",
    path: ({ project, ids }) => `/p/${project}/segments/${ids.segment}`,
    heading: /./,
    states: WITHOUT_PROJECT,
  },
  {
    name: "segment-members",
    path: ({ project, ids }) => `/p/${project}/segments/${ids.segment}?tab=members`,
    heading: /./,
    states: ["FULL"],
  },
  {
    name: "segment-backtest",
    path: ({ project, ids }) => `/p/${project}/segments/${ids.buyers}?tab=backtest`,
    heading: /./,
    open: async (page) => {
      await page.getByRole("button", { name: "Run the backtest" }).click();
      await page.getByRole("heading", { name: "Some of those who entered" }).waitFor();
    },
    states: ["FULL"],
  },
  {
    name: "segment-edit-backtest",
    path: ({ project, ids }) => `/p/${project}/segments/${ids.buyers}/edit`,
    heading: /./,
    open: async (page) => {
      await page.getByRole("button", { name: "Who was in it before" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Run the backtest" }).click();
      await page
        .getByRole("dialog")
        .getByText(/^Members, entries and exits/)
        .waitFor();
    },
    states: ["FULL"],
  },
  {
    name: "suppressions",
    path: ({ project }) => `/p/${project}/suppressions`,
    heading: "Suppressions",
  },
  {
    name: "suppression",
    path: ({ project, ids }) => `/p/${project}/suppressions?address=${ids.suppression}`,
    heading: "Suppressions",
    states: ["FULL"],
  },
  {
    name: "suppressions-import",
    path: ({ project }) => `/p/${project}/suppressions`,
    heading: "Suppressions",
    open: async (page) => {
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await page.getByLabel("Or paste addresses").fill("broken address@");
      await page.getByRole("button", { name: "Suppress the pasted addresses" }).click();
      await page.getByRole("list", { name: "Faults" }).waitFor();
    },
    states: ["FULL"],
  },
  { name: "campaigns", path: ({ project }) => `/p/${project}/campaigns`, heading: "Campaigns" },
  {
    name: "campaign",
    path: ({ project, ids }) => `/p/${project}/campaigns/${ids.campaign}`,
    heading: /./,
    states: WITHOUT_PROJECT,
  },
  {
    name: "draft",
    path: ({ project, ids }) => `/p/${project}/campaigns/${ids.draft}`,
    heading: /./,
    states: ["FULL"],
  },
  {
    name: "draft-review",
    path: ({ project, ids }) => `/p/${project}/campaigns/${ids.draft}`,
    heading: /./,
    open: async (page) => {
      await page.getByRole("button", { name: "Review and send" }).click();
      await page.getByRole("dialog", { name: "Review and send" }).waitFor();
    },
    states: ["FULL"],
  },
  {
    name: "draft-when",
    path: ({ project, ids }) => `/p/${project}/campaigns/${ids.draft}`,
    heading: /./,
    open: async (page) => {
      await page.getByRole("radio", { name: "At a time", exact: true }).check();
      await page.getByRole("button", { name: /\bWhen\b/ }).click();
    },
    states: ["FULL"],
  },
  {
    name: "draft-unsubscribed",
    path: ({ project, ids }) => `/p/${project}/campaigns/${ids.draft}?who=UNSUBSCRIBED`,
    heading: /./,
    states: ["FULL"],
  },
  {
    name: "draft-test",
    path: ({ project, ids }) => `/p/${project}/campaigns/${ids.draft}`,
    heading: /./,
    open: async (page) => {
      await page.getByRole("button", { name: "Send a test" }).click();
      await page.getByRole("dialog", { name: "Send a test" }).waitFor();
    },
    states: ["FULL"],
  },
  {
    // After the pages without a result, because its result stays on the page.
    name: "draft-rehearsal",
    path: ({ project, ids }) => `/p/${project}/campaigns/${ids.draft}`,
    heading: /./,
    open: async (page) => {
      await page.getByRole("button", { name: "Rehearse" }).click();
      await page.getByRole("table", { name: "The campaign for different contacts" }).waitFor();
      await page.getByRole("button", { name: "Checks" }).click();
    },
    states: ["FULL"],
  },
  {
    // After the other pages of the draft, because its changed answers stay on the page.
    name: "draft-ab-test",
    path: ({ project, ids }) => `/p/${project}/campaigns/${ids.draft}`,
    heading: /./,
    open: async (page) => {
      await reloadWith(page, CAMPAIGN_PATH, { abTest: sampleAbTest() });
      await page.locator(".outline").getByText("A/B test").click();
      await page.unroute(CAMPAIGN_PATH);
    },
    states: ["FULL"],
  },
  {
    name: "campaign-paused",
    path: ({ project }) => `/p/${project}/campaigns?status=paused`,
    heading: "Campaigns",
    open: async (page) => {
      await page.locator("[data-row] a").first().click();
      await page.getByText("Show the bounces").waitFor();
    },
    states: ["FULL"],
  },
  {
    name: "campaign-recipients",
    path: ({ project, ids }) =>
      `/p/${project}/campaigns/${ids.campaign}?tab=recipients&show=bounced`,
    heading: /./,
    states: ["FULL"],
  },
  {
    name: "campaign-email",
    path: ({ project, ids }) =>
      `/p/${project}/campaigns/${ids.campaign}?tab=email&as=${ids.contact}`,
    heading: /./,
    states: ["FULL"],
  },
  {
    name: "campaign-ab-test",
    path: ({ project, ids }) => `/p/${project}/campaigns/${ids.campaign}`,
    heading: /./,
    open: showAbTest,
    states: ["FULL"],
  },
  {
    name: "campaign-imported",
    path: ({ project, ids }) => `/p/${project}/campaigns/${ids.campaign}`,
    heading: /./,
    open: showImported,
    states: ["FULL"],
  },
  { name: "templates", path: ({ project }) => `/p/${project}/templates`, heading: "Templates" },
  {
    name: "template",
    path: ({ project, ids }) => `/p/${project}/templates/${ids.template}?as=${ids.contact}`,
    heading: /./,
    states: WITHOUT_PROJECT,
  },
  {
    name: "template-variables",
    path: ({ project, ids }) => `/p/${project}/templates/${ids.template}?tab=variables`,
    heading: /./,
    states: ["FULL"],
  },
  ...["settings", "checks", "versions", "uses"].map((tab): DashboardPage => ({
    name: `template-${tab}`,
    path: ({ project, ids }) => `/p/${project}/templates/${ids.template}?tab=${tab}`,
    heading: /./,
    states: ["FULL"],
  })),
  {
    name: "template-phone",
    path: ({ project, ids }) =>
      `/p/${project}/templates/${ids.template}?as=${ids.contact}&device=phone&dark=true`,
    heading: /./,
    states: ["FULL"],
  },
  {
    name: "template-visual",
    path: ({ project, ids }) => `/p/${project}/templates/${ids.template}`,
    heading: /./,
    states: ["FULL"],
    open: openLetter,
  },
  {
    name: "template-new",
    path: ({ project }) => `/p/${project}/templates/new`,
    heading: "New template",
    states: ["FULL"],
  },
  { name: "forms", path: ({ project }) => `/p/${project}/forms`, heading: "Forms" },
  ...["edit", "share", "report"].map((tab) => ({
    name: `form-${tab}`,
    path: ({ project, ids }: Place) => `/p/${project}/forms/${ids.form}?tab=${tab}`,
    heading: /./,
    states: ["FULL" as const],
  })),
  {
    name: "forms-create",
    path: ({ project }) => `/p/${project}/forms`,
    heading: "Forms",
    open: async (page) => {
      await page.getByRole("button", { name: "Create a form" }).click();
      await page.getByRole("dialog", { name: "Create a form" }).waitFor();
    },
    states: ["EMPTY"],
  },
  {
    name: "layouts",
    path: ({ project }) => `/p/${project}/templates/layouts`,
    heading: "Layouts",
  },
  {
    name: "layouts-create",
    path: ({ project }) => `/p/${project}/templates/layouts`,
    heading: "Layouts",
    open: async (page) => {
      await page.getByRole("button", { name: "Create a layout" }).click();
      await page.getByRole("dialog").waitFor();
    },
    states: ["EMPTY"],
  },
  {
    name: "images",
    path: ({ project }) => `/p/${project}/templates/images`,
    heading: "Images",
  },
  {
    name: "images-filled",
    path: ({ project }) => `/p/${project}/templates/images`,
    heading: "Images",
    open: showImages,
    states: ["FULL"],
  },
  {
    name: "images-upload",
    path: ({ project }) => `/p/${project}/templates/images`,
    heading: "Images",
    open: async (page) => {
      await page.getByRole("button", { name: "Upload an image" }).first().click();
      await page.getByRole("dialog", { name: "Upload an image" }).waitFor();
    },
    states: ["FULL"],
  },
  { name: "domains", path: ({ project }) => `/p/${project}/domains`, heading: "Domains" },
  {
    name: "domain",
    path: ({ project, ids }) => `/p/${project}/domains/${ids.domain}`,
    heading: /./,
    states: WITHOUT_PROJECT,
  },
  { name: "workflows", path: ({ project }) => `/p/${project}/workflows`, heading: "Workflows" },
  {
    name: "workflow",
    path: ({ project, ids }) => `/p/${project}/workflows/${ids.workflow}`,
    heading: /./,
    states: WITHOUT_PROJECT,
  },
  {
    name: "workflow-new",
    path: ({ project }) => `/p/${project}/workflows/new`,
    heading: "New workflow",
    states: ["FULL"],
  },
  {
    name: "workflow-step",
    path: ({ project, ids }) => `/p/${project}/workflows/${ids.workflow}`,
    heading: /./,
    open: async (page) => {
      await page.locator(".step-box").nth(1).click();
      await page.getByRole("dialog", { name: "Step" }).getByText("What follows").waitFor();
    },
    states: ["FULL"],
  },
  {
    name: "workflow-add-step",
    path: ({ project, ids }) => `/p/${project}/workflows/${ids.workflow}`,
    heading: /./,
    open: async (page) => {
      await page.locator(".canvas-add").first().click();
      await page.getByRole("dialog", { name: /^Add a step/ }).waitFor();
    },
    states: ["FULL"],
  },
  {
    name: "workflow-simulation",
    path: ({ project, ids }) => `/p/${project}/workflows/${ids.workflow}?tab=simulate`,
    heading: /./,
    open: async (page) => {
      await page.getByRole("button", { name: "To the end" }).click();
      await page
        .getByRole("button", { name: /^Show the mail/ })
        .nth(1)
        .waitFor();
    },
    states: ["FULL"],
  },
  {
    name: "workflow-simulation-mail",
    path: ({ project, ids }) => `/p/${project}/workflows/${ids.workflow}?tab=simulate`,
    heading: /./,
    open: async (page) => {
      await page
        .getByRole("button", { name: /^Show the mail/ })
        .first()
        .click();
      await page.getByRole("dialog").locator("iframe").waitFor();
    },
    states: ["FULL"],
  },
  {
    name: "workflow-backtest",
    path: ({ project, ids }) => `/p/${project}/workflows/${ids.workflow}?tab=backtest`,
    heading: /./,
    open: async (page) => {
      await page.getByRole("button", { name: "Run the backtest" }).click();
      await page.getByRole("heading", { name: "Examples" }).waitFor();
    },
    states: ["FULL"],
  },
  {
    name: "workflow-backtest-path",
    path: ({ project, ids }) => `/p/${project}/workflows/${ids.workflow}?tab=backtest`,
    heading: /./,
    open: async (page) => {
      await page.getByRole("button", { name: "Run the backtest" }).click();
      const examples = page.getByRole("button", { name: /^Show the path of/ });
      await examples.first().click();
      await page.locator(".try-canvas .step-box").first().waitFor();
    },
    states: ["FULL"],
  },
  {
    name: "workflow-settings",
    path: ({ project, ids }) => `/p/${project}/workflows/${ids.workflow}?tab=settings`,
    heading: /./,
    states: ["FULL"],
  },
  {
    name: "workflow-versions",
    path: ({ project, ids }) => `/p/${project}/workflows/${ids.workflow}?tab=versions`,
    heading: /./,
    states: ["FULL"],
  },
  {
    name: "workflow-json",
    path: ({ project, ids }) => `/p/${project}/workflows/${ids.workflow}?tab=json`,
    heading: /./,
    states: ["FULL"],
  },
  {
    name: "workflow-list",
    path: ({ project, ids }) => `/p/${project}/workflows/${ids.workflow}?tab=list`,
    heading: /./,
    states: ["FULL"],
  },
  {
    name: "workflow-executions",
    path: ({ project, ids }) => `/p/${project}/workflows/${ids.workflow}?tab=executions`,
    heading: /./,
    states: WITHOUT_PROJECT,
  },
  {
    name: "workflow-execution",
    path: ({ project, ids }) => `/p/${project}/workflows/${ids.workflow}?tab=executions`,
    heading: /./,
    open: async (page) => {
      await page.locator("[data-row] [data-primary]").first().click();
      await page.getByRole("region", { name: "Execution", exact: true }).waitFor();
    },
    states: ["FULL"],
  },
  { name: "events", path: ({ project }) => `/p/${project}/events`, heading: "Events" },
  {
    name: "events-filtered",
    path: ({ project }) => `/p/${project}/events?name=email.bounced&range=30d`,
    heading: "Events",
    states: ["FULL"],
  },
  {
    name: "event",
    path: ({ project }) => `/p/${project}/events?name=email.bounced&range=30d`,
    heading: "Events",
    open: async (page) => {
      await page.locator("[data-row] [data-primary]").first().click();
      await page.getByRole("dialog", { name: "Event" }).waitFor();
    },
    states: ["FULL"],
  },
  {
    name: "event-record",
    path: ({ project }) => `/p/${project}/events`,
    heading: "Events",
    open: async (page) => {
      await page.getByRole("button", { name: "Record an event" }).first().click();
      await page.getByRole("dialog", { name: "Record an event" }).waitFor();
    },
    states: ["FULL"],
  },
  { name: "webhooks", path: ({ project }) => `/p/${project}/webhooks`, heading: "Webhooks" },
  {
    name: "webhook",
    path: ({ project, ids }) => `/p/${project}/webhooks/${ids.webhook}`,
    heading: /./,
    states: WITHOUT_PROJECT,
  },
  {
    name: "webhook-delivery",
    path: ({ project, ids }) => `/p/${project}/webhooks/${ids.webhook}`,
    heading: /./,
    open: async (page) => {
      await page.locator("[data-row] [data-primary]").first().click();
      await page.getByRole("dialog").getByRole("heading", { name: "Request" }).waitFor();
    },
    states: ["FULL"],
  },
  {
    name: "webhook-settings",
    path: ({ project, ids }) => `/p/${project}/webhooks/${ids.webhook}?tab=settings`,
    heading: /./,
    states: ["FULL"],
  },
  {
    name: "relay-reports",
    path: ({ project }) => `/p/${project}/relay-reports`,
    heading: "Relay reports",
  },
  {
    name: "relay-reports-source",
    path: ({ project }) => `/p/${project}/relay-reports`,
    heading: "Relay reports",
    open: async (page) => {
      await page.locator("[data-row] [data-primary]").first().click();
      await page.getByRole("dialog").getByRole("button", { name: "Test the URL" }).waitFor();
    },
    states: ["FULL"],
  },
  {
    name: "relay-reports-create",
    path: ({ project }) => `/p/${project}/relay-reports`,
    heading: "Relay reports",
    open: async (page) => {
      await page.getByRole("button", { name: "Add a provider" }).click();
      await page.getByRole("dialog").getByLabel("Name").waitFor();
    },
    states: ["FULL"],
  },
  {
    name: "relay-mailboxes",
    path: ({ project }) => `/p/${project}/relay-reports/mailboxes`,
    heading: "Relay reports",
    states: ["EMPTY", "BROKEN"],
  },
  {
    name: "relay-mailboxes-filled",
    path: ({ project }) => `/p/${project}/relay-reports/mailboxes`,
    heading: "Relay reports",
    open: showMailboxes,
    states: ["FULL"],
  },
  ...[
    ["active", "Active"],
    ["failed", "Cannot be read"],
  ].map(([name, state = ""]): DashboardPage => ({
    name: `relay-mailboxes-${name}`,
    path: ({ project }) => `/p/${project}/relay-reports/mailboxes`,
    heading: "Relay reports",
    open: async (page) => {
      await showMailboxes(page);
      await page.locator("[data-row]", { hasText: state }).locator("[data-primary]").click();
      await page.getByRole("dialog").getByRole("button", { name: "Test the login" }).waitFor();
    },
    states: ["FULL"],
  })),
  {
    name: "relay-mailboxes-add",
    path: ({ project }) => `/p/${project}/relay-reports/mailboxes`,
    heading: "Relay reports",
    open: async (page) => {
      await showMailboxes(page);
      await page.getByRole("button", { name: "Add a mailbox" }).click();
      await page.getByRole("dialog").getByLabel("Server").waitFor();
    },
    states: ["FULL"],
  },
  { name: "keys", path: ({ project }) => `/p/${project}/keys`, heading: "API keys" },
  {
    name: "keys-create-send",
    path: ({ project }) => `/p/${project}/keys`,
    heading: "API keys",
    open: async (page) => {
      await page.getByRole("button", { name: "Create a key" }).click();
      await page.getByRole("dialog").getByRole("combobox", { name: "Sender domains" }).waitFor();
    },
    states: ["FULL"],
  },
  {
    name: "keys-create",
    path: ({ project }) => `/p/${project}/keys`,
    heading: "API keys",
    open: async (page) => {
      await page.getByRole("button", { name: "Create a key" }).click();
      await page.getByRole("dialog").getByText("Public", { exact: true }).click();
    },
    states: ["FULL"],
  },
  {
    name: "settings-general",
    path: ({ project }) => `/p/${project}/settings/general`,
    heading: "Settings",
  },
  {
    name: "settings-branding",
    path: ({ project }) => `/p/${project}/settings/branding`,
    heading: "Settings",
  },
  {
    name: "settings-privacy",
    path: ({ project }) => `/p/${project}/settings/privacy`,
    heading: "Settings",
  },
  {
    name: "settings-delivery",
    path: ({ project }) => `/p/${project}/settings/delivery`,
    heading: "Settings",
  },
  {
    name: "settings-team",
    path: ({ project }) => `/p/${project}/settings/team`,
    heading: "Settings",
  },
  {
    name: "settings-audit",
    path: ({ project }) => `/p/${project}/settings/audit`,
    heading: "Settings",
  },
  {
    name: "settings-audit-change",
    path: ({ project }) => `/p/${project}/settings/audit?action=template.update`,
    heading: "Settings",
    states: ["FULL"],
    open: async (page) => {
      await page.locator("[data-primary]").first().click();
      await page.getByRole("heading", { name: "Changed a template" }).waitFor();
    },
  },
  {
    name: "not-found",
    path: () => "/nowhere",
    heading: "This page does not exist",
    states: ["FULL"],
  },
];
