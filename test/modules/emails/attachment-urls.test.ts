/** Attachments that are fetched from a URL (docs/interface.md#send). */

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { simpleParser } from "mailparser";
import { createFetchGuarded } from "../../../src/protocols/fetch-guarded/fetch-guarded.ts";
import type { TestApp } from "../../support/app.ts";
import { FAILING_DNS } from "../../support/dns.ts";
import { listAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";
import { startWebServer, type WebServer } from "../../support/web-server.ts";

const MIB = 1024 * 1024;
const MAIL = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };

/** The address of the test server is the only public one. */
const projects = projectPerTest({
  fetchGuarded: createFetchGuarded({
    dns: FAILING_DNS,
    allowPrivateAddresses: false,
    isPublic: (address) => address === "127.0.0.1",
  }),
});
let server: WebServer;
let t: TestApp;
beforeAll(async () => {
  server = await startWebServer();
});
afterAll(() => server.close());
beforeEach(async () => {
  t = await projects.next();
  server.answer = ({ path }) => ({ body: `file ${path}` });
});

const send = (attachments: unknown, fields: object = {}) =>
  t.call("POST", "/v1/send", { ...MAIL, attachments, ...fields });

const refuse = async (attachments: unknown, field: string, code: string): Promise<void> => {
  expectError(await send(attachments), {
    status: 422,
    code: "VALIDATION_ERROR",
    errors: [[field, code]],
  });
  expect([t.countRows("emails"), t.countRows("messages")]).toEqual([0, 0]);
};

test("a file is read before the mail is accepted, beside files of the request", async () => {
  const answer = await send([
    { filename: "a.txt", content: "QQ==" },
    { filename: "b.pdf", url: `${server.origin}/b` },
    { filename: "c.png", url: `${server.origin}/c`, contentId: "c", disposition: "inline" },
  ]);
  expect(answer.status).toBe(200);
  server.answer = () => ({ status: 500 });
  await t.deliver();
  const raw = await t.call("GET", `/emails/${answer.text("emails.0.email")}/raw`);
  const mail = await simpleParser(String(raw.body));
  const files = mail.attachments.map(({ filename, contentType, content }) => [
    filename,
    contentType,
    content.toString(),
  ]);
  expect(files).toEqual(
    expect.arrayContaining([
      ["a.txt", "text/plain", "A"],
      ["b.pdf", "application/pdf", "file /b"],
      ["c.png", "image/png", "file /c"],
    ]),
  );
});

test("a request that is repeated with its key reads nothing again", async () => {
  let reads = 0;
  server.answer = () => ({ body: String(++reads) });
  const attachments = [{ filename: "a.txt", url: `${server.origin}/a` }];
  const headers = { "Idempotency-Key": "file-1" };
  const body = { ...MAIL, attachments };
  const first = await t.call("POST", "/v1/send", body, { headers });
  const second = await t.call("POST", "/v1/send", body, { headers });
  expect([second.body, reads]).toEqual([first.body, 1]);
});

test("all files together have at most 10 MiB", async () => {
  const content = Buffer.alloc(6 * MIB).toString("base64");
  server.answer = ({ path }) => ({ body: new Uint8Array((path === "/4" ? 4 : 5) * MIB) });
  const files = (path: string) => [
    { filename: "a.bin", content },
    { filename: "b.bin", url: `${server.origin}${path}` },
  ];
  await refuse(files("/5"), "attachments.1.url", "too_big");
  expect((await send(files("/4"))).status).toBe(200);
});

test("a server that does not answer 200, or not at all, is named", async () => {
  server.answer = () => ({ status: 404 });
  const url = `${server.origin}/none`;
  await refuse([{ filename: "a", url }], "attachments.0.url", "invalid_value");
  const answer = await send([{ filename: "a", url }]);
  expect(answer.text("error.message")).toContain("the server answered 404");
  const closed = await startWebServer();
  await closed.close();
  await refuse([{ filename: "a", url: closed.origin }], "attachments.0.url", "invalid_value");
});

test("an address that is not public is not asked, also after a redirect", async () => {
  server.requests.length = 0;
  for (const host of ["127.0.0.2", "10.0.0.1", "[::1]", "169.254.169.254", "user:pw@127.0.0.1"]) {
    const url = `http://${host}:${server.port}/x`;
    await refuse([{ filename: "a", url }], "attachments.0.url", "invalid_value");
  }
  for (const url of ["file:///etc/passwd", "ftp://127.0.0.1/x", "x"]) {
    await refuse([{ filename: "a", url }], "attachments.0.url", "invalid_value");
  }
  expect(server.requests).toEqual([]);
  server.answer = () => ({ status: 302, headers: { location: "http://127.0.0.2/secret" } });
  await refuse(
    [{ filename: "a", url: `${server.origin}/x` }],
    "attachments.0.url",
    "invalid_value",
  );
});

test("content and url exclude each other, and one of them is required", async () => {
  const url = `${server.origin}/x`;
  await refuse([{ filename: "a" }], "attachments.0.content", "required");
  await refuse([{ filename: "a", content: "QQ==", url }], "attachments.0.url", "invalid_value");
  await refuse([{ filename: "a", url: 5 }], "attachments.0.url", "invalid_type");
});

test("the files of a batch share a limit", async () => {
  server.answer = () => ({ body: new Uint8Array(9 * MIB) });
  const mail = { ...MAIL, attachments: [{ filename: "a.bin", url: `${server.origin}/x` }] };
  const answer = await t.call("POST", "/v1/send/batch", { mails: [mail, mail, mail] });
  expectError(answer, {
    status: 422,
    code: "VALIDATION_ERROR",
    errors: [["mails.2.attachments.0.url", "too_big"]],
  });
  expect(t.countRows("emails")).toBe(0);
});

test("the version of a template that is sent stays, if the template is changed while a file is read", async () => {
  const fields = { name: "n", subject: "one", body: "<p>x</p>", type: "TRANSACTIONAL" };
  const id = await t.create("/templates", fields, "data.id");
  const change = (subject: string) => t.call("PATCH", `/templates/${id}`, { subject });
  t.clock.advance(5 * 60_000);
  await change("two");
  const changes: Promise<unknown>[] = [];
  server.answer = () => {
    changes.push(change("three"));
    return { body: "x" };
  };
  const { from, to } = MAIL;
  const attachments = [{ filename: "a", url: `${server.origin}/a` }];
  const answer = await t.call("POST", "/v1/send", { from, to, template: id, attachments });
  await Promise.all(changes);
  const versions = listAt((await t.call("GET", `/templates/${id}/versions`)).body, "data.items");
  expect(answer.status).toBe(200);
  expect(versions.map((version) => Object(version).subject)).toEqual(["three", "two", "one"]);
});
