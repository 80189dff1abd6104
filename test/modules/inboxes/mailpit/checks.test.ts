/** The checks of a message, and chaos in the SMTP listener. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FetchRefused } from "../../../../src/protocols/fetch-guarded/refusal.ts";
import { valueAt } from "../../../support/json.ts";
import { mailpitApp } from "../../../support/mailpit.ts";
import { rawSmtp } from "../../../support/smtp-client.ts";
import { capturePort } from "../../../../src/modules/accounts/state.ts";

let server: Awaited<ReturnType<typeof mailpitApp>>;
const requested: string[] = [];
beforeAll(async () => {
  server = await mailpitApp({
    config: { captureSmtp: { host: "127.0.0.1", port: 0 } },
    async fetchGuarded(url, { method }) {
      requested.push(`${method} ${url}`);
      if (url.includes("private")) throw new FetchRefused("private_address", "private");
      if (url.includes("broken")) throw new FetchRefused("network", "the connection ended");
      const status = url.includes("missing") ? 404 : 200;
      return { status, headers: new Headers(), body: new Uint8Array(), isTruncated: false };
    },
  });
  await server.app.start();
});
afterAll(() => server.close());

const html = (body: string) => `Subject: x\nContent-Type: text/html; charset=utf-8\n\n${body}`;

describe("GET /message/{id}/link-check", () => {
  test("requests each link once, and shows refused ones", async () => {
    const id = await server.deliver(
      html(`<a href="https://a.test/?x=1&amp;y=2">1</a> <a href="https://a.test/?x=1&amp;y=2">2</a>
        <a href="mailto:a@example.com">3</a> <a href="https://private.test/">4</a>
        <img src="https://broken.test/i.png"> <a href="https://missing.test/">5</a>`),
    );
    const answer = await server.mailpit("GET", `/api/v1/message/${id}/link-check?follow=true`);
    expect(answer.body).toEqual({
      Errors: 3,
      Links: [
        { URL: "https://a.test/?x=1&y=2", StatusCode: 200, Status: "OK" },
        {
          URL: "https://private.test/",
          StatusCode: 451,
          Status: "Blocked private/reserved address",
        },
        { URL: "https://broken.test/i.png", StatusCode: 0, Status: "the connection ended" },
        { URL: "https://missing.test/", StatusCode: 404, Status: "Not Found" },
      ],
    });
    expect(requested.filter((each) => each.includes("a.test"))).toEqual([
      "HEAD https://a.test/?x=1&y=2",
    ]);
  });

  test("without follow, a private address is refused as well", async () => {
    const id = await server.deliver(html(`<a href="http://127.0.0.1/x">1</a>`));
    const answer = await server.mailpit("GET", `/api/v1/message/${id}/link-check`);
    expect(valueAt(answer.body, "Links.0.StatusCode")).toBe(451);
  });

  test("reads the links of a text", async () => {
    const id = await server.deliver("Subject: x\n\nSee https://a.test/text, please.");
    const answer = await server.mailpit("GET", `/api/v1/message/${id}/link-check?follow=true`);
    expect(valueAt(answer.body, "Links.0.URL")).toBe("https://a.test/text");
  });
});

describe("GET /message/{id}/html-check", () => {
  test("shows what is not supported everywhere", async () => {
    const id = await server.deliver(html("<dialog>x</dialog>"));
    const { body } = await server.mailpit("GET", `/api/v1/message/${id}/html-check`);
    expect(body).toEqual({
      Warnings: [
        {
          Slug: "html-dialog",
          Title: "<dialog> element",
          Description: expect.any(String),
          URL: "https://www.caniemail.com/features/html-dialog/",
          Category: "html",
          Tags: expect.any(Array),
          Keywords: expect.any(String),
          Results: expect.any(Array),
          NotesByNumber: expect.any(Object),
          Score: {
            Found: 1,
            Supported: expect.any(Number),
            Partial: expect.any(Number),
            Unsupported: expect.any(Number),
          },
        },
      ],
      Platforms: expect.any(Object),
      Total: {
        Tests: 1,
        Nodes: 1,
        Supported: expect.any(Number),
        Partial: expect.any(Number),
        Unsupported: expect.any(Number),
      },
    });
    expect(valueAt(body, "Warnings.0.Results.0")).toEqual({
      Name: expect.any(String),
      Platform: expect.any(String),
      Family: expect.any(String),
      Version: expect.any(String),
      Support: expect.stringMatching(/^(?:yes|partial|no)$/),
      NoteNumber: expect.any(String),
    });
  });

  test("refuses a message without HTML", async () => {
    const id = await server.deliver("Subject: x\n\nonly text");
    const { status } = await server.mailpit("GET", `/api/v1/message/${id}/html-check`);
    expect(status).toBe(400);
  });
});

describe("chaos", () => {
  const chaos = (body: object) => server.mailpit("PUT", "/api/v1/chaos", { body });
  const always = (ErrorCode: number) => ({ ErrorCode, Probability: 100 });

  async function conversation(): Promise<string[]> {
    const port = capturePort(server.app.app).value ?? 0;
    const client = await rawSmtp(port);
    await client.say("EHLO client.test\r\n");
    const replies = [
      await client.say(`AUTH PLAIN ${Buffer.from("\0u\0p").toString("base64")}\r\n`),
      await client.say("MAIL FROM:<a@example.com>\r\n"),
      await client.say("RCPT TO:<b@example.com>\r\n"),
    ];
    client.end();
    return replies.map((reply) => reply.slice(0, 3));
  }

  test("fails the stages whose trigger fires", async () => {
    expect(await conversation()).toEqual(["235", "250", "250"]);
    await chaos({ Authentication: always(535) });
    expect((await conversation())[0]).toBe("535");
    await chaos({ Sender: always(421) });
    expect((await conversation())[1]).toBe("421");
    await chaos({ Recipient: always(450) });
    expect(await conversation()).toEqual(["235", "250", "450"]);
    await chaos({});
    expect(await conversation()).toEqual(["235", "250", "250"]);
  });
});
