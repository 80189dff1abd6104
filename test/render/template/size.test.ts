import { describe, expect, test } from "bun:test";
import { compileTemplate } from "../../../src/render/template/template.ts";
import { measureTemplate } from "../../../src/render/template/size.ts";

describe("measureTemplate counts the tags and the characters inside them in", () => {
  const cases: [source: string, tags: number, code: number][] = [
    ["no tags }} %}", 0, 0],
    ["{{ a }}", 1, 3],
    ["{{a}}{{b}}", 2, 2],
    ["{% if a %}{{ a }}{% endif %}", 3, 16],
    ["{{ a", 1, 2],
    ["{{ {{ a }}", 1, 6],
    ["{%%}", 1, 0],
  ];
  for (const [source, tags, code] of cases) {
    test(source, () => {
      expect(measureTemplate(source)).toEqual({ tags, code });
    });
  }
});

describe("compileTemplate refuses a template with too much Liquid", () => {
  const repeated = (text: string, count: number) =>
    Array.from({ length: count }, () => text).join("");
  const tags = "the template has more than 10,000 outputs and tags";
  const code = "the outputs and tags have more than 128 KiB of code";
  const cases: [what: string, source: string, message: string | null][] = [
    ["10,000 outputs", repeated("{{ a }} ", 10_000), null],
    ["10,001 outputs", repeated("{{ a }} ", 10_001), tags],
    ["200,000 outputs without blanks", repeated("{{a}}", 200_000), tags],
    ["10,002 tags", repeated("{% if a %}{% endif %}", 5_001), tags],
    ["a liquid tag of 131,000 characters", `{% liquid\n${repeated("echo a\n", 18_500)}%}`, null],
    ["a liquid tag of 140,000 characters", `{% liquid\n${repeated("echo a\n", 20_000)}%}`, code],
    ["an output with 20,000 filters", `{{ a ${repeated("|upcase", 20_000)} }}`, code],
    ["an output that is not closed", `{{ ${repeated("a ", 100_000)}`, code],
    ["1 MiB of HTML", repeated("<p>Hello</p>", 87_000), null],
  ];
  for (const [what, source, message] of cases) {
    test(`${what}: ${message === null ? "compiled" : "refused"}`, () => {
      const compiled = compileTemplate(source, "html");
      expect(compiled.ok ? null : compiled.message).toBe(message);
    });
  }
});
