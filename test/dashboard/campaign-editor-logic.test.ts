/** The logic of the page of a draft campaign, without a browser. */

import { describe, expect, test } from "bun:test";
import {
  type CampaignSource,
  patchOf,
} from "../../src/dashboard/pages/campaigns/editor/campaign-source.ts";
import {
  commonFindings,
  rehearsalText,
} from "../../src/dashboard/pages/campaigns/editor/rehearsal-text.ts";
import {
  audienceState,
  checksState,
  contentState,
  dependsOnMails,
  isTyped,
  mustType,
  senderState,
  writtenFaults,
} from "../../src/dashboard/pages/campaigns/editor/sections.ts";
import { showsAnything } from "../../src/dashboard/pages/campaigns/editor/shows-anything.ts";
import {
  suggestions,
  unverifiedDomain,
} from "../../src/dashboard/pages/campaigns/editor/senders.ts";
import { sendBody } from "../../src/dashboard/pages/campaigns/editor/send-body.ts";
import { readWhen, whenState } from "../../src/dashboard/pages/campaigns/editor/when.ts";
import {
  isZoneFound,
  timeOfWall,
  wallTimeOf,
} from "../../src/dashboard/pages/campaigns/editor/zone-time.ts";

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

describe("a time on the wall", () => {
  test.each([
    ["2030-03-03T09:00", "Europe/Berlin", "2030-03-03T08:00:00.000Z"],
    ["2030-07-03T09:00", "Europe/Berlin", "2030-07-03T07:00:00.000Z"],
    ["2030-07-03T09:00", "Asia/Kolkata", "2030-07-03T03:30:00.000Z"],
    ["2030-01-01T00:30", "Pacific/Kiritimati", "2029-12-31T10:30:00.000Z"],
    // The hour that the clock shows twice, and the one that it skips.
    ["2030-10-27T02:30", "Europe/Berlin", "2030-10-27T00:30:00.000Z"],
    ["2030-03-31T02:30", "Europe/Berlin", "2030-03-31T01:30:00.000Z"],
    ["2030-03-31T03:30", "Europe/Berlin", "2030-03-31T01:30:00.000Z"],
    ["2030-02-31T09:00", "UTC", "2030-03-03T09:00:00.000Z"],
    ["", "UTC", null],
    ["tomorrow", "UTC", null],
  ])("%p in %p is %p", (wall, zone, expected) => {
    expect(iso(timeOfWall(wall, zone))).toBe(expected);
  });

  test.each(["new york", "New_York", "america/new", " york "])("%p finds its zone", (typed) => {
    expect(isZoneFound("America/New_York", typed)).toBe(true);
    expect(isZoneFound("Europe/Berlin", typed)).toBe(false);
  });

  test("is read back all through a year", () => {
    for (const zone of ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"]) {
      for (let hour = 0; hour < 24 * 366; hour += 19) {
        const at = Date.UTC(2030, 0, 1, hour);
        const wall = wallTimeOf(at, zone);
        const found = timeOfWall(wall, zone);
        if (found === null) throw new Error(wall);
        expect(wallTimeOf(found, zone)).toBe(wall);
        expect(found).toBeLessThanOrEqual(at);
      }
    }
  });
});

test.each([
  ["<p>Hi</p>", true],
  ["Hi", true],
  ["<p><img src='x'></p>", true],
  ["<p>{{ name }}</p>", true],
  ["", false],
  ["<p> &nbsp;&#8203;</p>", false],
  ["<title>T</title><style>p { top: 0 }</style><body><!-- a > b --></body>", false],
  ["<style>p { top: 0 }", false],
  ["<".repeat(300_000), false],
])("what a body shows (%#)", (html, expected) => {
  expect(showsAnything(html)).toBe(expected);
});

const NO_FAULT = { faults: 0, hasWords: true };

test("opens and clicks change the audience of conditions on mails alone", () => {
  const withField = (field: string) =>
    dependsOnMails({
      audienceType: "FILTERED",
      audienceFilter: {
        logic: "AND",
        groups: [{ filters: [{ field, operator: "wasNotOpened" }] }],
      },
    });
  expect(["campaign.x", "template.x", "link.x", "email.opened"].map(withField)).toEqual(
    Array(4).fill(true),
  );
  expect(["data.email", "subscribed", "segment.x"].map(withField)).toEqual(Array(3).fill(false));
  expect(dependsOnMails({ audienceType: "ALL", audienceFilter: null })).toBe(false);
});

describe("the state of a section", () => {
  const count = {
    matched: 12,
    matching: 12,
    unsubscribed: 2,
    suppressed: 0,
    recipients: 10,
    isExact: true,
    excluded: [],
  };

  test("of the audience is its number, or what it lacks", () => {
    const audience = { incomplete: null, count, isFailed: false };
    expect(audienceState(audience).text).toBe("10 recipients");
    const about = { ...count, recipients: 1_200, isExact: false };
    expect(audienceState({ ...audience, count: about }).text).toBe("About 1,200 recipients");
    expect(audienceState({ ...audience, count: { ...count, recipients: 0 } })).toEqual({
      status: "OPEN",
      text: "Nobody would get it",
    });
    expect(audienceState({ ...audience, count: undefined }).status).toBe("WAITING");
    expect(audienceState({ ...audience, incomplete: "Choose who gets it" }).status).toBe("OPEN");
  });

  test("of sender and content names what is missing", () => {
    expect(senderState({ from: "", fromName: null }, null).text).toBe("Needs an address");
    expect(senderState({ from: "a@x.io", fromName: "Ada" }, null).text).toBe("Ada <a@x.io>");
    expect(senderState({ from: "a@x.io", fromName: null }, "x.io").text).toBe(
      "x.io is not verified",
    );
    expect(contentState({ subject: "", body: "" }, NO_FAULT).text).toBe(
      "Needs a subject and a body",
    );
    expect(
      contentState({ subject: "Hello", body: "<p>" }, { faults: 2, hasWords: true }).text,
    ).toBe("2 faults to mend");
    const blank = { faults: 0, hasWords: false };
    expect(contentState({ subject: "Hello", body: "<p>" }, blank).text).toBe("Needs a body");
    const fault = { line: null, column: null, message: "is empty once it is rendered" };
    const faults = [
      { field: "subject", ...fault },
      { field: "body", ...fault },
    ];
    expect(writtenFaults({ subject: "", body: "{{" }, faults).map(({ field }) => field)).toEqual([
      "body",
    ]);
  });

  test("of the checks counts what needs attention", () => {
    const content = contentState({ subject: "Hello", body: "<p>" }, NO_FAULT);
    const finding = (status: "OK" | "WARNING" | "ERROR") => ({ name: "x", status, message: "" });
    expect(checksState(content, { findings: [finding("OK")] }).text).toBe("All passed");
    expect(
      checksState(content, {
        findings: [finding("ERROR"), finding("WARNING"), finding("WARNING")],
      }),
    ).toEqual({ status: "WARNING", text: "1 error, 2 warnings" });
    expect(checksState(contentState({ subject: "", body: "" }, NO_FAULT), undefined).status).toBe(
      "WAITING",
    );
  });

  test("of the time says when it has passed", () => {
    const at = { kind: "AT", wall: "2030-03-03T09:00", zone: "UTC" } as const;
    expect(whenState(at, Date.UTC(2030, 0)).status).toBe("DONE");
    expect(whenState(at, Date.UTC(2031, 0)).text).toBe("This time has passed");
    expect(whenState({ ...at, wall: "" }, 0).text).toBe("Choose a time");
    expect(readWhen(JSON.stringify(at))).toEqual(at);
    expect(readWhen('{"kind":1}').kind).toBe("NOW");
    expect(readWhen("{").kind).toBe("NOW");
  });
});

test("the number of more than a thousand recipients is typed, as the page shows it or without signs", () => {
  expect([mustType(1_000), mustType(1_001)]).toEqual([false, true]);
  expect(["11576", "11,576", "11 576", "11.576"].map((text) => isTyped(text, 11_576))).toEqual(
    Array(4).fill(true),
  );
  expect(["1157", "115760", ""].map((text) => isTyped(text, 11_576))).toEqual(Array(3).fill(false));
});

test("a campaign for now is scheduled 15 seconds ahead, and others at their time", () => {
  const now = Date.UTC(2030, 0);
  const at = { wall: "2030-03-03T09:00", zone: "Asia/Tokyo" };
  expect(sendBody({ kind: "NOW", ...at }, 5, now)).toEqual({
    scheduledFor: "2030-01-01T00:00:15.000Z",
    confirm: 5,
  });
  const planned = { scheduledFor: "2030-03-03T00:00:00.000Z", confirm: 5 };
  expect(sendBody({ kind: "AT", ...at }, 5, now)).toEqual({ ...planned, timeZone: "Asia/Tokyo" });
  expect(sendBody({ kind: "LOCAL", ...at }, 5, now)).toEqual({
    ...planned,
    timeZone: "RECIPIENT",
    fallbackTimeZone: "Asia/Tokyo",
  });
});

test("a change of the audience is saved as a whole, and an empty text as none", () => {
  const value: CampaignSource = {
    name: "News",
    subject: "",
    preheader: null,
    body: "<p>",
    design: null,
    format: "CODE",
    layoutId: null,
    templateId: null,
    from: "a@x.io",
    fromName: null,
    replyTo: null,
    audienceType: "SEGMENT",
    segmentId: "1",
    audienceFilter: null,
    category: "MARKETING",
    topicId: null,
    rate: null,
    utm: null,
    archived: false,
    archiveSlug: null,
    abTest: null,
  };
  expect(patchOf(value, ["segmentId", "subject"])).toEqual({
    subject: null,
    audienceType: "SEGMENT",
    segmentId: "1",
    audienceFilter: null,
  });
});

test("senders are proposed at verified domains, and others are named", () => {
  expect(suggestions("", ["x.io"])).toEqual(["news@x.io", "hello@x.io"]);
  expect(suggestions("ada@s", ["x.io", "shop.io"])).toEqual(["ada@shop.io"]);
  expect(unverifiedDomain("ada@Y.io", ["x.io"])).toBe("y.io");
  expect(unverifiedDomain("ada@x.io", ["x.io"])).toBeNull();
  expect(unverifiedDomain("ada@", ["x.io"])).toBeNull();
  expect(unverifiedDomain("ada@y.io", null)).toBeNull();
});

test("what all mails of a rehearsal have is said once", () => {
  const finding = (name: string, status: "OK" | "WARNING" | "ERROR") => ({
    name,
    status,
    message: "",
  });
  const http = finding("http-links", "WARNING");
  const variants = [
    { fault: null, findings: [http, finding("text-part", "ERROR")] },
    { fault: null, findings: [http, finding("text-part", "OK")] },
    { fault: "cannot be rendered", findings: [] },
  ];
  expect(commonFindings(variants)).toEqual([http]);
  expect(commonFindings(variants.slice(0, 1))).toEqual([]);
  expect(rehearsalText({ failed: 1, withErrors: 1, withWarnings: 2 })).toBe(
    "1 cannot be rendered, 1 has errors, 2 have warnings.",
  );
  expect(rehearsalText({ failed: 0, withErrors: 0, withWarnings: 0 })).toBe(
    "all mails are in order.",
  );
});
