/** All endpoints with an address accept the same texts and store the same spelling. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type TestResponse, type TestApp, testApp } from "../support/app.ts";
import { listAt } from "../support/json.ts";
import { storedContacts, runImport } from "./contacts/upload.ts";
import { chain, step } from "./workflows/graphs.ts";

/** Most texts become this address after `String.prototype.trim`, but not all of them are valid. */
const STORED = "ada@acme.test";

/** One text for each rule; test/protocols/mime/address.test.ts has all. */
const TEXTS: [what: string, text: string, address: string | null][] = [
  ["plain", "ada@acme.test", STORED],
  ["capitals", "ADA@Acme.Test", STORED],
  ["tabs and spaces around it", "\t ada@acme.test \t", STORED],
  ["302 spaces after it", "ada@acme.test".padEnd(320), STORED],
  ["CRLF after it", "ada@acme.test\r\n", null],
  ["NUL after it", "ada@acme.test\0", null],
  ["a no-break space before it", "\u00a0ada@acme.test", null],
  ["a zero-width space after it", "ada@acme.test\u200b", null],
  ["a space inside it", "a da@acme.test", null],
  ["two addresses", "ada@acme.test,bob@acme.test", null],
  ["a space inside quotes", '"a da"@acme.test', '"a da"@acme.test'],
  ["a tab inside quotes", '"a\tda"@acme.test', null],
  ["a quoted pair of a letter", '"a\\da"@acme.test', STORED],
  ["a decomposed letter", "jo\u0308rg@acme.test", "j\u00f6rg@acme.test"],
  ["an international domain", "ada@B\u00dcCHER.test", "ada@xn--bcher-kva.test"],
];

let t: TestApp;
let templateId: string;
let campaignId: string;
let segmentId: string;
beforeAll(async () => {
  t = await testApp({ config: { requireVerifiedDomain: false } });
  const template = { name: "T", subject: "s", body: "b", type: "TRANSACTIONAL" };
  templateId = await t.create("/templates", template, "data.id");
  campaignId = await t.create("/campaigns", CAMPAIGN, "data.id");
  segmentId = await t.create("/segments", { name: "S", type: "STATIC" }, "data.id");
});
afterAll(() => t.close());

const MAIL = { from: "news@acme.test", to: "bob@acme.test", subject: "s", body: "b" };
const CAMPAIGN = { from: MAIL.from, subject: "s", body: "b", name: "C", audienceType: "ALL" };

/** The stored address, or null if the text was refused because of its syntax. */
type StoredAddress = string | null;
type Endpoint = (text: string) => Promise<StoredAddress>;

/** Sends a request. If it succeeds, `read` returns the stored address. */
async function storedOrRefused(
  request: [method: string, path: string, body?: unknown],
  read: (answer: TestResponse) => Promise<StoredAddress> | StoredAddress,
): Promise<StoredAddress> {
  const answer = await t.call(...request);
  if (answer.status < 300) return read(answer);
  expect([answer.status, answer.at("error.code")]).toEqual([422, "VALIDATION_ERROR"]);
  return null;
}

type Column = "to_address" | "from_address" | "reply_to";

/** A column of the newest email or of its message. */
function newest(column: Column): string {
  const row = t.db.sqlite
    .query<Record<Column, string>, []>(
      `SELECT to_address, from_address, reply_to FROM emails
       JOIN messages ON messages.seq = emails.message_seq ORDER BY emails.seq DESC LIMIT 1`,
    )
    .get();
  return row?.[column] ?? "";
}

const send = (fields: object, column: Column): Promise<StoredAddress> =>
  storedOrRefused(["POST", "/v1/send", { ...MAIL, ...fields }], () => newest(column));

async function patchContact(text: string): Promise<StoredAddress> {
  const id = await t.create("/contacts", { email: "before@acme.test" }, "id");
  t.db.sqlite.run("DELETE FROM contacts WHERE email <> 'before@acme.test'");
  const email = await storedOrRefused(["PATCH", `/contacts/${id}`, { email: text }], (answer) =>
    answer.text("email"),
  );
  t.db.sqlite.run("DELETE FROM contacts");
  return email;
}

function workflow(text: string): Promise<StoredAddress> {
  const recipient = { type: "CUSTOM", email: text };
  const body = { name: "W", ...chain(step("mail", "SEND_EMAIL", { templateId, recipient })) };
  return storedOrRefused(["POST", "/workflows", body], (answer) =>
    answer.text("data.steps.1.config.recipient.email"),
  );
}

async function addMember(text: string): Promise<StoredAddress> {
  t.db.sqlite.run("DELETE FROM contacts");
  const body = { emails: [text], createMissing: true };
  return storedOrRefused(["POST", `/segments/${segmentId}/members`, body], async () => {
    const page = await t.call("GET", `/segments/${segmentId}/contacts`);
    return page.text("data.items.0.email");
  });
}

const ENDPOINTS: Record<string, Endpoint> = {
  "POST /v1/verify": (text) =>
    storedOrRefused(["POST", "/v1/verify", { email: text }], (answer) =>
      answer.at("data.valid") === true ? answer.text("data.email") : null,
    ),
  "POST /v1/send, to": (text) => send({ to: text }, "to_address"),
  "POST /v1/send, to.email": (text) => send({ to: { email: text } }, "to_address"),
  "POST /v1/send, to.1": (text) => send({ to: [MAIL.to, text] }, "to_address"),
  "POST /v1/send, from": (text) => send({ from: text }, "from_address"),
  "POST /v1/send, from.email": (text) => send({ from: { email: text, name: "N" } }, "from_address"),
  "POST /v1/send, reply": (text) => send({ reply: text }, "reply_to"),
  "POST /v1/track": (text) =>
    storedOrRefused(["POST", "/v1/track", { email: text, event: "e" }], async (answer) => {
      const contact = await t.call("GET", `/contacts/${answer.text("data.contact")}`);
      return contact.text("email");
    }),
  "POST /contacts": (text) =>
    storedOrRefused(["POST", "/contacts", { email: text }], (answer) => answer.text("email")),
  "PATCH /contacts/{id}": patchContact,
  "POST /suppressions": (text) =>
    storedOrRefused(["POST", "/suppressions", { email: text }], (answer) =>
      answer.text("data.email"),
    ),
  "POST /segments/{id}/members": addMember,
  "POST /templates, from": (text) => template({ from: text }, "data.from"),
  "POST /templates, replyTo": (text) => template({ replyTo: text }, "data.replyTo"),
  "POST /campaigns, from": (text) => campaign({ from: text }, "data.from"),
  "POST /campaigns, replyTo": (text) => campaign({ replyTo: text }, "data.replyTo"),
  "PATCH /campaigns/{id}, replyTo": (text) =>
    storedOrRefused(["PATCH", `/campaigns/${campaignId}`, { replyTo: text }], (answer) =>
      answer.text("data.replyTo"),
    ),
  "POST /campaigns/{id}/test": (text) =>
    storedOrRefused(["POST", `/campaigns/${campaignId}/test`, { email: text }], () =>
      newest("to_address"),
    ),
  "POST /workflows, a CUSTOM recipient": workflow,
};

function template(fields: object, at: string): Promise<StoredAddress> {
  const body = { name: "T", subject: "s", body: "b", type: "TRANSACTIONAL", ...fields };
  return storedOrRefused(["POST", "/templates", body], (answer) => answer.text(at));
}

function campaign(fields: object, at: string): Promise<StoredAddress> {
  return storedOrRefused(["POST", "/campaigns", { ...CAMPAIGN, ...fields }], (answer) =>
    answer.text(at),
  );
}

test.each(Object.entries(ENDPOINTS))(
  "%s accepts the same texts as all other endpoints",
  async (_, endpoint) => {
    t.db.sqlite.run("DELETE FROM suppressions");
    const results: [what: string, address: StoredAddress][] = [];
    for (const [what, text] of TEXTS) results.push([what, await endpoint(text)]);
    expect(results).toEqual(TEXTS.map(([what, , address]) => [what, address]));
  },
);

/** Characters beside an address in files that mail programs and spreadsheets write. */
const READ_IN_FILES = new Set(["CRLF after it", "a no-break space before it"]);

test("POST /contacts/import refuses a cell with two addresses", async () => {
  t.db.sqlite.run("DELETE FROM contacts");
  const cells = [
    "Ada <ada@acme.test> <eve@acme.test>",
    "ada@acme.test <eve@acme.test>",
    "Ada <ada@acme.test>; Eve <eve@acme.test>",
    "Byron, Ada <byron@acme.test>",
    "mailto:m@acme.test",
    "<mailto:n@acme.test>",
    `${"<".repeat(30_000)}@${"x.".repeat(10_000)} <a@acme.test>`,
  ];
  const answer = await runImport(
    t,
    `email\r\n${cells.map((cell) => `"${cell}"`).join("\r\n")}\r\n`,
  );
  expect(answer.at("data.failed")).toBe(4);
  const stored = ["byron@acme.test", "m@acme.test", "n@acme.test"];
  expect(storedContacts(t).map(({ email }) => email)).toEqual(stored);
});

test("POST /contacts/import accepts the same texts, and what files have beside them", async () => {
  t.db.sqlite.run("DELETE FROM contacts");
  const inFile = TEXTS.map(
    ([what, text, address]) => [what, text, READ_IN_FILES.has(what) ? STORED : address] as const,
  );
  const rows = TEXTS.map(([, text], i) => `${i},"${text.replaceAll('"', '""')}"`);
  const answer = await runImport(t, `n,email\r\n${rows.join("\r\n")}\r\n`);
  const stored = inFile.flatMap(([, , address]) => address ?? []);
  expect(answer.at("data.failed")).toBe(TEXTS.length - stored.length);
  // If several rows have the same address, the last one determines the data.
  const last = new Map(inFile.map(([, , address], n) => [address, { n }]));
  for (const { email, data } of storedContacts(t))
    expect([email, data]).toEqual([email, last.get(email)]);
  expect(storedContacts(t).map(({ email }) => email)).toEqual([...new Set(stored)].sort());
});

/**
 * Look-ups by a whole address. Each returns true if it found the contact of the normalized address.
 */
const LOOKUPS: Record<string, (text: string) => Promise<boolean>> = {
  "GET /events?email=": async (text) => {
    const answer = await t.call("GET", `/events?email=${encodeURIComponent(text)}`);
    return answer.status === 200 && listAt(answer.body, "data.items").length > 0;
  },
  "a segment filter email equals": async (text) => {
    const filters = [{ field: "email", operator: "equals", value: text }];
    const condition = { logic: "AND", groups: [{ filters }] };
    const answer = await t.call("POST", "/segments", { name: "D", type: "DYNAMIC", condition });
    if (answer.status !== 201) return false;
    const page = await t.call("GET", `/segments/${answer.text("data.id")}/contacts`);
    return listAt(page.body, "data.items").length > 0;
  },
  "DELETE /segments/{id}/members": async (text) => {
    const path = `/segments/${segmentId}/members`;
    const contacts = await t.call("GET", "/contacts");
    await t.call("POST", path, { emails: [contacts.text("contacts.0.email")] });
    const answer = await t.call("DELETE", path, { emails: [text] });
    return answer.status === 200 && answer.at("data.removed") === 1;
  },
  "GET /emails?to=": async (text) => {
    const contacts = await t.call("GET", "/contacts");
    await t.call("POST", "/v1/send", { ...MAIL, to: contacts.text("contacts.0.email") });
    const answer = await t.call("GET", `/emails?to=${encodeURIComponent(text)}`);
    return answer.status === 200 && listAt(answer.body, "data.items").length > 0;
  },
  "DELETE /suppressions/{email}": async (text) => {
    const { status } = await t.call("DELETE", `/suppressions/${encodeURIComponent(text)}`);
    return status === 204;
  },
};

/** Filters for a part of an address. */
const SEARCHES: Record<string, (text: string) => Promise<boolean>> = {
  "GET /contacts?search=": async (text) => {
    const answer = await t.call("GET", `/contacts?search=${encodeURIComponent(text)}`);
    return answer.status === 200 && listAt(answer.body, "contacts").length > 0;
  },
  "GET /suppressions?email=": async (text) => {
    const answer = await t.call("GET", `/suppressions?email=${encodeURIComponent(text)}`);
    return answer.status === 200 && listAt(answer.body, "data.items").length > 0;
  },
};

/** The address in a path is bare. */
const isFilter = ([name]: [string, unknown]) => !name.includes("{email}");

test.each(Object.entries({ ...LOOKUPS, ...SEARCHES }).filter(isFilter))(
  "%s finds the address of a text with a display name, and only one address",
  async (_, isFound) => {
    const texts: [text: string, isFound: boolean][] = [
      [`Ada <${STORED}>`, true],
      [`"Byron, Ada" <ADA@acme.test>`, true],
      [`<${STORED}>`, true],
      [`"eve@acme.test" <${STORED}>`, true],
      [`Ada <eve@acme.test> <${STORED}>`, false],
      [`Ada <${STORED}> <eve@acme.test>`, false],
      [`eve@acme.test <${STORED}>`, false],
      [`Ada <${STORED}`, false],
    ];
    for (const [text, expected] of texts) {
      t.db.sqlite.run("DELETE FROM contacts");
      t.db.sqlite.run("DELETE FROM suppressions");
      await t.create("/v1/track", { email: STORED, event: "e" }, "data.contact");
      await t.create("/suppressions", { email: STORED }, "data.email");
      expect([text, await isFound(text)]).toEqual([text, expected]);
    }
  },
);

test.each(Object.entries(LOOKUPS))(
  "%s finds a contact only by a valid address",
  async (_, isFound) => {
    const found: [what: string, isFound: boolean][] = [];
    for (const [what, text, address] of TEXTS) {
      t.db.sqlite.run("DELETE FROM contacts");
      t.db.sqlite.run("DELETE FROM suppressions");
      const email = address ?? STORED;
      await t.create("/v1/track", { email, event: "e" }, "data.contact");
      await t.create("/suppressions", { email }, "data.email");
      found.push([what, await isFound(text)]);
    }
    expect(found).toEqual(TEXTS.map(([what, , address]) => [what, address !== null]));
  },
);
