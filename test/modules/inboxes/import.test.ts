/** `POST /inboxes/{id}/messages` stores a raw message. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/app.ts";
import { expectError } from "../../support/refusal.ts";

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
  await t.app.start();
});
afterAll(() => t.close());

const MESSAGE = "From: a@example.org\r\nTo: b@example.com\r\nSubject: Kept\r\n\r\nText\r\n";
const PATH = "/inboxes/default/messages";
const post = (raw: string | ReadableStream, path = PATH, key?: null) =>
  t.call("POST", path, undefined, {
    raw,
    headers: { "content-type": "message/rfc822" },
    ...(key === undefined ? {} : { key }),
  });

function streamOf(pieces: Uint8Array[]): ReadableStream {
  const rest = [...pieces];
  return new ReadableStream({
    pull(controller) {
      const piece = rest.shift();
      if (piece === undefined) controller.close();
      else controller.enqueue(piece);
    },
  });
}

test("answers 201 with the id, and the message is listed and kept byte for byte", async () => {
  const answer = await post(MESSAGE);
  expect(answer.status).toBe(201);
  const id = answer.text("data.id");
  const listed = await t.call("GET", `${PATH}/latest`);
  expect([listed.at("data.id"), listed.at("data.subject")]).toEqual([id, "Kept"]);
  expect((await t.call("GET", `${PATH}/${id}/raw`)).body).toBe(MESSAGE);
});

test("stores a message of several MiB that arrives in pieces", async () => {
  const line = `${"x".repeat(998)}\r\n`.repeat(1024);
  const raw = streamOf([MESSAGE, line, line, line].map((text) => Buffer.from(text)));
  const id = (await post(raw)).text("data.id");
  const listed = await t.call("GET", `${PATH}/${id}`);
  expect(listed.at("data.size")).toBe(MESSAGE.length + 3 * line.length);
});

describe("refuses", () => {
  test("an empty message", async () => {
    expectError(await post(""), {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [["", "required"]],
    });
  });

  test("a message larger than 50 MiB, of which nothing stays", async () => {
    const mebibyte = Buffer.alloc(1024 * 1024, "x");
    const before = (await t.call("GET", PATH)).at("data.total");
    const raw = streamOf(Array.from({ length: 51 }, () => mebibyte));
    expect((await post(raw)).status).toBe(413);
    expect((await t.call("GET", PATH)).at("data.total")).toBe(before);
    const rows = t.db.sqlite.query("SELECT 1 FROM inbox_messages WHERE state = 'ARRIVING'").all();
    expect(rows).toEqual([]);
  });
});
