import { describe, expect, test } from "bun:test";
import { LANGUAGES, textsIn } from "../../src/render/language.ts";
import { preferenceTexts } from "../../src/render/preference-texts.ts";

/** The texts by their path, such as `askExport.title`. */
function flatten(value: unknown, path = ""): [path: string, text: string][] {
  if (typeof value === "string") return [[path, value]];
  if (typeof value !== "object" || value === null) throw new Error(`${path} is no text`);
  return Object.entries(value).flatMap(([key, part]) =>
    flatten(part, path === "" ? key : `${path}.${key}`),
  );
}

function textsOf(language: string): Map<string, string> {
  const texts = textsIn(language);
  if (texts === null) throw new Error(`no texts in ${language}`);
  return new Map(flatten(preferenceTexts(texts)));
}

const placeholders = (text = "") => (text.match(/\{\w+\}/g) ?? []).toSorted();

const english = textsOf("en");

describe.each(LANGUAGES.filter((language) => language !== "en"))("the texts in %s", (language) => {
  const texts = textsOf(language);

  test("are complete, without markup, and have the placeholders of the English ones", () => {
    expect([...texts.keys()]).toEqual([...english.keys()]);
    for (const [path, text] of texts) {
      expect([path, text.trim()]).toEqual([path, text]);
      expect(text).not.toBe("");
      expect([path, /[<>&]/.test(text)]).toEqual([path, false]);
      expect([path, placeholders(text)]).toEqual([path, placeholders(english.get(path))]);
    }
  });

  test("are translated", () => {
    const same = [...texts].filter(([path, text]) => text === english.get(path));
    expect(same.map(([path]) => path)).toEqual([]);
  });
});

test("subjects and buttons have no full stop, and sentences have one", () => {
  for (const language of LANGUAGES) {
    for (const [path, text] of textsOf(language)) {
      if (/subject|button|title/.test(path))
        expect([language, path, text]).toEqual([
          language,
          path,
          expect.not.stringMatching(/[.。]$/),
        ]);
      if (/\.text$|Hint$|Note$/.test(path))
        expect([language, path, text]).toEqual([language, path, expect.stringMatching(/[.。]$/)]);
    }
  }
});
