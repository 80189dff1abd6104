/**
 * Clients that disconnect, and bytes that are not HTTP: nothing is stored, and no error is logged.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createLog } from "../../src/lib/log.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { waitUntil, settleEventLoop } from "../support/eventually.ts";
import { type OpenRequest, openRequest } from "../support/raw-http.ts";
import { bodiesOf } from "../../src/http/body.ts";

let t: TestApp;
let port: number;
let lines: string[] = [];
beforeAll(async () => {
  const log = createLog({ level: "debug", format: "json", write: (line) => lines.push(line) });
  t = await testApp({ config: { port: 0 }, log });
  await t.app.start();
  port = await t.app.listen();
});
beforeEach(() => {
  lines = [];
});
afterAll(() => t.close());

const MIB = 1024 * 1024;
const pendingRequests = () => t.app.http.server?.pendingRequests ?? 0;
const requestLines = () => lines.filter((line) => line.includes('"message":"request"'));

/**
 * Expects only `debug` lines without a stack in the log, no stored rows, and no share of the
 * budget.
 */
async function expectQuiet(before: Record<string, unknown[]>): Promise<void> {
  await waitUntil(() => pendingRequests() === 0 && bodiesOf(t.app.app).takenBytes() === 0);
  await settleEventLoop();
  expect(lines.filter((line) => !/"level":"debug"|"event loop held"/.test(line))).toEqual([]);
  expect(lines.filter((line) => /\bat .*:\d+|[Ee]rror/.test(line))).toEqual([]);
  expect(t.contents()).toEqual(before);
}

type Target = { name: string; head: () => string[] };
const authorization = () => `Authorization: Bearer ${t.secretKey}`;
const multipart = "Content-Type: multipart/form-data; boundary=x";
const targets: Target[] = [
  { name: "POST /v1/send", head: () => ["POST /v1/send HTTP/1.1", authorization()] },
  { name: "POST /v1/track", head: () => ["POST /v1/track HTTP/1.1", authorization()] },
  { name: "PATCH /contacts/1", head: () => ["PATCH /contacts/1 HTTP/1.1", authorization()] },
  {
    name: "POST /campaigns/1/cancel",
    head: () => ["POST /campaigns/1/cancel HTTP/1.1", authorization()],
  },
  {
    name: "POST /contacts/import",
    head: () => ["POST /contacts/import HTTP/1.1", authorization(), multipart],
  },
];

const part =
  '--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nemail\r\na@b.co\r\n';

/** Resolves when the server has started to handle the request. */
async function begin(head: string[], first: string): Promise<OpenRequest> {
  const request = openRequest({ port, head });
  request.write(first);
  await waitUntil(() => pendingRequests() > 0 || requestLines().length > 0);
  await settleEventLoop();
  return request;
}

describe("a client that disconnects within the body", () => {
  for (const { name, head } of targets) {
    const beginning = name.endsWith("import") ? part : '{"email":"a@b.co",';
    const cases: [name: string, headers: string[], first: string][] = [
      ["of a small body", ["Content-Length: 1000"], beginning],
      ["of a large body", [`Content-Length: ${MIB / 8}`], beginning],
      ["before its first byte", ["Content-Length: 1000"], ""],
      [
        "in chunks",
        ["Transfer-Encoding: chunked"],
        `${beginning.length.toString(16)}\r\n${beginning}\r\n`,
      ],
    ];
    for (const [when, headers, first] of cases) {
      test(`${name}, ${when}`, async () => {
        const before = t.contents();
        const request = await begin([...head(), ...headers], first);
        request.destroy();
        await expectQuiet(before);
      });
    }
  }

  test("of a form on a page for recipients", async () => {
    const before = t.contents();
    const request = await begin(
      ["POST /unsubscribe/unknown HTTP/1.1", "Content-Length: 100"],
      "action=",
    );
    request.destroy();
    await expectQuiet(before);
  });

  test("while it waits for the budget", async () => {
    const before = t.contents();
    const head = ["POST /v1/send HTTP/1.1", authorization(), `Content-Length: ${20 * MIB}`];
    const requests = [1, 2, 3].map(() => openRequest({ port, head }));
    await waitUntil(() => pendingRequests() === 3);
    for (const request of requests.toReversed()) request.destroy();
    await expectQuiet(before);
  });
});

describe("a malformed chunk", () => {
  const chunks = [
    "ZZ\r\nhello\r\n",
    "5\r\nhelloworld\r\n",
    "FFFFFFFFFFFFFFFFFF\r\nhello",
    "-1\r\nhello\r\n",
    "0x5\r\nhello\r\n",
    "5\nhello\n0\n\n",
  ];
  for (const { name, head } of targets) {
    for (const chunk of chunks) {
      test(`${name}, ${JSON.stringify(chunk)}`, async () => {
        const before = t.contents();
        const request = openRequest({ port, head: [...head(), "Transfer-Encoding: chunked"] });
        request.write(`1\r\n${name.endsWith("import") ? "-" : "{"}\r\n`);
        await settleEventLoop();
        request.write(chunk);
        expect(await request.next()).toStartWith("HTTP/1.1 400");
        await request.closed;
        await expectQuiet(before);
      });
    }
  }
});

/** Resolves when the server has answered requests that came later. */
async function answerOthers(): Promise<void> {
  for (let i = 0; i < 3; i++) await (await fetch(`http://127.0.0.1:${port}/livez`)).text();
}

describe("an invalid request", () => {
  const greeting = (line: string, ...headers: string[]) =>
    `${[line, "Host: localhost", ...headers].join("\r\n")}\r\n\r\n`;
  const cases: [name: string, bytes: string][] = [
    ["TLS", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000garbage\r\n\r\n"],
    ["SMTP", "EHLO sender.example\r\n\r\n"],
    ["a header that is far too long", greeting("GET /livez HTTP/1.1", `X: ${"x".repeat(200_000)}`)],
    ["many headers", greeting("GET /livez HTTP/1.1", ...Array<string>(500).fill("X: 1"))],
    ["two lengths", greeting("POST /v1/send HTTP/1.1", "Content-Length: 3", "Content-Length: 4")],
    [
      "a length and chunks",
      greeting("POST /v1/send HTTP/1.1", "Content-Length: 3", "Transfer-Encoding: chunked"),
    ],
    ["a negative length", greeting("POST /v1/send HTTP/1.1", "Content-Length: -3")],
    ["an unknown transfer coding", greeting("POST /v1/send HTTP/1.1", "Transfer-Encoding: x")],
    ["an unknown HTTP version", greeting("GET /livez HTTP/4.0")],
    ["no version", "GET /livez\r\n\r\n"],
    ["a header without a colon", greeting("GET /livez HTTP/1.1", "nonsense")],
    ["a NUL in a header", greeting("GET /livez HTTP/1.1", "X: a\u0000b")],
    ["a hundred thousand line breaks", "\r\n".repeat(100_000)],
  ];
  for (const [name, bytes] of cases) {
    test(`with ${name} is refused, and the server continues`, async () => {
      const before = t.contents();
      const request = openRequest({ port, head: null });
      request.write(bytes);
      const answer = await Promise.race([request.next(), answerOthers().then(() => "silent")]);
      expect(answer).not.toMatch(/^HTTP\/1.1 (?:2|5(?!05))/);
      request.destroy();
      await expectQuiet(before);
      expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
    });
  }
});

describe("the Host header", () => {
  const cases: [hosts: string[], status: number][] = [
    [["Host: a.example", "Host: b.example"], 400],
    [["Host: a.example", "Host: a.example"], 400],
    [["Host: a.example", "X: 1", "host: b.example"], 400],
    [["Host: a.example, b.example"], 400],
    [[], 400],
    [["Host: a.example"], 200],
    [["Host: a.example:3000"], 200],
    [["Host: [::1]:3000"], 200],
    [["Host: a"], 200],
    [["Host: ab"], 200],
    [["Host: abc"], 200],
    [["Host:"], 400],
    [["Host: a?b"], 400],
    [["Host: a/b"], 400],
  ];
  for (const [hosts, status] of cases) {
    test(`${JSON.stringify(hosts)} is ${status}`, async () => {
      const request = openRequest({ port, head: null });
      request.write(["GET /livez HTTP/1.1", ...hosts, "", ""].join("\r\n"));
      expect(await request.next()).toStartWith(`HTTP/1.1 ${status}`);
      request.destroy();
      await expectQuiet(t.contents());
    });
  }

  test("is not needed in HTTP/1.0, which health checks of proxies use", async () => {
    const request = openRequest({ port, head: null });
    request.write("GET /livez HTTP/1.0\r\n\r\n");
    expect(await request.next()).toStartWith("HTTP/1.1 200");
    request.destroy();
  });

  test.each(["Host: a", "Host: abc", "Host:", "Host: a?b"])("%j moves no path", async (host) => {
    const request = openRequest({ port, head: null });
    request.write(["GET /contacts/livez HTTP/1.1", host, "", ""].join("\r\n"));
    expect(await request.next()).toMatch(/^HTTP\/1\.1 40[01]/);
    request.destroy();
  });
});
