/** Compares mails that were composed with shapes with those of the ordinary path. */

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { simpleParser } from "mailparser";
import { contactDataWith } from "../../../scripts/content/values.ts";
import { createRandom, type Random } from "../../../scripts/seed/random.ts";
import { composeMessage, composeParts } from "../../../src/protocols/mime/message.ts";
import { createLog } from "../../../src/lib/log.ts";
import { recipientLinks } from "../../../src/render/links.ts";
import { prepareOutgoing } from "../../../src/render/outgoing.ts";
import { createShapeCache } from "../../../src/render/shapes/cache.ts";
import { compileTemplate, render, type Variables } from "../../../src/render/template/template.ts";
import { templateVariables } from "../../../src/render/variables.ts";
import { SAMPLES } from "./templates.ts";

const KEYS = {
  url: "https://m.test",
  linkKey: new Uint8Array(32).fill(1),
  trackingUrl: "https://t.test",
  trackingKey: new Uint8Array(32).fill(2),
};
const MARKETING = { projectName: "Acme & Söhne", language: "de", feedbackId: "1:2:marketing:me" };
const TRACKING = { url: KEYS.trackingUrl, key: KEYS.trackingKey };

const CONTEXTS = [
  { marketing: null, tracking: null },
  { marketing: MARKETING, tracking: TRACKING },
  { marketing: null, tracking: TRACKING },
];

function uuid(random: Random): string {
  const hex = () => random.bits().toString(16).padStart(8, "0");
  const all = hex() + hex() + hex() + hex();
  return all.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

type Mail = { emailId: string; data: Variables };

/** Composes mails of one template with shapes and in the ordinary way. */
function createComposer(source: string) {
  const lines: string[] = [];
  const log = createLog({ level: "warn", format: "json", write: (line) => lines.push(line) });
  const shapes = createShapeCache(KEYS, log);
  const compiled = compileTemplate(source, "html");
  if (!compiled.ok) throw new Error(compiled.message);
  const { template } = compiled;

  function compose({ emailId, data }: Mail, context: (typeof CONTEXTS)[number]) {
    const links = recipientLinks(KEYS.url, KEYS.linkKey, emailId);
    const variables = templateVariables({
      id: "c-1",
      email: "ada@example.net",
      data,
      links,
      projectName: "Acme",
      language: "en",
    });
    const input = { emailId, headers: [], links, ...context };
    const head = {
      from: { name: "Acme", address: "news@acme.test" },
      to: { name: null, address: "ada@example.net" },
      replyTo: null,
      subject: "News",
      attachments: [],
      messageId: `<${emailId}@acme.test>`,
      date: new Date(0),
    };
    const rendered = render(template, variables);
    const traced = shapes.render(template, variables, links);
    if (!rendered.ok || !traced.ok) {
      expect(traced).toEqual(rendered.ok ? { ok: true, body: expect.anything() } : rendered);
      return null;
    }
    const { html, text, headers } = prepareOutgoing({ ...input, html: rendered.text });
    return {
      html,
      text,
      ordinary: composeMessage({ ...head, headers, html, text }),
      withShape: composeParts({ ...head, headers, ...shapes.encode(traced.body, input) }),
    };
  }

  return { compose, stats: shapes.stats, lines };
}

/** The long form, with many more mails, is scripts/content. */
const ROUNDS = 15;

describe("a mail has the same octets with a shape as without", () => {
  SAMPLES.forEach(({ name, body, hasShape }, seed) => {
    for (const share of [0, 40]) {
      test(`${name}, with ${share} % hostile values`, async () => {
        const random = createRandom(seed + 1);
        const { compose, stats, lines } = createComposer(body);
        for (let round = 0; round < ROUNDS; round++) {
          const mail = { emailId: uuid(random), data: contactDataWith(random, share) };
          for (const context of CONTEXTS) {
            const composed = compose(mail, context);
            if (composed === null) continue;
            const { ordinary, withShape } = composed;
            if (!ordinary.ok || !withShape.ok) throw new Error("a mail cannot be composed");
            expect(String(withShape.message)).toBe(String(ordinary.message));
          }
        }
        if (hasShape === true && share === 0) expect(stats.filled).toBeGreaterThan(ROUNDS);
        // A mail whose values are all part of the key has a shape wherever they stand.
        if (hasShape === false && share === 0) expect(stats.filled).toBe(0);
        expect(lines).toEqual([]);
      });
    }
  });
});

/** Mails of each template that other programs read. */
const PARSED_ROUNDS = 4;

const hasPython = Bun.spawnSync(["python3", "-c", "import email"]).exitCode === 0;

test.skipIf(!hasPython)("Python reads the rendered parts of all templates", () => {
  const messages: string[] = [];
  const expected: { html: string; text: string }[] = [];
  const lines = (text: string) => text.replace(/\r\n?/g, "\n");
  SAMPLES.forEach(({ body }, seed) => {
    const random = createRandom(seed + 200);
    const { compose } = createComposer(body);
    for (let round = 0; round < PARSED_ROUNDS; round++) {
      const mail = { emailId: uuid(random), data: contactDataWith(random, 0) };
      const composed = compose(mail, { marketing: MARKETING, tracking: TRACKING });
      if (composed?.withShape.ok !== true) throw new Error("a mail cannot be composed");
      messages.push(Buffer.from(composed.withShape.message).toString("base64"));
      expected.push({ html: lines(composed.html), text: lines(composed.text) });
    }
  });
  const { stdout } = Bun.spawnSync(["python3", join(import.meta.dir, "read-parts.py")], {
    stdin: Buffer.from(JSON.stringify(messages)),
  });
  expect(JSON.parse(stdout.toString())).toEqual(expected);
});

describe("an independent parser reads the rendered parts", () => {
  SAMPLES.forEach(({ name, body }, seed) => {
    test(name, async () => {
      const random = createRandom(seed + 100);
      const { compose } = createComposer(body);
      for (let round = 0; round < PARSED_ROUNDS; round++) {
        const mail = { emailId: uuid(random), data: contactDataWith(random, 0) };
        const composed = compose(mail, CONTEXTS[1] ?? { marketing: null, tracking: null });
        if (composed?.withShape.ok !== true) throw new Error("a mail cannot be composed");
        const parsed = await simpleParser(Buffer.from(composed.withShape.message), {
          skipHtmlToText: true,
          skipTextToHtml: true,
          skipTextLinks: true,
          skipImageLinks: true,
        });
        const lines = (text: string) => text.replace(/\r\n?/g, "\n").trimEnd();
        expect(lines(String(parsed.html))).toBe(lines(composed.html));
        expect(lines(parsed.text ?? "")).toBe(lines(composed.text));
        const longest = String(composed.withShape.message)
          .split("\r\n\r\n")
          .slice(1)
          .join("\r\n\r\n")
          .split("\r\n")
          .reduce((most, line) => Math.max(most, line.length), 0);
        expect(longest).toBeLessThanOrEqual(77);
      }
    });
  });
});
