/** The reason why a mail waits, as its record says. */

import { expect, test } from "bun:test";
import {
  type FindHold,
  type WaitingMail,
  whyWaiting,
} from "../../../src/modules/emails/waiting.ts";
import type { EmailWait } from "../../../src/modules/emails/record-model.ts";
import type { Hold } from "../../../src/outbox/outcome.ts";
import { testApp } from "../../support/app.ts";
import { testTransport } from "../../support/transport.ts";

const NOW = Date.parse("2026-03-02T10:00:00.000Z");
const mail: WaitingMail = {
  status: "QUEUED",
  projectSeq: 1,
  line: "",
  nextAt: NOW + 90_000,
  lastError: null,
  scheduledAt: null,
  campaign: null,
  isProjectEnabled: true,
};
const paused: WaitingMail["campaign"] = { name: "Spring", status: "PAUSED" };
const relay: Hold = { at: "relay", name: "r.test:25", reason: "no answer", retryAfterMs: 2_000 };
const site: Hold = { at: "site", name: "mx.test", reason: "too much mail", retryAfterMs: 60_000 };
const free = () => null;
const nothing = { name: null, reason: null, until: null };

const CASES: [change: Partial<WaitingMail>, holdOf: FindHold, expected: EmailWait | null][] = [
  [
    { scheduledAt: NOW + 90_000 },
    () => relay,
    { ...nothing, cause: "SCHEDULED", until: "2026-03-02T10:01:30.000Z" },
  ],
  [{ scheduledAt: NOW }, free, { ...nothing, cause: "QUEUE", until: "2026-03-02T10:01:30.000Z" }],
  [{ status: "SENT" }, free, null],
  [{ status: "SENDING" }, () => site, null],
  [{ isProjectEnabled: false, campaign: paused }, free, { ...nothing, cause: "PROJECT_DISABLED" }],
  [{ campaign: paused }, () => relay, { ...nothing, cause: "CAMPAIGN_PAUSED", name: "Spring" }],
  [
    { campaign: { name: "Spring", status: "SENDING" } },
    free,
    { ...nothing, cause: "QUEUE", until: "2026-03-02T10:01:30.000Z" },
  ],
  [
    { lastError: "451 later" },
    () => relay,
    {
      cause: "RELAY_DOWN",
      name: "r.test:25",
      reason: "no answer",
      until: "2026-03-02T10:00:02.000Z",
    },
  ],
  [
    {},
    () => ({ at: "account", name: "r.test:25", reason: "quota", retryAfterMs: 60_000 }),
    {
      cause: "RELAY_REFUSES",
      name: "r.test:25",
      reason: "quota",
      until: "2026-03-02T10:01:00.000Z",
    },
  ],
  [
    { line: "mx.test" },
    (list: string) => (list === "mx.test" ? site : null),
    {
      cause: "SITE_PAUSED",
      name: "mx.test",
      reason: "too much mail",
      until: "2026-03-02T10:01:00.000Z",
    },
  ],
  [
    { lastError: "451 later" },
    free,
    { cause: "RETRY", name: null, reason: "451 later", until: "2026-03-02T10:01:30.000Z" },
  ],
];

test.each(CASES)("why a mail waits: %p", (change, holdOf, expected) => {
  expect(whyWaiting({ ...mail, ...change }, holdOf, NOW)).toEqual(expected);
});

test("the record of a mail has what the transport says", async () => {
  const transport = { ...testTransport(), holdOf: () => site };
  const t = await testApp({ transport });
  const sent = { to: "a@b.example", from: "a@acme.test", subject: "Hi", body: "Hi" };
  const id = await t.create("/v1/send", sent, "data.emails.0.email");
  const wait = async () => (await t.call("GET", `/emails/${id}`)).at("data.wait");
  expect(await wait()).toEqual({
    cause: "SITE_PAUSED",
    name: "mx.test",
    reason: "too much mail",
    until: "2026-03-02T10:01:00.000Z",
  });
  await t.close();
});
