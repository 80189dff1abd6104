import { afterEach, describe, expect, test } from "bun:test";
import { dkimVerify } from "mailauth/lib/dkim/verify";
import { valueAt, listAt, stringAt } from "../support/json.ts";
import { type Mailing, type Received, startMailing } from "../support/mailing.ts";

const mailings: Mailing[] = [];

afterEach(async () => {
  for (const { t } of mailings.splice(0)) await t.close();
});

async function started(): Promise<Mailing> {
  const mailing = await startMailing({ config: { url: "https://mail.example.com" } });
  mailings.push(mailing);
  return mailing;
}

/** A header as it stands in the message, unfolded; null where there is none. */
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
  test("can be unsubscribed from by the mail program: RFC 8058", async () => {
    const { send, submit, isSubscribed } = await started();
    const letter = await send();
    const target = /^<(https:\/\/mail\.example\.com\/unsubscribe\/[\w-]+)>$/.exec(
      header(letter, "List-Unsubscribe") ?? "",
    )?.[1];
    expect(header(letter, "List-Unsubscribe-Post")).toBe("List-Unsubscribe=One-Click");
    await submit(new URL(target ?? "").pathname, header(letter, "List-Unsubscribe-Post") ?? "");
    expect(isSubscribed()).toBe(false);
  });

  test("carries the pair inside its signatures, as a verifier that is not ours confirms", async () => {
    const { t, send } = await started();
    const projectSeq = t.project.seq;
    const add = await t.app.domains.add({ projectSeq, domain: "signed.example", isByWord: true });
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

  test("is understood by a parser", async () => {
    const { send } = await started();
    const letter = await send();
    expect(letter.mail.headers.get("list")).toMatchObject({
      unsubscribe: { url: expect.stringContaining(letter.unsubscribe) },
    });
  });

  test("has a Feedback-ID that is the same for all mails of one content", async () => {
    const { send } = await started();
    const first = header(await send(), "Feedback-ID") ?? "";
    expect(first).toMatch(/^\d+:[\w-]{36}:marketing:mailstead$/);
    expect(header(await send({ to: "bob@example.net" }), "Feedback-ID")).toBe(first);
    expect(header(await send({ body: "<p>other</p>" }), "Feedback-ID")).not.toBe(first);
  });

  test("has the caller's List-Unsubscribe instead, and then no one-click of ours", async () => {
    const { send } = await started();
    const letter = await send({ headers: { "list-unsubscribe": "<mailto:off@acme.test>" } });
    expect(header(letter, "List-Unsubscribe")).toBe("<mailto:off@acme.test>");
    expect(header(letter, "List-Unsubscribe-Post")).toBeNull();
    expect(letter.mail.html).toContain("You receive this email");
  });

  test("ends with the way out, in the project's language", async () => {
    const { send, setProject, submit, isSubscribed } = await started();
    setProject({ language: "fr" });
    const letter = await send();
    expect(letter.mail.html).toContain("newsletters de acme");
    const link = letter.hrefs.at(-1) ?? "";
    expect(link).toBe(`https://mail.example.com${letter.unsubscribe}`);
    expect(letter.mail.text).toEndWith(`Se désabonner: ${link}`);
    await submit(new URL(link).pathname, "action=unsubscribe");
    expect(isSubscribed()).toBe(false);
  });

  test("has no second way out where its body has one", async () => {
    const { send } = await started();
    const letter = await send({ body: `<p>Hi <a href="{{ unsubscribeUrl }}">off</a></p>` });
    expect(letter.mail.html).not.toContain("You receive this email");
    expect(letter.hrefs).toEqual([`https://mail.example.com${letter.unsubscribe}`]);
  });

  test("has one where the body's is not shown", async () => {
    const { send } = await started();
    const body = `<p>Hi {% if false %}<a href="{{ unsubscribeUrl }}">off</a>{% endif %}</p>`;
    expect((await send({ body })).mail.html).toContain("You receive this email");
  });
});

describe("a transactional mail", () => {
  test("has none of it", async () => {
    const { send } = await started();
    const letter = await send({ type: "TRANSACTIONAL" });
    for (const name of ["List-Unsubscribe", "List-Unsubscribe-Post", "Feedback-ID"]) {
      expect(header(letter, name)).toBeNull();
    }
    expect(letter.mail.html).not.toContain("You receive this email");
    expect(letter.pixel).toBeNull();
  });

  test("may carry the link itself", async () => {
    const { send } = await started();
    const body = `<p><a href="{{ unsubscribeUrl }}">off</a></p>`;
    const { hrefs } = await send({ type: "TRANSACTIONAL", body });
    expect(hrefs[0]).toStartWith("https://mail.example.com/unsubscribe/");
  });
});
