/** Display names and file names with line breaks and other control characters are one line. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/app.ts";
import { runImport } from "../contacts/upload.ts";

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
afterAll(() => t.close());

/** As given, and as it is sent. NUL and halves of characters are refused in any JSON. */
const NAMES: [given: string, sent: string][] = [
  ["Ada\nBcc: eve@example.com", "Ada Bcc: eve@example.com"],
  ["Ada\r\n Byron", "Ada Byron"],
  ["Ada\rByron", "Ada Byron"],
  ["Ada\u2028Byron", "Ada Byron"],
  ["Ada\u2029Byron", "Ada Byron"],
  ["Ada\u0085Byron", "Ada Byron"],
  ["Ada\tByron", "Ada Byron"],
  ["Ada\v\f\u001b\u007fByron", "Ada Byron"],
  ["Byron, Ada\n", "Byron, Ada"],
  ["\r\n", ""],
  ["Jörg O'Hara", "Jörg O'Hara"],
];

const mail = { from: "news@acme.test", subject: "Hi", body: "<p>Hi</p>" };

async function headersSent(): Promise<string[]> {
  await t.deliver();
  const list = await t.call("GET", "/emails?limit=1");
  const raw = await t.call("GET", `/emails/${list.text("data.items.0.id")}/raw`);
  return raw
    .text("")
    .replaceAll(/\r\n(?=[ \t])/g, "")
    .split("\r\n");
}

test("a batch with such names is sent, and each name is one line", async () => {
  const to = NAMES.map(([name], i) => ({ email: `p${i}@example.com`, name }));
  const answer = await t.call("POST", "/v1/send", { ...mail, to });
  expect(answer.status).toBe(200);
  const names = t.db.sqlite.query<{ name: string }, []>(
    "SELECT to_name AS name FROM emails ORDER BY seq",
  );
  expect(names.all().map(({ name }) => name)).toEqual(NAMES.map(([, sent]) => sent));
  const contacts = await t.call("GET", "/contacts?limit=100&search=p0@example.com");
  expect(contacts.at("contacts.0.data")).toEqual({ name: "Ada Bcc: eve@example.com" });
});

test.each(NAMES)("%j in each place of a name", async (given, sent) => {
  const quoted = `"${given.replace(/["\\]/g, "\\$&")}"`;
  const answer = await t.call("POST", "/v1/send", {
    ...mail,
    to: { email: "ada@example.com", name: given },
    from: { email: mail.from, name: given },
    reply: `${quoted} <r@example.com>`,
    attachments: [{ filename: `${given}.txt`, content: "QQ==" }],
  });
  expect(answer.status).toBe(200);
  const headers = await headersSent();
  expect(headers.filter((line) => /^bcc/i.test(line))).toEqual([]);
  if (!/^[A-Z][a-z]+ [A-Z][a-z]+$/.test(sent)) return;
  expect(headers).toContain(`From: ${sent} <news@acme.test>`);
  expect(headers).toContain(`To: ${sent} <ada@example.com>`);
  expect(headers).toContain(`Reply-To: ${sent} <r@example.com>`);
  expect(headers.join("\n")).toContain(`filename="${sent}.txt"`);
});

test("a file name without a visible character is refused", async () => {
  const attachments = [{ filename: "\n", content: "QQ==" }];
  const answer = await t.call("POST", "/v1/send", { ...mail, to: "a@example.com", attachments });
  expect(answer.status).toBe(422);
  expect(answer.at("error.errors.0.field")).toBe("attachments.0.filename");
});

test("the default sender of a project, and names of imported contacts in a campaign", async () => {
  const sender = { address: mail.from, name: "Acme\r\nShop" };
  const project = await t.call("PATCH", "/project", { sender });
  if (project.status < 300) expect(project.at("data.sender.name")).toBe("Acme Shop");
  await runImport(t, 'email,name\nzoe@example.com,"Zoe\r\nByron"\n');
  const campaign = await t.create(
    "/campaigns",
    {
      ...mail,
      name: "C",
      subject: "For {{ name }}",
      fromName: "Acme\nShop",
      audienceType: "FILTERED",
      audienceFilter: {
        logic: "AND",
        groups: [{ filters: [{ field: "email", operator: "equals", value: "zoe@example.com" }] }],
      },
    },
    "data.id",
  );
  expect((await t.call("POST", `/campaigns/${campaign}/send`, {})).status).toBeLessThan(300);
  const read = await t.call("GET", `/campaigns/${campaign}`);
  expect(read.at("data.fromName")).toBe("Acme Shop");
});
