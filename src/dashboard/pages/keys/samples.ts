/** The first requests with an API key. */

import type { Samples } from "../../ui/code.tsx";
import { quoted, shellWord } from "../../ui/shell-word.ts";
import type { SampleMail } from "../../use-sample-mail.ts";

type SampleKey = { kind: "SECRET" | "PUBLIC"; text: string };

/** Sends a mail with a secret key, or records an event with a public one. */
export function keySamples({ kind, text }: SampleKey, { base, to, from }: SampleMail): Samples {
  if (kind === "PUBLIC") {
    return { "Record an event": curl(`${base}/v1/track`, text, { event: "signed-up", email: to }) };
  }
  const mail = { to, from, subject: "Hello", body: "<p>It works.</p>" };
  return {
    "Test the key": `curl ${shellWord(`${base}/emails?limit=1`)} \\\n  -H 'Authorization: Bearer ${text}'`,
    "Send a mail": curl(`${base}/v1/send`, text, mail),
  };
}

const curl = (url: string, key: string, body: object) => `curl ${shellWord(url)} \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d ${quoted(JSON.stringify(body))}`;
