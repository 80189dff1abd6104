import { describe, expect, test } from "bun:test";
import { dkimVerify } from "mailauth/lib/dkim/verify";
import { prepareDomain } from "../../src/modules/domains/domains.ts";
import { valueAt, listAt, stringAt } from "../support/json.ts";
import { type Mailing, mailingOf, type Received } from "../support/mailing.ts";
import { projectPerTest } from "../support/project-per-test.ts";

const projects = projectPerTest({ config: { url: "https://mail.example.com" } });

const start = async (): Promise<Mailing> => mailingOf(await projects.next());

/** The unfolded value of a header in the message; null if there is none. */
function header({ raw }: Received, name: string): string | null {
  const [head = ""] = raw.split("\r\n\r\n", 1);
  const unfolded = head.replaceAll(/\r\n[ \t]+/g, " ");
  const found = unfolded
    .split("\r\n")
    .filter((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`));
  expect(found.length).toBeLessThan(2);
  return found[0]?.slice(name.length + 1).trim() ?? null;
}

describe("a marketing mail", () => {
  test("can be unsubscribed from by the mail program (RFC 8058)", async () => {
    const { send, submit, isSubscribed } = await start();
    const received = await send();
    const target = /^<(https:\/\/mail\.example\.com\/unsubscribe\/[\w-]+)>$/.exec(
      header(received, "List-Unsubscribe") ?? "",
    )?.[1];
    expect(header(received, "List-Unsubscribe-Post")).toBe("List-Unsubscribe=One-Click");
    await submit(new URL(target ?? "").pathname, header(received, "List-Unsubscribe-Post") ?? "");
    expect(isSubscribed()).toBe(false);
  });

  test("has its unsubscription headers signed, as an independent verifier confirms", async () => {
    const { t, send } = await start();
    const projectSeq = t.project.seq;
    const add = await prepareDomain(t.app.app, {
      projectSeq,
      domain: "signed.example",
      isDeclaredVerified: true,
    });
    await t.app.writer.write(add);
    const { raw } = await send({ from: "news@signed.example" });
    const records = listAt((await t.call("GET", "/domains")).at("data.items.0"), "records");
    const { results } = await dkimVerify(Buffer.from(raw), {
      resolver: async (name) =>
        records
          .filter((record) => valueAt(record, "name") === name)
          .map((record) => [stringAt(record, "value")]),
    });
    expect(results.map(({ status }) => status.result)).toEqual(["pass", "pass"]);
    const signed = [...raw.replaceAll(/\r\n[ \t]+/g, "").matchAll(/; ?h=([^;]+);/g)];
    expect(signed).toHaveLength(2);
    for (const [, names = ""] of signed) {
      const list = names.toLowerCase().split(":");
      expect(list).toContain("list-unsubscribe");
      expect(list).toContain("list-unsubscribe-post");
    }
  });

  test("has unsubscription headers that a parser can read", async () => {
    const { send } = await start();
    const received = await send();
    expect(received.mail.headers.get("list")).toMatchObject({
      unsubscribe: { url: expect.stringContaining(received.unsubscribe) },
    });
  });

  test("has a Feedback-ID that is the same for all mails with the same content", async () => {
    const { send } = await start();
    const first = header(await send(), "Feedback-ID") ?? "";
    expect(first).toMatch(/^\d+:[\w-]{36}:marketing:mailstead$/);
    expect(header(await send({ to: "bob@example.net" }), "Feedback-ID")).toBe(first);
    expect(header(await send({ body: "<p>other</p>" }), "Feedback-ID")).not.toBe(first);
  });

  test("has a List-Id for each topic, which the name of the topic does not change", async () => {
    const { t, send } = await start();
    const topic = (name: string) => t.create("/topics", { name, default: "SUBSCRIBED" }, "data.id");
    const news = await topic("Product news");
    const offers = await topic("Offers");
    const listId = async (topicId?: string) =>
      header(await send(topicId === undefined ? {} : { topicId }), "List-Id");
    expect(await listId(news)).toBe("<product-news.acme.test>");
    await t.call("PATCH", `/topics/${news}`, { name: "News of our products" });
    expect(await listId(news)).toBe("<product-news.acme.test>");
    expect(await listId(offers)).toBe("<offers.acme.test>");
    expect(await listId()).toBeNull();
    const own = { topicId: news, headers: { "List-ID": "Ours <ours.acme.test>" } };
    expect(header(await send(own), "List-Id")).toBe("Ours <ours.acme.test>");
  });

  test("has the caller's List-Unsubscribe instead of ours, without one-click", async () => {
    const { send } = await start();
    const received = await send({ headers: { "list-unsubscribe": "<mailto:off@acme.test>" } });
    expect(header(received, "List-Unsubscribe")).toBe("<mailto:off@acme.test>");
    expect(header(received, "List-Unsubscribe-Post")).toBeNull();
    expect(received.mail.html).toContain("You receive this email");
  });

  test("ends with an unsubscribe link in the project's language", async () => {
    const { send, setProject, submit, isSubscribed } = await start();
    setProject({ language: "fr" });
    const received = await send();
    expect(received.mail.html).toContain("newsletters de acme");
    const link = received.hrefs.at(-1) ?? "";
    expect(link).toBe(`https://mail.example.com${received.unsubscribe}`);
    expect(received.mail.text).toEndWith(`Se désabonner: ${link}`);
    await submit(new URL(link).pathname, "action=unsubscribe");
    expect(isSubscribed()).toBe(false);
  });

  test("has no second unsubscribe link if its body has one", async () => {
    const { send } = await start();
    const received = await send({ body: `<p>Hi <a href="{{ unsubscribeUrl }}">off</a></p>` });
    expect(received.mail.html).not.toContain("You receive this email");
    expect(received.hrefs).toEqual([`https://mail.example.com${received.unsubscribe}`]);
  });

  test("has an unsubscribe link if that of its body is not rendered", async () => {
    const { send } = await start();
    const body = `<p>Hi {% if false %}<a href="{{ unsubscribeUrl }}">off</a>{% endif %}</p>`;
    expect((await send({ body })).mail.html).toContain("You receive this email");
  });
});

describe("a transactional mail", () => {
  test("has no unsubscription headers, no footer and no tracking pixel", async () => {
    const { send } = await start();
    const received = await send({ type: "TRANSACTIONAL" });
    for (const name of ["List-Unsubscribe", "List-Unsubscribe-Post", "Feedback-ID"]) {
      expect(header(received, name)).toBeNull();
    }
    expect(received.mail.html).not.toContain("You receive this email");
    expect(received.pixel).toBeNull();
  });

  test("may have an unsubscribe link in its body", async () => {
    const { send } = await start();
    const body = `<p><a href="{{ unsubscribeUrl }}">off</a></p>`;
    const { hrefs } = await send({ type: "TRANSACTIONAL", body });
    expect(hrefs[0]).toStartWith("https://mail.example.com/unsubscribe/");
  });
});
