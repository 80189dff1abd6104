/** Verification of reports: signatures, replays, and the messages of SNS. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ReportProvider } from "../../../src/db/schema/report-sources.ts";
import { FetchRefused } from "../../../src/protocols/fetch-guarded/refusal.ts";
import { listAt, valueAt } from "../../support/json.ts";
import { PAYLOADS } from "../../protocols/relay-reports/payloads.ts";
import {
  CERTIFICATE_URL,
  MAILGUN_KEY,
  reportApp,
  type ReportApp,
  type Signed,
  signed,
  signMailgun,
  snsMessage,
  SNS_CERTIFICATE,
  SUBSCRIBE_URL,
  TOPIC,
} from "./setup.ts";

let t: ReportApp;
beforeAll(async () => {
  t = await reportApp();
});
afterAll(() => t.close());

let count = 0;
async function mailOf(provider: ReportProvider) {
  const to = `person${++count}@example.net`;
  const id = await t.sent(to);
  return { id, payload: PAYLOADS[provider].hard({ id, to, at: t.clock.now() }) };
}
const statusOf = async (id: string) => (await t.call("GET", `/emails/${id}`)).text("data.status");
const fieldOf = async (id: string, name: string) => {
  const { body } = await t.call("GET", "/report-sources?limit=100");
  const item = listAt(body, "data.items").find((each) => valueAt(each, "id") === id);
  return valueAt(item, name);
};

/** Each changes a signed request so that its signature is wrong. */
const FORGERIES: readonly (readonly [string, ReportProvider, (request: Signed) => Signed])[] = [
  ...(["SENDGRID", "RESEND"] as const).map(
    (provider) =>
      [
        "a changed body",
        provider,
        ({ body, headers }: Signed) => ({ headers, body: body.replace("5", "6") }),
      ] as const,
  ),
  ["no signature", "SENDGRID", ({ body }) => ({ body, headers: {} })],
  ["no signature", "RESEND", ({ body }) => ({ body, headers: {} })],
  [
    "another time",
    "SENDGRID",
    ({ body, headers }) => ({
      body,
      headers: { ...headers, "x-twilio-email-event-webhook-timestamp": "1772445601" },
    }),
  ],
  [
    "a signature of nonsense",
    "SENDGRID",
    ({ body, headers }) => ({
      body,
      headers: { ...headers, "x-twilio-email-event-webhook-signature": "AAAA" },
    }),
  ],
  [
    "another version of signatures",
    "RESEND",
    ({ body, headers }) => ({
      body,
      headers: {
        ...headers,
        "svix-signature": headers["svix-signature"]?.replace("v1,", "v2,") ?? "",
      },
    }),
  ],
  [
    "a changed token",
    "MAILGUN",
    ({ body, headers }) => ({ headers, body: body.replace('"token":"', '"token":"x') }),
  ],
  [
    "no signature",
    "MAILGUN",
    ({ body, headers }) => ({ headers, body: body.replace('"signature":{', '"other":{') }),
  ],
  [
    "a changed message",
    "SES",
    ({ body, headers }) => ({ headers, body: body.replace("Permanent", "Transient") }),
  ],
  ["no signature", "SES", ({ headers }) => ({ headers, body: "{}" })],
  [
    "an unknown version of signatures",
    "SES",
    ({ body, headers }) => ({
      headers,
      body: body.replace('"SignatureVersion":"2"', '"SignatureVersion":"constructor"'),
    }),
  ],
];

describe("a forged report", () => {
  test.each(FORGERIES)(
    "with %s of %s is refused and changes nothing",
    async (_, provider, forge) => {
      const { id, path } = await t.source(provider);
      const mail = await mailOf(provider);
      const answer = await t.post(path, forge(signed(provider, mail.payload, t.clock.now())));
      expect([answer.status, answer.at("error.code")]).toEqual([401, "INVALID_SIGNATURE"]);
      expect(await statusOf(mail.id)).toBe("SENT");
      expect(await fieldOf(id, "refusal")).toBeString();
      expect(await fieldOf(id, "received")).toBe(0);
      await t.call("DELETE", `/report-sources/${id}`);
    },
  );

  test("to a URL with another secret is refused", async () => {
    const { id, path } = await t.source("POSTMARK");
    const mail = await mailOf("POSTMARK");
    const answer = await t.post(`${path}x`, signed("POSTMARK", mail.payload, 0));
    expect([answer.status, answer.at("error.code")]).toEqual([404, "REPORT_SOURCE_NOT_FOUND"]);
    await t.call("DELETE", `/report-sources/${id}`);
    expect((await t.post(path, signed("POSTMARK", mail.payload, 0))).status).toBe(404);
    expect(await statusOf(mail.id)).toBe("SENT");
  });

  test("of a provider whose key is missing is refused until the key is set", async () => {
    const made = await t.call("POST", "/report-sources", { provider: "RESEND" });
    const path = new URL(made.text("data.url")).pathname;
    expect(made.at("data.needsSigningKey")).toBe(true);
    const mail = await mailOf("RESEND");
    const request = signed("RESEND", mail.payload, t.clock.now());
    expect((await t.post(path, request)).at("error.code")).toBe("SIGNING_KEY_MISSING");
    const signingKey = `whsec_${Buffer.from("a secret of 24 octets...").toString("base64")}`;
    await t.call("PATCH", `/report-sources/${made.text("data.id")}`, { signingKey });
    expect((await t.post(path, request)).at("data.counted")).toBe(1);
    await t.call("DELETE", `/report-sources/${made.text("data.id")}`);
  });
});

describe("a report that is sent again", () => {
  test("of Mailgun is refused by its token, also with another event", async () => {
    const { id, path } = await t.source("MAILGUN");
    const [mail, other] = [await mailOf("MAILGUN"), await mailOf("MAILGUN")];
    const now = t.clock.now();
    expect((await t.post(path, signMailgun(mail.payload, now, "one"))).status).toBe(200);
    for (const payload of [mail.payload, other.payload]) {
      const answer = await t.post(path, signMailgun(payload, now, "one"));
      expect([answer.status, answer.at("error.code")]).toEqual([406, "REPORT_REPLAYED"]);
    }
    expect(await statusOf(other.id)).toBe("SENT");
    await t.call("DELETE", `/report-sources/${id}`);
  });

  test.each([
    ["RESEND", 5 * 60_000],
    ["MAILGUN", 12 * 60 * 60_000],
  ] as const)(
    "of %s is refused when its time is too old, or in the future",
    async (provider, ms) => {
      const { id, path } = await t.source(provider);
      const mail = await mailOf(provider);
      for (const [at, status] of [
        [t.clock.now() - ms - 1_000, 401],
        [t.clock.now() + 5 * 60_000 + 2_000, 401],
        [t.clock.now() - ms + 1_000, 200],
      ] as const) {
        expect((await t.post(path, signed(provider, mail.payload, at))).status).toBe(status);
      }
      await t.call("DELETE", `/report-sources/${id}`);
    },
  );

  test("of Mailgun whose effects were not stored is accepted then", async () => {
    const { id, path } = await t.source("MAILGUN");
    const mail = await mailOf("MAILGUN");
    const request = signMailgun(mail.payload, t.clock.now(), "again");
    t.db.sqlite.run(
      `CREATE TEMP TRIGGER no_reports BEFORE INSERT ON email_reports
       BEGIN SELECT RAISE(ABORT, 'no'); END`,
    );
    expect((await t.post(path, request)).status).toBe(500);
    t.db.sqlite.run("DROP TRIGGER no_reports");
    expect((await t.post(path, request)).at("data.counted")).toBe(1);
    await t.call("DELETE", `/report-sources/${id}`);
  });
});

describe("a message of SNS", () => {
  const confirmation = (more: Record<string, string> = {}) =>
    snsMessage({
      Type: "SubscriptionConfirmation",
      Token: "2336412f37",
      Message: "You have chosen to subscribe to the topic.",
      SubscribeURL: SUBSCRIBE_URL,
      ...more,
    });

  test("confirms the subscription, and binds the source to its topic", async () => {
    const { id, path } = await t.source("SES");
    t.requested.length = 0;
    expect((await t.post(path, confirmation())).status).toBe(200);
    expect(t.requested).toContain(SUBSCRIBE_URL);
    expect(await fieldOf(id, "topicArn")).toBe(TOPIC);
    const mail = await mailOf("SES");
    const message = { Message: JSON.stringify(mail.payload), TopicArn: `${TOPIC}-other` };
    expect((await t.post(path, snsMessage(message))).status).toBe(401);
    expect(await statusOf(mail.id)).toBe("SENT");
    expect((await t.post(path, confirmation({ TopicArn: `${TOPIC}-other` }))).status).toBe(401);
    await t.call("DELETE", `/report-sources/${id}`);
  });

  test("is not confirmed at an address of another host, or without a signature", async () => {
    const { id, path } = await t.source("SES");
    t.requested.length = 0;
    const foreign = confirmation({
      SubscribeURL: "https://evil.example/?Action=ConfirmSubscription",
    });
    expect((await t.post(path, foreign)).status).toBe(401);
    const { body, headers } = confirmation();
    const unsigned = { headers, body: body.replace("2336412f37", "forged") };
    expect((await t.post(path, unsigned)).status).toBe(401);
    expect(t.requested.filter((url) => url !== CERTIFICATE_URL)).toEqual([]);
    expect(await fieldOf(id, "topicArn")).toBeNull();
    await t.call("DELETE", `/report-sources/${id}`);
  });

  test.each(["1", "2"])("is checked with signature version %s", async (version) => {
    const { id, path } = await t.source("SES");
    const mail = await mailOf("SES");
    const request = snsMessage({ Message: JSON.stringify(mail.payload) }, { version });
    expect((await t.post(path, request)).at("data.counted")).toBe(1);
    const { body, headers } = request;
    const other = body.replace(`"SignatureVersion":"${version}"`, '"SignatureVersion":"3"');
    expect((await t.post(path, { headers, body: other })).status).toBe(401);
    await t.call("DELETE", `/report-sources/${id}`);
  });

  test.each([
    "http://sns.eu-central-1.amazonaws.com/cert.pem",
    "https://sns.eu-central-1.amazonaws.com.evil.example/cert.pem",
    "https://evil.example/sns.eu-central-1.amazonaws.com/cert.pem",
    "https://sns.eu-central-1.amazonaws.com@evil.example/cert.pem",
    "https://user@sns.eu-central-1.amazonaws.com/cert.pem",
    "https://sns.eu-central-1.amazonaws.com:8443/cert.pem",
    "https://s3.eu-central-1.amazonaws.com/cert.pem",
    "https://my-bucket.s3.amazonaws.com/cert.pem",
    "https://sns.amazonaws.com/cert.pem",
    "https://xsns.eu-central-1.amazonaws.com/cert.pem",
    "https://sns.eu-central-1.amazonaws.com/cert.pem?x=1",
    "https://sns.eu-central-1.amazonaws.com/a/../../cert",
    "file:///etc/passwd",
    "cert.pem",
    "",
  ])("with the certificate %j is refused, and nothing is requested", async (url) => {
    const { id, path } = await t.source("SES");
    const mail = await mailOf("SES");
    t.requested.length = 0;
    t.answers[url] = SNS_CERTIFICATE;
    const request = snsMessage({ Message: JSON.stringify(mail.payload), SigningCertURL: url });
    expect((await t.post(path, request)).status).toBe(401);
    expect(t.requested).toEqual([]);
    expect(await statusOf(mail.id)).toBe("SENT");
    await t.call("DELETE", `/report-sources/${id}`);
  });

  test("uses a certificate for a day, and fetches it once for many messages", async () => {
    const { id, path } = await t.source("SES");
    t.clock.advance(24 * 60 * 60_000);
    t.requested.length = 0;
    const mail = await mailOf("SES");
    const request = snsMessage({ Message: JSON.stringify(mail.payload) });
    await Promise.all([1, 2, 3].map(() => t.post(path, request)));
    expect(t.requested).toEqual([CERTIFICATE_URL]);
    await t.call("DELETE", `/report-sources/${id}`);
  });

  test("whose certificate cannot be fetched is to be sent again", async () => {
    const refused = await reportApp({
      fetchGuarded: () => Promise.reject(new FetchRefused("timeout", "Timed out.")),
    });
    const { path } = await refused.source("SES");
    const answer = await refused.post(path, snsMessage({ Message: "{}" }));
    expect([answer.status, answer.at("error.code")]).toEqual([503, "SERVICE_UNAVAILABLE"]);
    await refused.close();
    const { id, path: path2 } = await t.source("SES");
    const url = "https://sns.us-east-1.amazonaws.com/broken.pem";
    t.answers[url] = Buffer.from("no certificate");
    const broken = snsMessage({ Message: "{}", SigningCertURL: url });
    expect((await t.post(path2, broken)).status).toBe(503);
    t.answers[url] = SNS_CERTIFICATE;
    expect((await t.post(path2, broken)).status).toBe(200);
    await t.call("DELETE", `/report-sources/${id}`);
  });

  test("of SES that is no event, or has too many values, changes nothing", async () => {
    const { id, path } = await t.source("SES");
    const text = snsMessage({ Message: "Successfully validated SNS topic for Amazon SES." });
    expect((await t.post(path, text)).at("data")).toMatchObject({ counted: 0, ignored: 1 });
    const huge = snsMessage({ Message: `{"mail":[${"0,".repeat(30_000)}0]}` });
    expect((await t.post(path, huge)).status).toBe(422);
    const raw = { body: JSON.stringify((await mailOf("SES")).payload), headers: {} };
    const answer = await t.post(path, raw);
    expect([answer.status, answer.text("error.message")]).toEqual([
      401,
      "This is no signed message of SNS; raw message delivery must be off.",
    ]);
    await t.call("DELETE", `/report-sources/${id}`);
  });
});

test("signing keys are stored sealed, and secrets of URLs as digests", async () => {
  const { id, path } = await t.source("MAILGUN");
  const stored = JSON.stringify(t.contents()["report_sources"]);
  expect(stored).not.toContain(MAILGUN_KEY);
  expect(stored).not.toContain(Buffer.from(MAILGUN_KEY).toString("base64"));
  expect(stored).not.toContain(path.split("/").at(-1) ?? "");
  await t.call("DELETE", `/report-sources/${id}`);
});
