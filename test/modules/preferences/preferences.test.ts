/** The preference page and its forms. Requests that a mail confirms are in requests.test.ts. */

import { describe, expect, test } from "bun:test";
import { LANGUAGES } from "../../../src/render/language.ts";
import { expectRecorded, mailed, mainOf } from "./mailed.ts";

const save = (fields: Readonly<Record<string, string>>) =>
  new URLSearchParams({ action: "save", ...fields }).toString();

test("subscribing and unsubscribing keep the wording that the page showed", async () => {
  const person = await mailed();
  const left = await person.submit(person.letter.manage, "action=unsubscribe");
  expect(left.status).toBe(200);
  expect(person.isSubscribed()).toBe(false);
  expect(mainOf(left)).toContain("acme sends no newsletters to ad…");
  expect(person.events().at(-1)).toMatchObject({ name: "contact.unsubscribed" });
  const back = await person.submit(person.letter.manage, "action=subscribe");
  expect(mainOf(back)).toContain("acme sends its newsletters to ad…");
  expect(person.isSubscribed()).toBe(true);
  expect(person.consents()).toEqual([
    {
      kind: "WITHDRAWN",
      topic: null,
      source: "PREFERENCES",
      sourceId: person.letter.id,
      wording: expect.stringContaining("[Unsubscribe from everything]"),
    },
    {
      kind: "GIVEN",
      topic: null,
      source: "PREFERENCES",
      sourceId: person.letter.id,
      wording: expect.stringContaining("[Subscribe]"),
    },
  ]);
});

test("a saved form leads to the page, whose address names the notice", async () => {
  const person = await mailed();
  const { letter, fetchAs } = person;
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const post = (body: string) => fetchAs("POST", letter.manage, { headers, body });
  for (const [body, code] of [
    ["action=unsubscribe", "saved"],
    ["action=subscribe", "saved"],
    [save({}), "unchanged"],
  ] as const) {
    const answer = await post(body);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, `?done=${code}`]);
  }
  const shown = async (query: string) => mainOf(await fetchAs("GET", letter.manage + query));
  expect(await shown("?done=saved")).toContain("Your changes have been saved.");
  expect(await shown("?done=unchanged")).toContain("Nothing had to be changed.");
  expect(await shown("?done=mail")).toContain("We have sent an email to ad…");
  const plain = await shown("");
  for (const unknown of ["", "SAVED", "%3Cb%3E", "constructor"]) {
    expect(await shown(`?done=${unknown}`)).toBe(plain);
  }
  const oneClick = { headers, body: "List-Unsubscribe=One-Click" };
  expect((await fetchAs("POST", letter.unsubscribe, oneClick)).status).toBe(200);
  expect(person.isSubscribed()).toBe(false);
});

/** The hidden fields of the form of a page, and the boxes and radio buttons that are chosen on it. */
function shownFields(page: string): Record<string, string> {
  const inputs = page.match(/<input type="(?:hidden|checkbox|radio)"[^>]*>/g) ?? [];
  const sent = inputs.filter((input) => input.includes("hidden") || input.includes(" checked"));
  const [, language = ""] = /<option value="(\w+)"[^>]* selected>/.exec(page) ?? [];
  const pairs = sent.map((input) => [
    /name="([^"]*)"/.exec(input)?.[1] ?? "",
    /value="([^"]*)"/.exec(input)?.[1] ?? "",
  ]);
  return { ...Object.fromEntries(pairs), language };
}

test("an old page that is saved changes only the choices that the person has changed on it", async () => {
  const person = await mailed();
  const { letter, submit } = person;
  const news = await person.topic("News", { default: "SUBSCRIBED" });
  await person.topic("Tips", {});
  const old = shownFields(mainOf(await person.fetchAs("GET", letter.manage)));
  const { [`topic-${news}`]: _, ...withoutNews } = old;
  await submit(letter.manage, save({ ...withoutNews, pause: "1" }));
  const pausedUntil = person.pausedUntil();
  expect(pausedUntil).not.toBe(null);
  const consents = person.consents();

  await submit(letter.manage, save({ ...old, language: "ja" }));
  expect(await person.topics()).toEqual({ News: false, Tips: false });
  expect(person.pausedUntil()).toBe(pausedUntil);
  expect(person.consents()).toEqual(consents);
  await submit(letter.manage, save({ ...old, pause: "3" }));
  expect(await person.data()).toMatchObject({ language: "ja" });
  expect(person.pausedUntil()).not.toBe(pausedUntil);
});

describe("the topics", () => {
  test("are chosen by boxes; only shown topics that have changed are stored, with their wording", async () => {
    const person = await mailed();
    const news = await person.topic("Product news", { default: "SUBSCRIBED" });
    const tips = await person.topic("Tips & tricks", { description: "Twice a month" });
    const secret = await person.topic("Staff", { visibility: "PRIVATE" });
    const page = mainOf(await person.fetchAs("GET", person.letter.manage));
    expect(page).toContain(`name="topic-${news}" value="on" checked`);
    expect(page).toContain("Tips &amp; tricks");
    expect(page).not.toContain("Staff");
    const topics = `${news} ${tips}`;
    const saved = await person.submit(
      person.letter.manage,
      save({ topics, [`topic-${tips}`]: "on", [`topic-${secret}`]: "on" }),
    );
    expect(mainOf(saved)).toContain("Your changes have been saved.");
    expect(await person.topics()).toEqual({
      "Product news": false,
      "Tips & tricks": true,
      Staff: false,
    });
    expect(person.consents()).toMatchObject([
      { kind: "WITHDRAWN", topic: "Product news" },
      { kind: "GIVEN", topic: "Tips & tricks" },
    ]);
    expect(person.consents().at(-1)?.wording).toBe(
      "Your preferences\n\nWhat would you like to receive?\n\nTips & tricks\n\nTwice a month\n\n[Save]",
    );
    const again = await person.submit(
      person.letter.manage,
      save({ topics, [`topic-${tips}`]: "on" }),
    );
    expect(mainOf(again)).toContain("Nothing had to be changed.");
    expect(person.consents()).toHaveLength(2);
  });

  test("that the form did not show stay as they are", async () => {
    const person = await mailed();
    const news = await person.topic("Product news", { default: "SUBSCRIBED" });
    await person.topic("Later", { default: "SUBSCRIBED" });
    await person.submit(person.letter.manage, save({ topics: news }));
    expect(await person.topics()).toEqual({ "Product news": false, Later: true });
  });

  test("that are all left are not everything, and the page says so", async () => {
    const person = await mailed();
    const news = await person.topic("Product news", { default: "SUBSCRIBED" });
    const saved = await person.submit(person.letter.manage, save({ topics: news }));
    expect(mainOf(saved)).toContain("You have not chosen a topic.");
    expect(person.isSubscribed()).toBe(true);
  });
});

describe("a pause", () => {
  test("lasts for a time, is kept by the next form, and ends at the person's wish", async () => {
    const person = await mailed();
    const { letter, submit } = person;
    expect(mainOf(await submit(letter.manage, save({ pause: "1" })))).toContain(
      "You get no newsletters until April 2, 2026.",
    );
    expect(person.pausedUntil()).toBe("2026-04-02T00:00:00.000Z");
    await submit(letter.manage, save({ pause: "keep", language: "en" }));
    expect(person.pausedUntil()).toBe("2026-04-02T00:00:00.000Z");
    await submit(letter.manage, save({ pause: "until", pauseDay: "2026-12-24" }));
    expect(person.pausedUntil()).toBe("2026-12-24T00:00:00.000Z");
    await submit(letter.manage, save({ pause: "none" }));
    expect(person.pausedUntil()).toBeNull();
  });

  test("refuses a day that is none, and nothing of the form is stored", async () => {
    const person = await mailed();
    const news = await person.topic("Product news", { default: "SUBSCRIBED" });
    for (const pauseDay of [
      "",
      "2026-03-02",
      "2027-03-03",
      "2026-02-30",
      '"><script>',
      "x".repeat(900),
    ]) {
      const fields = { topics: news, pause: "until", pauseDay, language: "de" };
      const refused = await person.submit(person.letter.manage, save(fields));
      expect(refused.status).toBe(400);
      expect(mainOf(refused)).toContain("Choose a day from tomorrow");
      expect(mainOf(refused)).not.toContain("<script>");
      expect(person.pausedUntil()).toBeNull();
      expect(await person.topics()).toEqual({ "Product news": true });
    }
  });
});

describe("the language", () => {
  test("is stored in the data of the contact, and wins over that of the project and the browser", async () => {
    const person = await mailed();
    const german = await person.submit(person.letter.manage, save({ language: "de" }));
    expect(mainOf(german)).toContain("Ihre Änderungen sind gespeichert.");
    expect(await person.data()).toEqual({ language: "de" });
    person.setProject({ language: "fr" });
    const headers = { "accept-language": "pl" };
    const page = await person.fetchAs("GET", person.letter.manage, { headers });
    expect(page.text("")).toContain('<html lang="de">');
    const unsubscribing = await person.fetchAs("GET", person.letter.unsubscribe, { headers });
    expect(unsubscribing.text("")).toContain('<html lang="de">');
  });

  test("that the page had already is not stored, and an unknown one neither", async () => {
    const person = await mailed();
    for (const language of ["en", "tlh", "", "../x"]) {
      await person.submit(person.letter.manage, save({ language }));
    }
    expect(await person.data()).toEqual({});
  });

  test("each of the nine languages makes a complete page", async () => {
    const person = await mailed();
    await person.topic("A", { default: "SUBSCRIBED" });
    for (const language of LANGUAGES) {
      person.setProject({ language });
      const page = (await person.fetchAs("GET", person.letter.manage)).text("");
      expect(page).toContain(`<html lang="${language}">`);
      expect(mainOf(page)).not.toMatch(/\{\w+\}|undefined|null\b|\[object/);
    }
  });
});

describe("measurement", () => {
  const boxOf = (page: string) => /name="tracking" value="on"( checked)?/.exec(page);

  test("is asked for, with the setting of the project as the answer of who has not chosen", async () => {
    const { setProject, fetchAs, letter } = await mailed();
    const shown = async () => boxOf(mainOf(await fetchAs("GET", letter.manage)))?.[0] ?? null;
    setProject({ tracking: "DISABLED" });
    expect(await shown()).toBeNull();
    setProject({ tracking: "CONSENT" });
    expect(await shown()).toBe('name="tracking" value="on"');
    setProject({ tracking: "MARKETING_ONLY" });
    expect(await shown()).toBe('name="tracking" value="on" checked');
  });

  test("is refused and allowed, with the wording in the ledger; an equal answer stores nothing", async () => {
    const person = await mailed();
    const { submit, letter, t } = person;
    const stored = () =>
      t.db.sqlite
        .query<{ tracking: number | null }, [number]>(
          "SELECT tracking FROM contacts WHERE project_seq = ?",
        )
        .get(t.project.seq)?.tracking;
    await submit(letter.manage, save({ asksTracking: "1", tracking: "on" }));
    expect(stored()).toBeNull();
    await submit(letter.manage, save({ asksTracking: "1" }));
    expect(stored()).toBe(0);
    await submit(letter.manage, save({ language: "en" }));
    expect(stored()).toBe(0);
    await submit(letter.manage, save({ asksTracking: "1", tracking: "on" }));
    expect(stored()).toBe(1);
    expect(person.consents()).toMatchObject([
      { kind: "WITHDRAWN", wording: expect.stringContaining("acme may measure whether I open") },
      { kind: "GIVEN", source: "PREFERENCES" },
    ]);
  });
});

describe("the link", () => {
  test("of a mail to an earlier address shows no part of the present one", async () => {
    const person = await mailed();
    await person.t.call("PATCH", `/contacts/${await person.contactId()}`, {
      email: "countess@other.example",
    });
    const page = mainOf(await person.fetchAs("GET", person.letter.manage));
    expect(page).toContain("to your new address.");
    expect(page).not.toMatch(/countess|other\.example/);
    await person.submit(person.letter.manage, "action=unsubscribe");
    expect(person.isSubscribed("countess@other.example")).toBe(false);
  });

  test("works after ten years, for a disabled project, and not for a deleted contact", async () => {
    const person = await mailed();
    person.t.clock.advance(10 * 365 * 24 * 60 * 60_000);
    person.t.db.sqlite.run("UPDATE projects SET is_enabled = 0");
    await person.submit(person.letter.manage, "action=unsubscribe");
    expect(person.isSubscribed()).toBe(false);
    person.t.db.sqlite.run("UPDATE projects SET is_enabled = 1");
    await person.t.call("DELETE", `/contacts/${await person.contactId()}`);
    const gone = await person.fetchAs("GET", person.letter.manage);
    expect([gone.status, mainOf(gone)]).toEqual([200, expect.stringContaining("no longer works")]);
    const posted = await person.submit(person.letter.manage, save({ language: "de" }));
    expect([posted.status, mainOf(posted)]).toEqual([
      200,
      expect.stringContaining("no longer works"),
    ]);
  });

  test("that was changed is refused, and so is a form that is too long", async () => {
    const person = await mailed();
    const { manage } = person.letter;
    const forged = `${manage.slice(0, -1)}${manage.endsWith("A") ? "B" : "A"}`;
    expect((await person.submit(forged, "action=unsubscribe")).status).toBe(404);
    const long = await person.submit(manage, `action=unsubscribe&x=${"x".repeat(20_000)}`);
    expect([long.status, person.isSubscribed()]).toEqual([413, true]);
  });
});

test("a program that changes to and fro is stopped for a while, and can still unsubscribe", async () => {
  const { submit, letter, t, isSubscribed } = await mailed();
  const pause = (at: number) => submit(letter.manage, save({ pause: at % 2 === 0 ? "1" : "none" }));
  for (let at = 0; at < 60; at++) expect((await pause(at)).status).toBe(200);
  expect((await pause(0)).status).toBe(429);
  expect((await submit(letter.manage, "action=unsubscribe")).status).toBe(200);
  expect(isSubscribed()).toBe(false);
  t.clock.advance(60 * 60_000);
  expect((await submit(letter.manage, "action=subscribe")).status).toBe(200);
});

test("the pages to unsubscribe and to subscribe lead to the preference page", async () => {
  const person = await mailed();
  for (const path of [person.letter.unsubscribe, person.letter.subscribe]) {
    const href = /<a href="([^"]+)">/.exec(mainOf(await person.fetchAs("GET", path)))?.[1] ?? "";
    expect(new URL(href, `http://localhost${path}`).pathname).toBe(person.letter.manage);
  }
});

test("a form without a known button shows the page and changes nothing", async () => {
  const person = await mailed();
  const before = person.t.contents();
  for (const body of ["", "a=b", "action=", "action=SAVE", '{"action":"unsubscribe"}']) {
    const answer = await person.submit(person.letter.manage, body);
    expect([body, answer.status]).toEqual([body, 400]);
  }
  expect(person.t.contents()).toEqual(before);
  expectRecorded(person, []);
});
