import { describe, expect, test } from "bun:test";
import { createLog } from "../../../src/lib/log.ts";
import { textPart } from "../../../src/protocols/mime/parts.ts";
import { recipientLinks } from "../../../src/render/links.ts";
import { prepareOutgoing } from "../../../src/render/outgoing.ts";
import { createShapeCache } from "../../../src/render/shapes/cache.ts";
import { compileTemplate, render, type Template } from "../../../src/render/template/template.ts";

const KEYS = {
  url: "https://m.test",
  linkKey: new Uint8Array(32).fill(1),
  trackingUrl: "https://t.test",
  trackingKey: new Uint8Array(32).fill(2),
};
const MARKETING = { projectName: "Acme", language: "en", feedbackId: "1" };

function compile(source: string): Template {
  const compiled = compileTemplate(source, "html");
  if (!compiled.ok) throw new Error(compiled.message);
  return compiled.template;
}

function setUp(limits?: Parameters<typeof createShapeCache>[2]) {
  const lines: string[] = [];
  const log = createLog({ level: "warn", format: "json", write: (line) => lines.push(line) });
  const shapes = createShapeCache(KEYS, log, limits);
  let count = 0;

  /** Composes the parts of a new mail, and compares them with the ordinary ones. */
  function compose(template: Template, data: Record<string, unknown>, marketing = MARKETING) {
    const emailId = `01890c4e-1234-7abc-8def-${String(++count).padStart(12, "0")}`;
    const links = recipientLinks(KEYS.url, KEYS.linkKey, emailId);
    const variables = { ...data, ...links };
    const rendered = shapes.render(template, variables, links);
    const html = render(template, variables);
    if (!rendered.ok || !html.ok) {
      const reason = rendered.ok ? null : rendered.reason;
      expect(reason).toBe(html.ok ? null : html.reason);
      return;
    }
    const input = { emailId, headers: [], links, marketing, tracking: null };
    const outgoing = prepareOutgoing({ ...input, html: html.text });
    const { htmlPart, plainPart } = shapes.encode(rendered.body, input);
    expect(htmlPart.join("")).toBe(textPart("html", outgoing.html).join(""));
    expect(plainPart.join("")).toBe(textPart("plain", outgoing.text).join(""));
  }

  return { shapes, compose, lines };
}

describe("a shape", () => {
  test("is compiled for the third mail of a template and fills the ones after it", () => {
    const { shapes, compose } = setUp();
    const template = compile("<p>{{ name }}</p>");
    for (let i = 1; i <= 10; i++) {
      compose(template, { name: `Person ${i}` });
      expect(shapes.stats.filled).toBe(Math.max(0, i - 3));
    }
    expect(shapes.stats.shapes).toBe(1);
  });

  test("is made for each branch and number of loop iterations", () => {
    const { shapes, compose } = setUp();
    const template = compile("{% for i in list %}<p>{{ i }}</p>{% else %}none{% endfor %}");
    for (let i = 0; i < 30; i++) compose(template, { list: ["a", "b"].slice(i % 3) });
    expect(shapes.stats).toMatchObject({ shapes: 3, filled: 23 });
  });

  test("is made for each project name and language of the footer", () => {
    const { shapes, compose } = setUp();
    const template = compile("<p>{{ name }}</p>");
    for (let i = 0; i < 30; i++) {
      compose(template, { name: "Ada" }, { ...MARKETING, language: i % 2 === 0 ? "en" : "de" });
    }
    expect(shapes.stats.shapes).toBe(2);
  });

  test("is made for a finished body that several mails share, among bodies that differ", () => {
    const { shapes, compose } = setUp();
    for (let i = 0; i < 40; i++) {
      compose(compile("<p>The same body</p>"), {});
      for (let k = 0; k < i % 5; k++) compose(compile(`<p>Mail ${i}-${k}</p>`), {});
    }
    expect(shapes.stats).toMatchObject({ shapes: 1, filled: 37 });
  });

  test("is not made for a finished body that is sent once", () => {
    const { shapes, compose } = setUp();
    for (let i = 0; i < 10; i++) compose(compile(`<p>Mail ${i}</p>`), {});
    expect(shapes.stats).toMatchObject({ shapes: 0, filled: 0 });
  });

  test("does not fill a mail whose link text may be its URL", () => {
    const { shapes, compose } = setUp();
    const template = compile('<a href="https://example.com/x">{{ name }}</a>');
    const names = ["a", "b", "c", "https://example.com/x", "d", "https://example.com/y"];
    for (const name of names) compose(template, { name });
    expect(shapes.stats.filled).toBe(1);
  });

  test("is not used and is logged once if its first mail differs", () => {
    const { shapes, compose, lines } = setUp();
    // The two outputs together are the unsubscribe link, so the ordinary mail has no footer.
    const template = compile(
      "<p>{{ name }} {{ unsubscribeUrl | slice: 0, 40 }}{{ unsubscribeUrl | slice: 40, 99 }}</p>",
    );
    for (let i = 0; i < 10; i++) compose(template, { name: i % 2 === 0 ? "Ada" : "" });
    expect(shapes.stats.filled).toBe(0);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("differs from its ordinary rendering");
  });
});

describe("values that are not plain", () => {
  test("have a shape of their own", () => {
    const { shapes, compose } = setUp();
    const template = compile("<p>{{ name }}</p><p>{{ city }}</p>");
    for (let i = 0; i < 40; i++) {
      compose(template, { name: `N${i}`, city: ["", " ", "a\u200bb", "x"][i % 4] });
    }
    expect(shapes.stats).toMatchObject({ shapes: 4, filled: 31 });
  });

  test("let the template take the ordinary path for a while if they are never the same", () => {
    const { shapes, compose } = setUp({ trial: 16, bypassed: 64 });
    const template = compile("<p>{{ name }}</p>");
    for (let i = 0; i < 17; i++) compose(template, { name: `a\u200b${i}` });
    for (let i = 0; i < 64; i++) compose(template, { name: "Ada" });
    expect(shapes.stats.filled).toBe(0);
    for (let i = 0; i < 3; i++) compose(template, { name: "Ada" });
    expect(shapes.stats.filled).toBe(1);
  });

  test("fail a render like the ordinary path", () => {
    const { shapes, compose } = setUp();
    const template = compile(
      "<p>{{ name | raw }}</p>{% if bad %}{{ name | date: '%Y', bad.x }}{% endif %}",
    );
    for (let i = 0; i < 5; i++) compose(template, { name: "a\0b" });
    for (let i = 0; i < 5; i++) compose(template, { name: "x".repeat(6 * 1024 * 1024) });
    expect(shapes.stats.filled).toBe(0);
  });
});

test("a template that writes other text in each mail takes the ordinary path", () => {
  const { shapes, compose } = setUp();
  const template = compile("{% cycle name, 'x' %}<p>{{ city }}</p>");
  for (let i = 0; i < 60; i++) compose(template, { name: `${i}`.repeat(100), city: "Rome" });
  for (let i = 0; i < 10; i++) compose(template, { name: "new".repeat(50), city: "Rome" });
  expect(shapes.stats).toMatchObject({ shapes: 0, filled: 0 });
});

describe("the cache", () => {
  test("evicts the least recently used shapes", () => {
    const { shapes, compose } = setUp({ maxShapes: 2, maxBytes: 1_000_000 });
    const template = compile("{% for i in list %}<p>{{ i }}</p>{% endfor %}");
    for (let turns = 0; turns < 6; turns++) {
      for (let i = 0; i < 4; i++) compose(template, { list: Array(turns).fill("x") });
    }
    expect(shapes.stats.shapes).toBe(2);
  });

  test("stays within its memory", () => {
    const { shapes, compose } = setUp({ maxShapes: 100, maxBytes: 30_000 });
    const template = compile("{% for i in list %}<p>{{ i }} and more text</p>{% endfor %}");
    for (let turns = 0; turns < 20; turns++) {
      for (let i = 0; i < 4; i++) compose(template, { list: Array(turns).fill("x") });
    }
    expect(shapes.stats.bytes).toBeLessThanOrEqual(30_000);
    expect(shapes.stats.shapes).toBeGreaterThan(0);
  });
});
