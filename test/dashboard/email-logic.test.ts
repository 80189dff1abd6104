/** The logic of the pages of emails that needs no browser. */

import { describe, expect, test } from "bun:test";
import type { Email } from "../../src/modules/emails/record-model.ts";
import { findPlaces } from "../../src/dashboard/ui/message/check-texts.ts";
import { explainReply } from "../../src/dashboard/ui/message/explain.ts";
import { messageLines } from "../../src/dashboard/ui/message/message-lines.ts";
import {
  queryOf,
  rangeLabel,
  readSearch,
  withFilters,
  withoutFilters,
} from "../../src/dashboard/pages/emails/search.ts";
import { timelineOf } from "../../src/dashboard/pages/emails/timeline-items.ts";

const EMAIL: Email = {
  id: "1",
  contactId: null,
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
  createdAt: "2026-01-01T10:00:00.000Z",
  sentAt: "2026-01-01T10:05:00.000Z",
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

describe("the search parameters", () => {
  test("leave out what is unknown, empty or no text", () => {
    const given = { to: "a@b.example", subject: "", status: 1, other: "x" };
    expect(readSearch(given)).toEqual({ to: "a@b.example" });
  });

  test.each([
    ["ada@example.com", { to: "ada@example.com" }],
    ["order 1", { subject: "order 1" }],
  ])("take the words %s as %p", (q, expected) => {
    expect(withFilters({ tab: "text" }, { q })).toEqual({ tab: "text", ...expected });
  });

  test("keep the open email when the filters are removed", () => {
    expect(withoutFilters({ to: "x", range: "7d", email: "1" })).toEqual({ email: "1" });
  });

  const NOW = Date.parse("2026-01-31T12:00:00.000Z");
  test.each([
    [
      { status: "bounced", campaign: "c" },
      { status: "BOUNCED", campaignId: "c" },
    ],
    [{ range: "24h" }, { since: "2026-01-30T12:00:00.000Z" }],
    [{ since: "2026-01-30T12:00:00Z" }, { since: "2026-01-30T12:00:00.000Z" }],
    [{ until: "yesterday" }, { until: "yesterday" }],
  ])("of %j ask for %j", (search, query) => {
    const asked = Object.entries(queryOf(search, NOW)).filter(([, value]) => value !== undefined);
    expect(Object.fromEntries(asked)).toEqual(query);
  });

  test("take days as those of the reader's time zone, both whole", () => {
    const { since, until } = queryOf({ since: "2026-01-30", until: "2026-01-30" }, NOW);
    expect(since).toBe(new Date(2026, 0, 30).toISOString());
    expect(Date.parse(String(until)) - Date.parse(String(since))).toBe(86_400_000 - 1);
  });

  test("name the time range", () => {
    expect(rangeLabel({})).toBeNull();
    expect(rangeLabel({ range: "7d" })).toBe("Last 7 days");
    expect(rangeLabel({ since: "2026-01-30" })).toStartWith("Since ");
    expect(rangeLabel({ since: "2026-01-30", until: "2026-01-31" })).toContain(" – ");
  });
});

describe("the lines of a message", () => {
  const kinds = (text: string) => {
    const lines = messageLines(text);
    return Array.from({ length: lines.count }, (_, i) => lines.at(i).kind);
  };

  test("are headers, folded lines, boundaries with the headers of their part, and the rest", () => {
    const message = [
      "Subject: Hello",
      "\tworld",
      "",
      "--b",
      "Content-Type: text/plain",
      "",
      "Not: a header",
      "--b--",
      "Nor: this",
    ];
    expect(kinds(message.join("\r\n"))).toEqual([
      "header",
      "folded",
      "body",
      "boundary",
      "header",
      "body",
      "body",
      "boundary",
      "body",
    ]);
  });

  test("keep their texts without CRLF, and long ones are cut", () => {
    const lines = messageLines(`a\r\n${"x".repeat(5_000)}\n`);
    expect(lines.count).toBe(2);
    expect(lines.at(0).text).toBe("a");
    expect(lines.at(1).text).toBe(`${"x".repeat(2_000)}…`);
  });

  test("of 20 MB are found in linear time, and their number is bounded", () => {
    const startedAt = performance.now();
    for (const part of ["\n", "x", " ", "--\n", `${"a".repeat(76)}\r\n`]) {
      const lines = messageLines(part.repeat(20_000_000 / part.length));
      expect(lines.count).toBeLessThanOrEqual(500_000);
      expect(lines.isCut).toBe(part === "\n" || part === "--\n");
    }
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});

describe("a reply of a mail server", () => {
  test.each([
    [550, "5.1.1", "550 5.1.1 is permanent: the mailbox does not exist."],
    [450, "4.2.0", "450 4.2.0 is temporary: the mailbox is not available at the moment."],
    [554, null, "554 is permanent: the server refused the mail."],
    [599, "5.9.9", "599 5.9.9 is permanent: the server gave no known reason."],
    [250, "2.0.0", "250 2.0.0 means that the server agreed."],
  ])("%d %s is one sentence", (code, enhanced, sentence) => {
    expect(explainReply({ code, enhanced })).toBe(sentence);
  });

  test("that never came is one too", () => {
    expect(explainReply({ code: null, enhanced: null })).toContain("no reply");
  });
});

describe("the places of a finding", () => {
  const HTML = `<p>\n<IMG src="a">\n<img alt="" src="b"><image>\n<img data-alt="x">\n<a href='HTTP://x'>`;

  test("are the elements with their lines", () => {
    expect(findPlaces("image-texts", HTML)).toEqual([
      { line: 2, text: '<IMG src="a">' },
      { line: 4, text: '<img data-alt="x">' },
    ]);
    expect(findPlaces("link-schemes", HTML)).toEqual([{ line: 5, text: "<a href='HTTP://x'>" }]);
    expect(findPlaces("text-part", HTML)).toEqual([]);
  });

  test("of a megabyte are found in linear time", () => {
    const startedAt = performance.now();
    for (const part of ["<img ", "<img alt", "<a ", "<a href ", "<a\thref=http"]) {
      findPlaces("image-texts", part.repeat(200_000));
      findPlaces("link-schemes", part.repeat(200_000));
    }
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});

describe("the timeline", () => {
  const titles = (email: Email) => timelineOf(email, null).map(({ title }) => title);

  test("has what happened in the order of time, and what is due at its end", () => {
    const at = (minute: number) => `2026-01-01T10:0${minute}:00.000Z`;
    const attempt = { number: 1, durationMs: 1, reason: "Later", conversations: [] };
    const attempts: Email["attempts"] = [
      { ...attempt, startedAt: at(1), outcome: "deferred", class: "greylisted" },
    ];
    const waiting = { ...EMAIL, sentAt: null, attempts, nextAttemptAt: at(9) };
    expect(titles({ ...waiting, status: "QUEUED" })).toEqual([
      "Accepted and queued",
      "Deferred: greylisted",
      "Next attempt",
    ]);
    expect(titles({ ...EMAIL, clickedAt: at(7), openedAt: at(6), deliveredAt: at(5) })).toEqual([
      "Accepted and queued",
      "Sent",
      "Delivered",
      "Opened",
      "Clicked",
    ]);
  });

  test("says that a relay reports no deliveries", () => {
    const conversations: Email["attempts"][number]["conversations"] = [
      { host: "relay.example", address: null, port: 587, tls: null, reused: false, steps: [] },
    ];
    const attempt = { number: 1, durationMs: 1, reason: "", startedAt: EMAIL.createdAt };
    const attempts: Email["attempts"] = [
      { ...attempt, outcome: "accepted", class: "accepted", conversations },
    ];
    const detailOf = (email: Email, areKnown: boolean) =>
      timelineOf(email, null, areKnown).find(({ key }) => key === "sent")?.detail;
    const sent = { ...EMAIL, attempts };
    expect(detailOf(sent, true)).toBe("A mail server accepted it: relay.example");
    expect(detailOf(sent, false)).toBe(
      "Your relay accepted it: relay.example. It does not report deliveries.",
    );
    expect(detailOf({ ...sent, deliveredAt: EMAIL.createdAt }, false)).toContain("A mail server");
  });

  test("names the report instead of the bounce that it announced", () => {
    const report: Email["reports"][number] = {
      kind: "BOUNCE",
      receivedAt: "2026-01-01T10:06:00.000Z",
      form: "standard",
      class: "mailbox_full",
      statusCode: "5.2.2",
      reason: "552 Mailbox is full",
      reportingMta: "mx.example.com",
      excerpt: "",
    };
    const bounced = { ...EMAIL, bouncedAt: report.receivedAt, reports: [report] };
    expect(titles(bounced)).toEqual(["Accepted and queued", "Sent", "Bounced, by a report"]);
  });

  test("ends with the suppression of the address", () => {
    const suppression = { reason: "HARD_BOUNCE", createdAt: "2026-01-01T10:06:00.000Z" };
    const last = timelineOf(EMAIL, suppression).at(-1);
    expect(last?.title).toBe("Address suppressed");
    expect(last?.detail).toContain("hard bounce");
  });
});
