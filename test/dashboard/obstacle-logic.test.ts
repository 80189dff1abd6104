/** The reasons why mail does not reach a contact, in words. */

import { describe, expect, test } from "bun:test";
import { lastAcceptance, obstaclesOf } from "../../src/dashboard/pages/contacts/obstacles.ts";
import type { Attempt, Email, EmailWait } from "../../src/modules/emails/record-model.ts";
import type { Suppression } from "../../src/modules/suppressions.ts";

const AT = "2026-01-01T10:00:00.000Z";
const contact = { email: "ada@example.com", subscribed: true };
const nothing = {
  isProjectEnabled: true,
  contact,
  nowMs: Date.parse(AT),
  suppression: null,
  lastChange: null,
  last: null,
  waiting: [],
};
const suppression: Suppression = {
  email: "ada@example.com",
  reason: "MANUAL",
  createdAt: AT,
  expiresAt: null,
  cause: null,
};

const email: Email = {
  id: "1",
  contactId: "2",
  to: "ada@example.com",
  recipientType: null,
  addressees: null,
  tags: {},
  scheduledAt: null,
  from: "orders@acme.example",
  subject: "Order 1",
  status: "SENT",
  source: "TRANSACTIONAL",
  templateId: null,
  campaignId: null,
  type: "TRANSACTIONAL",
  workflowExecutionId: null,
  messageId: "<1@acme.example>",
  createdAt: AT,
  sentAt: AT,
  deliveredAt: null,
  openedAt: null,
  clickedAt: null,
  bouncedAt: null,
  complainedAt: null,
  lastError: null,
  nextAttemptAt: null,
  wait: null,
  attempts: [],
  reports: [],
};

const failedAttempt = (name: string): Attempt => ({
  number: 1,
  startedAt: AT,
  durationMs: 1,
  outcome: "bounced",
  class: name,
  reason: null,
  conversations: [],
});
const bounced: Email = {
  ...email,
  status: "BOUNCED",
  bouncedAt: AT,
  lastError: "550 5.7.1 no",
  attempts: [failedAttempt("policy")],
};
const waitingFor = (wait: EmailWait, id = "1"): Email => ({ ...email, id, status: "QUEUED", wait });

const TURN: EmailWait = { cause: "QUEUE", name: null, reason: null, until: AT };

/** Title and texts of each obstacle. */
const told = (known: Partial<Parameters<typeof obstaclesOf>[0]>) =>
  obstaclesOf({ ...nothing, ...known }).map(({ title, texts }) => [title, ...texts].join(" "));

describe("the obstacles of a contact", () => {
  test("are none if mail arrives", () => {
    expect(told({ last: email })).toEqual([]);
    expect(lastAcceptance(email)).toBe(AT);
    expect(lastAcceptance(bounced)).toBeNull();
    expect(lastAcceptance(null)).toBeNull();
  });

  test("a pause is one until it ends", () => {
    const until = new Date(Date.parse(AT) + 1).toISOString();
    expect(told({ contact: { ...contact, pausedUntil: AT } })).toEqual([]);
    const [text] = told({ contact: { ...contact, pausedUntil: until } });
    expect(text).toStartWith("The contact has paused");
    const gone = { ...contact, subscribed: false, pausedUntil: until };
    expect(told({ contact: gone }).join()).not.toContain("paused");
  });

  test("a suppression has its cause and what to do", () => {
    expect(told({ suppression })).toEqual([
      "The address is suppressed, so no mail is sent to it. Somebody, or one of your programs, added this address. Remove the suppression if mail is to be sent to the address again.",
    ]);
    const cause = { emailId: "1", reportedAt: null, reason: "550 5.1.1 no such user" };
    const hard: Suppression = { ...suppression, reason: "HARD_BOUNCE", cause };
    // The mail is the cause of the suppression, so it is not told again.
    expect(told({ suppression: hard, last: bounced })).toEqual([
      "The address is suppressed, so no mail is sent to it. A mail server answered that this address does not exist. Answer: 550 5.1.1 no such user. Ask the person for the right address. Remove the suppression only if the mailbox exists now.",
    ]);
  });

  test("an unsubscribed contact has the way and the time", () => {
    const lastChange = { name: "contact.unsubscribed", data: { via: "one-click" }, createdAt: AT };
    const known = { ...nothing, contact: { ...contact, subscribed: false }, lastChange };
    expect(obstaclesOf(known)).toEqual([
      {
        key: "unsubscribed",
        tone: "held",
        title: "The contact is unsubscribed, so it gets no campaigns and no other marketing mail.",
        since: AT,
        until: null,
        untilLabel: "",
        texts: [
          "By the button of a mail program.",
          "Transactional mail is still sent.",
          "Subscribe the contact again only if the person asks for it.",
        ],
        link: null,
      },
    ]);
  });

  test("a contact that never subscribed is told apart, also if its address is suppressed", () => {
    const known = { contact: { ...contact, subscribed: false } };
    const title =
      "The contact is not subscribed, so it gets no campaigns and no other marketing mail.";
    const begins =
      "No change is recorded. Contacts that a transactional mail creates are not subscribed.";
    const advice = "Subscribe the contact only if the person asks for it.";
    expect(told(known)).toEqual([`${title} ${begins} Transactional mail is still sent. ${advice}`]);
    expect(told({ ...known, suppression })[1]).toBe(`${title} ${begins} ${advice}`);
  });

  test.each([
    ["policy", "Check the DNS records of your sender domain"],
    ["mailbox_full", "Ask the person to make space in the mailbox"],
    ["unheard_of", "The transcript of the mail shows the conversation with the server."],
  ])("the last mail that failed with %s says what to do", (name, advice) => {
    const failed = { ...bounced, attempts: [failedAttempt(name)] };
    const [text = "", ...rest] = told({ last: failed });
    expect(rest).toEqual([]);
    expect(text).toStartWith("The last mail bounced: Order 1 ");
    expect(text).toContain("Answer: 550 5.7.1 no.");
    expect(text).toContain(advice);
  });

  test.each<[wait: EmailWait, text: string]>([
    [TURN, "2 mails wait in the queue."],
    [
      { cause: "CAMPAIGN_PAUSED", name: "Spring", reason: null, until: null },
      "2 mails wait because the campaign “Spring” is paused. Resume the campaign to send the mail, or cancel it.",
    ],
    [
      { cause: "RELAY_DOWN", name: "r.test:25", reason: "refused", until: AT },
      "2 mails wait because the relay r.test:25 cannot be reached. Refused. Mail is sent as soon as the relay answers. Check that it runs and that its address and password are right.",
    ],
    [
      { cause: "SITE_PAUSED", name: "mx.test", reason: "too much mail", until: AT },
      "2 mails wait for mx.test, which takes no mail at present. Too much mail. Nothing needs to be done: the mail is sent when the pause is over.",
    ],
    [
      { cause: "RETRY", name: null, reason: "451 later", until: AT },
      "2 mails wait for another attempt, because the last one failed. Answer: 451 later. Nothing needs to be done: there is another attempt.",
    ],
  ])("mails that wait are told by their reason: %p", (wait, text) => {
    expect(told({ waiting: [waitingFor(wait), waitingFor(wait, "3")] })).toEqual([text]);
  });

  test("a disabled project is told once", () => {
    const wait: EmailWait = { cause: "PROJECT_DISABLED", name: null, reason: null, until: null };
    expect(told({ isProjectEnabled: false, waiting: [waitingFor(wait)] })).toEqual([
      "The project is disabled, so no mail is sent to anybody. Mail that was accepted waits. An owner enables the project again in its settings.",
    ]);
  });

  test("mails that wait for different reasons are told apart", () => {
    const paused: EmailWait = { cause: "SITE_PAUSED", name: "mx.test", reason: "no", until: AT };
    expect(told({ waiting: [waitingFor(TURN), waitingFor(paused, "3")] })).toEqual([
      "1 mail waits in the queue. Subject: Order 1",
      "1 mail waits for mx.test, which takes no mail at present. No. Nothing needs to be done: the mail is sent when the pause is over. Subject: Order 1",
    ]);
  });
});
