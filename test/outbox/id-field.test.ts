/** The header field with which the webhooks of a relay name a mail. */

import { describe, expect, test } from "bun:test";
import { idFieldOf } from "../../src/outbox/id-field.ts";
import { TAILROOM_BYTES } from "../../src/protocols/mime/tailroom.ts";
import { parseRelayUrl } from "../../src/protocols/smtp/relay-url.ts";

const ID = "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e10";
const MESSAGE = "DKIM-Signature: v=1; h=From\r\nFrom: a@b.test\r\n\r\nX-SMTPAPI: text\r\n";

function relayAt(host: string) {
  const parsed = parseRelayUrl(`smtp://u:p@${host}:587`);
  if (!parsed.ok) throw new Error(`${host} is no relay`);
  return parsed.relay;
}

function addTo(host: string, text = MESSAGE): string | null {
  const add = idFieldOf(relayAt(host));
  if (add === null) return null;
  const message = Buffer.from(text);
  const { message: changed } = add(
    { kind: "prepared", subject: "", message, hasTailroom: true },
    ID,
  );
  return Buffer.from(changed).toString();
}

describe("is added above the message for", () => {
  test.each([
    ["email-smtp.eu-central-1.amazonaws.com", `X-Mailstead-ID: ${ID}`],
    ["smtp.resend.com", `X-Mailstead-ID: ${ID}`],
    ["smtp.postmarkapp.com", `X-PM-Metadata-mailstead-id: ${ID}`],
    ["smtp.sendgrid.net", `X-SMTPAPI: {"unique_args":{"mailstead_id":"${ID}"}}`],
    ["smtp.eu.mailgun.org", `X-Mailgun-Variables: {"mailstead_id":"${ID}"}`],
    ["smtp-relay.brevo.com", `X-Mailin-custom: ${ID}`],
    ["in-v3.mailjet.com", `X-MJ-CustomID: ${ID}`],
  ])("%s", (host, line) => {
    expect(addTo(host)).toBe(`${line}\r\n${MESSAGE}`);
  });
});

test("is not added for other relays, nor without one", () => {
  expect(addTo("mail.example.com")).toBeNull();
  expect(idFieldOf(null)).toBeNull();
});

test("is not added to a message of which the sender set the field", () => {
  for (const own of ["X-SMTPAPI: {}", "x-smtpapi: {}"]) {
    const text = `From: a@b.test\r\n${own}\r\n\r\nbody\r\n`;
    expect(addTo("smtp.sendgrid.net", text)).toBe(text);
    expect(addTo("smtp.sendgrid.net", `${own}\r\n${MESSAGE}`)).toBe(`${own}\r\n${MESSAGE}`);
  }
});

test("leaves room behind the message, which the SMTP client uses", () => {
  const add = idFieldOf(relayAt("smtp.resend.com"));
  const message = Buffer.from(MESSAGE);
  const changed = add?.({ kind: "prepared", subject: "s", message, hasTailroom: true }, ID);
  expect(changed?.hasTailroom).toBe(true);
  const bytes = changed?.message ?? new Uint8Array();
  const free = bytes.buffer.byteLength - bytes.byteOffset - bytes.byteLength;
  expect(free).toBeGreaterThanOrEqual(TAILROOM_BYTES);
});
