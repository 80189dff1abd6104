/** The logic of the pages of contacts that needs no browser. */

import { describe, expect, test } from "bun:test";
import { doneText } from "../../src/dashboard/pages/contacts/bulk-words.ts";
import { addressVerdict } from "../../src/dashboard/pages/contacts/address-verdict.ts";
import {
  dataColumn,
  dataKeyOf,
  firstChoice,
  MAX_COLUMNS,
  readChoice,
  toggled,
} from "../../src/dashboard/pages/contacts/column-choice.ts";
import {
  draftsOf,
  editOf,
  textForType,
  type ValueDraft,
  valueText,
  type ValueType,
} from "../../src/dashboard/pages/contacts/data-values.ts";
import { nameFields, nameOrValue } from "../../src/dashboard/pages/contacts/name-fields.ts";
import { createRecordCounter } from "../../src/dashboard/pages/contacts/record-counter.ts";
import {
  bulkQuery,
  contactQuery,
  contactTerms,
  filtersOfContacts,
  nextSort,
  readContactSearch,
  searchOfFilters,
} from "../../src/dashboard/pages/contacts/search.ts";
import { daysOf } from "../../src/dashboard/pages/contacts/timeline-days.ts";
import type { BulkProgress } from "../../src/modules/contacts/bulk/model.ts";
import type { Activity } from "../../src/modules/contacts/activity-model.ts";

describe("the search of contacts", () => {
  test.each([
    [
      { q: "ada", subscribed: "yes", tab: "x" },
      { search: "ada", subscribed: "true" },
    ],
    [{ subscribed: "no" }, { search: undefined, subscribed: "false" }],
    [{ subscribed: "maybe" }, { search: undefined, subscribed: "maybe" }],
    [{ q: "" }, { search: undefined, subscribed: undefined }],
    [
      { data: 'city:Berlin "First Name:Ada L"' },
      { data: '{"city":"Berlin","First Name":"Ada L"}' },
    ],
    [{ sort: "-data.score" }, { sort: "data.score", order: "desc" }],
    [
      { sort: "email", q: "x" },
      { search: "x", sort: "email", order: "asc" },
    ],
  ])("%j asks for %j", (given, query) => {
    expect(contactQuery(readContactSearch(given))).toEqual(query);
  });
});

describe("typed in the search of contacts", () => {
  test.each([
    ["ada lovelace", true, { q: "ada lovelace" }],
    ["city:Berlin ada", true, { city: "Berlin", q: "ada" }],
    ['"First Name:Ada L" subscribed:no', true, { "First Name": "Ada L", subscribed: "no" }],
    ["city:Berlin subscribed:yes", false, { subscribed: "yes", q: "city:Berlin" }],
    ["city: :x", true, { q: "city: :x" }],
    ["time:10:30", true, { time: "10:30" }],
  ])("%j (data: %p) means %j", (text, maySearchData, filters) => {
    expect(contactTerms(text, maySearchData)).toEqual(filters);
  });

  test.each([
    ["city:Berlin", { City: "Berlin" }],
    ["PLAN:pro Plan:x", { plan: "pro", Plan: "x" }],
    ["First Name:Uwe", { "First Name": "Uwe" }],
    ["ada first name:Uwe city:Rome", { q: "ada", "First Name": "Uwe", City: "Rome" }],
    ["my very first name:Uwe", { q: "my very", "First Name": "Uwe" }],
    ['"first name:Uwe K"', { "First Name": "Uwe K" }],
    ["name:Uwe", { Name: "Uwe" }],
    ["Subscribed:no", { subscribed: "no" }],
    ["street:x", { street: "x" }],
  ])("%j means %j, with the fields of the project", (text, filters) => {
    const known = ["City", "plan", "Plan", "Name", "First Name"];
    expect(contactTerms(text, true, known)).toEqual(filters);
  });

  test("the chips are those of the URL", () => {
    const search = { q: "ada", subscribed: "no", data: 'city:Rome "a b:c d"', sort: "-email" };
    const filters = filtersOfContacts(search);
    expect(filters).toEqual({ q: "ada", subscribed: "no", city: "Rome", "a b": "c d" });
    expect(searchOfFilters(filters, search)).toEqual(search);
    expect(searchOfFilters({ ...filters, city: undefined, "a b": "" }, {})).toEqual({
      q: "ada",
      subscribed: "no",
    });
    expect(bulkQuery(search)).toEqual({
      search: "ada",
      subscribed: false,
      data: { city: "Rome", "a b": "c d" },
    });
  });

  test("the head of a column sorts in three steps", () => {
    expect(nextSort(undefined, "email")).toBe("email");
    expect(nextSort("email", "email")).toBe("-email");
    expect(nextSort("-email", "email")).toBeUndefined();
    expect(nextSort("-email", "data.a")).toBe("data.a");
  });
});

test.each([
  [[], ["name"]],
  [["city", "FullName", "firstName"], ["FullName"]],
  [
    ["Last Name", "First Name"],
    ["First Name", "Last Name"],
  ],
  [
    ["FNAME", "LNAME"],
    ["FNAME", "LNAME"],
  ],
  [["firstName", "nickname"], ["firstName"]],
  [
    ["FNAME", "LNAME", "name"],
    ["FNAME", "LNAME"],
  ],
  [["FNAME", "name", "LNAME"], ["name"]],
])("a new contact of a project with the fields %j is named by %j", (known, keys) => {
  expect(nameFields(known).map(({ key }) => key)).toEqual(keys);
});

test.each([
  [{ "First Name": "Ada", "Last Name": "Lovelace", city: "Rome" }, "First Name", "Ada Lovelace"],
  [{ firstName: "Ada", city: "Rome" }, "firstName", "Ada"],
  [{ name: "Ada Lovelace", city: "Rome" }, "city", "Rome"],
  [{ name: "Ada Lovelace" }, "name", "Ada Lovelace"],
  [{ score: 3 }, "score", "3"],
  [{}, "name", ""],
])("of %j a row on a phone shows for %p: %p", (data, key, text) => {
  expect(nameOrValue(data, key)).toBe(text);
});

describe("a value in a table", () => {
  test.each([
    ["text", "text"],
    [0, "0"],
    [true, "Yes"],
    [false, "No"],
    [null, ""],
    [undefined, ""],
    [["a", 1], '["a",1]'],
    [{ city: "Bath" }, '{"city":"Bath"}'],
    ["<b>bold</b>", "<b>bold</b>"],
    ["x".repeat(10_000), `${"x".repeat(300)}…`],
  ])("%j is shown as %j", (value, text) => {
    expect(valueText(value)).toBe(text);
  });
});

describe("the columns of a user", () => {
  test.each([
    [null, null],
    ["plan", null],
    [[], []],
    [
      ["subscribed", "data:plan", "subscribed", 5, "other"],
      ["subscribed", "data:plan"],
    ],
    [
      Array.from({ length: 20 }, (_, i) => `data:${i}`),
      Array.from({ length: 12 }, (_, i) => `data:${i}`),
    ],
  ])("stored as %j are %j", (stored, choice) => {
    expect(readChoice(stored)).toEqual(choice);
  });

  test("are at first the most frequent keys with one value", () => {
    const rows = [
      { data: { plan: "pro", tags: ["a"], city: "Bath", rare: 1, "": 1 } },
      { data: { plan: "free", city: "York", age: 30 } },
      { data: { plan: "free", age: 31, name: "Ada" } },
      { data: { plan: "pro" } },
    ];
    expect(firstChoice(rows)).toEqual([
      "subscribed",
      "data:plan",
      "data:city",
      "data:age",
      "createdAt",
    ]);
    expect(firstChoice([])).toEqual(["subscribed", "createdAt"]);
  });

  test("are added at the end up to a limit, and removed", () => {
    const full = Array.from({ length: MAX_COLUMNS }, (_, i) => dataColumn(String(i)));
    expect(toggled(["subscribed"], "data:plan")).toEqual(["subscribed", "data:plan"]);
    expect(toggled(["subscribed", "data:plan"], "subscribed")).toEqual(["data:plan"]);
    expect(toggled(full, "data:more")).toEqual(full);
    expect([dataKeyOf("data:a:b"), dataKeyOf("createdAt")]).toEqual(["a:b", null]);
  });
});

const DATA = { plan: "pro", age: 30, isVip: true, tags: ["a"] };
const draft = (key: string, type: ValueType, text: string, isNew = false): ValueDraft => ({
  id: `${isNew ? "new" : "field"} ${key}`,
  key,
  type,
  text,
  isNew,
});
const without = (key: string) => draftsOf(DATA).filter((each) => each.key !== key);

describe("the data of a contact in the editor", () => {
  test("has the type and the text of each value", () => {
    expect(draftsOf(DATA).map(({ key, type, text }) => [key, type, text])).toEqual([
      ["plan", "text", "pro"],
      ["age", "number", "30"],
      ["isVip", "flag", "true"],
      ["tags", "json", '[\n  "a"\n]'],
    ]);
  });

  type Fields = Record<string, unknown>;
  const edits: [why: string, drafts: ValueDraft[], patch: Fields, inverse: Fields][] = [
    ["nothing", draftsOf(DATA), {}, {}],
    ["a text", [...without("plan"), draft("plan", "text", "")], { plan: "" }, { plan: "pro" }],
    ["a number", [...without("age"), draft("age", "number", " 1e2 ")], { age: 100 }, { age: 30 }],
    [
      "a flag",
      [...without("isVip"), draft("isVip", "flag", "false")],
      { isVip: false },
      { isVip: true },
    ],
    ["a type", [...without("age"), draft("age", "text", "30")], { age: "30" }, { age: 30 }],
    ["a list", [...without("tags"), draft("tags", "json", "[]")], { tags: [] }, { tags: ["a"] }],
    ["a removed field", without("plan"), { plan: null }, { plan: "pro" }],
    [
      "a new field",
      [...draftsOf(DATA), draft("الاسم", "json", '{"a":1}', true)],
      { الاسم: { a: 1 } },
      { الاسم: null },
    ],
  ];
  test.each(edits)("sends %s and how to undo it", (_, drafts, patch, inverse) => {
    expect(editOf(DATA, drafts)).toEqual({ ok: true, patch, inverse });
  });

  const faulty: [why: string, draft: ValueDraft, fault: object][] = [
    ["no number", draft("x", "number", "many", true), { value: "Write a number, such as 12.5." }],
    ["an empty number", draft("x", "number", "", true), { value: "Write a number, such as 12.5." }],
    ["infinity", draft("x", "number", "1e999", true), { value: "Write a number, such as 12.5." }],
    [
      "no JSON",
      draft("x", "json", "{a}", true),
      { value: 'Write JSON, such as ["a", "b"] or {"city": "Bath"}.' },
    ],
    [
      "null",
      draft("x", "json", "null", true),
      { value: "A field cannot be null. Remove it instead." },
    ],
    ["no name", draft("", "text", "x", true), { key: "Give the field a name." }],
    [
      "a reserved name",
      draft("email", "text", "x", true),
      { key: "Mailstead sets this name itself. Choose another one." },
    ],
    ["a name twice", draft("plan", "text", "x", true), { key: "Another field has this name." }],
  ];
  test.each(faulty)("refuses %s", (_, given, fault) => {
    const edit = editOf(DATA, [...draftsOf(DATA), given]);
    expect(edit).toEqual({ ok: false, faults: new Map([[given.id, fault]]) });
  });

  test.each([
    ["true", "flag", "true"],
    ["pro", "flag", "false"],
    ["12", "json", "12"],
    ["pro", "json", '"pro"'],
    ["pro", "number", "pro"],
  ] as const)("%j as %s is %j", (text, type, expected) => {
    expect(textForType(text, type)).toBe(expected);
  });
});

const event = (
  id: string,
  createdAt: string,
  name: string,
  data = {},
  emailId: string | null = null,
): Activity => ({
  kind: "EVENT",
  createdAt,
  event: { id, name, data, emailId, emailSubject: emailId === null ? null : "Hello" },
  email: null,
});

describe("the timeline of a contact", () => {
  const NOW = new Date(2026, 2, 3, 12).getTime();
  const at = (day: number, hour: number) => new Date(2026, 2, day, hour).toISOString();

  test("has a group for each day of the reader's time zone", () => {
    const activities = [
      event("4", at(3, 0), "login"),
      event("3", at(2, 23), "login"),
      event("2", at(2, 1), "login"),
      event("1", at(1, 23), "login"),
    ];
    const days = daysOf(activities, NOW);
    expect(days.map(({ label, lines }) => [label, lines.map(({ key }) => key)])).toEqual([
      ["Today", ["event 4"]],
      ["Yesterday", ["event 3", "event 2"]],
      [expect.stringContaining("2026"), ["event 1"]],
    ]);
  });

  const titles: [name: string, data: object, tone: string, title: string, detail: string][] = [
    [
      "contact.unsubscribed",
      { via: "one-click" },
      "held",
      "Unsubscribed",
      "By the button of a mail program",
    ],
    ["contact.subscribed", {}, "good", "Subscribed", ""],
    [
      "email.clicked",
      { url: "https://shop.example/" },
      "acted",
      "Link clicked",
      "https://shop.example/",
    ],
    [
      "email.suppressed",
      { reason: "MANUAL" },
      "held",
      "Mail not sent: the address is suppressed",
      "Added by hand",
    ],
    ["email.bounced", { reason: "550 no" }, "failed", "Mail bounced", "550 no"],
    [
      "form.confirmed",
      {
        formId: "f1",
        formName: "Footer",
        fields: { firstName: "Ada" },
        topicIds: ["t1", "t2"],
        topicNames: ["News", "Tips"],
      },
      "good",
      "Sign-up form confirmed",
      "Footer · News, Tips · firstName: Ada",
    ],
    [
      "form.submitted",
      { formId: "f1", formName: "Footer", fields: {}, topicIds: ["t1"] },
      "waiting",
      "Sign-up form sent",
      "Footer",
    ],
    ["segment.vip.entry", { segmentName: "VIP <b>" }, "good", "Entered the segment VIP <b>", ""],
    ["segment.vip.exit", {}, "waiting", "Left the segment vip", ""],
    ["constructor", {}, "waiting", "constructor", ""],
    [
      "bought",
      { a: 1, b: "x", c: true, d: [1], e: 5 },
      "waiting",
      "bought",
      "a: 1 · b: x · c: Yes · d: [1]",
    ],
  ];
  test.each(titles)("names %s with %j", (name, data, tone, title, detail) => {
    const [day] = daysOf([event("1", at(3, 0), name, data, "m1")], NOW);
    expect(day?.lines[0]).toEqual({
      key: "event 1",
      at: at(3, 0),
      tone: expect.stringMatching(tone),
      title,
      detail: detail === "" ? "Hello" : `Hello · ${detail}`,
      emailId: "m1",
    });
  });

  test("has a line for each mail", () => {
    const mail: Activity = {
      kind: "EMAIL",
      createdAt: at(3, 0),
      event: null,
      email: { id: "m1", subject: "", status: "SENT", source: "CAMPAIGN", templateId: null },
    };
    expect(daysOf([mail], NOW)[0]?.lines).toEqual([
      {
        key: "mail m1",
        at: at(3, 0),
        tone: "waiting",
        title: "Mail queued",
        detail: "No subject",
        emailId: "m1",
      },
    ]);
  });
});

describe("the records of an exported file", () => {
  test("are counted across its parts, with quoted line breaks", () => {
    const counter = createRecordCounter();
    const parts = [
      "email,data.note\r\na@x.io,",
      '"two\r\nlines ""',
      ' here"\r\nb@x.io,\r',
      "\nc@x.io,",
    ];
    expect(parts.map((part) => counter.add(new TextEncoder().encode(part)))).toEqual([1, 1, 2, 3]);
  });
});

describe("the verdict about an address", () => {
  const GOOD = {
    email: "ada@example.com",
    valid: true,
    isDisposable: false,
    isAlias: false,
    isTypo: false,
    isPlusAddressed: false,
    isPersonalEmail: false,
    domainExists: true,
    hasWebsite: true,
    hasMxRecords: true,
    suggestedEmail: null,
    reasons: [],
  };
  test.each([
    [{}, "Valid", "good"],
    [{ valid: false, isTypo: true }, "Invalid", "failed"],
    [{ isTypo: true, isDisposable: true }, "Probably misspelt", "held"],
    [{ isDisposable: true }, "Disposable", "held"],
    [{ isAlias: true }, "Valid", "good"],
    [{ hasMxRecords: false }, "Valid", "good"],
    [{ hasMxRecords: false, hasWebsite: false }, "Not known", "waiting"],
  ] as const)("with %j is %p", (found, word, tone) => {
    expect(addressVerdict({ ...GOOD, ...found })).toMatchObject({ word, tone });
  });
});

describe("the result of a bulk action", () => {
  const job: BulkProgress = {
    id: "job",
    status: "COMPLETED",
    processed: 4,
    total: 4,
    action: "unsubscribe",
    updated: 4,
    unchanged: 0,
    failed: 0,
    errors: [],
    createdAt: "2030-01-01T00:00:00.000Z",
    finishedAt: "2030-01-01T00:00:00.000Z",
  };
  const cases: [given: Partial<BulkProgress>, text: string][] = [
    [{}, "4 contacts unsubscribed."],
    [{ updated: 3, unchanged: 1 }, "3 contacts unsubscribed. 1 contact was not subscribed before."],
    [
      { updated: 0, unchanged: 4, action: "subscribe" },
      "0 contacts subscribed. 4 contacts were subscribed before.",
    ],
    [
      { updated: 2, unchanged: 1, failed: 1, errors: [{ id: "a", message: "There is none." }] },
      "2 contacts unsubscribed. 1 contact was not subscribed before. 1 contact could not be changed: There is none.",
    ],
    [{ status: "FAILED", errors: [{ id: null, message: "It stopped." }] }, "It stopped."],
  ];
  test.each(cases)("%j in words", (given, text) => {
    expect(doneText({ ...job, ...given })).toBe(text);
  });
});
