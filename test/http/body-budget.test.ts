/** Bodies on real sockets: their shares of the memory budget, and the order in which they wait. */

import { afterEach, beforeEach, describe, expect, type Mock, spyOn, test } from "bun:test";
import type { TestApp } from "../support/app.ts";
import { waitUntil, settleEventLoop } from "../support/eventually.ts";
import { projectPerTest } from "../support/project-per-test.ts";
import { type OpenRequest, openRequest, readRaw } from "../support/raw-http.ts";
import { expectError } from "../support/refusal.ts";
import { bodiesOf } from "../../src/http/body.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
/** Size of a large body. One project may hold two of them at the same time. */
const LARGE = 20 * MIB;
/** Share of a body of unknown length before it grows. */
const UNKNOWN = 1.25 * MIB;

let t: TestApp;
let port: number | undefined;
let open: OpenRequest[] = [];
const projects = projectPerTest({ config: { port: 0 } });
/** The collector takes as long as the heap of all tests of this process is large. */
let collect: Mock<typeof Bun.gc>;
beforeEach(async () => {
  collect = spyOn(Bun, "gc").mockImplementation(() => undefined);
  t = await projects.next();
  await t.start();
  port ??= await t.app.listen();
});
afterEach(async () => {
  for (const request of open) request.destroy();
  open = [];
  await waitUntil(() => taken() === 0);
  collect.mockRestore();
});

const taken = () => bodiesOf(t.app.app).takenBytes();

type Head = { path?: string; key?: string; length?: number | "chunked" };

/** Sends the head of a request. */
function begin({ path = "/v1/send", key = t.secretKey, length = LARGE }: Head): OpenRequest {
  const size = length === "chunked" ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`;
  const request = openRequest({
    port: port ?? 0,
    head: [`POST ${path} HTTP/1.1`, `Authorization: Bearer ${key}`, size],
  });
  open.push(request);
  return request;
}

const mail = JSON.stringify({ to: "a@b.co", from: "a@acme.test", subject: "s", body: "b" });
const padded = (size: number) => mail.padEnd(size, " ");
const chunk = (size: number) => `${size.toString(16)}\r\n${" ".repeat(size)}\r\n`;
const statusOf = async (request: OpenRequest) => readRaw(await request.next()).status;

/** Sends a whole request with a small body and resolves to its status. */
async function small(key = t.secretKey): Promise<number> {
  const request = begin({ key, length: mail.length });
  request.write(mail);
  return statusOf(request);
}

test("a body takes a share of its length before it arrives, and returns it with the response", async () => {
  const request = begin({ length: 3 * MIB });
  await waitUntil(() => taken() === 3 * MIB);
  request.write(padded(3 * MIB));
  expect(await statusOf(request)).toBe(200);
  await waitUntil(() => taken() === 0);
});

test("a body of unknown length takes a larger share as it grows", async () => {
  const request = begin({ length: "chunked" });
  request.write(chunk(10));
  await waitUntil(() => taken() === UNKNOWN);
  request.write(chunk(64 * KIB));
  await waitUntil(() => taken() === MIB);
  request.write(chunk(MIB));
  await waitUntil(() => taken() === LARGE);
  request.write(chunk(LARGE - MIB - 64 * KIB - 10));
  request.write(chunk(1));
  expectError(readRaw(await request.next()), { status: 413, code: "PAYLOAD_TOO_LARGE" });
  await waitUntil(() => taken() === 0);
});

test("a body that has grown returns the unused part of its share", async () => {
  const request = begin({ length: "chunked" });
  request.write(chunk(2 * MIB));
  await waitUntil(() => taken() === LARGE);
  request.write("0\r\n\r\n");
  expect(await statusOf(request)).toBe(400);
  expect([t.countRows("emails"), t.countRows("contacts")]).toEqual([0, 0]);
  await waitUntil(() => taken() === 0);
});

test("bodies of unknown length get 503 before those that wait fill more than 32 MiB", async () => {
  for (let i = 0; i < 66 + 25; i++) begin({ length: "chunked" });
  await waitUntil(() => taken() === 66 * UNKNOWN);
  await settleEventLoop();
  expect(await statusOf(begin({ length: "chunked" }))).toBe(503);
});

describe("large bodies that do not arrive", () => {
  test("do not delay small bodies or bodies of other projects", async () => {
    for (let i = 0; i < 4; i++) begin({});
    await waitUntil(() => taken() === 2 * LARGE);
    expect(await small()).toBe(200);
    const other = await t.makeProject("other");
    const large = begin({ key: other.secretKey });
    await waitUntil(() => taken() === 3 * LARGE);
    const from = mail.replace("acme.test", "other.test");
    large.write(from.padEnd(LARGE, " "));
    expect(await statusOf(large)).toBe(200);
  });

  test("do not delay bodies of up to 1 MiB while the next large one waits", async () => {
    const [second, third] = [await t.makeProject("second"), await t.makeProject("third")];
    for (const key of [t.secretKey, t.secretKey, second.secretKey]) begin({ key });
    await waitUntil(() => taken() === 3 * LARGE);
    begin({ key: third.secretKey });
    await settleEventLoop();
    const medium = begin({ length: MIB });
    medium.write(padded(MIB));
    expect(await statusOf(medium)).toBe(200);
  });

  test("get 408 after ten seconds, return their shares, and the connection is closed", async () => {
    const [first, second] = [begin({}), begin({})];
    await waitUntil(() => taken() === 2 * LARGE);
    const third = begin({});
    await settleEventLoop();
    t.clock.advance(10_000);
    for (const request of [first, second]) {
      const answer = readRaw(await request.next());
      expectError(answer, { status: 408, code: "REQUEST_TIMEOUT" });
      expect(answer.headers.get("connection")).toBe("close");
      await request.closed;
    }
    third.write(padded(LARGE));
    expect(await statusOf(third)).toBe(200);
    await waitUntil(() => taken() === 0);
  });

  test("get 408 if they arrive too slowly, and are accepted at 64 KiB per second", async () => {
    const [slow, fast] = [begin({ length: 2 * MIB }), begin({ length: 2 * MIB })];
    await waitUntil(() => taken() === 4 * MIB);
    const text = padded(2 * MIB);
    const sendTo = async (request: OpenRequest, from: number, to: number) => {
      request.write(text.slice(from, to));
      await settleEventLoop();
    };
    for (let second = 0; second < 16; second++) {
      await sendTo(fast, second * 128 * KIB, (second + 1) * 128 * KIB);
      await sendTo(slow, second * 32 * KIB, (second + 1) * 32 * KIB);
      t.clock.advance(1_000);
    }
    expect(await statusOf(fast)).toBe(200);
    for (let second = 16; second < 22; second++) {
      await sendTo(slow, second * 32 * KIB, (second + 1) * 32 * KIB);
      t.clock.advance(1_000);
    }
    expect(await statusOf(slow)).toBe(408);
  });

  test("wait in order, and get 503 with Retry-After if too many wait", async () => {
    begin({});
    begin({});
    await waitUntil(() => taken() === 2 * LARGE);
    const waiting = Array.from({ length: 25 }, () => begin({}));
    await settleEventLoop();
    const refused = readRaw(await begin({}).next());
    expectError(refused, { status: 503, code: "SERVICE_UNAVAILABLE" });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    for (const request of open.slice(0, 2)) request.destroy();
    const firstTwo = waiting.slice(0, 2).map(async (request) => {
      request.write(padded(LARGE));
      return statusOf(request);
    });
    expect(await Promise.all(firstTwo)).toEqual([200, 200]);
  });

  test("get 503 after they have waited for fifteen seconds", async () => {
    const holders = [begin({}), begin({})];
    await waitUntil(() => taken() === 2 * LARGE);
    const late = begin({});
    await settleEventLoop();
    t.clock.advance(8_000);
    // The first two bodies continue to arrive, so no share is returned.
    for (const holder of holders) holder.write(padded(LARGE).slice(0, MIB));
    await settleEventLoop();
    t.clock.advance(7_000);
    expect(await statusOf(late)).toBe(503);
  });

  test("return their shares when their clients disconnect", async () => {
    const [first, second] = [begin({}), begin({})];
    await waitUntil(() => taken() === 2 * LARGE);
    const [third, fourth] = [begin({}), begin({})];
    await settleEventLoop();
    third.destroy();
    await settleEventLoop();
    first.destroy();
    second.destroy();
    await waitUntil(() => taken() === LARGE);
    fourth.write(padded(LARGE));
    expect(await statusOf(fourth)).toBe(200);
  });
});

describe("bodies with a public key", () => {
  const track = { path: "/v1/track", length: 256 * KIB };

  test("do not delay bodies with secret keys or bodies of other projects", async () => {
    for (let i = 0; i < 60; i++) begin({ ...track, key: t.publicKey });
    await waitUntil(() => taken() === 42 * 256 * KIB);
    expect(await small()).toBe(200);
    const other = await t.makeProject("other");
    const event = '{"event":"e","email":"a@b.co"}';
    const request = begin({ path: "/v1/track", key: other.publicKey, length: event.length });
    request.write(event);
    expect(await statusOf(request)).toBe(200);
  });

  test("take one share for all of a body of unknown length", async () => {
    const request = begin({ ...track, length: "chunked", key: t.publicKey });
    await waitUntil(() => taken() === UNKNOWN);
    request.write(chunk(200 * KIB));
    await settleEventLoop();
    expect(taken()).toBe(UNKNOWN);
    request.write(chunk(100 * KIB));
    expect(await statusOf(request)).toBe(413);
  });

  test("of unknown length get 503 before those that wait fill more than 32 MiB", async () => {
    const head = { ...track, length: "chunked", key: t.publicKey } as const;
    for (let i = 0; i < 8 + 25; i++) begin(head);
    await waitUntil(() => taken() === 8 * UNKNOWN);
    await settleEventLoop();
    expect(await statusOf(begin(head))).toBe(503);
  });

  test("get 408 if no byte arrives within five seconds", async () => {
    const request = begin({ ...track, key: t.publicKey });
    await waitUntil(() => taken() === 256 * KIB);
    t.clock.advance(5_000);
    expect(await statusOf(request)).toBe(408);
  });
});

describe("the garbage collector", () => {
  /** Without those that watch the growth of the heap, which are not synchronous. */
  const collections = () => collect.mock.calls.filter(([isSynchronous]) => isSynchronous === true);

  test("does not run for small bodies that could have grown", async () => {
    for (let i = 0; i < 3; i++) {
      const request = begin({ length: "chunked" });
      request.write(`${chunk(70 * KIB)}0\r\n\r\n`);
      expect(await statusOf(request)).toBe(400);
      await waitUntil(() => taken() === 0);
    }
    t.clock.advance(1_000);
    expect(collections()).toEqual([]);
  });

  test("does not run for large bodies that do not arrive", async () => {
    for (let i = 0; i < 3; i++) {
      const request = begin({});
      await waitUntil(() => taken() === LARGE);
      request.destroy();
      await waitUntil(() => taken() === 0);
    }
    t.clock.advance(1_000);
    expect(collections()).toEqual([]);
  });

  test("runs for large bodies that arrived", async () => {
    const request = begin({});
    request.write(padded(LARGE));
    expect(await statusOf(request)).toBe(200);
    await waitUntil(() => taken() === 0);
    t.clock.advance(1_000);
    expect(collections()).toHaveLength(1);
  });
});

describe("data for many recipients", () => {
  const mailTo = (count: number, from: number, dataBytes: number) =>
    JSON.stringify({
      ...JSON.parse(mail),
      to: Array.from({ length: count }, (_, i) => `person-${from + i}@b.co`),
      data: { text: { value: "x".repeat(dataBytes), persistent: false } },
    });
  const send = async (text: string) => {
    const request = begin({ length: text.length });
    request.write(text);
    return readRaw(await request.next());
  };

  test("is copied for one request of a project at a time", async () => {
    const texts = [0, 1, 2].map((i) => mailTo(300, i * 300, 2 * KIB));
    const answers = await Promise.all(texts.map(send));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(t.countRows("emails")).toBe(900);
  });

  test("is refused if all copies together take more than 24 MiB", async () => {
    const answer = await send(mailTo(1000, 0, 25 * KIB));
    const errors = [["data", "too_big"]] as const;
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
    expect(t.countRows("emails")).toBe(0);
    await waitUntil(() => taken() === 0);
  });
});

test("a connection stays usable after a refusal if its body is sent to the end", async () => {
  const length = 30 * MIB;
  const request = begin({ length });
  expect(await statusOf(request)).toBe(413);
  for (let i = 0; i < 30; i++) request.write(" ".repeat(MIB));
  request.write("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
  expect(await statusOf(request)).toBe(200);
});
