/** The links in a mail of a topic: they are for this topic, and offer to unsubscribe from everything. */

import { describe, expect, test } from "bun:test";
import { LANGUAGES } from "../../../src/render/language.ts";
import { topicTexts } from "../../../src/render/topic-texts.ts";
import { mailingOf } from "../../support/mailing.ts";
import { projectPerTest } from "../../support/project-per-test.ts";

const projects = projectPerTest();

/** A contact that has got a mail of a topic, of which its project has two. */
async function mailed() {
  const mailing = mailingOf(await projects.next());
  const { t } = mailing;
  const topic = (name: string) => t.create("/topics", { name, default: "SUBSCRIBED" }, "data.id");
  const topicId = await topic("Tips & <Tricks>");
  await topic("Offers");
  const letter = await mailing.send({ topicId });
  const { body } = await t.call("GET", "/contacts?search=ada");
  const { id } = Object(body).items[0];
  const state = async () => {
    const topics = Object((await t.call("GET", `/contacts/${id}/topics`)).body).data.topics;
    return [
      mailing.isSubscribed(),
      ...topics.map((each: { subscribed: boolean }) => each.subscribed),
    ];
  };
  const ledger = () =>
    t.db.sqlite
      .query<
        { kind: string; topic: number | null; source: string; wording: string | null },
        [number]
      >(
        `SELECT kind, topic_seq IS NOT NULL AS topic, source_type AS source, w.text AS wording
         FROM consents LEFT JOIN consent_wordings w ON w.seq = wording_seq
         WHERE consents.project_seq = ? ORDER BY consents.seq LIMIT -1 OFFSET 1`,
      )
      .all(t.project.seq);
  return { ...mailing, letter, topicId, state, ledger };
}

const TOPIC = "Tips &amp; &lt;Tricks&gt;";

describe("the unsubscribe page of a mail of a topic", () => {
  test("leaves the topic, then everything, and comes back", async () => {
    const { letter, fetchAs, submit, state, ledger, events } = await mailed();
    const shown = (await fetchAs("GET", letter.unsubscribe)).text("");
    expect(shown).toContain(`<h1>Unsubscribe from “${TOPIC}”?</h1>`);
    expect(shown).toContain('<button name="action" value="unsubscribe">Unsubscribe</button>');
    expect(shown).toContain('value="unsubscribe-all" class="second">Unsubscribe from everything');
    expect(await state()).toEqual([true, true, true]);

    const left = (await submit(letter.unsubscribe, "action=unsubscribe")).text("");
    expect(left).toContain(`<h1>You are unsubscribed from “${TOPIC}”</h1>`);
    expect(left).toContain("You may still get other newsletters from");
    expect(left).toContain('value="subscribe" class="second">Subscribe<');
    expect(await state()).toEqual([true, false, true]);
    expect(ledger()).toMatchObject([{ kind: "WITHDRAWN", topic: 1, source: "UNSUBSCRIBE_LINK" }]);
    expect(ledger()[0]?.wording).toContain("Unsubscribe from “Tips & <Tricks>”?");

    const none = (await submit(letter.unsubscribe, "action=unsubscribe-all")).text("");
    expect(none).toContain("<h1>You are unsubscribed</h1>");
    expect(await state()).toEqual([false, false, true]);

    const back = (await submit(letter.unsubscribe, "action=subscribe")).text("");
    expect(back).toContain(`<h1>You are subscribed to “${TOPIC}”</h1>`);
    expect(await state()).toEqual([true, true, true]);
    expect(events().map(({ name }) => name)).toEqual([
      "contact.topic_unsubscribed",
      "contact.unsubscribed",
      "contact.topic_subscribed",
      "contact.subscribed",
    ]);
  });

  test("is about all mail again when the topic was deleted", async () => {
    const { t, letter, topicId, fetchAs, submit, state } = await mailed();
    const template = Object((await t.call("GET", "/templates")).body).data.items[0].id;
    await t.call("PATCH", `/templates/${template}`, { topicId: null });
    expect((await t.call("DELETE", `/topics/${topicId}`)).status).toBe(204);
    expect((await fetchAs("GET", letter.unsubscribe)).text("")).toContain("<h1>Unsubscribe?</h1>");
    await submit(letter.unsubscribe, "List-Unsubscribe=One-Click");
    expect(await state()).toEqual([false, true]);
  });
});

test("one click leaves the topic, as often as it is repeated", async () => {
  const { letter, submit, state, ledger, events } = await mailed();
  for (let n = 0; n < 2; n++) {
    expect((await submit(letter.unsubscribe, "List-Unsubscribe=One-Click")).status).toBe(200);
  }
  expect(await state()).toEqual([true, false, true]);
  expect(ledger()).toMatchObject([{ kind: "WITHDRAWN", topic: 1, source: "ONE_CLICK" }]);
  expect(events()).toMatchObject([{ name: "contact.topic_unsubscribed", email: letter.id }]);
});

test("the footer names the topic", async () => {
  const { letter } = await mailed();
  const html = String(letter.mail.html);
  expect(html).toContain(`You receive this email because you are subscribed to “${TOPIC}” from`);
  expect(letter.mail.text).toContain("subscribed to “Tips & <Tricks>” from");
});

test("the texts of topics exist in all languages, with their placeholders", () => {
  for (const language of LANGUAGES) {
    const { footer, askUnsubscribe, unsubscribed, subscribed, others } = topicTexts({ language });
    for (const { title, text } of [askUnsubscribe, unsubscribed, subscribed]) {
      expect([language, title.includes("{topic}")]).toEqual([language, true]);
      for (const name of ["{topic}", "{project}", "{email}"]) expect(text).toContain(name);
    }
    expect(footer).toContain("{topic}");
    expect(others).toContain("{project}");
  }
});
