/** The tools of `/mcp`: what they show, and that nothing changes without a token of a dry run. */

import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/app.ts";
import { createKey } from "../../../src/modules/keys.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { listAt, stringAt, valueAt } from "../../support/json.ts";
import { createMcpAgent, type McpAgent, overHttp } from "../../support/mcp-agent.ts";
import { type CampaignApp, campaignsPerTest } from "../campaigns/campaign-app.ts";
import { ACCEPTED, testTransport } from "../../support/transport.ts";

const transport = testTransport({ answer: ACCEPTED });
const nextProject = campaignsPerTest({ transport, config: { mcpChanges: true } });

let t: CampaignApp;
let agent: McpAgent;
beforeAll(() => import("../../../src/modules/mcp/mcp-server.ts"));
beforeEach(async () => {
  transport.answer = ACCEPTED;
  t = await nextProject();
  agent = await agentOf(t);
});

function agentOf(app: Pick<TestApp, "call">, key?: string) {
  return createMcpAgent(
    overHttp(async (body, headers) => {
      const options = key === undefined ? { headers } : { headers, key };
      const { body: answer } = await app.call("POST", "/mcp", body, options);
      return typeof answer === "string" ? answer : JSON.stringify(answer);
    }),
  );
}

const MAIL = { from: "a@acme.test", subject: "Order", body: "<p>Thanks</p>" };
const send = (to: string) => t.create("/v1/send", { ...MAIL, to }, "data.emails.0.email");
const tokenFor = async (tool: string, args: object) =>
  stringAt(await agent.call(tool, args), "token");
const isSuppressed = async (email: string) =>
  listAt((await t.call("GET", `/suppressions?email=${email}`)).body, "data.items").length === 1;

async function catchMail(text: string, inbox = "default"): Promise<void> {
  const raw = `From: Shop <shop@example.org>\r\nTo: ada@example.com\r\n${text}`;
  const headers = { "content-type": "message/rfc822" };
  const made = await t.call("POST", `/inboxes/${inbox}/messages`, undefined, { raw, headers });
  expect(made.status).toBe(201);
}

describe("tools for inboxes", () => {
  test("a mail is shown with its code, its links and its text", async () => {
    await catchMail(
      "Subject: Welcome\r\nContent-Type: text/html\r\n\r\n" +
        '<p>Your code is 482913.</p><a href="https://shop.example/confirm?token=1">Confirm</a>',
    );
    const waited = await agent.call("wait_for_mail", { query: "subject:welcome" });
    expect(waited).toMatchObject({
      matched: true,
      mail: {
        subject: "Welcome",
        from: { address: "shop@example.org" },
        codes: [{ code: "482913" }],
        links: [{ kind: "MAGIC", url: "https://shop.example/confirm?token=1", text: "Confirm" }],
        text: expect.stringContaining("Your code is 482913."),
        attachments: [],
      },
    });
    expect(valueAt(waited, "mail.html")).toBeUndefined();
    const withHtml = await agent.call("get_mail", { includeHtml: true });
    expect(withHtml).toMatchObject({ html: expect.stringContaining("<p>Your code") });
    expect(await agent.call("list_mails", { limit: 1 })).toMatchObject({
      total: 1,
      mails: [{ subject: "Welcome" }],
    });
  });

  test("a mail is checked as receivers do", async () => {
    await catchMail("Subject: Check\r\n\r\nText");
    expect(await agent.call("check_mail")).toMatchObject({
      findings: expect.arrayContaining([expect.objectContaining({ name: "required-headers" })]),
      authentication: { dkim: expect.anything() },
      links: null,
      worstSupported: [],
    });
  });

  test("a long text is cut, and says so", async () => {
    await catchMail(`Subject: Long\r\n\r\n${"word ".repeat(10_000)}`);
    const text = stringAt(await agent.call("get_mail"), "text");
    expect(text.length).toBeLessThan(21_000);
    expect(text).toMatch(/… \[\d+ more characters are left out\]$/);
  });

  test("an answer that is too long for a model is refused", async () => {
    // Each quotation mark takes two characters in JSON.
    const html = '"'.repeat(59_000);
    await catchMail(`Subject: Long\r\nContent-Type: text/html\r\n\r\n${html}`);
    const { isError, text } = await agent.use("get_mail", { includeHtml: true });
    expect([isError, text]).toEqual([true, expect.stringContaining("100000 are allowed.")]);
  });

  test("a wait without a mail ends with its time, and a mail before `since` does not count", async () => {
    await catchMail("Subject: Early\r\n\r\nText");
    const waiting = { timeoutSeconds: 0, since: "2030-01-01T00:00:00Z" };
    expect(await agent.call("wait_for_mail", waiting)).toEqual({ matched: false, mail: null });
  });
});

describe("explain_recipient", () => {
  const findings = async (email: string) =>
    listAt(await agent.call("explain_recipient", { email }), "findings").join(" ");

  test("says that the address is suppressed, and why", async () => {
    await t.call("POST", "/suppressions", { email: "ada@example.com", reason: "COMPLAINT" });
    await send("ada@example.com");
    const text = await findings("Ada@EXAMPLE.com");
    expect(text).toContain("The address is suppressed since 2026-03-02T");
    expect(text).toContain("(COMPLAINT): the project sends it no mail.");
    expect(text).toContain("is SUPPRESSED.");
  });

  test("says that the contact is unsubscribed", async () => {
    await t.call("POST", "/contacts", { email: "ada@example.com", subscribed: false });
    const text = await findings("ada@example.com");
    expect(text).toContain("The address is not suppressed.");
    expect(text).toContain("The contact is unsubscribed: it gets transactional mail");
    expect(text).toContain("No mail to this address is recorded.");
  });

  test("shows the attempts of the latest mails with the words of the server", async () => {
    transport.answer = {
      kind: "deferred",
      class: "mailbox_full",
      reason: "452 4.2.2 mailbox is full",
      conversations: [],
    };
    await send("ada@example.com");
    await t.deliver();
    const answer = await agent.call("explain_recipient", { email: "ada@example.com" });
    expect(answer).toMatchObject({
      contact: { email: "ada@example.com" },
      suppression: null,
      total: 1,
      emails: [
        {
          status: "QUEUED",
          wait: { cause: "RETRY" },
          attempts: [{ number: 1, outcome: "deferred", reason: "452 4.2.2 mailbox is full" }],
        },
      ],
    });
    const text = listAt(answer, "findings").join(" ");
    expect(text).toMatch(/It waits: RETRY \(.*mailbox is full\)\. It is tried next at 2026-/);
  });

  test("takes an address only for itself", async () => {
    await t.call("POST", "/suppressions", { email: "xada@example.com" });
    await t.call("POST", "/contacts", { email: "xada@example.com" });
    expect(await agent.call("explain_recipient", { email: "ada@example.com" })).toMatchObject({
      contact: null,
      suppression: null,
      emails: [],
    });
  });
});

describe("tools for operators", () => {
  test("mails are found, and one is shown with all attempts", async () => {
    const id = await send("ada@example.com");
    await send("grace@example.com");
    await t.deliver();
    const found = await agent.call("find_emails", { to: "ada@example.com", status: "SENT" });
    expect(found).toMatchObject({ total: 1, emails: [{ id, status: "SENT", lastError: null }] });
    expect(await agent.call("get_email", { id })).toMatchObject({ attempts: [{ number: 1 }] });
    const { isError, text } = await agent.use("find_emails", { status: "LOST" });
    expect([isError, text]).toEqual([
      true,
      expect.stringMatching(/^VALIDATION_ERROR: status: .*[.] Correct/),
    ]);
  });

  test("a domain is shown with the records that are missing", async () => {
    await t.call("POST", "/domains", { domain: "news.example.com" });
    const answer = await agent.call("domain_status", { domain: "News.example.com" });
    expect(answer).toMatchObject({
      domains: [{ domain: "news.example.com", status: "PENDING", verified: false }],
    });
    const missing = listAt(answer, "domains.0.missingRecords");
    expect(missing[0]).toMatchObject({ purpose: "DKIM", type: "TXT", required: true });
    expect(listAt(await agent.call("domain_status"), "domains")).toHaveLength(2);
  });

  test("a campaign is reported with its numbers and its bounces", async () => {
    const id = await startCampaign({
      kind: "bounced",
      class: "no_such_recipient",
      reason: "550 5.1.1 unknown",
      conversations: [],
    });
    await t.settle();
    expect(await agent.call("campaign_report", { id })).toMatchObject({
      campaign: { id, name: "News" },
      numbers: { totalRecipients: 1, bounced: 1, bounceRate: 1 },
      bounces: [{ email: "ada@example.com", lastError: "550 5.1.1 unknown" }],
      links: [],
      linksInTotal: 0,
      bouncesInTotal: 1,
    });
    expect(await agent.call("list_campaigns")).toMatchObject([{ id, bounced: 1 }]);
  });
});

/** A campaign to one contact that is being sent. */
async function startCampaign(answer: typeof transport.answer): Promise<string> {
  transport.answer = answer;
  await t.contact("ada@example.com");
  const id = await t.campaign({ name: "News" });
  expect((await t.act(id, "send")).status).toBe(204);
  return id;
}

/** The last characters of a signature have bits without a meaning, so an earlier one is changed. */
const withOtherSignature = (token: string) =>
  `${token.slice(0, -10)}${token.at(-10) === "A" ? "B" : "A"}${token.slice(-9)}`;

describe("tools that change something", () => {
  const ADD = { email: "ada@example.com" };

  test("a dry run changes nothing, and its token permits the change once", async () => {
    const dryRun = await agent.call("add_suppression", ADD);
    expect(dryRun).toMatchObject({
      dryRun: true,
      plan: { suppresses: "ada@example.com", before: null },
      validForSeconds: 600,
    });
    expect(await isSuppressed("ada@example.com")).toBe(false);
    const token = stringAt(dryRun, "token");
    expect(await agent.call("add_suppression", { ...ADD, token })).toMatchObject({
      dryRun: false,
      result: { email: "ada@example.com", reason: "MANUAL" },
    });
    expect(await isSuppressed("ada@example.com")).toBe(true);

    await t.call("DELETE", "/suppressions/ada@example.com");
    const again = await agent.use("add_suppression", { ...ADD, token });
    expect([again.isError, again.text]).toEqual([
      true,
      expect.stringContaining("The token was used before."),
    ]);
    expect(await isSuppressed("ada@example.com")).toBe(false);
  });

  test("a token of other arguments, another tool or another project permits nothing", async () => {
    const token = await tokenFor("add_suppression", ADD);
    await t.call("POST", "/suppressions", { email: "grace@example.com" });
    const removing = await tokenFor("remove_suppression", { email: "grace@example.com" });
    const other = await agentOf(t, (await t.makeProject("other")).secretKey);
    const end = String(Math.floor(Number(token.split(".")[0]) + 1));
    const wrong: [string, object, McpAgent][] = [
      ["add_suppression", { email: "bob@example.com", token }, agent],
      ["add_suppression", { ...ADD, token: removing }, agent],
      ["add_suppression", { ...ADD, token: "" }, agent],
      ["add_suppression", { ...ADD, token: "yes" }, agent],
      ["add_suppression", { ...ADD, token: [end, ...token.split(".").slice(1)].join(".") }, agent],
      ["add_suppression", { ...ADD, token: withOtherSignature(token) }, agent],
      ["add_suppression", { ...ADD, token }, other],
    ];
    for (const [tool, args, caller] of wrong) {
      const { isError, text } = await caller.use(tool, args);
      expect([args, isError, text]).toEqual([
        args,
        true,
        expect.stringContaining("The token is not one of a dry run with these arguments."),
      ]);
    }
    expect(await isSuppressed("ada@example.com")).toBe(false);
    await agent.call("add_suppression", { ...ADD, token });
    expect(await isSuppressed("ada@example.com")).toBe(true);
  });

  test("a token expires after ten minutes", async () => {
    const token = await tokenFor("add_suppression", ADD);
    t.clock.advance(10 * 60_000);
    const { isError, text } = await agent.use("add_suppression", { ...ADD, token });
    expect([isError, text]).toEqual([true, expect.stringContaining("The token has expired.")]);
    expect(await isSuppressed("ada@example.com")).toBe(false);
  });

  test("a mail is sent with a token only", async () => {
    const mail = { to: "ada@example.com", subject: "Try", html: "<p>Hi</p>", from: "a@acme.test" };
    const token = await tokenFor("send_test_mail", mail);
    expect(t.countRows("emails")).toBe(0);
    const sent = await agent.call("send_test_mail", { ...mail, token });
    expect(listAt(sent, "result.emails")).toHaveLength(1);
    expect(t.countRows("emails")).toBe(1);

    await t.call("POST", "/suppressions", { email: "bob@example.com" });
    const refused = await agent.use("send_test_mail", { ...mail, to: "bob@example.com" });
    expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining("suppressed")]);
  });

  test("a suppression is removed", async () => {
    const nothing = await agent.use("remove_suppression", ADD);
    expect([nothing.isError, nothing.text]).toEqual([true, "ada@example.com is not suppressed."]);
    await t.call("POST", "/suppressions", ADD);
    const token = await tokenFor("remove_suppression", ADD);
    expect(await isSuppressed("ada@example.com")).toBe(true);
    await agent.call("remove_suppression", { ...ADD, token });
    expect(await isSuppressed("ada@example.com")).toBe(false);
  });

  test("a campaign is paused and resumed", async () => {
    const id = await startCampaign(null);
    const early = await agent.use("resume_campaign", { id });
    expect([early.isError, early.text]).toEqual([true, "The campaign is SENDING, not PAUSED."]);
    const pause = await tokenFor("pause_campaign", { id });
    expect(await agent.call("pause_campaign", { id, token: pause })).toMatchObject({
      result: { id, status: "PAUSED" },
    });
    const resume = await tokenFor("resume_campaign", { id });
    expect(await agent.call("resume_campaign", { id, token: resume })).toMatchObject({
      result: { id, status: "SENDING" },
    });
    // Otherwise the stop would wait for a mail that has begun.
    transport.answer = ACCEPTED;
    for (const mail of transport.open()) mail.end(ACCEPTED);
  });

  test("are marked as such", async () => {
    const tools = await agent.tools();
    const changing = tools.filter((tool) => valueAt(tool, "annotations.readOnlyHint") === false);
    expect(changing.map((tool) => valueAt(tool, "name"))).toEqual([
      "send_test_mail",
      "add_suppression",
      "remove_suppression",
      "pause_campaign",
      "resume_campaign",
    ]);
  });
});

describe("what a caller may not do", () => {
  test("every argument is known and of its type", async () => {
    const wrong: [string, object, string][] = [
      ["get_mail", { mial: "latest" }, "mial: is not an argument; the arguments are inbox, mail"],
      ["wait_for_mail", { timeoutSeconds: 61 }, "timeoutSeconds: "],
      ["wait_for_mail", { timeoutSeconds: "5" }, "timeoutSeconds: "],
      ["explain_recipient", {}, "email: is required"],
      ["add_suppression", { email: "a@example.com", tokne: "x" }, "tokne: is not an argument"],
    ];
    for (const [tool, args, message] of wrong) {
      const { isError, text } = await agent.use(tool, args);
      expect([tool, isError, text]).toEqual([tool, true, expect.stringContaining(message)]);
    }
  });

  test("an id is one segment of a path", async () => {
    for (const id of ["..", ".", "../keys", "%2e%2e", "a/b", "a?b", "a#b"]) {
      const { isError, text } = await agent.use("get_email", { id });
      expect([id, isError]).toEqual([id, true]);
      expect(text).toMatch(/is no id or name|EMAIL_NOT_FOUND/);
    }
  });

  test("a project sees nothing of another one", async () => {
    const id = await send("ada@example.com");
    const { secretKey } = await t.makeProject("rival");
    const other = await agentOf(t, secretKey);
    expect(await other.use("get_email", { id })).toMatchObject({
      isError: true,
      text: expect.stringContaining("EMAIL_NOT_FOUND"),
    });
    expect(await other.call("find_emails")).toMatchObject({ total: 0, emails: [] });
  });

  test("a request needs a secret key, and has one message", async () => {
    const headers = { accept: "application/json, text/event-stream" };
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    const status = async (body: unknown, key: string | null) =>
      (await t.call("POST", "/mcp", body, { key, headers })).status;
    expect(await status(ping, t.secretKey)).toBe(200);
    expect(await status(ping, null)).toBe(401);
    expect(await status(ping, "sk_wrong")).toBe(401);
    expect(await status(ping, t.publicKey)).toBe(403);
    expect(await status([ping, ping], t.secretKey)).toBe(422);
    expect(await status({}, t.secretKey)).toBe(422);
    expect((await t.call("GET", "/mcp")).status).toBe(405);
  });
});

test("a page of the server's own address may call it, and one of another origin may not", async () => {
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  const status = async (origin: string) => {
    const headers = { accept: "application/json, text/event-stream", origin };
    return (await t.call("POST", "/mcp", ping, { headers })).status;
  };
  const { origin } = new URL(t.app.app.url);
  expect(await status(origin)).toBe(200);
  expect(await status(`${origin}0`)).toBe(403);
  expect(await status(origin.replace("http:", "https:"))).toBe(403);
  expect(await status("http://localhost")).toBe(403);
});

test("a key that only reads may call it, and gets no token for what it may not change", async () => {
  const keyOf = (scope: "READ" | "SEND") =>
    t.app.app.writer.write(
      () =>
        createKey(t.app.app, t.project.seq, { kind: "SECRET", name: scope, scope, expiresAt: null })
          .text,
    );
  const reader = await agentOf(t, await keyOf("READ"));
  expect(await reader.call("find_emails")).toMatchObject({ total: 0 });
  const email = "a@example.com";
  const needed: [tool: string, args: object, scopes: string][] = [
    ["send_test_mail", { to: email, subject: "S", html: "H" }, "SEND or EVERYTHING"],
    ["add_suppression", { email }, "CONTACTS or EVERYTHING"],
    ["remove_suppression", { email }, "CONTACTS or EVERYTHING"],
    ["pause_campaign", { id: "x" }, "EVERYTHING"],
    ["resume_campaign", { id: "x" }, "EVERYTHING"],
  ];
  for (const [tool, args, scopes] of needed) {
    const { isError, text } = await reader.use(tool, args);
    const message = `SCOPE_REQUIRED: This needs a key with the scope ${scopes}, and the scope of this key is READ.`;
    expect([tool, isError, text]).toEqual([tool, true, expect.stringContaining(message)]);
  }
  const token = await tokenFor("add_suppression", { email });
  const refused = await reader.use("add_suppression", { email, token });
  expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("SCOPE_REQUIRED") });
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  expect((await t.call("POST", "/mcp", ping, { key: await keyOf("SEND") })).status).toBe(403);
});

describe("faults", () => {
  test("the rate limit of the project holds for the requests of tools", async () => {
    const limited = await testApp({ config: { apiRate: 6 } });
    const caller = await agentOf(limited);
    const answers: string[] = [];
    for (let n = 0; n < 2; n++) answers.push((await caller.use("list_inboxes")).text);
    expect(answers[0]).toStartWith("[{");
    expect(answers[1]).toStartWith("[{");
    const later = await limited.call("GET", "/inboxes");
    expect(later.status).toBe(429);
    await limited.close();
  });

  test("a fault of the program is logged, and its text is not shown", async () => {
    const lines: string[] = [];
    const log = { ...silentLog, error: (message: string) => void lines.push(message) };
    const faulty = await testApp({ log });
    const caller = await agentOf(faulty);
    faulty.db.sqlite.run("ALTER TABLE suppressions RENAME TO gone");
    const { isError, text } = await caller.use("explain_recipient", { email: "a@example.com" });
    expect(isError).toBe(true);
    expect(text).toContain("INTERNAL_SERVER_ERROR");
    expect(text).not.toContain("suppressions");
    expect(lines.length).toBeGreaterThan(0);
    await faulty.close();
  });
});
