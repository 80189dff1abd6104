/** Alerts as the interface answers them: two that are open, some earlier ones, and five targets. */

import type { Page } from "playwright-core";
import type { Alert, Alerts } from "../../src/modules/alerts/model.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

function sampleAlerts(): Alerts {
  const before = (ms: number) => new Date(Date.now() - ms).toISOString();
  const relay: Alert = {
    id: "0199b6f2-6f6a-7000-8000-000000000003",
    condition: "relay_down",
    severity: "critical",
    title: "The relay smtp.harbour-shop.example:587 takes no mail",
    finding: "It cannot be reached: connect: connection refused",
    fix: "Look at the state of the relay, and at the quota and the account there. Mail waits in the queue and leaves when the relay takes it again.",
    raisedAt: before(42 * MINUTE_MS),
    clearedAt: null,
  };
  const domain: Alert = {
    id: "0199b6f2-6f6a-7000-8000-000000000002",
    condition: "domain_lost",
    severity: "warning",
    title: "The domain news.harbour-shop.example lost its DKIM record",
    finding:
      "The record is missing or wrong in the DNS since 2027-01-30 08:00 UTC, so its signatures do not verify; 72 hours later the domain may not send any more (project Harbour Books).",
    fix: "Publish its records again: the page of the domain shows them, and so does mailstead domain records.",
    raisedAt: before(5 * HOUR_MS),
    clearedAt: null,
  };
  const earlier = (days: number, title: string): Alert => ({
    ...domain,
    id: `0199b6f2-6f6a-7000-8000-0000000001${String(days).padStart(2, "0")}`,
    title,
    raisedAt: before((24 * days + 3) * HOUR_MS),
    clearedAt: before(24 * days * HOUR_MS),
  });
  return {
    open: [relay, domain],
    history: [
      earlier(1, "The webhook hooks.harbour-shop.example fails"),
      earlier(3, "Backups are not made"),
      earlier(4, "Many bounces in the project Harbour Books"),
      earlier(9, "Mail does not leave"),
      earlier(12, "The queue is held"),
      earlier(20, "The disk will be full within a day"),
    ],
    targets: [
      target("EMAIL", "ada@operators.example", "2.0.0 OK queued as 4B1C2D", true),
      target("WEBHOOK", "hooks.operators.example", "204", true),
      target("NTFY", "ntfy.sh", '200 {"id":"x1","event":"message"}', true),
      { ...target("SLACK", "hooks.slack.com", "404 no_team", false), waiting: 2 },
    ],
    heartbeat: {
      label: "hc-ping.com",
      everyMinutes: 5,
      at: before(2 * MINUTE_MS),
      failure: "An alert is open: The relay smtp.harbour-shop.example:587 takes no mail",
    },
  };

  function target(
    kind: Alerts["targets"][number]["kind"],
    label: string,
    reply: string,
    isDelivered: boolean,
  ): Alerts["targets"][number] {
    return { kind, label, waiting: 0, last: { at: before(42 * MINUTE_MS), isDelivered, reply } };
  }
}

export async function showAlerts(page: Page): Promise<void> {
  await page.route(/\/system\/alerts$/, (route) =>
    route.fulfill({ json: { success: true, data: sampleAlerts() } }),
  );
  await page.reload();
  await page.getByRole("button", { name: "Show all 6" }).scrollIntoViewIfNeeded();
}
