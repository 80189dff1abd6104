import { expect, test } from "bun:test";
import { dataExportTexts } from "../../src/render/data-export-texts.ts";
import { LANGUAGES, textsIn } from "../../src/render/language.ts";

/** The texts by their path, such as `fields.sentAt`. */
function textsOf(language: string): Map<string, string> {
  const texts = textsIn(language);
  if (texts === null) throw new Error(`no texts in ${language}`);
  const { sections, fields, ...rest } = dataExportTexts(texts);
  const inGroup = (group: string, members: Readonly<Record<string, string>>) =>
    Object.entries(members).map(([key, text]) => [`${group}.${key}`, text] as const);
  return new Map([
    ...Object.entries(rest),
    ...inGroup("sections", sections),
    ...inGroup("fields", fields),
  ]);
}

/** Words that are the same in English and in one of the other languages. */
const SHARED_WORDS = /^(Name|Status|Segment|Type|Text|No)$/;

const placeholders = (text = "") => (text.match(/\{\w+\}/g) ?? []).toSorted();

const english = textsOf("en");

test.each(LANGUAGES.filter((language) => language !== "en"))(
  "the texts in %s are complete, translated, and have the placeholders of the English ones",
  (language) => {
    const texts = textsOf(language);
    expect([...texts.keys()]).toEqual([...english.keys()]);
    const same = [...texts].filter(([path, text]) => text === english.get(path));
    expect(same.filter(([, text]) => !SHARED_WORDS.test(text))).toEqual([]);
    for (const [path, text] of texts) {
      expect([path, text, text.trim()]).toEqual([path, expect.stringMatching(/\S/), text]);
      expect([path, placeholders(text)]).toEqual([path, placeholders(english.get(path))]);
    }
  },
);
