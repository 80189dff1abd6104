/**
 * Checks who sent a report, and finds its events. The secret in the URL was checked before; Postmark,
 * Brevo and Mailjet sign nothing, so it is all that proves them.
 */

import type { KeyObject } from "node:crypto";
import type { App } from "../../core/app.ts";
import { parseDocument } from "../../http/body.ts";
import { createJsonBounds } from "../../http/json-checks.ts";
import { isRecord } from "../../http/validation.ts";
import { AppError, fieldError } from "../../lib/errors.ts";
import { ExpiringMap } from "../../lib/expiring-map.ts";
import { perApp } from "../../lib/per-app.ts";
import { FetchRefused } from "../../protocols/fetch-guarded/refusal.ts";
import { PROVIDERS } from "../../protocols/relay-reports/providers.ts";
import {
  isSignedBySendGrid,
  isSignedBySvix,
  MAILGUN_AGE_MS,
  openMailgunToken,
  readSendGridKey,
  readSvixSecret,
} from "../../protocols/relay-reports/signatures.ts";
import {
  isSignedByKey,
  isSnsUrl,
  readCertificateKey,
  readSnsMessage,
  type SnsMessage,
} from "../../protocols/relay-reports/sns.ts";
import { openSigningKey, type SourceRow } from "./sources.ts";

type Received = { headers: Headers; bytes: Uint8Array };

/** `stored` is called when the effects of the events are stored. */
type VerifiedReports = {
  events: readonly unknown[];
  /** Set when the subscription of an SNS topic was confirmed. */
  confirmedTopic: string | null;
  stored: () => void;
};

/** Throws 401 if the signature is wrong, and 406 if the report was received before. */
export async function verifyReports(
  app: App,
  source: SourceRow,
  { headers, bytes }: Received,
): Promise<VerifiedReports> {
  const { provider } = source;
  if (provider === "SES") return verifySns(app, source, parseDocument(bytes));
  const key = PROVIDERS[provider].signs === "key" ? requireKey(app, source) : "";
  const now = app.clock.now();
  if (provider === "RESEND") {
    const secret = readSvixSecret(key);
    if (secret === null || !isSignedBySvix(secret, { headers, body: bytes, now })) throw forged();
  }
  if (provider === "SENDGRID") {
    const publicKey = readSendGridKey(key);
    if (publicKey === null || !isSignedBySendGrid(publicKey, { headers, body: bytes })) {
      throw forged();
    }
  }
  const body = parseDocument(bytes);
  if (!Array.isArray(body) && !isRecord(body)) {
    throw fieldError("", "invalid_type", "must be an object or an array");
  }
  const events: readonly unknown[] = Array.isArray(body) ? body : [body];
  if (provider !== "MAILGUN") return { events, confirmedTopic: null, stored: () => {} };
  const token = openMailgunToken(Buffer.from(key), { body, now });
  if (token === null) throw forged();
  if (usedTokens(app).get(token) !== undefined) throw replayed();
  const stored = () => usedTokens(app).set(token, true, MAILGUN_AGE_MS);
  return { events, confirmedTopic: null, stored };
}

/** Tokens of Mailgun. An older one would be counted once anyway. */
const MAX_TOKENS = 50_000;
const usedTokens = perApp(
  ({ clock }: App) => new ExpiringMap<true>({ maxEntries: MAX_TOKENS, clock }),
);

function requireKey(app: App, source: SourceRow): string {
  const key = openSigningKey(app, source);
  if (key !== null) return key;
  throw new AppError(401, "SIGNING_KEY_MISSING", "This source has no signing key yet.", {
    suggestion: `Set the signing key that ${PROVIDERS[source.provider].name} shows.`,
  });
}

/** JSON values in a message of SNS, which has at most 256 KiB. */
const MAX_SNS_VALUES = 20_000;

async function verifySns(app: App, source: SourceRow, body: unknown): Promise<VerifiedReports> {
  const sns = readSnsMessage(body);
  if (sns === null) {
    throw forged("This is no signed message of SNS; raw message delivery must be off.");
  }
  if (source.topicArn !== null && source.topicArn !== sns.topicArn) {
    throw forged("The message is of another SNS topic than the one that was confirmed.");
  }
  if (!isSnsUrl(sns.certificateUrl, "certificate")) {
    throw forged("SigningCertURL is not an address of Amazon SNS.");
  }
  if (!isSignedByKey(await certificateKey(app, sns.certificateUrl), sns)) throw forged();
  if (sns.type === "SubscriptionConfirmation") await confirm(app, sns);
  const confirmedTopic = sns.type === "SubscriptionConfirmation" ? sns.topicArn : null;
  const events = sns.type === "Notification" ? [readMessage(sns)] : [];
  return { events, confirmedTopic, stored: () => {} };
}

/** SES also writes texts such as "Successfully validated SNS topic", which are no events. */
function readMessage({ message }: SnsMessage): unknown {
  if (!message.trimStart().startsWith("{")) return null;
  const bytes = Buffer.from(message);
  createJsonBounds(MAX_SNS_VALUES).add(bytes);
  return parseDocument(bytes);
}

async function confirm(app: App, { subscribeUrl }: SnsMessage): Promise<void> {
  if (subscribeUrl === null || !isSnsUrl(subscribeUrl, "confirmation")) {
    throw forged("SubscribeURL is not an address of Amazon SNS.");
  }
  await fetchFromSns(app, subscribeUrl);
}

const CERTIFICATE_LIFETIME_MS = 24 * 60 * 60_000;
const MAX_CERTIFICATES = 20;

/** The keys of certificates by URL, also while they are being fetched. */
const certificateKeys = perApp(
  ({ clock }: App) => new ExpiringMap<Promise<KeyObject>>({ maxEntries: MAX_CERTIFICATES, clock }),
);

async function certificateKey(app: App, url: string): Promise<KeyObject> {
  const known = certificateKeys(app).get(url);
  if (known !== undefined) return known;
  const fetched = fetchCertificateKey(app, url);
  certificateKeys(app).set(url, fetched, CERTIFICATE_LIFETIME_MS);
  try {
    return await fetched;
  } catch (error) {
    certificateKeys(app).delete(url);
    throw error;
  }
}

async function fetchCertificateKey(app: App, url: string): Promise<KeyObject> {
  const key = readCertificateKey(await fetchFromSns(app, url));
  if (key === null) throw unavailable("The certificate of SNS cannot be read.");
  return key;
}

async function fetchFromSns(app: App, url: string): Promise<Uint8Array> {
  try {
    const { status, body } = await app.fetchGuarded(url, { method: "GET" });
    if (status === 200) return body;
    throw unavailable(`Amazon SNS answered with ${status}.`);
  } catch (error) {
    if (error instanceof FetchRefused) throw unavailable(`Amazon SNS: ${error.message}`);
    throw error;
  }
}

/** SNS repeats a message after this answer. */
function unavailable(message: string): AppError {
  return new AppError(503, "SERVICE_UNAVAILABLE", message, {
    suggestion: "Nothing was stored. The message may be sent again.",
  });
}

function forged(message = "The signature of the report is not valid."): AppError {
  return new AppError(401, "INVALID_SIGNATURE", message, {
    suggestion: "Compare the signing key of this source with the one at the provider.",
  });
}

/** Mailgun does not repeat a report that is answered with 406. */
function replayed(): AppError {
  return new AppError(406, "REPORT_REPLAYED", "The report with this token was received before.", {
    suggestion: "Send each report once, with a token of its own.",
  });
}
