/**
 * Measures the processor time of preparing one unsigned mail of a campaign from its template. Each
 * template is rendered in full and prepared as a letter (src/render/letter/), in alternating rounds of
 * the same process.
 */

import { createPreparation, type MailRow } from "../../src/outbox/compose/prepare.ts";
import { composeMessage, recipientFields } from "../../src/protocols/mime/message.ts";
import { compileLetter, writeLetter } from "../../src/render/letter/letter.ts";
import { SAMPLE_ID, sampleLinks } from "../../src/render/letter/tokens.ts";
import { TraceEmitter } from "../../src/render/letter/trace.ts";
import { recipientLinks } from "../../src/render/links.ts";
import { prepareOutgoing } from "../../src/render/outgoing.ts";
import { templateCache } from "../../src/render/template/cache.ts";
import {
  compileTemplate,
  render,
  renderInto,
  type Template,
  type Variables,
} from "../../src/render/template/template.ts";
import { templateVariables } from "../../src/render/variables.ts";
import { BODY, SENDER } from "./mail.ts";
import { type Aim, fixed, limitAim, median, printValue, reportAims, whole } from "./report.ts";

const KEY = new Uint8Array(32).fill(1);
const KEYS = {
  url: "https://mail.bench.test",
  linkKey: KEY,
  trackingUrl: "https://t.bench.test",
  trackingKey: KEY,
};
const CONTEXT = {
  headers: [],
  marketing: { projectName: "Bench", language: "en", feedbackId: "1:p-1:marketing:mailstead" },
  tracking: { url: KEYS.trackingUrl, key: KEY },
};

const PARAGRAPH =
  '<p style="margin:0 0 16px;font-family:sans-serif;font-size:16px;line-height:1.5">Our new ' +
  "collection has arrived – lighter, warmer and made to last. Have a look at what is new this " +
  "week, and tell us which of it you like best.</p>\n";

/** A newsletter of the usual size, with a loop, a condition, links and text that is not ASCII. */
const NEWSLETTER =
  `<!DOCTYPE html>\n<html><head><title>News</title><style>p { color: #222222 }</style></head><body>\n` +
  `<h1>Hello {{ name }}</h1>\n${PARAGRAPH.repeat(6)}` +
  `{% if order %}<p>Your last order was {{ order }}.</p>{% endif %}\n<table>\n` +
  `{% for item in items %}<tr><td>{{ item.title }}</td><td>{{ item.price }} €</td></tr>\n{% endfor %}</table>\n` +
  Array.from(
    { length: 8 },
    (_, i) => `${PARAGRAPH}<p><a href="https://shop.example.com/offers/${i}">Offer ${i}</a></p>\n`,
  ).join("") +
  `<p><a href="{{ unsubscribeUrl }}">Unsubscribe</a> {{ name }}</p>\n</body></html>\n`;

const TEMPLATES = [
  { name: "order confirmation", source: BODY, aim: 0.5 },
  { name: "newsletter", source: NEWSLETTER, aim: 0.25 },
];
/** Most microseconds of writing a letter whose values are known. */
const MAX_WRITING_MICROS = 20;

function rowOf(number: number, html: string): MailRow {
  return {
    id: `01890c4e-1234-7abc-8def-${number.toString(16).padStart(12, "0")}`,
    projectId: "p-1",
    projectName: "Bench",
    tracking: "ENABLED",
    trackingHost: null,
    language: "en",
    contactId: "c-1",
    to: "person@example.net",
    toName: null,
    subject: "Your order {{ order }}",
    campaignSeq: 1,
    variables: JSON.stringify({
      name: `Person ${number}`,
      order: `A-${number}`,
      items: [
        { title: `Thing ${number % 97}`, price: number % 89 },
        { title: "Other thing", price: number % 71 },
      ],
    }),
    acceptedAt: 1_000 * number,
    messageSeq: 1,
    fromAddress: SENDER,
    fromName: "Bench",
    replyTo: null,
    html,
    headers: "[]",
    topicName: null,
    listLabel: null,
    isMarketing: true,
    bounceHost: null,
    attachments: [],
    submitted: null,
    utm: null,
    groupId: null,
    text: null,
    recipients: null,
  };
}

function variablesFor({ variables }: MailRow, links: ReturnType<typeof linksOf>): Variables {
  const data: Variables = JSON.parse(variables);
  const recipient = {
    id: "c-1",
    email: "person@example.net",
    projectName: "Bench",
    language: "en",
  };
  return templateVariables({ ...recipient, data, links });
}

const linksOf = ({ id }: Pick<MailRow, "id">) => recipientLinks(KEYS.url, KEY, id);

function headOf({ id, acceptedAt }: MailRow) {
  return {
    to: { name: null, address: "person@example.net" },
    subject: "Your order",
    messageId: `<${id}@bench.test>`,
    date: new Date(acceptedAt),
  };
}

function composeInFull(template: Template, mail: MailRow): Uint8Array {
  const links = linksOf(mail);
  const rendered = render(template, variablesFor(mail, links));
  if (!rendered.ok) throw new Error(rendered.reason);
  const outgoing = prepareOutgoing({ emailId: mail.id, links, ...CONTEXT, html: rendered.text });
  const from = { name: "Bench", address: SENDER };
  const input = { from, ...headOf(mail), replyTo: null, ...outgoing, attachments: [] };
  const composed = composeMessage(input);
  if (!composed.ok) throw new Error(composed.reason);
  return composed.message;
}

function createLetterPreparation(): (mail: MailRow) => Uint8Array {
  const cache = templateCache({ maxEntries: 10, maxBytes: 10_000_000 });
  const { prepareSync } = createPreparation({ keys: KEYS, templateCache: cache });
  return (mail) => {
    const prepared = prepareSync(mail, { signer: null, at: new Date(0) });
    if (prepared.kind !== "prepared") throw new Error(prepared.reason);
    if (!prepared.hasTailroom) throw new Error("the mail is no letter");
    return prepared.message;
  };
}

/** Returns the function that writes a letter whose values and header fields are known. */
function createWriter(template: Template, mail: MailRow): () => Uint8Array {
  const links = linksOf(mail);
  const emitter = new TraceEmitter(links, sampleLinks(KEYS));
  renderInto(template, { variables: variablesFor(mail, links), limitMs: 1_000, emitter });
  const sample = { emailId: SAMPLE_ID, links: sampleLinks(KEYS), ...CONTEXT };
  const from = { name: "Bench", address: SENDER };
  const message = { from, replyTo: null, bounceHost: null, sample };
  const letter = compileLetter(emitter.marked ?? "", emitter.values.length, {
    message,
    keys: KEYS,
  });
  const fields = recipientFields(headOf(mail));
  if (letter === null || !fields.ok) throw new Error("the mail is no letter");
  const recipient = { recipient: fields.lines, emailId: mail.id, links, keys: KEYS };
  return () => writeLetter(letter, emitter, recipient);
}

const ROUNDS = 7;

export async function benchCompose({ isQuick }: { isQuick: boolean }): Promise<boolean> {
  const mails = isQuick ? 1_000 : 5_000;
  console.log(
    `compose: processor time per mail, ${whole(mails)} mails in each of ${ROUNDS} rounds`,
  );
  return reportAims(TEMPLATES.flatMap((template) => measureTemplate(template, mails)));
}

function measureTemplate({ name, source, aim }: (typeof TEMPLATES)[number], mails: number): Aim[] {
  const compiled = compileTemplate(source, "html");
  if (!compiled.ok) throw new Error(compiled.message);
  const { template } = compiled;
  const all = Array.from({ length: mails }, (_, number) => rowOf(number, source));
  const prepare = createLetterPreparation();
  const write = createWriter(template, rowOf(1, source));
  const micros = { full: [0], letter: [0], writing: [0] };
  for (let round = 0; round <= ROUNDS; round++) {
    // The first round warms up the process.
    if (round === 1) for (const times of Object.values(micros)) times.length = 0;
    micros.full.push(microsPerMail(all, (mail) => composeInFull(template, mail)));
    micros.letter.push(microsPerMail(all, prepare));
    micros.writing.push(microsPerMail(all, write));
  }
  const [full, letter] = [median(micros.full), median(micros.letter)];
  const length = prepare(rowOf(1, source)).length;
  printValue(`${name} (${whole(length)} octets), in full`, `${fixed(full, 1)} µs`);
  printValue(`${name}, as a letter`, `${fixed(letter, 1)} µs`);
  return [
    {
      name: `${name} as a letter, of the time in full`,
      isMet: letter <= aim * full,
      measured: fixed(letter / full, 2),
      wanted: `≤ ${aim}`,
    },
    limitAim(`${name}, writing alone, µs`, median(micros.writing), MAX_WRITING_MICROS),
  ];
}

function microsPerMail(mails: readonly MailRow[], compose: (mail: MailRow) => Uint8Array): number {
  const before = process.cpuUsage();
  for (const mail of mails) compose(mail);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / mails.length;
}
