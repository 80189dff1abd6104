/**
 * Compares the messages of campaigns with their ordinary rendering, which this test computes for each
 * mail alone. The long form, with many more mails, is scripts/content.ts.
 */

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { differencesOf } from "../../../scripts/content/compare.ts";
import { contactDataWith } from "../../../scripts/content/values.ts";
import { createRandom, type Random } from "../../../scripts/seed/random.ts";
import type { MailRow } from "../../../src/outbox/compose/prepare.ts";
import { composeMessage } from "../../../src/protocols/mime/message.ts";
import { recipientLinks } from "../../../src/render/links.ts";
import { prepareOutgoing } from "../../../src/render/outgoing.ts";
import { compileTemplate, render } from "../../../src/render/template/template.ts";
import { templateVariables } from "../../../src/render/variables.ts";
import { makeUnsubscribeAddress } from "../../../src/render/unsubscribe-address.ts";
import { mailRow, SIGNED_AT, testPreparation, TOKEN_KEYS } from "../../support/compose.ts";
import { SAMPLES } from "./templates.ts";

type Context = Pick<MailRow, "isMarketing" | "tracking" | "bounceHost" | "utm">;

const CONTEXTS: readonly Context[] = [
  { isMarketing: false, tracking: "DISABLED", bounceHost: null, utm: null },
  {
    isMarketing: true,
    tracking: "ENABLED",
    bounceHost: "bounce.acme.test",
    utm: '{"source":"news"}',
  },
  { isMarketing: false, tracking: "ENABLED", bounceHost: null, utm: null },
];

function uuid(random: Random): string {
  const hex = () => random.bits().toString(16).padStart(8, "0");
  const all = hex() + hex() + hex() + hex();
  return all.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** The message of a mail as the ordinary rendering writes it; null if the body cannot be rendered. */
function renderInFull(mail: MailRow) {
  const compiled = compileTemplate(mail.html, "html");
  if (!compiled.ok) throw new Error(compiled.message);
  const { url, linkKey, trackingUrl, trackingKey } = TOKEN_KEYS;
  const links = recipientLinks(url, linkKey, mail.id);
  const { projectName, language, bounceHost } = mail;
  const variables = templateVariables({
    id: "c-1",
    email: "ada@example.net",
    data: JSON.parse(mail.variables),
    links,
    projectName,
    language,
  });
  const rendered = render(compiled.template, variables);
  if (!rendered.ok) return null;
  const unsubscribeAddress =
    bounceHost === null ? null : makeUnsubscribeAddress(linkKey, mail.id, bounceHost);
  const { html, text, headers } = prepareOutgoing({
    emailId: mail.id,
    headers: [],
    links,
    html: rendered.text,
    marketing: mail.isMarketing
      ? { projectName, language, feedbackId: "1:p-1:marketing:mailstead", unsubscribeAddress }
      : null,
    tracking: mail.tracking === "ENABLED" ? { url: trackingUrl, key: trackingKey } : null,
    parameters: mail.utm === null ? [] : [["utm_source", "news"]],
  });
  const composed = composeMessage({
    from: { name: mail.fromName, address: mail.fromAddress },
    to: { name: mail.toName, address: "ada@example.net" },
    replyTo: null,
    subject: mail.subject,
    html,
    text,
    headers,
    attachments: [],
    messageId: `<${mail.id}@acme.test>`,
    date: new Date(mail.acceptedAt),
  });
  if (!composed.ok) throw new Error(composed.reason);
  return { html, text, message: Buffer.from(composed.message).toString("latin1") };
}

/** Prepares mails of a campaign from one template, with random data. */
function* mailsOf(body: string, seed: number, share: number, rounds = 8) {
  const random = createRandom(seed);
  const { prepareSync } = testPreparation();
  for (let round = 0; round < rounds; round++) {
    const variables = JSON.stringify(contactDataWith(random, share));
    const base = { id: uuid(random), html: body, variables, campaignSeq: 1 };
    for (const context of CONTEXTS) {
      const mail = mailRow({ ...base, ...context, projectName: "Acme & Söhne", language: "de" });
      yield {
        prepared: prepareSync(mail, { signer: null, at: SIGNED_AT }),
        expected: renderInFull(mail),
      };
    }
  }
}

describe("a letter has the headers and the decoded parts of the ordinary rendering", () => {
  SAMPLES.forEach(({ name, body, isLetter }, seed) => {
    for (const share of [0, 40]) {
      test(`${name}, with ${share} % hostile values`, async () => {
        for (const { prepared, expected } of mailsOf(body, seed + 1, share)) {
          if (prepared.kind !== "prepared" || expected === null) {
            expect([prepared.kind, expected]).toEqual(["failed", null]);
            continue;
          }
          expect(await differencesOf(prepared.message, expected)).toEqual([]);
          if (isLetter !== null && share === 0) expect(prepared.hasTailroom).toBe(isLetter);
        }
      });
    }
  });
});

const hasPython = Bun.spawnSync(["python3", "-c", "import email"]).exitCode === 0;

test.skipIf(!hasPython)("Python reads the same parts of all templates", () => {
  const messages: string[] = [];
  const wanted: { html: string; text: string }[] = [];
  const lines = (text: string) => text.replace(/\r\n?/g, "\n");
  SAMPLES.forEach(({ body }, seed) => {
    for (const { prepared, expected } of mailsOf(body, seed + 200, 0, 3)) {
      if (prepared.kind !== "prepared" || expected === null) throw new Error("a mail failed");
      messages.push(Buffer.from(prepared.message).toString("base64"));
      wanted.push({ html: lines(expected.html), text: lines(expected.text) });
    }
  });
  const { stdout } = Bun.spawnSync(["python3", join(import.meta.dir, "read-parts.py")], {
    stdin: Buffer.from(JSON.stringify(messages)),
  });
  expect(JSON.parse(stdout.toString())).toEqual(wanted);
});
