/** GET …/checks: structure and headers, SPF, DKIM and DMARC against a DNS server on loopback, links. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { systemClock } from "../../../src/lib/clock.ts";
import { lint } from "../../../src/checks/lint.ts";
import { signMessage } from "../../../src/protocols/dkim/sign.ts";
import { createDns, type Dns } from "../../../src/protocols/dns/client.ts";
import { FetchRefused } from "../../../src/protocols/fetch-guarded/refusal.ts";
import { startDnsServer, type TestDns } from "../../support/dns-server.ts";
import { longestHoldDuring } from "../../support/eventually.ts";
import { type InboxApp, inboxApp, invalid } from "../../support/inbox.ts";
import { listAt, valueAt } from "../../support/json.ts";
import { expectError } from "../../support/refusal.ts";
import { sendRaw } from "../../support/smtp-client.ts";

const CHECKS = "/inboxes/default/messages/latest/checks";
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const p = publicKey.export({ type: "spki", format: "der" }).toString("base64");

let t: InboxApp;
let server: TestDns;
let dns: Dns;
const asked: string[] = [];
beforeAll(async () => {
  server = await startDnsServer();
  dns = createDns({ servers: [server.server], clock: systemClock });
  t = await inboxApp({
    dns,
    async fetchGuarded(url, { method }) {
      asked.push(`${method} ${url}`);
      if (url.includes("private")) throw new FetchRefused("private_address", "No public address.");
      const status = url.includes("gone")
        ? 410
        : url.includes("get-only") && method === "HEAD"
          ? 405
          : 200;
      return { status, headers: new Headers(), body: new Uint8Array(), isTruncated: false };
    },
  });
  server.records["shop.example"] = {
    TXT: ["v=spf1 ip4:192.0.2.0/24 ip4:8.8.8.8 mx -all"],
    MX: ["10 mx.shop.example"],
  };
  server.records["mx.shop.example"] = { A: ["9.9.9.9"] };
  server.records["s1._domainkey.shop.example"] = {
    TXT: [`v=DKIM1; p=${p}`.match(/.{1,255}/g) ?? []],
  };
  server.records["_dmarc.shop.example"] = { TXT: ["v=DMARC1; p=reject"] };
  // The first check starts the thread of checks, which loads the library for signatures.
  await receive(WHOLE);
  await authentication("ip=8.8.8.8");
});
afterAll(async () => {
  await t.close();
  await server.close();
});
beforeEach(() => void asked.splice(0));

const HEAD = "From: Shop <a@shop.example>\r\nTo: b@example.com\r\nSubject: Hi\r\n";
const WHOLE =
  `${HEAD}Date: Mon, 02 Mar 2026 10:00:00 +0000\r\nMessage-ID: <1@shop.example>\r\n` +
  "MIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\nHi\r\n";

async function receive(message: string | Uint8Array): Promise<void> {
  const client = await t.connect();
  expect(await sendRaw(client, message, { from: "a@shop.example" })).toStartWith("250");
  client.end();
}

async function authentication(query: string) {
  return (await t.call("GET", `${CHECKS}?${query}`)).at("data.authentication");
}

describe("authentication", () => {
  test("a signed message from an allowed address passes", async () => {
    const signer = {
      domain: "shop.example",
      keys: [{ algorithm: "rsa-sha256" as const, selector: "s1", privateKey }],
    };
    await receive(await signMessage(Buffer.from(WHOLE), signer, new Date(systemClock.now())));
    for (const ip of ["8.8.8.8", "9.9.9.9"]) {
      expect(await authentication(`ip=${ip}`)).toMatchObject({
        spf: { result: "pass", domain: "shop.example" },
        dkim: [{ result: "pass", domain: "shop.example" }],
        dmarc: { result: "pass", domain: "shop.example", info: "p=reject" },
      });
    }
  });

  test("an unsigned message from another address fails", async () => {
    await receive(WHOLE);
    expect(await authentication("ip=1.1.1.1")).toMatchObject({
      spf: { result: "fail" },
      dkim: [{ result: "none", domain: null }],
      dmarc: { result: "fail" },
    });
  });

  const signature =
    "DKIM-Signature: v=1; a=rsa-sha256; d=shop.example; s=s1; h=from; bh=a; b=b\r\n";
  const tooMuch: [name: string, fields: string, info: RegExp][] = [
    ["headers of more than 64 KiB", `X-Folded:${" a\r\n".repeat(20_000)}`, /64 KiB/],
    ["more than 10 signatures", signature.repeat(11), /10 signatures/],
  ];
  test.each(tooMuch)(
    "the signatures of a message with %s are not verified",
    async (_, fields, info) => {
      await receive(fields + WHOLE);
      expect(await authentication("ip=8.8.8.8")).toMatchObject({
        spf: { result: "pass" },
        dkim: [{ result: "permerror", info: expect.stringMatching(info) }],
        dmarc: { result: "permerror" },
      });
    },
  );

  test("without a public address SPF is skipped", async () => {
    await receive(WHOLE);
    expect(await authentication("")).toMatchObject({
      spf: { result: "skipped", domain: "shop.example" },
    });
  });

  test("asks no name server if it is not wanted, and the other checks are complete", async () => {
    await receive(WHOLE.replaceAll("shop.example", "broken.example"));
    server.failures["*"] = "timeout";
    const answer = await t.call("GET", `${CHECKS}?authentication=false`);
    delete server.failures["*"];
    expect(answer.at("data.authentication")).toBeNull();
    expect(listAt(answer.body, "data.findings").length).toBeGreaterThan(5);
  });

  test("a failing name server leads to temporary errors, and not to an error of the request", async () => {
    await receive(WHOLE.replaceAll("shop.example", "broken.example"));
    server.failures["*"] = "servfail";
    const answer = await t.call("GET", `${CHECKS}?ip=8.8.8.8`);
    delete server.failures["*"];
    expect(answer.status).toBe(200);
    expect(answer.text("data.authentication.dmarc.result")).not.toBe("pass");
  });
});

describe("links", () => {
  test("are requested only if asked for, each once; GET follows where HEAD is refused", async () => {
    await receive(
      `${HEAD}\r\nhttps://a.example/ok https://a.example/gone https://a.example/get-only ` +
        "http://private.example/ https://a.example/ok",
    );
    expect((await t.call("GET", CHECKS)).at("data.links")).toBeNull();
    expect(asked).toEqual([]);
    const { body } = await t.call("GET", `${CHECKS}?links=true`);
    const links = listAt(body, "data.links").map((link) => [
      valueAt(link, "url"),
      valueAt(link, "status"),
      valueAt(link, "error"),
    ]);
    expect(links).toEqual(
      expect.arrayContaining([
        ["https://a.example/ok", 200, null],
        ["https://a.example/gone", 410, null],
        ["https://a.example/get-only", 200, null],
        ["http://private.example/", null, "No public address."],
      ]),
    );
    expect(asked).toHaveLength(5);
  });
});

describe("findings", () => {
  const whole = [
    ["From", "a@b.co"],
    ["To", "c@d.co"],
    ["Subject", "x"],
    ["Date", "now"],
    ["Message-ID", "<1@b.co>"],
    ["MIME-Version", "1.0"],
  ];
  const LIST = ["List-Unsubscribe", "<https://a.example/u>, <mailto:u@a.example>"];
  const POST = ["List-Unsubscribe-Post", "List-Unsubscribe=One-Click"];
  type Given = {
    text?: string;
    html?: string;
    headers?: string[][];
    raw?: string;
    lf?: boolean;
    localUrl?: string | null;
  };

  function findingOf(
    name: string,
    { text = "Hi", html = "", headers = whole, raw = "", lf = false, localUrl = null }: Given,
  ) {
    const fields = headers.map(([field = "", value = ""]) => ({ name: field, value }));
    const detail = { text, html, headers: fields };
    const found = lint({ detail, raw: Buffer.from(raw), hasBareLf: lf, localUrl });
    return found.find((finding) => finding.name === name);
  }
  const statusOf = (name: string, given: Given) => findingOf(name, given)?.status;

  const cases: [name: string, given: Given, status: "OK" | "WARNING" | "ERROR"][] = [
    ["text-part", {}, "OK"],
    ["text-part", { text: "", html: "<p>x</p>" }, "WARNING"],
    ["text-part", { text: "" }, "ERROR"],
    ["html-size", { html: "x".repeat(102 * 1024) }, "OK"],
    ["html-size", { html: "x".repeat(102 * 1024 + 1) }, "WARNING"],
    ["html-size", { html: "ü".repeat(60 * 1024) }, "WARNING"],
    ["image-texts", {}, "OK"],
    ["image-texts", { html: '<img src="a"><img src="b" alt="">' }, "WARNING"],
    ["image-texts", { html: '<img src="a" alt="A cat">' }, "OK"],
    ["link-schemes", { html: '<a href="https://a.co">a</a><a href="#x">b</a>' }, "OK"],
    ["link-schemes", { html: '<a href=" HTTP://a.co">a</a>' }, "WARNING"],
    ["message-size", { raw: "x".repeat(1_000) }, "OK"],
    ["required-headers", {}, "OK"],
    ["required-headers", { headers: whole.slice(0, 5) }, "WARNING"],
    ["required-headers", { headers: whole.slice(1) }, "ERROR"],
    ["single-headers", {}, "OK"],
    ["single-headers", { headers: [...whole, ["subject", "y"]] }, "ERROR"],
    ["list-unsubscribe", {}, "OK"],
    ["list-unsubscribe", { html: "<a>Unsubscribe</a>" }, "WARNING"],
    ["list-unsubscribe", { headers: [...whole, LIST, POST] }, "OK"],
    ["list-unsubscribe", { headers: [...whole, LIST] }, "WARNING"],
    ["list-unsubscribe", { headers: [...whole, POST] }, "ERROR"],
    [
      "list-unsubscribe",
      { headers: [...whole, ["List-Unsubscribe", "<mailto:u@a.co>"], POST] },
      "WARNING",
    ],
    ["line-length", { raw: `${"x".repeat(998)}\r\ny` }, "OK"],
    ["line-length", { raw: `${"x".repeat(999)}\r\ny` }, "ERROR"],
    ["line-ends", {}, "OK"],
    ["line-ends", { lf: true }, "ERROR"],
    ["header-characters", {}, "OK"],
    ["header-characters", { headers: [...whole, ["X-Name", "Zoë"]] }, "WARNING"],
  ];
  test.each(cases)("%s of %j is %s", (name, given, status) => {
    expect(statusOf(name, given)).toBe(status);
  });

  test("an empty alternative text is named, because it is right for decoration alone", () => {
    const html = '<img src="a" alt=""><img src="b" alt="A cat">';
    expect(findingOf("image-texts", { html })?.message).toContain("empty in 1 of 2 images");
  });

  test("the own links of a server in development are no fault of the mail", () => {
    const localUrl = "http://localhost:3000";
    const own = '<a href="http://localhost:3000/unsubscribe/x">Unsubscribe</a>';
    const other = '<a href="http://localhost:30001/">a</a>';
    expect(statusOf("link-schemes", { html: own, localUrl })).toBe("OK");
    expect(statusOf("link-schemes", { html: own + other, localUrl })).toBe("WARNING");
    expect(statusOf("link-schemes", { html: own })).toBe("WARNING");

    const list = ["List-Unsubscribe", "<http://localhost:3000/unsubscribe/x>"];
    const headers = [...whole, list, POST];
    const { status, message } = findingOf("list-unsubscribe", { headers, localUrl }) ?? {};
    expect([status, message]).toEqual(["OK", expect.stringContaining("--url")]);
    expect(statusOf("list-unsubscribe", { headers })).toBe("WARNING");
    expect(statusOf("list-unsubscribe", { headers: [...whole, list], localUrl })).toBe("WARNING");
  });

  test("are all OK for a whole message, over HTTP", async () => {
    await receive(WHOLE);
    const { body } = await t.call("GET", CHECKS);
    for (const finding of listAt(body, "data.findings")) {
      expect(finding).toMatchObject({ status: "OK" });
    }
  });
});

test("bad input is 422, and an unknown message 404", async () => {
  await receive(WHOLE);
  expectError(await t.call("GET", `${CHECKS}?ip=1.2.3`), invalid("ip", "invalid_format"));
  expectError(await t.call("GET", `${CHECKS}?links=yes`), invalid("links", "invalid_type"));
  expectError(await t.call("GET", CHECKS.replace("latest", "none")), {
    status: 404,
    code: "MESSAGE_NOT_FOUND",
  });
});

test("the event loop goes on while a message is checked and converted", async () => {
  const link = `<p style="color: red; font: bold 12px serif"><a href="http://a.example">a</a></p>\n`;
  await t.mail({ text: "", html: link.repeat(700) });
  await t.caught();
  for (const part of ["checks", "text", "codes"]) {
    const shown = t.call("GET", CHECKS.replace("checks", part));
    expect([part, (await longestHoldDuring(shown)) < 0.5]).toEqual([part, true]);
    expect((await shown).status).toBe(200);
  }
});
