/** Answers of the account routes for tests that need only a signed-in user, not a session. */

import type { Page } from "playwright-core";
import { withoutLiveMessages } from "../support/browser.ts";

export const PROJECT = { id: "prj_1", name: "Harbour Books", role: "ADMIN", isEnabled: true };

const STATE = {
  needsOwner: false,
  user: {
    id: "usr_1",
    email: "ada@example.com",
    name: "Ada Lovelace",
    isOwner: true,
    confirmedUntil: null,
  },
  projects: [PROJECT, { id: "prj_2", name: "Lighthouse", role: "VIEWER", isEnabled: false }],
  capture: true,
  dev: true,
  version: "0.1.0",
  transport: "capture",
  requiresVerifiedDomain: false,
  url: "https://mail.example.com",
  smtp: { host: "127.0.0.1", port: 1025 },
};

/** The state of an installation without an owner. */
export const EMPTY_STATE = { ...STATE, needsOwner: true, user: null, projects: [] };
export const SIGNED_OUT = { ...STATE, user: null, projects: [] };

const SESSIONS = [
  {
    id: "ses_1",
    createdAt: "2026-01-02T10:00:00.000Z",
    lastSeenAt: "2026-01-02T10:00:00.000Z",
    address: "127.0.0.1",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    isCurrent: true,
  },
  {
    id: "ses_2",
    createdAt: "2026-01-01T10:00:00.000Z",
    lastSeenAt: "2026-01-01T12:00:00.000Z",
    address: "192.0.2.7",
    userAgent:
      "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/605.1.15",
    isCurrent: false,
  },
];

/** The state of the installation, as far as the overview shows it. */
const SYSTEM = {
  storage: { folder: null, usedBytes: null, freeBytes: null },
  queue: { waiting: 0, inProgress: 0, oldestDueAt: null, stalledSeconds: 0 },
  pausedSites: [],
  checks: { checkedAt: null, isRunning: false, findings: [] },
};

const EMPTY_LIST = { items: [], nextCursor: null, hasMore: false, total: 0 };

/**
 * Answers, in the browser, the requests that need a session: the state, the account, its sessions,
 * the state of the installation, saved views, and keys.
 */
export async function answerState(page: Page, state: object = STATE): Promise<void> {
  const answer = (data: unknown) => ({ json: { success: true, data } });
  await page.route("**/app/api/state", (route) => route.fulfill(answer(state)));
  await page.route("**/app/api/account", (route) => route.fulfill(answer({ hasPassword: true })));
  await page.route("**/app/api/account/sessions", (route) =>
    route.fulfill(answer({ items: SESSIONS })),
  );
  for (const list of ["**/views?*", "**/keys?*"]) {
    await page.route(list, (route) => route.fulfill(answer(EMPTY_LIST)));
  }
  await page.route("**/system", (route) => route.fulfill(answer(SYSTEM)));
  await withoutLiveMessages(page);
}
