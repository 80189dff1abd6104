/** Shows the pages of a server as if its mail left through a relay. */

import type { Page } from "playwright-core";
import { describeRelay } from "../../src/protocols/smtp/known-relays.ts";

const HOST = "email-smtp.eu-west-1.amazonaws.com";
const STATE = {
  transport: "relay",
  relay: describeRelay({ host: HOST, port: 587, tls: "starttls" }),
};

/** Replaces members of `data` in the answers to requests of a path. */
async function change(
  page: Page,
  path: string | RegExp,
  changes: (data: object) => object,
): Promise<void> {
  await page.route(path, async (route) => {
    const response = await route.fetch();
    const answer: { data: object } = await response.json();
    await route.fulfill({ response, json: { ...answer, data: changes(answer.data) } });
  });
}

const withoutDeliveries = (counts: unknown) => ({ ...Object(counts), delivered: 0 });

/** A relay reports no deliveries, so their number is 0 everywhere. */
export async function pretendRelay(page: Page): Promise<void> {
  await change(page, "**/app/api/state", (data) => ({ ...data, ...STATE }));
  await change(page, /\/campaigns\/[^/]+\/stats/, withoutDeliveries);
  await change(page, /\/stats\?/, (data) => {
    const { totals, previousTotals, points } = Object(data);
    return {
      ...data,
      totals: withoutDeliveries(totals),
      previousTotals: withoutDeliveries(previousTotals),
      points: [points].flat().map(withoutDeliveries),
    };
  });
}
