import { expect, test } from "bun:test";
import { sendProjectMail } from "../../src/modules/project-mails.ts";
import { projectOfSession } from "../../src/modules/projects.ts";
import { testApp, type TestApp, type TestOptions } from "../support/app.ts";
import { testTransport } from "../support/transport.ts";

const MAIL = {
  to: "ada@example.com",
  subject: "Confirm\r\nBcc: eve@example.com",
  html: '<p>Hello {{ name }}</p><p><a href="{{ link }}">Confirm</a></p>',
  text: "Hello {{ name }}\n{{ link }}\n",
  variables: { name: "<b>Ada</b>", link: "https://sender.test/confirm/abc?a=1&b=2" },
};

async function appWithSender(address: string | null, options: TestOptions = {}): Promise<TestApp> {
  const t = await testApp(options);
  const sender = address === null ? [null, null] : [address, "Acme"];
  t.db.sqlite
    .query("UPDATE projects SET from_address = ?, from_name = ?, tracking = 'ENABLED'")
    .run(...sender);
  return t;
}

function send(t: TestApp, fields: Partial<typeof MAIL> = {}) {
  const project = projectOfSession(t.app.app, t.project.id)?.project;
  if (project === undefined) throw new Error("there is no project");
  return t.app.writer.write(() => sendProjectMail(t.app.app, project, { ...MAIL, ...fields }));
}

test("a mail of the project to a person leaves through the queue, untracked and escaped", async () => {
  const t = await appWithSender("shop@acme.test");
  const [first, second] = [await send(t), await send(t, { to: "bob@example.com" })];
  await t.deliver();
  const record = await t.call("GET", `/emails/${first}`);
  expect(record.at("data")).toMatchObject({
    to: "ada@example.com",
    from: "shop@acme.test",
    subject: "Confirm Bcc: eve@example.com",
    source: "TRANSACTIONAL",
    status: "SENT",
  });
  const content = await t.call("GET", `/emails/${first}/content`);
  expect(content.at("data.html")).toBe(
    '<p>Hello &lt;b&gt;Ada&lt;/b&gt;</p><p><a href="https://sender.test/confirm/abc?a=1&amp;b=2">Confirm</a></p>',
  );
  expect(content.at("data.text")).toBe(
    "Hello <b>Ada</b>\nhttps://sender.test/confirm/abc?a=1&b=2\n",
  );
  const headers = Object(content.at("data.headers"));
  expect(headers).toContainEqual(["Auto-Submitted", "auto-generated"]);
  expect(JSON.stringify(headers)).not.toContain("List-Unsubscribe");
  // The project tracks all of its mail, but the message that leaves has neither pixel nor tracked link.
  const raw = t.db.sqlite
    .query<{ raw: Uint8Array }, []>("SELECT raw FROM captured_messages LIMIT 1")
    .get();
  const message = Buffer.from(raw?.raw ?? []).toString();
  expect(message).toContain("https://sender.test/confirm/abc");
  expect(message).not.toContain("/o/");
  expect(message).not.toContain("/c/");
  expect(second).not.toBe(first);
  expect(t.countRows("messages")).toBe(1);
  expect(t.countRows("contacts")).toBe(0);
  await t.close();
});

test("a suppressed address gets no mail, and nothing is stored", async () => {
  const t = await appWithSender("shop@acme.test");
  await t.call("POST", "/suppressions", { email: "ada@example.com" });
  expect(await send(t)).toBeNull();
  expect(t.countRows("emails") + t.countRows("messages")).toBe(0);
  await t.close();
});

const refusals: [why: string, sender: string | null, code: string][] = [
  ["without a default sender", null, "NO_SENDER"],
  ["from a domain that is not verified", "shop@else.example", "DOMAIN_NOT_VERIFIED"],
];
test.each(refusals)("is refused %s", async (_, sender, code) => {
  const t = await appWithSender(sender, { transport: testTransport() });
  const refusal = await send(t).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code });
  expect(t.countRows("emails")).toBe(0);
  await t.close();
});

test("who reads the mail of others sees no link by which only the person may confirm", async () => {
  const t = await appWithSender("shop@acme.test", { transport: testTransport() });
  const link = `https://sender.test/preference-requests/${"x1Y".repeat(14)}z`;
  const id = await send(t, { variables: { name: "Ada", link } });
  for (const part of ["content", "preview", "source", "checks"]) {
    const shown = await t.call("GET", `/emails/${id}/${part}`);
    expect([part, shown.status]).toEqual([part, 200]);
    expect(JSON.stringify(shown.body)).not.toContain("x1Y");
  }
  expect((await t.call("GET", `/emails/${id}/content`)).text("data.text")).toContain("(hidden)");
  const resend = await t.call("GET", `/resend/emails/${id}`);
  expect([resend.status, JSON.stringify(resend.body).includes("x1Y")]).toEqual([200, false]);
  await t.close();
});
