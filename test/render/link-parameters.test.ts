import { describe, expect, test } from "bun:test";
import { parseUtm, withParameters } from "../../src/render/link-parameters.ts";
import { recipientLinks } from "../../src/render/links.ts";
import { prepareOutgoing } from "../../src/render/outgoing.ts";

const UTM = parseUtm('{"source":"news","campaign":"spring & sale"}');
const ADDED = "utm_source=news&utm_campaign=spring%20%26%20sale";

describe("parameters are added to a link", () => {
  const cases: [url: string, extended: string][] = [
    ["https://x.test/", `https://x.test/?${ADDED}`],
    ["https://x.test/a#part", `https://x.test/a?${ADDED}#part`],
    ["https://x.test/a?b=%20+1", `https://x.test/a?b=%20+1&${ADDED}`],
    ["https://x.test/a?b=1&#c?d", `https://x.test/a?b=1&${ADDED}#c?d`],
    ["https://x.test/a?", `https://x.test/a?${ADDED}`],
    [
      "https://x.test/?utm_source=own",
      "https://x.test/?utm_source=own&utm_campaign=spring%20%26%20sale",
    ],
    [`https://x.test/?${ADDED}`, `https://x.test/?${ADDED}`],
  ];
  test.each(cases)("%s", (url, extended) => {
    expect(withParameters(url, UTM)).toBe(extended);
    expect(withParameters(extended, UTM)).toBe(extended);
  });

  test("but not without parameters", () => {
    expect(withParameters("https://x.test/", parseUtm(null))).toBe("https://x.test/");
  });
});

test("links of the service, of other kinds and in the text stay as they are", () => {
  const emailId = "01890c4e-1234-7abc-8def-000000000001";
  const links = recipientLinks("https://mail.test", new Uint8Array(32), emailId);
  const kept = [links.unsubscribeUrl, links.manageUrl, "https://mail.test/archive/p/spring"];
  const others = ["mailto:a@b.test", "#top", "/relative"];
  const list = [...kept, ...others, "https://shop.test/?a=1#b"];
  const { html, text } = prepareOutgoing({
    emailId,
    html: list.map((href) => `<a href="${href}">x</a>`).join(" "),
    headers: [],
    links,
    marketing: null,
    tracking: null,
    parameters: UTM,
  });
  for (const href of [...kept, ...others]) expect(html).toContain(`href="${href}"`);
  expect(html.replaceAll("&amp;", "&")).toContain(`href="https://shop.test/?a=1&${ADDED}#b"`);
  expect(text).not.toContain("utm_");
});
