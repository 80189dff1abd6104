/**
 * Messages of Amazon SNS over HTTPS: a notification, or the request to confirm a subscription. They are
 * signed with RSA by the certificate at `SigningCertURL`, which must be one of Amazon.
 * https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
 */

import { type KeyObject, verify, X509Certificate } from "node:crypto";
import { parseUrl } from "../../lib/url.ts";
import { entryOf, valueAt } from "./report.ts";

const TYPES = ["Notification", "SubscriptionConfirmation", "UnsubscribeConfirmation"] as const;

export type SnsMessage = {
  type: (typeof TYPES)[number];
  topicArn: string;
  /** In a notification, the event of SES as JSON. */
  message: string;
  certificateUrl: string;
  /** The URL that confirms a subscription; null for a notification. */
  subscribeUrl: string | null;
  signature: Buffer;
  /** SignatureVersion 1 signs with SHA-1, and 2 with SHA-256. */
  digest: "sha1" | "sha256";
  signedText: string;
};

/** The members that are signed, in the order of the alphabet. An absent `Subject` is left out. */
const SIGNED = {
  notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  confirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
} as const;

const DIGESTS: Readonly<Record<string, SnsMessage["digest"]>> = { 1: "sha1", 2: "sha256" };

/** Hosts of the service, in all partitions of AWS. */
const HOST = /^sns\.[a-z0-9-]{2,30}\.amazonaws\.com(?:\.cn)?$/;

/** Returns null if the body is no signed message of SNS. */
export function readSnsMessage(body: unknown): SnsMessage | null {
  const text = (name: string): string | null => {
    const value = valueAt(body, name);
    return typeof value === "string" ? value : null;
  };
  const type = TYPES.find((each) => each === text("Type"));
  const [topicArn, message] = [text("TopicArn"), text("Message")];
  const [certificateUrl, signature] = [text("SigningCertURL"), text("Signature")];
  const digest = entryOf(DIGESTS, text("SignatureVersion") ?? "");
  if (type === undefined || topicArn === null || message === null) return null;
  if (certificateUrl === null || signature === null || digest === undefined) return null;
  const names = type === "Notification" ? SIGNED.notification : SIGNED.confirmation;
  const signedText = names
    .flatMap((name) => {
      const value = text(name);
      return value === null ? [] : [`${name}\n${value}\n`];
    })
    .join("");
  return {
    type,
    topicArn,
    message,
    certificateUrl,
    subscribeUrl: text("SubscribeURL"),
    signature: Buffer.from(signature, "base64"),
    digest,
    signedText,
  };
}

/** True if a URL leads to SNS itself; a certificate is a file with the ending `.pem`. */
export function isSnsUrl(text: string, what: "certificate" | "confirmation"): boolean {
  const url = parseUrl(text);
  if (url === null || url.protocol !== "https:" || url.port !== "" || url.username !== "") {
    return false;
  }
  const isFile = /^\/[\w-]{1,100}\.pem$/.test(url.pathname) && url.search === "";
  return HOST.test(url.hostname) && (what === "confirmation" || isFile);
}

/** The key of a certificate in PEM; null if it is none of RSA. */
export function readCertificateKey(pem: Uint8Array): KeyObject | null {
  try {
    const { publicKey } = new X509Certificate(pem);
    return publicKey.asymmetricKeyType === "rsa" ? publicKey : null;
  } catch {
    return null; // The caller refuses the message, because this is no certificate.
  }
}

export function isSignedByKey(key: KeyObject, sns: SnsMessage): boolean {
  return verify(sns.digest, Buffer.from(sns.signedText), key, sns.signature);
}
