import { describe, expect, test } from "bun:test";
import { compileTemplate, render } from "../../../src/render/template/template.ts";

function rendered(source: string, variables: Record<string, unknown>): string {
  const compiled = compileTemplate(source, "text");
  if (!compiled.ok) throw new Error(compiled.message);
  const result = render(compiled.template, variables);
  return result.ok ? result.text : result.reason;
}

describe("a time is shown at its own offset:", () => {
  const cases: [at: unknown, shown: string][] = [
    ["2026-07-01T18:00:00+02:00", "01.07. 18:00 +0200"],
    ["2026-07-01T18:00:00.250+0530", "01.07. 18:00 +0530"],
    ["2026-01-01T00:30:00-08:00", "01.01. 00:30 -0800"],
    ["2026-07-01T18:00:00Z", "01.07. 18:00 +0000"],
    ["2026-07-01T18:00:00", "01.07. 18:00 +0000"],
    ["2026-07-01", "01.07. 00:00 +0000"],
    [1_782_921_600, "01.07. 16:00 +0000"],
    ["1782921600", "01.07. 16:00 +0000"],
    ["soon", "soon"],
    [null, ""],
  ];
  test.each(cases)("%s", (at, shown) => {
    expect(rendered('{{ at | date: "%d.%m. %H:%M %z" }}', { at })).toBe(shown);
  });

  test("unless the template names another one", () => {
    const at = "2026-07-01T18:00:00+02:00";
    expect(rendered('{{ at | date: "%H:%M", 0 }}', { at })).toBe("16:00");
    expect(rendered('{{ at | date: "%H:%M", "America/New_York" }}', { at })).toBe("12:00");
  });

  test("in the other filters of dates, and as the same instant", () => {
    const at = "2026-07-01T18:00:00+02:00";
    expect(rendered("{{ at | date_to_xmlschema }}", { at })).toBe(at);
    expect(rendered("{{ at | date_to_rfc822 }}", { at })).toBe("Wed, 01 Jul 2026 18:00:00 +0200");
    expect(rendered('{{ at | date: "%s" }}', { at })).toBe("1782921600");
  });
});

describe("names of months and days are in the language of the mail:", () => {
  const cases: [language: unknown, shown: string][] = [
    ["de", "Mittwoch 01 Juli"],
    ["fr", "mercredi 01 juillet"],
    ["en", "Wednesday 01 July"],
    ["xx", "Wednesday 01 July"],
    [5, "Wednesday 01 July"],
    [undefined, "Wednesday 01 July"],
  ];
  test.each(cases)("%s", (language, shown) => {
    const variables = { at: "2026-07-01", project: { language } };
    expect(rendered('{{ at | date: "%A %d %B" }}', variables)).toBe(shown);
  });

  test("but not in the format of RFC 822", () => {
    const variables = { at: "2026-07-01", project: { language: "de" } };
    const shown = "Wed, 01 Jul 2026 00:00:00 +0000";
    expect(rendered("{{ at | date_to_rfc822 }}", variables)).toBe(shown);
  });
});
