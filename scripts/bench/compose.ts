/**
 * Measures the processor time of composing one mail from its template: render, text alternative,
 * tracked links and encoding, without the signature. Each template is composed in the ordinary way
 * and with shapes (src/render/shapes/), in alternating rounds of the same process.
 */

import { createLog } from "../../src/lib/log.ts";
import { composeMessage, composeParts } from "../../src/protocols/mime/message.ts";
import { recipientLinks, type RecipientLinks } from "../../src/render/links.ts";
import { outgoingHeaders, prepareOutgoing } from "../../src/render/outgoing.ts";
import { createShapeCache } from "../../src/render/shapes/cache.ts";
import {
  compileTemplate,
  render,
  type Template,
  type Variables,
} from "../../src/render/template/template.ts";
import { templateVariables } from "../../src/render/variables.ts";
import { BODY, SENDER } from "./mail.ts";
import { type Aim, fixed, median, printValue, reportAims, whole } from "./report.ts";

const KEY = new Uint8Array(32).fill(1);
const KEYS = {
  url: "https://mail.bench.test",
  linkKey: KEY,
  trackingUrl: "https://t.bench.test",
  trackingKey: KEY,
};
const CONTEXT = {
  marketing: { projectName: "Bench", language: "en", feedbackId: "1:2:marketing:mailstead" },
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

type Mail = { emailId: string; links: RecipientLinks; variables: Variables };

function mailOf(number: number): Mail {
  const emailId = `01890c4e-1234-7abc-8def-${number.toString(16).padStart(12, "0")}`;
  const links = recipientLinks(KEYS.url, KEY, emailId);
  const data = {
    name: `Person ${number}`,
    order: `A-${number}`,
    items: [
      { title: `Thing ${number % 97}`, price: number % 89 },
      { title: "Other thing", price: number % 71 },
    ],
  };
  return {
    emailId,
    links,
    variables: templateVariables({
      id: "c-1",
      email: "a@example.net",
      data,
      links,
      projectName: "Bench",
      language: "en",
    }),
  };
}

function headOf({ emailId, links }: Mail) {
  const outgoing = { emailId, headers: [], links, ...CONTEXT };
  return {
    from: { name: "Bench", address: SENDER },
    to: { name: null, address: "person@example.net" },
    replyTo: null,
    subject: "Your order",
    headers: outgoingHeaders(outgoing),
    attachments: [],
    messageId: `<${emailId}@bench.test>`,
    date: new Date(0),
  };
}

function createComposers(template: Template) {
  const shapes = createShapeCache(KEYS, createLog({ level: "warn", format: "text" }));
  return {
    stats: shapes.stats,

    ordinary(mail: Mail): Uint8Array {
      const rendered = render(template, mail.variables);
      if (!rendered.ok) throw new Error(rendered.reason);
      const { emailId, links } = mail;
      const input = { emailId, headers: [], links, ...CONTEXT, html: rendered.text };
      const { html, text } = prepareOutgoing(input);
      return messageOf(composeMessage({ ...headOf(mail), html, text }));
    },

    withShapes(mail: Mail): Uint8Array {
      const { emailId, links, variables } = mail;
      const rendered = shapes.render(template, variables, links);
      if (!rendered.ok) throw new Error(rendered.reason);
      const parts = shapes.encode(rendered.body, { emailId, headers: [], links, ...CONTEXT });
      return messageOf(composeParts({ ...headOf(mail), ...parts }));
    },
  };
}

function messageOf(composed: ReturnType<typeof composeMessage>): Uint8Array {
  if (!composed.ok) throw new Error(composed.reason);
  return composed.message;
}

const ROUNDS = 7;

export async function benchCompose({ isQuick }: { isQuick: boolean }): Promise<boolean> {
  const mails = isQuick ? 1_000 : 5_000;
  console.log(
    `compose: processor time per mail, ${whole(mails)} mails in each of ${ROUNDS} rounds`,
  );
  return reportAims(TEMPLATES.map((template) => measureTemplate(template, mails)));
}

function measureTemplate({ name, source, aim }: (typeof TEMPLATES)[number], mails: number): Aim {
  const compiled = compileTemplate(source, "html");
  if (!compiled.ok) throw new Error(compiled.message);
  const { ordinary, withShapes, stats } = createComposers(compiled.template);
  const all = Array.from({ length: mails }, (_, number) => mailOf(number));
  checkMessages(all, ordinary, withShapes);
  const ordinaryMicros: number[] = [];
  const shapeMicros: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    ordinaryMicros.push(microsPerMail(all, ordinary));
    shapeMicros.push(microsPerMail(all, withShapes));
  }
  const [before, after] = [median(ordinaryMicros), median(shapeMicros)];
  const length = ordinary(mailOf(1)).length;
  printValue(`${name} (${whole(length)} octets), ordinary`, `${fixed(before, 1)} µs`);
  printValue(`${name}, with shapes`, `${fixed(after, 1)} µs (${stats.shapes} shapes)`);
  return {
    name: `${name} with shapes, of the ordinary time`,
    isMet: after <= aim * before,
    measured: fixed(after / before, 2),
    wanted: `≤ ${aim}`,
  };
}

/** Both ways must give the same octets. The first messages also warm up the process. */
function checkMessages(
  mails: readonly Mail[],
  ordinary: (mail: Mail) => Uint8Array,
  withShapes: (mail: Mail) => Uint8Array,
): void {
  for (const mail of mails) {
    if (!Buffer.from(ordinary(mail)).equals(withShapes(mail))) {
      throw new Error(`the two messages of the mail ${mail.emailId} differ`);
    }
  }
}

function microsPerMail(mails: readonly Mail[], compose: (mail: Mail) => Uint8Array): number {
  const before = process.cpuUsage();
  for (const mail of mails) compose(mail);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / mails.length;
}
