/** Mails as rows, and signers, for tests of composing. */

import type { ComposeJob } from "../../src/outbox/compose/job-queue.ts";
import {
  createPreparation,
  type MailRow,
  type Prepared,
} from "../../src/outbox/compose/prepare.ts";
import type { Busy } from "../../src/outbox/outcome.ts";
import { readPrivateKey } from "../../src/protocols/dkim/keys.ts";
import type { Signer } from "../../src/protocols/dkim/sign.ts";
import { templateCache } from "../../src/render/template/cache.ts";
import { dkimPairs } from "./dkim.ts";

export const TOKEN_KEYS = {
  url: "https://m.test",
  linkKey: new Uint8Array(32).fill(1),
  trackingUrl: "https://t.test",
  trackingKey: new Uint8Array(32).fill(2),
};

/** A template that renders for longer than any limit. */
export const ENDLESS =
  "{% for i in (1..9999) %}{% for j in (1..9999) %}{% assign x = j %}{% endfor %}{% endfor %}";

/** The time at which mails are signed. */
export const SIGNED_AT = new Date("2026-03-02T10:00:00.700Z");

let count = 0;

export function mailRow(rest: Partial<MailRow> = {}): MailRow {
  const id = `01890c4e-1234-7abc-8def-${String(++count).padStart(12, "0")}`;
  return {
    id,
    projectId: "p-1",
    projectName: "Acme",
    tracking: "DISABLED",
    trackingHost: null,
    language: "en",
    contactId: "c-1",
    to: "ada@example.net",
    toName: "Ada",
    subject: "Hello",
    campaignSeq: null,
    variables: "{}",
    acceptedAt: SIGNED_AT.getTime(),
    messageSeq: 1,
    topicName: null,
    listLabel: null,
    fromAddress: "news@acme.test",
    fromName: "Acme",
    replyTo: null,
    html: "<p>Hello {{ name }}</p>",
    headers: "[]",
    isMarketing: false,
    bounceHost: null,
    attachments: [],
    submitted: null,
    utm: null,
    groupId: null,
    text: null,
    recipients: null,
    ...rest,
  };
}

/** A signer with an RSA key and an Ed25519 key; each call returns a new object. */
export async function testSigner(domain = "acme.test"): Promise<Signer> {
  const pairs = await dkimPairs();
  const keys = pairs.map(({ algorithm, privateKey }) => ({
    algorithm,
    selector: algorithm === "rsa-sha256" ? "r1" : "e1",
    privateKey: readPrivateKey(privateKey),
  }));
  return { domain, keys };
}

/** A job whose result the test awaits. */
export function testJob(mail: MailRow, rest: Partial<ComposeJob> = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<Prepared | Busy>();
  const isTransactional = mail.campaignSeq === null;
  const flow = isTransactional ? "project 1" : `campaign ${mail.campaignSeq}`;
  const job: ComposeJob = {
    mail,
    signer: null,
    flow,
    isTransactional,
    timeouts: 0,
    resolve,
    reject,
    ...rest,
  };
  return { job, result: promise };
}

/** The preparation on this thread. */
export function testPreparation(rest: { renderLimitMs?: number } = {}) {
  return createPreparation({
    keys: TOKEN_KEYS,
    templateCache: templateCache({ maxEntries: 100, maxBytes: 1_000_000 }),
    ...rest,
  });
}
