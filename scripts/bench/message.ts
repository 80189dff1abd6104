/** Composes the message of a measurement without the server, for baselines. */

import { composeMessage } from "../../src/protocols/mime/message.ts";
import { compileTemplate, render } from "../../src/render/template/template.ts";
import { htmlToText } from "../../src/render/text.ts";
import { BODY, SENDER, SUBJECT } from "./mail.ts";

function renderTemplate(source: string, kind: "html" | "text"): string {
  const compiled = compileTemplate(source, kind);
  if (!compiled.ok) throw new Error(compiled.message);
  const result = render(compiled.template, { name: "Ada", order: "A-1001" });
  if (!result.ok) throw new Error(result.reason);
  return result.text;
}

const html = renderTemplate(BODY, "html");
const subject = renderTemplate(SUBJECT, "text");

export function composeMail(to: string): Uint8Array {
  const composed = composeMessage({
    from: { name: null, address: SENDER },
    to: { name: null, address: to },
    replyTo: null,
    subject,
    html,
    text: htmlToText(html),
    headers: [],
    attachments: [],
    messageId: `<${crypto.randomUUID()}@bench.test>`,
    date: new Date(),
  });
  if (!composed.ok) throw new Error(composed.reason);
  return composed.message;
}
