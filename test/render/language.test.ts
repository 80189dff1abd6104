import { describe, expect, test } from "bun:test";
import { chooseTexts, fillPlaceholders, LANGUAGES, textsIn } from "../../src/render/language.ts";

test("nine languages are supported", () => {
  expect([...LANGUAGES].sort()).toEqual(["de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt"]);
});

describe("the texts in", () => {
  for (const language of LANGUAGES) {
    const texts = textsIn(language);
    if (texts === null) throw new Error(`no texts in ${language}`);
    const { askUnsubscribe, askSubscribe, unsubscribed, subscribed } = texts;

    test(`${language} contain the placeholders for project and address`, () => {
      for (const { title, text } of [askUnsubscribe, askSubscribe, unsubscribed, subscribed]) {
        expect(title).not.toContain("{");
        expect(text.match(/\{\w+\}/g)?.sort()).toEqual(["{email}", "{project}"]);
      }
      expect(texts.footer.match(/\{\w+\}/g)).toEqual(["{project}"]);
    });

    test(`${language} are complete and contain no markup`, () => {
      const {
        contactDeleted: gone,
        invalidLink: badLink,
        serverError: trouble,
        manage,
        newAddress,
        note,
        subscribe,
        unsubscribe,
      } = texts;
      const plain = [gone, badLink, trouble].flatMap(({ title, text }) => [title, text]);
      for (const text of [...plain, manage, newAddress, note, subscribe, unsubscribe]) {
        expect(text.trim()).toBe(text);
        expect(text).not.toBe("");
        expect(text).not.toMatch(/[<>{}&]/);
      }
    });

    if (language !== "en") {
      test(`${language} differ from the English texts`, () => {
        const english = textsIn("en");
        expect(texts.note).not.toBe(english?.note ?? "");
        expect(texts.newAddress).not.toBe(english?.newAddress ?? "");
        expect(texts.contactDeleted).not.toEqual(
          english?.contactDeleted ?? { title: "", text: "" },
        );
        expect(texts.footer).not.toBe(english?.footer ?? "");
        expect(texts.unsubscribe).not.toBe(english?.unsubscribe ?? "");
      });
    }
  }
});

describe("chooseTexts chooses", () => {
  const cases: [project: string | null, accepted: string | null, language: string][] = [
    ["de", "fr", "de"],
    ["pt-BR", "fr", "pt"],
    ["DE", null, "de"],
    ["sv", "fr", "fr"],
    ["sv", null, "en"],
    [null, "ja", "ja"],
    [null, "de-AT,de;q=0.9,en;q=0.8", "de"],
    [null, "en;q=0.1, nl;q=0.9", "nl"],
    [null, "sv, da;q=0.9, pl;q=0.1", "pl"],
    [null, "de;q=0, it", "it"],
    [null, "*", "en"],
    [null, "", "en"],
    [null, ";;;,,,q=", "en"],
    [null, "de;q=x, es;q=0.5", "es"],
    [null, "x".repeat(10_000), "en"],
  ];

  for (const [project, accepted, language] of cases) {
    test(`${language} for project language ${project} and Accept-Language "${accepted?.slice(0, 40)}"`, () => {
      expect(chooseTexts(project, accepted).language).toBe(language);
    });
  }
});

test("fill does not replace placeholders inside of a value", () => {
  const values = { project: "{email}", email: "a@b.test" };
  expect(fillPlaceholders("{project} to {email} {other}", values)).toBe(
    "{email} to a@b.test {other}",
  );
});
