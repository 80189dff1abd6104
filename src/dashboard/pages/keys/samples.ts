/** The first requests with an API key. */

import type { ApiKey } from "../../../modules/keys.ts";
import type { Samples } from "../../ui/code.tsx";
import { quoted, shellWord } from "../../ui/shell-word.ts";
import type { SampleMail } from "../../use-sample-mail.ts";

type SampleKey = Pick<ApiKey, "kind" | "scope"> & { text: string };

/** The first use of a key: what it may do. */
export function keySamples({ kind, scope, text }: SampleKey, mail: SampleMail): Samples {
  const { base, to, from } = mail;
  if (kind === "PUBLIC") {
    return { "Record an event": curl(`${base}/v1/track`, text, { event: "signed-up", email: to }) };
  }
  if (kind === "SMTP") return { "SMTP settings": smtpSettings(text, mail) };
  const sample = { to, from, subject: "Hello", body: "<p>It works.</p>" };
  const test = `curl ${shellWord(`${base}/emails?limit=1`)} \\\n  -H 'Authorization: Bearer ${text}'`;
  return {
    ...(scope === "READ" || scope === "EVERYTHING" ? { "Test the key": test } : {}),
    ...(scope === "SEND" || scope === "EVERYTHING"
      ? { "Send a mail": curl(`${base}/v1/send`, text, sample) }
      : {}),
    ...(scope === "CONTACTS"
      ? { "Save a contact": curl(`${base}/contacts`, text, { email: to, data: { plan: "pro" } }) }
      : {}),
  };
}

/** Lines to copy into the settings of a program. */
const smtpSettings = (password: string, { base, from }: SampleMail): string =>
  [
    `Host      ${new URL(base).hostname}`,
    "Port      587 with STARTTLS, or 465 with TLS",
    "User      any",
    `Password  ${password}`,
    `From      ${from}`,
  ].join("\n");

const curl = (url: string, key: string, body: object) => `curl ${shellWord(url)} \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d ${quoted(JSON.stringify(body))}`;
