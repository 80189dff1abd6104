/** POST /v1/relay-reports/{secret}: what the reports of each provider change, and how often. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { INVARIANTS } from "../../../src/cli/check/invariants.ts";
import { REPORT_PROVIDERS, type ReportProvider } from "../../../src/db/schema/report-sources.ts";
import { parseRelayUrl } from "../../../src/protocols/smtp/relay-url.ts";
import { PAYLOADS, type PayloadName } from "../../protocols/relay-reports/payloads.ts";
import { reportApp, type ReportApp, signed } from "./setup.ts";

let t: ReportApp;
const paths = new Map<ReportProvider, string>();
beforeAll(async () => {
  t = await reportApp();
  for (const provider of REPORT_PROVIDERS) paths.set(provider, (await t.source(provider)).path);
});
afterAll(async () => {
  const violated = INVARIANTS.filter(
    ({ violations }) => t.db.sqlite.query(violations).get() !== null,
  );
  await t.close();
  expect(violated.map(({ name }) => name)).toEqual([]);
});

let count = 0;
/** A mail that a relay accepted a minute ago. */
async function sentMail() {
  const to = `user${++count}@example.net`;
  const id = await t.sent(to);
  t.clock.advance(60_000);
  return { id, to, at: t.clock.now() };
}
type Mail = Awaited<ReturnType<typeof sentMail>>;

const report = (provider: ReportProvider, name: PayloadName, mail: Mail) =>
  t.post(
    paths.get(provider) ?? "",
    signed(provider, PAYLOADS[provider][name](mail), t.clock.now()),
  );
const state = (id: string) => t.email(id);
const suppressed = async (to: string) =>
  (await t.call("GET", `/suppressions?email=${to}`)).at("data.items.0.reason");

const bounced = (name: string) => ({ name: "email.bounced", class: name });

/** The events after `email.sent`, with the class of a bounce, and why the address is suppressed. */
const CASES: readonly [
  PayloadName,
  string,
  readonly { name: string; class?: string }[],
  string | undefined,
][] = [
  ["delivered", "DELIVERED", [{ name: "email.delivered" }], undefined],
  ["hard", "BOUNCED", [bounced("no_such_recipient")], "HARD_BOUNCE"],
  ["full", "BOUNCED", [bounced("mailbox_full")], undefined],
  ["refused", "BOUNCED", [bounced("content")], undefined],
  [
    "complained",
    "COMPLAINED",
    [{ name: "email.complained" }, { name: "contact.unsubscribed" }],
    "COMPLAINT",
  ],
  ["opened", "OPENED", [{ name: "email.opened" }], undefined],
  ["clicked", "CLICKED", [{ name: "email.opened" }, { name: "email.clicked" }], undefined],
  ["delayed", "SENT", [], undefined],
];

describe.each([...REPORT_PROVIDERS])("%s", (provider) => {
  test.each(CASES)(
    "%s: the mail is %s, however often it arrives",
    async (name, status, events, reason) => {
      const mail = await sentMail();
      const first = await report(provider, name, mail);
      const isDelay = name === "delayed";
      expect([first.status, first.at("data")]).toEqual([
        200,
        { counted: isDelay ? 0 : 1, known: 0, unknown: 0, ignored: isDelay ? 1 : 0 },
      ]);
      expect(await state(mail.id)).toMatchObject({ status });
      const seen = t.eventsOf(mail.id).slice(1);
      expect(
        seen.map(({ name: event, data }) =>
          data?.class ? { name: event, class: data.class } : { name: event },
        ),
      ).toEqual([...events]);
      expect(await suppressed(mail.to)).toBe(reason);
      for (let i = 0; i < 2; i++) {
        expect((await report(provider, name, mail)).at("data.counted")).toBe(0);
      }
      expect(t.eventsOf(mail.id)).toHaveLength(events.length + 1);
    },
  );
});

test.each(REPORT_PROVIDERS.filter((provider) => provider !== "RESEND"))(
  "%s: the contact is unsubscribed",
  async (provider) => {
    const mail = await sentMail();
    expect((await report(provider, "left", mail)).at("data.counted")).toBe(1);
    expect((await report(provider, "left", mail)).at("data.known")).toBe(1);
    expect(t.eventsOf(mail.id).at(-1)).toEqual({
      name: "contact.unsubscribed",
      data: { via: "relay" },
    });
  },
);

describe("in any order", () => {
  const ORDERS: readonly [readonly PayloadName[], string][] = [
    [["delivered", "opened", "clicked"], "CLICKED"],
    [["clicked", "opened", "delivered"], "CLICKED"],
    [["opened", "delivered", "clicked"], "CLICKED"],
    [["delivered", "complained"], "COMPLAINED"],
    [["complained", "delivered"], "COMPLAINED"],
    [["delivered", "hard"], "BOUNCED"],
    [["hard", "delivered"], "BOUNCED"],
  ];
  test.each(ORDERS)("%j gives the same events once", async (names, status) => {
    const mail = await sentMail();
    for (const name of [...names, ...names]) await report("POSTMARK", name, mail);
    const expected = new Set(["email.sent"]);
    for (const name of names) {
      if (name === "delivered") expected.add("email.delivered");
      if (name === "opened" || name === "clicked") expected.add("email.opened");
      if (name === "clicked") expected.add("email.clicked");
      if (name === "hard") expected.add("email.bounced");
      if (name === "complained") expected.add("email.complained").add("contact.unsubscribed");
    }
    expect(
      t
        .eventsOf(mail.id)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual([...expected].toSorted());
    expect(await state(mail.id)).toMatchObject({
      status,
      ...(names.includes("delivered") ? { deliveredAt: expect.any(String) } : {}),
    });
  });
});

describe("a report finds its mail", () => {
  test.each(["SES", "SENDGRID", "MAILGUN", "BREVO"] as const)(
    "of %s by the Message-ID, if our field is missing",
    async (provider) => {
      const mail = await sentMail();
      const payload = JSON.stringify(PAYLOADS[provider].delivered(mail))
        .replaceAll(`"${mail.id}"`, '""')
        .replaceAll(/"(?:mailstead_id|X-Mailin-custom)":"[^"]*",?/g, "");
      const body = signed(provider, JSON.parse(payload), t.clock.now());
      expect((await t.post(paths.get(provider) ?? "", body)).at("data.counted")).toBe(1);
    },
  );

  test("that another program submitted, by its Message-ID and the recipient", async () => {
    const mail = await sentMail();
    const messageId = "<abc@client.test>";
    t.db.sqlite.run(
      `UPDATE messages SET message_id = ? WHERE seq = (SELECT message_seq FROM emails WHERE id = ?)`,
      [messageId, mail.id],
    );
    const payload = PAYLOADS.BREVO.delivered({ ...mail, id: "none", messageId });
    const answer = await t.post(paths.get("BREVO") ?? "", signed("BREVO", payload, 0));
    expect(answer.at("data.counted")).toBe(1);
    t.db.sqlite.run("UPDATE messages SET message_id = NULL");
  });

  test("only in the project of the source; others are counted as unknown", async () => {
    const other = await t.makeProject("other");
    const { id, path } = await t.source("POSTMARK", { key: other.secretKey });
    const mail = await sentMail();
    const post = (subject: Mail) =>
      t.post(path, signed("POSTMARK", PAYLOADS.POSTMARK.hard(subject), 0));
    for (const subject of [mail, { ...mail, id: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e10" }]) {
      const answer = await post(subject);
      expect([answer.status, answer.at("data")]).toEqual([
        200,
        { counted: 0, known: 0, unknown: 1, ignored: 0 },
      ]);
    }
    expect(await state(mail.id)).toMatchObject({ status: "SENT" });
    const list = await t.call("GET", "/report-sources", undefined, { key: other.secretKey });
    expect(list.at("data.items.0")).toMatchObject({ id, received: 2, counted: 0, unknown: 2 });
  });
});

test("an open or a click of a machine is no event", async () => {
  const mail = await sentMail();
  const machine = (name: PayloadName, change: object) => {
    const payload = { ...PAYLOADS.BREVO[name](mail), ...change };
    return t.post(paths.get("BREVO") ?? "", signed("BREVO", payload, 0));
  };
  await machine("opened", { event: "proxy_open" });
  await machine("clicked", { user_agent: "Barracuda Sentinel" });
  await machine("opened", { ts_epoch: t.clock.now() - 60_000 });
  expect(t.eventsOf(mail.id)).toHaveLength(1);
  await machine("opened", {});
  expect(t.eventsOf(mail.id).at(-1)?.name).toBe("email.opened");
});

test("a click on one of our own links is left to our redirect", async () => {
  const mail = await sentMail();
  for (const link of [`${t.app.app.trackingUrl}/c/abc/def`, `${t.app.app.url}/unsubscribe/abc`]) {
    const payload = { ...PAYLOADS.BREVO.clicked(mail), link };
    const answer = await t.post(paths.get("BREVO") ?? "", signed("BREVO", payload, 0));
    expect(answer.at("data")).toEqual({ counted: 0, known: 1, unknown: 0, ignored: 0 });
  }
  expect(t.eventsOf(mail.id)).toHaveLength(1);
});

test("each link of a mail counts, and each once", async () => {
  const mail = await sentMail();
  const click = (link: string) =>
    t.post(paths.get("BREVO") ?? "", signed("BREVO", { ...PAYLOADS.BREVO.clicked(mail), link }, 0));
  for (const link of ["https://a.example/", "https://b.example/", "https://a.example/"]) {
    await click(link);
    t.clock.advance(60 * 60_000);
  }
  const clicks = t.eventsOf(mail.id).filter(({ name }) => name === "email.clicked");
  expect(clicks.map(({ data }) => data.url)).toEqual(["https://a.example/", "https://b.example/"]);
});

describe("an event that says nothing", () => {
  test.each([
    ["an empty object", "{}"],
    ["an empty array", "[]"],
    ["values of other types", '[null, 7, "x", [], {"event": 7, "email": {}}]'],
    ["an unknown type", '{"event": "teleported", "email": "a@b.example"}'],
  ])("changes nothing: %s", async (_, body) => {
    for (const provider of ["BREVO", "MAILJET", "POSTMARK"] as const) {
      const answer = await t.post(paths.get(provider) ?? "", { body, headers: {} });
      expect([answer.status, answer.at("data.counted"), answer.at("data.unknown")]).toEqual([
        200, 0, 0,
      ]);
    }
  });

  test("and what is no JSON object or array is refused", async () => {
    const path = paths.get("POSTMARK") ?? "";
    for (const [body, status] of [
      ["", 422],
      ["{", 400],
      ['"text"', 422],
      ["7", 422],
      ["a=b&c=d", 400],
      ["[".repeat(500), 400],
    ] as const) {
      expect((await t.post(path, { body, headers: {} })).status).toBe(status);
    }
  });
});

test("a mail that leaves over the relay carries the id by which its reports find it", async () => {
  const parsed = parseRelayUrl("smtp://u:p@smtp.postmarkapp.com:587");
  if (!parsed.ok) throw new Error("no relay");
  const relayed = await reportApp({ config: { transport: "relay", relayUrl: parsed.relay } });
  const to = "carried@example.net";
  const id = await relayed.sent(to);
  const message = Buffer.from(relayed.transport.handed[0]?.object.message ?? "").toString();
  const carried = /^X-PM-Metadata-mailstead-id: (\S+)\r\n/.exec(message)?.[1] ?? "";
  const { path } = await relayed.source("POSTMARK");
  const payload = PAYLOADS.POSTMARK.delivered({ id: carried, to, at: relayed.clock.now() });
  expect((await relayed.post(path, signed("POSTMARK", payload, 0))).at("data.counted")).toBe(1);
  expect(await relayed.email(id)).toMatchObject({ status: "DELIVERED" });
  await relayed.close();
});
