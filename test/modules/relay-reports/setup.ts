/** Sources of relay reports, and requests as the providers sign them, with keys for tests. */

import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";
import type { ReportProvider } from "../../../src/db/schema/report-sources.ts";
import type { FetchGuarded } from "../../../src/protocols/fetch-guarded/fetch-guarded.ts";
import type { TestOptions, TestResponse } from "../../support/app.ts";
import { bounceApp } from "../bounces/reports.ts";

const key = (name: string) => readFileSync(`${import.meta.dir}/keys/${name}`);
const SNS_KEY = key("sns.key.pem");
export const SNS_CERTIFICATE = key("sns.cert.pem");

const SNS_HOST = "https://sns.eu-central-1.amazonaws.com";
export const CERTIFICATE_URL = `${SNS_HOST}/SimpleNotificationService-7ff5318490ec183fbaddaa2a969abfda.pem`;
export const SUBSCRIBE_URL = `${SNS_HOST}/?Action=ConfirmSubscription&Token=2336412f37`;
export const TOPIC = "arn:aws:sns:eu-central-1:123456789012:mailstead";

export const SVIX_SECRET = `whsec_${Buffer.from("a secret of 24 octets...").toString("base64")}`;
export const MAILGUN_KEY = "key-3ax6xnjp29jd6fds4gc373sgvjxteol0";
const ecdsa = generateKeyPairSync("ec", { namedCurve: "P-256" });
export const SENDGRID_KEY = ecdsa.publicKey
  .export({ type: "spki", format: "der" })
  .toString("base64");

export const SIGNING_KEYS: Partial<Record<ReportProvider, string>> = {
  SENDGRID: SENDGRID_KEY,
  MAILGUN: MAILGUN_KEY,
  RESEND: SVIX_SECRET,
};

/** A request as its provider sends it. */
export type Signed = { body: string; headers: Record<string, string> };

/** An SNS message, signed; `more` replaces members before, and `after` those after the signature. */
export function snsMessage(
  members: Record<string, string>,
  { version = "2", after = {} }: { version?: string; after?: Record<string, string> } = {},
): Signed {
  const message: Record<string, string> = {
    Type: "Notification",
    MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
    TopicArn: TOPIC,
    Timestamp: "2026-03-02T10:00:00.000Z",
    SignatureVersion: version,
    SigningCertURL: CERTIFICATE_URL,
    ...members,
  };
  const signedNames = ["Message", "MessageId", "Subject", "SubscribeURL", "Timestamp", "Token"]
    .concat("TopicArn", "Type")
    .filter((name) => message[name] !== undefined);
  const text = signedNames.map((name) => `${name}\n${message[name]}\n`).join("");
  const digest = version === "1" ? "sha1" : "sha256";
  const Signature = sign(digest, Buffer.from(text), SNS_KEY).toString("base64");
  const body = JSON.stringify({ ...message, Signature, ...after });
  return { body, headers: { "content-type": "text/plain; charset=UTF-8" } };
}

let tokens = 0;

export function signMailgun(payload: object, now: number, token = `token-${++tokens}`): Signed {
  const timestamp = String(Math.floor(now / 1_000));
  const signature = createHmac("sha256", MAILGUN_KEY)
    .update(timestamp + token)
    .digest("hex");
  return signless({ signature: { timestamp, token, signature }, ...payload });
}

function signless(payload: object): Signed {
  return { body: JSON.stringify(payload), headers: { "content-type": "application/json" } };
}

/** The request of a provider with this payload, signed at `now`. */
export function signed(provider: ReportProvider, payload: object, now: number): Signed {
  const plain = signless(payload);
  switch (provider) {
    case "SES":
      return snsMessage({ Message: plain.body, Subject: "Amazon SES Email Event Notification" });
    case "MAILGUN":
      return signMailgun(payload, now);
    case "SENDGRID": {
      const timestamp = String(Math.floor(now / 1_000));
      const signature = sign("sha256", Buffer.from(timestamp + plain.body), ecdsa.privateKey);
      const prefix = "x-twilio-email-event-webhook";
      const headers = {
        ...plain.headers,
        [`${prefix}-timestamp`]: timestamp,
        [`${prefix}-signature`]: signature.toString("base64"),
      };
      return { ...plain, headers };
    }
    case "RESEND": {
      const id = "msg_2W2D3qXLS5fOaPja1GDg7rF2CwB";
      const at = new Date(now);
      const headers = {
        ...plain.headers,
        "svix-id": id,
        "svix-timestamp": String(Math.floor(now / 1_000)),
        "svix-signature": new Webhook(SVIX_SECRET).sign(id, at, plain.body),
      };
      return { ...plain, headers };
    }
    default:
      return plain;
  }
}

export type ReportApp = Awaited<ReturnType<typeof reportApp>>;

export async function reportApp(options: TestOptions = {}) {
  /** The URLs that were requested, and their answers. */
  const requested: string[] = [];
  const answers: Record<string, Uint8Array> = {
    [CERTIFICATE_URL]: SNS_CERTIFICATE,
    [SUBSCRIBE_URL]: Buffer.from("<ConfirmSubscriptionResponse/>"),
  };
  const fetchGuarded: FetchGuarded = (url) => {
    requested.push(url);
    const body = answers[url];
    return Promise.resolve({
      status: body === undefined ? 404 : 200,
      headers: new Headers(),
      body: body ?? new Uint8Array(),
      isTruncated: false,
    });
  };
  const t = await bounceApp({ fetchGuarded, ...options });

  /** Creates a source with its signing key. Returns its id and the path of its URL. */
  async function source(provider: ReportProvider, rest: { key?: string } = {}) {
    const input = { provider, signingKey: SIGNING_KEYS[provider] };
    const made = await t.call("POST", "/report-sources", input, rest);
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    return { id: made.text("data.id"), path: new URL(made.text("data.url")).pathname };
  }

  const post = (path: string, { body, headers }: Signed): Promise<TestResponse> =>
    t.call("POST", path, undefined, { key: null, raw: body, headers });

  return { ...t, requested, answers, source, post };
}
