/**
 * Two mailboxes as the interface answers them: one that is read, and one whose login fails. The
 * demonstration has none, because a server reads all mailboxes when it starts, and it would connect.
 */

import type { Page } from "playwright-core";
import type { ReportMailbox } from "../../src/modules/report-mailboxes/model.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

function sampleMailboxes(): ReportMailbox[] {
  const before = (ms: number) => new Date(Date.now() - ms).toISOString();
  return [
    {
      id: "0199b6f2-6f6a-7000-8000-000000000002",
      name: "Old newsletters",
      protocol: "POP3",
      security: "TLS",
      host: "pop.old-harbour-shop.example",
      port: 995,
      username: "newsletter-bounces@old-harbour-shop.example",
      folder: "INBOX",
      received: 214,
      counted: 187,
      unknown: 27,
      lastFetchedAt: before(2 * DAY_MS),
      failedAt: before(38 * MINUTE_MS),
      failure: "the server refused the login: [AUTH] Username and password not accepted",
      createdAt: before(90 * DAY_MS),
    },
    {
      id: "0199b6f2-6f6a-7000-8000-000000000001",
      name: "bounces@harbourbooks.example",
      protocol: "IMAP",
      security: "TLS",
      host: "imap.harbourbooks.example",
      port: 993,
      username: "bounces@harbourbooks.example",
      folder: "INBOX",
      received: 1_318,
      counted: 1_240,
      unknown: 61,
      lastFetchedAt: before(3 * MINUTE_MS),
      failedAt: null,
      failure: null,
      createdAt: before(210 * DAY_MS),
    },
  ];
}

export async function showMailboxes(page: Page): Promise<void> {
  const items = sampleMailboxes();
  const answer = { items, total: items.length, hasMore: false, cursor: null };
  await page.route(/\/report-mailboxes\?/, (route) =>
    route.fulfill({ json: { success: true, data: answer } }),
  );
  await page.reload();
  await page
    .locator("[data-row]")
    .nth(items.length - 1)
    .waitFor();
}
