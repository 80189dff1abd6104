/** Behaviour that needs a server with a real socket. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { BODY_LIMITS } from "../../src/http/body-limits.ts";
import { readResponse, type TestApp, testApp } from "../support/app.ts";
import { waitUntil } from "../support/eventually.ts";
import { rawRequest, readRaw } from "../support/raw-http.ts";
import { expectError } from "../support/refusal.ts";

let t: TestApp;
let port: number;
let url: string;
beforeAll(async () => {
  t = await testApp({ config: { port: 0 } });
  await t.app.start();
  port = await t.app.listen();
  url = `http://127.0.0.1:${port}`;
});
afterAll(() => t.close());

const MIB = 1024 * 1024;
/** Body limit of a contact. */
const LIMIT_BYTES = BODY_LIMITS.data.bytes;
const headers = () => ({
  authorization: `Bearer ${t.secretKey}`,
  "content-type": "application/json",
});
const headLines = () => [
  "POST /contacts HTTP/1.1",
  ...Object.entries(headers()).map((line) => line.join(": ")),
];
const post = async (body: Uint8Array | ReadableStream) =>
  readResponse(await fetch(`${url}/contacts`, { method: "POST", headers: headers(), body }));

function* chunked(count: number): Generator<Uint8Array | string> {
  const piece = new Uint8Array(MIB).fill(0x20);
  for (let i = 0; i < count; i++) {
    yield `${MIB.toString(16)}\r\n`;
    yield piece;
    yield "\r\n";
  }
  yield "0\r\n\r\n";
}

function stream(count: number): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      if (sent++ === count) controller.close();
      else controller.enqueue(new Uint8Array(MIB).fill(0x20));
    },
  });
}

describe("a body above the limit of its route gets a structured 413", () => {
  const tooLarge = { status: 413, code: "PAYLOAD_TOO_LARGE" };

  test("fetched with a length", async () => {
    for (const size of [LIMIT_BYTES + 1, 45 * MIB]) {
      expectError(await post(new Uint8Array(size)), tooLarge);
    }
  });

  test("fetched in chunks", async () => {
    for (const count of [21, 45]) expectError(await post(stream(count)), tooLarge);
  });

  test("announced on a socket and never sent", async () => {
    for (const length of [LIMIT_BYTES + 1, 45 * MIB, 99_999_999_999]) {
      const answer = await rawRequest({
        port,
        head: [...headLines(), `Content-Length: ${length}`],
      });
      expectError(readRaw(answer), tooLarge);
    }
  });

  test("sent in chunks on a socket", async () => {
    const head = [...headLines(), "Transfer-Encoding: chunked"];
    expectError(readRaw(await rawRequest({ port, head, body: chunked(45) })), tooLarge);
  });

  test("and nothing is stored, and the server continues", async () => {
    expect(t.countRows("contacts")).toBe(0);
    const body = new Uint8Array(LIMIT_BYTES).fill(0x20);
    body.set(new TextEncoder().encode('{"email":"big@example.com"}'));
    expect((await post(body)).status).toBe(201);
  });
});

test("the body of a request without a key is not read", async () => {
  t.clock.advance(60_000);
  const head = ["POST /contacts HTTP/1.1", "Transfer-Encoding: chunked"];
  const answer = readRaw(await rawRequest({ port, head, body: chunked(45) }));
  expectError(answer, { status: 401, code: "MISSING_AUTH" });
});

test("failed authentication is limited per address, without effect on other clients", async () => {
  t.clock.advance(60_000);
  const guess = async (localAddress: string) => {
    const head = ["GET /contacts HTTP/1.1", "Authorization: Bearer sk_guess"];
    return readRaw(await rawRequest({ port, head, localAddress })).status;
  };
  for (let i = 0; i < 20; i++) expect(await guess("127.0.0.1")).toBe(401);
  expect(await guess("127.0.0.1")).toBe(429);
  expect(await guess("127.0.0.2")).toBe(401);
  expect((await fetch(`${url}/contacts`, { headers: headers() })).status).toBe(200);
});

test("a stop answers the requests under way, and refuses new ones", async () => {
  const own = await testApp({ config: { port: 0 } });
  await own.app.start();
  const ownUrl = `http://127.0.0.1:${await own.app.listen()}`;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  async function* body() {
    yield '{"email":';
    await released;
    yield '"last@example.com"}';
  }
  const answer = fetch(`${ownUrl}/contacts`, {
    method: "POST",
    headers: { authorization: `Bearer ${own.secretKey}` },
    body: new Response(body()).body,
  });
  await waitUntil(() => (own.app.http.server?.pendingRequests ?? 0) > 0);
  const stopped = own.app.stop().then(() => own.countRows("contacts"));
  release();
  expect((await answer).status).toBe(201);
  expect(await stopped).toBe(1);
  const refusal = await fetch(`${ownUrl}/livez`).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(Error);
});
