/** The export of the data that is stored about a person, and the proof of their consents. */

import { expect, test } from "bun:test";
import { recordSectionParts } from "../../../src/http/record-page.ts";
import { dataExportTexts } from "../../../src/render/data-export-texts.ts";
import { textsIn } from "../../../src/render/language.ts";
import { listAt, stringAt, valueAt } from "../../support/json.ts";
import { mailingOf } from "../../support/mailing.ts";
import { projectPerTest } from "../../support/project-per-test.ts";

const projects = projectPerTest();

async function person() {
  const mailing = mailingOf(await projects.next());
  const { t, send, submit } = mailing;
  const letter = await send({ to: "ada@example.net" });
  await t.call("POST", "/v1/track", {
    event: "bought",
    email: "ada@example.net",
    data: { note: "<b>&" },
  });
  await submit(letter.unsubscribe, "action=unsubscribe");
  const id = (await t.call("GET", "/contacts?search=ada@example.net")).text("contacts.0.id");
  return { ...mailing, id, letter };
}

test("the JSON has the contact, its consents, mails with bodies, and events, and is equal twice", async () => {
  const { t, id, letter } = await person();
  const answer = await t.call("GET", `/contacts/${id}/export`);
  expect(answer.status).toBe(200);
  const { body } = answer;
  expect(stringAt(body, "contact.email")).toBe("ada@example.net");
  expect(stringAt(body, "mails.0.id")).toBe(letter.id);
  expect(stringAt(body, "mails.0.body.html")).toContain("Hello");
  expect(listAt(body, "consents").map((consent) => valueAt(consent, "source.type"))).toEqual([
    "API",
    "UNSUBSCRIBE_LINK",
  ]);
  expect(listAt(body, "events").map((event) => valueAt(event, "name"))).toContain("bought");
  expect((await t.call("GET", `/contacts/${id}/export`)).body).toEqual(body);
});

test("the page is made row by row, so that other requests are served meanwhile", () => {
  let made = 0;
  function* rows() {
    while (made < 1_000) yield [`row ${++made}`];
  }
  const section = { title: "Events", columns: ["Name"], rows: rows(), nothing: "None." };
  const parts = recordSectionParts(section);
  let html = "";
  for (const part of parts) {
    html += part;
    expect(part.split("<td>").length - 1).toBeLessThanOrEqual(1);
    if (made === 10) break;
  }
  expect(made).toBe(10);
  expect(html).toContain("<td>row 9</td>");
});

test("a table of more than two columns repeats its headings in the cells, for narrow screens", () => {
  const [columns, rows] = [["Name", "Time", 'In "quotes"'], [["bought", "now", "<b>"]]];
  const html = [...recordSectionParts({ title: "Events", columns, rows, nothing: "None." })].join(
    "",
  );
  expect(html).toContain(
    '<tr><td data-label="Name">bought</td><td data-label="Time">now</td>' +
      '<td data-label="In &quot;quotes&quot;">&lt;b&gt;</td></tr>',
  );
});

test("names the private topics of the person, and not those of others", async () => {
  const { t, id } = await person();
  await t.create("/topics", { name: "Offers", visibility: "PUBLIC" }, "data.id");
  await t.create("/topics", { name: "Press", visibility: "PRIVATE" }, "data.id");
  const topicId = await t.create("/topics", { name: "Staff", visibility: "PRIVATE" }, "data.id");
  await t.call("PUT", `/contacts/${id}/topics`, { topics: [{ topicId, subscribed: true }] });
  const { body } = await t.call("GET", `/contacts/${id}/export`);
  const names = listAt(body, "topics").map((topic) => stringAt(topic, "topic"));
  expect(names.toSorted()).toEqual(["Offers", "Staff"]);
});

test("the page escapes the text that the person wrote", async () => {
  const { t, id } = await person();
  const page = await t.call("GET", `/contacts/${id}/export?format=html`);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page.text("")).toContain("<h1>Data stored about ada@example.net</h1>");
  expect(page.text("")).toContain("&lt;b&gt;&amp;");
  expect(page.text("")).not.toContain("<b>");
});

/** The page of a contact with this language, and its labels: the headings of all tables and rows. */
async function pageIn(language: string) {
  const { t, id } = await person();
  await t.create("/topics", { name: "Offers", visibility: "PUBLIC" }, "data.id");
  await t.call("POST", "/v1/track", { event: "left", email: "ada@example.net", subscribed: true });
  await t.call("PATCH", `/contacts/${id}`, { data: { language } });
  const html = (await t.call("GET", `/contacts/${id}/export?format=html`)).text("");
  const inTags = [...html.matchAll(/<(?:h1|h2|th|p)>([^<]+)<|<tr><td>([^<]+)</g)];
  return { html, labels: inTags.map(([, heading, first]) => heading ?? first ?? "") };
}

test.each([
  ["de", "Gespeicherte Daten zu ada@example.net", /^\d{1,2}\. \p{L}+ \d{4} um \d\d:\d\d:\d\d$/u],
  ["ja", "ada@example.net に関する保存データ", /^\d{4}年\d{1,2}月\d{1,2}日 \d{1,2}:\d\d:\d\d$/],
])("the page of a person who reads %s is in that language", async (language, title, time) => {
  const { html, labels } = await pageIn(language);
  expect(html).toContain(`<html lang="${language}">`);
  expect(html).toContain(`<title>${title}</title>`);
  const cells = [...html.matchAll(/<td[^>]*>([^<]*)</g)].map(([, cell]) => cell ?? "");
  expect(cells.filter((cell) => time.test(cell)).length).toBeGreaterThan(5);
  expect(cells.filter((cell) => /^\d{4}-\d\d-\d\dT/.test(cell))).toEqual([]);
  expect(cells).not.toContain("true");
  const english = textsIn("en");
  if (english === null) throw new Error("no English texts");
  const { sections, fields, ...rest } = dataExportTexts(english);
  const shared = new Set(["Name", "Status", "Segment", "Text"]);
  const words = [...Object.values(sections), ...Object.values(fields), ...Object.values(rest)];
  const left = new Set([...words, ...Object.keys(fields)].filter((word) => !shared.has(word)));
  expect(labels.filter((label) => left.has(label))).toEqual([]);
});

test("a contact without a language gets the page in the language of the project", async () => {
  const { t, id } = await person();
  t.db.sqlite.run("UPDATE projects SET language = 'fr-CA' WHERE seq = ?", [t.project.seq]);
  const page = await t.call("GET", `/contacts/${id}/export?format=html`);
  expect(page.text("")).toContain('<html lang="fr">');
});

test("the proof shows each wording once, with its digest", async () => {
  const { t, id, submit, letter } = await person();
  await submit(letter.subscribe, "action=subscribe");
  await submit(letter.unsubscribe, "action=unsubscribe");
  const listed = await t.call("GET", `/contacts/${id}/consents`);
  expect(listed.at("data.total")).toBe(4);
  const digest = listed.text("data.items.0.wording.digest");
  const page = (await t.call("GET", `/contacts/${id}/consents/proof`)).text("");
  expect(page.split(`<td>${digest}</td><td>`)).toHaveLength(2);
  const json = await t.call("GET", `/contacts/${id}/consents/proof?format=json`);
  expect(json.text("consents.3.wording.digest")).toBe(digest);
  const csv = (await t.call("GET", "/consents/export")).text("");
  expect(csv.split("\r\n")[1]).toContain("GIVEN");
  const headers = { authorization: `Bearer ${t.secretKey}` };
  const url = "http://localhost/consents/export?format=ndjson";
  const file = await (await t.app.handle(new Request(url, { headers }))).text();
  expect(file.trim().split("\n")).toHaveLength(4);
});

test("an erased person who had left is not subscribed again by the owner, but by themselves", async () => {
  const { t, id, letter, submit } = await person();
  const erasure = await t.call("POST", `/contacts/${id}/erasure`);
  expect(erasure.at("data.standing")).toBe("UNSUBSCRIBED");
  const again = { email: "ada@example.net", subscribed: true };
  expect((await t.call("POST", "/contacts", again)).at("subscribed")).toBe(false);
  const created = (await t.call("GET", "/contacts?search=ada@example.net")).text("contacts.0.id");
  const patched = await t.call("PATCH", `/contacts/${created}`, { subscribed: true });
  expect(patched.at("subscribed")).toBe(false);
  // The link of an old mail leads nowhere, because its recipient is gone.
  await submit(letter.subscribe, "action=subscribe");
  expect((await t.call("GET", `/contacts/${created}`)).at("subscribed")).toBe(false);
  expect((await t.call("DELETE", "/suppressions/ada@example.net")).status).toBe(204);
  const lifted = await t.call("PATCH", `/contacts/${created}`, { subscribed: true });
  expect(lifted.at("subscribed")).toBe(true);
});

test("an erased address that was suppressed gets no mail", async () => {
  const { t, id } = await person();
  await t.call("POST", "/suppressions", { email: "ada@example.net" });
  expect((await t.call("POST", `/contacts/${id}/erasure`)).at("data.standing")).toBe("MANUAL");
  expect((await t.call("GET", "/suppressions")).at("data.total")).toBe(0);
  const mail = { to: "ada@example.net", from: "news@acme.test", subject: "Hi", body: "<p>Hi</p>" };
  const sent = (await t.call("POST", "/v1/send", mail)).text("emails.0.email");
  expect((await t.call("GET", `/emails/${sent}`)).text("data.status")).toBe("SUPPRESSED");
});

test("an owner suppresses an erased address as any other", async () => {
  const { t, id } = await person();
  await t.call("POST", `/contacts/${id}/erasure`);
  const added = await t.call("POST", "/suppressions", { email: "ada@example.net" });
  expect([added.status, added.text("data.reason")]).toEqual([201, "MANUAL"]);
});

test("an address that the project sends with is not erased", async () => {
  const { t } = await person();
  t.db.sqlite.run("UPDATE projects SET from_address = 'News@acme.test' WHERE seq = ?", [
    t.project.seq,
  ]);
  const refused = await t.call("POST", "/erasures", { email: "news@acme.test" });
  expect([refused.status, refused.text("error.code")]).toEqual([409, "ADDRESS_IN_USE"]);
  expect(refused.text("error.message")).toContain("the sender of the project");
});
