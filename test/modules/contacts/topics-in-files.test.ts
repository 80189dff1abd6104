/** Topics in the files of imports and exports: columns `topic:KEY`. */

import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";
import { runImport, upload } from "./upload.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
  await t.create("/topics", { name: "News", key: "news", default: "SUBSCRIBED" }, "data.id");
  await t.create("/topics", { name: "Offers", key: "offers", default: "UNSUBSCRIBED" }, "data.id");
});

const exportContacts = async (query = "") => {
  const headers = { authorization: `Bearer ${t.secretKey}` };
  const url = `http://localhost/contacts/export${query}`;
  return (await t.app.handle(new Request(url, { headers }))).text();
};

/** The topics of each contact, as an export shows them. */
const exported = async () => (await exportContacts()).trim().split("\r\n").slice(1);

const events = () =>
  t.db.sqlite
    .query<{ name: string }, [number]>(
      "SELECT name FROM events WHERE project_seq = ? AND name LIKE 'contact.topic%' ORDER BY seq",
    )
    .all(t.project.seq)
    .map(({ name }) => name);

test("an export has a column for each topic, by choice or default, and its import restores them", async () => {
  const file = "email,topic:news,topic:offers\nada@x.io,no,yes\nbob@x.io,,\ncyd@x.io,1,0\n";
  const progress = await runImport(t, file);
  expect(progress.at("data")).toMatchObject({ created: 3, topicsJoined: 1, topicsLeft: 1 });
  expect(events().toSorted()).toEqual(["contact.topic_subscribed", "contact.topic_unsubscribed"]);
  const csv = await exportContacts();
  expect(csv).toBe(
    "email,subscribed,topic:news,topic:offers\r\n" +
      "ada@x.io,true,false,true\r\nbob@x.io,true,true,false\r\ncyd@x.io,true,true,false\r\n",
  );
  const lines = (await exportContacts("?format=ndjson")).trim().split("\n");
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ topics: { news: false, offers: true } });
  const again = await runImport(t, csv);
  expect(again.at("data")).toMatchObject({ unchanged: 3, topicsJoined: 0, topicsLeft: 0 });
  expect(await exportContacts()).toBe(csv);
});

test("each choice of a file is in the ledger of consents, with the import as its source", async () => {
  const progress = await runImport(t, "email,Gets offers\nada@x.io,yes\n", {
    fields: { mapping: '{"Gets offers": "topic:offers"}' },
  });
  const { body } = await t.call("GET", "/contacts");
  const id = JSON.stringify(body).match(/"id":"([^"]+)"/)?.[1] ?? "";
  const consents = await t.call("GET", `/contacts/${id}/consents`);
  expect(consents.at("data.items")).toContainEqual(
    expect.objectContaining({
      kind: "GIVEN",
      topic: expect.objectContaining({ name: "Offers" }),
      source: { type: "IMPORT", id: progress.text("data.id") },
    }),
  );
  expect(progress.at("data.columns.1")).toMatchObject({ field: "topic:offers", type: null });
});

describe("a person who", () => {
  const LEFT = "email,topic:offers\nada@x.io,no\n";
  const JOINS = "email,topic:offers\nada@x.io,yes\n";

  test("left a topic joins it only if the import says so, and a dry run shows the result", async () => {
    await runImport(t, LEFT);
    for (const dryRun of ["true", "false"]) {
      const kept = await runImport(t, JOINS, { fields: { dryRun } });
      expect(kept.at("data")).toMatchObject({ keptOutOfTopics: 1, topicsJoined: 0, unchanged: 1 });
      expect(await exported()).toEqual(["ada@x.io,true,true,false"]);
    }
    const fields = { resubscribe: "true" };
    const tried = await runImport(t, JOINS, { fields: { ...fields, dryRun: "true" } });
    expect(tried.at("data")).toMatchObject({ topicsJoined: 1, unchanged: 0 });
    const joined = await runImport(t, JOINS, { fields });
    expect(joined.at("data")).toMatchObject({ topicsJoined: 1, unchanged: 0 });
    expect(await exported()).toEqual(["ada@x.io,true,true,true"]);
  });

  test("is not subscribed joins no topic, and may leave one", async () => {
    await t.create("/contacts", { email: "ada@x.io", subscribed: false }, "id");
    const file = "email,topic:news,topic:offers\nada@x.io,no,yes\n";
    const counts = { keptOutOfTopics: 1, topicsLeft: 1, topicsJoined: 0 };
    const tried = await runImport(t, file, { fields: { dryRun: "true" } });
    expect(tried.at("data")).toMatchObject(counts);
    expect((await runImport(t, file)).at("data")).toMatchObject(counts);
    expect(await exported()).toEqual(["ada@x.io,false,false,false"]);
  });

  test("has several rows gets their choices in their order, in a dry run as well", async () => {
    const file = "email,topic:offers\nada@x.io,yes\nada@x.io,no\nada@x.io,yes\n";
    const counts = { topicsJoined: 1, topicsLeft: 1, keptOutOfTopics: 1 };
    const tried = await runImport(t, file, { fields: { dryRun: "true" } });
    expect(tried.at("data")).toMatchObject(counts);
    expect((await runImport(t, file)).at("data")).toMatchObject(counts);
  });
});

test("a value that is neither yes nor no fails its row and changes nothing of it", async () => {
  const progress = await runImport(t, "email,topic:news\nada@x.io,maybe\nbob@x.io,yes\n");
  expect(progress.at("data")).toMatchObject({ created: 1, failed: 1 });
  expect(progress.text("data.errors.0.message")).toBe(
    "topic:news must be true, 1, yes, false, 0 or no.",
  );
});

test("an unknown topic, and two columns for one, refuse the file, and a dry run says so", async () => {
  const file = "email,topic:sport\nada@x.io,yes\n";
  const refused = await upload(t, file);
  expectError(refused, {
    status: 422,
    code: "VALIDATION_ERROR",
    errors: [["file", "unknown_reference"]],
  });
  expect(refused.text("error.errors.0.message")).toContain("no topic with this key");
  const tried = await runImport(t, file, { fields: { dryRun: "true" } });
  expect(tried.text("data.problems.0.message")).toContain("the topic sport");
  const twice = await upload(t, "email,topic:news,N\nada@x.io,yes,no\n", {
    fields: { mapping: '{"N": "topic:news"}' },
  });
  expect(twice.text("error.errors.0.message")).toContain("two columns that mean topic:news");
  expect(await exported()).toEqual([]);
});

test("a key of the data that looks like a column of a topic stays a key of the data", async () => {
  await t.create("/contacts", { email: "ada@x.io", data: { "topic:news": "a" } }, "id");
  expect(await exportContacts()).toContain("data.topic:news");
});
