import { describe, expect, test } from "bun:test";
import { issueToken } from "../../../src/render/links.ts";
import { type Mailing, mailingOf, type Received, received } from "../../support/mailing.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { inboxParts } from "../../support/inbox-parts.ts";

const projects = projectPerTest();
const startMailing = async () => mailingOf(await projects.next());

/** A subscribed contact of a new project that has got one marketing mail. */
async function mailed(to = "ada@example.net"): Promise<Mailing & { letter: Received }> {
  const mailing = await startMailing();
  const letter = await mailing.send({ to });
  await settled(mailing);
  return { ...mailing, letter };
}

/** Waits until the captured mail is parsed, because the tests compare all rows. */
const settled = ({ t }: Mailing) => inboxParts(t.app.app).indexer.caughtUp();

const ONE_CLICK = "List-Unsubscribe=One-Click";

describe("fetching a page", () => {
  const fetches: [method: string, page: "unsubscribe" | "subscribe" | "manage", title: string][] = [
    ["GET", "unsubscribe", "Unsubscribe?"],
    ["GET", "subscribe", "You are subscribed"],
    ["GET", "manage", "Your preferences"],
    ["HEAD", "unsubscribe", ""],
    ["HEAD", "subscribe", ""],
    ["HEAD", "manage", ""],
  ];

  test("changes nothing, also when it is repeated or has the fields of a form", async () => {
    const { t, fetchAs, letter } = await mailed();
    const before = t.contents();
    for (const [method, page, title] of [...fetches, ...fetches]) {
      const answer = await fetchAs(method, letter[page]);
      expect([method, page, answer.status]).toEqual([method, page, 200]);
      expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
      if (title === "") expect(answer.body).toBeUndefined();
      else expect(answer.text("")).toContain(`<h1>${title}</h1>`);
    }
    await fetchAs("GET", `${letter.unsubscribe}?action=unsubscribe&${ONE_CLICK}`);
    expect(t.contents()).toEqual(before);
  });

  test("needs no API key and ignores a wrong one", async () => {
    const { fetchAs, letter } = await mailed();
    const headers = { authorization: "Bearer sk_wrong" };
    expect((await fetchAs("GET", letter.manage, { headers })).status).toBe(200);
  });
});

test("who left can leave and not come back when strangers have filled their part of the storage", async () => {
  const { t, submit, isSubscribed, letter } = await mailed();
  const fill = 0.95 * 51_200 * 1024 * 1024;
  t.db.sqlite.run("UPDATE project_usage SET stored_bytes = ?", [fill]);
  t.clock.advance(1_000);
  const form = "application/x-www-form-urlencoded";
  expect((await submit(letter.manage, "action=unsubscribe", form)).status).toBe(200);
  expect(isSubscribed()).toBe(false);
  expect((await submit(letter.manage, "action=subscribe", form)).status).toBe(409);
  expect(isSubscribed()).toBe(false);
});

describe("a one-click request", () => {
  const bodies: [what: string, type: string, body: string][] = [
    ["urlencoded", "application/x-www-form-urlencoded", ONE_CLICK],
    ["urlencoded with a charset", "application/x-www-form-urlencoded; charset=UTF-8", ONE_CLICK],
    [
      "multipart",
      "multipart/form-data; boundary=x",
      '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n',
    ],
    ["one of several fields", "application/x-www-form-urlencoded", `a=b&${ONE_CLICK}&c=d`],
    ["plain text", "text/plain", ONE_CLICK],
    ["of an unknown type, with a line break", "application/octet-stream", `${ONE_CLICK}\r\n`],
    ["empty", "application/x-www-form-urlencoded", ""],
    ["empty and of no type", "", ""],
  ];

  test.each(bodies)("unsubscribes once when its body is %s", async (_, type, body) => {
    const { submit, isSubscribed, events, letter } = await mailed();
    for (let i = 0; i < 2; i++) {
      const answer = await submit(letter.unsubscribe, body, type);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("location")).toBeNull();
      expect(answer.headers.get("set-cookie")).toBeNull();
    }
    expect(isSubscribed()).toBe(false);
    expect(events()).toEqual([
      { name: "contact.unsubscribed", email: letter.id, data: '{"via":"one-click"}' },
    ]);
  });

  test("is accepted by the unsubscribe link only", async () => {
    const { t, submit, letter } = await mailed();
    const before = t.contents();
    expect((await submit(letter.manage, ONE_CLICK)).status).toBe(400);
    expect((await submit(letter.subscribe, ONE_CLICK)).status).toBe(400);
    expect(t.contents()).toEqual(before);
  });

  test("works while the project is disabled and its API keys are revoked", async () => {
    const { t, submit, isSubscribed, letter } = await mailed();
    t.db.sqlite.run("UPDATE api_keys SET revoked_at = 0");
    t.db.sqlite.run("UPDATE projects SET is_enabled = 0");
    await submit(letter.unsubscribe, ONE_CLICK);
    expect(isSubscribed()).toBe(false);
  });
});

describe("the button of a page", () => {
  const clicks: [page: "unsubscribe" | "subscribe", action: string, was: boolean][] = [
    ["unsubscribe", "unsubscribe", true],
    ["unsubscribe", "subscribe", false],
    ["subscribe", "subscribe", false],
    ["subscribe", "unsubscribe", true],
  ];

  test("acts, shows the new state and offers to undo it", async () => {
    const { t, submit, isSubscribed, events, letter } = await mailed();
    for (const [page, action, was] of clicks) {
      t.db.sqlite.run("UPDATE contacts SET is_subscribed = ?", [was ? 1 : 0]);
      const answer = await submit(letter[page], `action=${action}`);
      expect([page, action, answer.status, isSubscribed()]).toEqual([page, action, 200, !was]);
      const title = was ? "You are unsubscribed" : "You are subscribed";
      expect(answer.text("")).toContain(`<h1>${title}</h1>`);
      const back = was ? "subscribe" : "unsubscribe";
      expect(answer.text("")).toContain(`<button name="action" value="${back}" class="second">`);
      const event = { name: `contact.${action}d`, email: letter.id, data: '{"via":"page"}' };
      expect(events().at(-1)).toEqual(event);
    }
    expect(events()).toHaveLength(clicks.length);
  });

  test("changes nothing when the contact is already in that state", async () => {
    const { t, submit, letter } = await mailed();
    const before = t.contents();
    const answer = await submit(letter.subscribe, "action=subscribe");
    expect(answer.text("")).toContain("You are subscribed");
    expect(t.contents()).toEqual(before);
  });

  test("unsubscribes with the fields of the page's own form", async () => {
    const { fetchAs, submit, isSubscribed, letter } = await mailed();
    const page = (await fetchAs("GET", letter.unsubscribe)).text("");
    expect(page).toContain('<form method="post">');
    const [, name, value] = /<button name="(\w+)" value="(\w+)"/.exec(page) ?? [];
    await submit(letter.unsubscribe, `${name}=${value}`);
    expect(isSubscribed()).toBe(false);
  });
});

describe("a form without a known action", () => {
  const bodies: [what: string, body: string, type: string][] = [
    ["another field", "a=b", "application/x-www-form-urlencoded"],
    ["another action", "action=delete", "application/x-www-form-urlencoded"],
    ["another value", "List-Unsubscribe=Two-Clicks", "application/x-www-form-urlencoded"],
    ["JSON", '{"action":"unsubscribe"}', "application/json"],
    ["broken multipart", "--x\r\nContent-Disp", "multipart/form-data; boundary=x"],
    ["multipart without a boundary", "--x--", "multipart/form-data"],
    [
      "a file",
      '--x\r\nContent-Disposition: form-data; name="action"; filename="a"\r\n\r\nunsubscribe\r\n--x--\r\n',
      "multipart/form-data; boundary=x",
    ],
    ["bytes that are not text", "\0\xff\xfe", "application/x-www-form-urlencoded"],
  ];

  test("shows the page again and changes nothing", async () => {
    const { t, submit, letter } = await mailed();
    const before = t.contents();
    for (const [what, body, type] of bodies) {
      const answer = await submit(letter.unsubscribe, body, type);
      expect([what, answer.status]).toEqual([what, 400]);
      expect(answer.text("")).toContain("<h1>Unsubscribe?</h1>");
    }
    expect(t.contents()).toEqual(before);
  });

  test("is refused above 4 KiB, with and without Content-Length", async () => {
    const { t, submit, letter } = await mailed();
    const before = t.contents();
    const large = `${ONE_CLICK}&x=${"x".repeat(4 * 1024)}`;
    expect((await submit(letter.unsubscribe, large)).status).toBe(413);
    const chunked = new Request(`http://localhost${letter.unsubscribe}`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new Blob([large]).stream(),
    });
    const answer = await t.app.handle(chunked);
    expect(answer.status).toBe(413);
    expect(answer.headers.get("content-type")).toContain("text/html");
    expect(t.contents()).toEqual(before);
  });
});

describe("an invalid link", () => {
  const valid = (letter: Received) => letter.unsubscribe.slice("/unsubscribe/".length);
  const faults: [what: string, token: (letter: Received) => string][] = [
    ["empty", () => ""],
    ["cut off", (letter) => valid(letter).slice(0, -1)],
    ["altered", (letter) => `B${valid(letter).slice(1)}`],
    ["altered at the end", (letter) => `${valid(letter).slice(0, -3)}AAA`],
    ["longer", (letter) => `${valid(letter)}A`],
    ["of another installation", ({ id }) => issueToken(new Uint8Array(32), id)],
    ["with the token of a pixel", ({ pixel }) => (pixel ?? "").slice("/o/".length, -".gif".length)],
    ["with broken percent-encoding", () => "%E0%A4%A"],
    ["with a second path segment", () => "x/y"],
    ["with HTML as token", () => "<script>alert(1)</script>"],
  ];

  test("shows an error page and changes nothing", async () => {
    const { t, fetchAs, submit, letter } = await mailed();
    const before = t.contents();
    for (const [what, tokenOf] of faults) {
      for (const page of ["unsubscribe", "subscribe", "manage"]) {
        const path = `/${page}/${tokenOf(letter)}`;
        for (const answer of [await fetchAs("GET", path), await submit(path, ONE_CLICK)]) {
          expect([what, page, answer.status]).toEqual([what, page, 404]);
          expect(answer.text("")).toContain("This link does not work");
          expect(JSON.stringify(answer.body)).not.toContain("<script>");
        }
      }
    }
    expect(t.contents()).toEqual(before);
  });

  test("answers 404 when the mail does not exist", async () => {
    const { t, fetchAs, submit, letter } = await mailed();
    t.db.sqlite.run("PRAGMA foreign_keys = OFF");
    t.db.sqlite.run("DELETE FROM emails");
    t.db.sqlite.run("PRAGMA foreign_keys = ON");
    expect((await fetchAs("GET", letter.manage)).status).toBe(404);
    expect((await submit(letter.unsubscribe, ONE_CLICK)).status).toBe(404);
  });

  test("shows the error page in the browser's language", async () => {
    const { fetchAs } = await mailed();
    const headers = { "accept-language": "ja" };
    const answer = await fetchAs("GET", "/manage/x", { headers });
    expect(answer.text("")).toContain('<html lang="ja">');
  });

  test("works with a full stop or bracket after the token", async () => {
    const { fetchAs, letter } = await mailed();
    for (const end of [".", "]", ")", ">", "%5D", "?utm_source=x", "#x", "/"]) {
      expect((await fetchAs("GET", letter.manage + end)).status).toBe(200);
    }
  });
});

describe("after the contact of the mail got another address", () => {
  /** The contact of a mail to "pat@example.net" is moved to "qp@example.org". */
  async function moved() {
    const mailing = await mailed("pat@example.net");
    const id = (await mailing.t.call("GET", "/contacts")).text("contacts.0.id");
    const patch = await mailing.t.call("PATCH", `/contacts/${id}`, { email: "qp@example.org" });
    expect(patch.status).toBe(200);
    return mailing;
  }

  /** Also creates another contact with the address of the mail. */
  async function replaced() {
    const mailing = await moved();
    const body = { email: "pat@example.net", subscribed: true };
    expect((await mailing.t.call("POST", "/contacts", body)).status).toBe(201);
    return mailing;
  }

  test.each(["unsubscribe", "subscribe", "manage"] as const)(
    "/%s shows and changes the contact that has the address of the mail now",
    async (page) => {
      const { fetchAs, submit, isSubscribed, letter } = await replaced();
      const shown = (await fetchAs("GET", letter[page])).text("");
      expect(shown).toContain("pa…\u2060@example.net");
      expect(shown).not.toContain("example.org");
      const answer = await submit(letter[page], "action=unsubscribe");
      expect(answer.text("")).toContain("sends no newsletters to pa…\u2060@example.net");
      expect([isSubscribed("pat@example.net"), isSubscribed("qp@example.org")]).toEqual([
        false,
        true,
      ]);
      await submit(letter[page], "action=subscribe");
      expect(isSubscribed("pat@example.net")).toBe(true);
    },
  );

  test("a one-click request unsubscribes the contact that has the address now", async () => {
    const { submit, isSubscribed, events, letter } = await replaced();
    expect((await submit(letter.unsubscribe, ONE_CLICK)).status).toBe(200);
    expect([isSubscribed("pat@example.net"), isSubscribed("qp@example.org")]).toEqual([
      false,
      true,
    ]);
    expect(events().at(-1)).toEqual({
      name: "contact.unsubscribed",
      email: letter.id,
      data: '{"via":"one-click"}',
    });
  });

  test("if no contact has the address, the contact of the mail changes, and its address is not shown", async () => {
    const { fetchAs, submit, isSubscribed, letter } = await moved();
    for (const page of ["unsubscribe", "subscribe", "manage"] as const) {
      const shown = (await fetchAs("GET", letter[page])).text("");
      expect(shown).toContain("to your new address.");
      expect(shown).not.toMatch(/qp|pa…|example\./);
    }
    const answer = (await submit(letter.unsubscribe, ONE_CLICK)).text("");
    expect(answer).toContain("sends no newsletters to your new address.");
    expect(answer).not.toMatch(/qp|pa…|example\./);
    expect(isSubscribed("qp@example.org")).toBe(false);
    await submit(letter.subscribe, "action=subscribe");
    expect(isSubscribed("qp@example.org")).toBe(true);
  });
});

describe("a deleted contact", () => {
  test("gets a page without buttons, and a one-click request succeeds", async () => {
    const { t, fetchAs, submit, letter } = await mailed();
    const id = (await t.call("GET", "/contacts")).text("contacts.0.id");
    await t.call("DELETE", `/contacts/${id}`);
    const before = t.contents();
    for (const path of [letter.unsubscribe, letter.subscribe, letter.manage]) {
      const page = await fetchAs("GET", path);
      expect(page.status).toBe(200);
      expect(page.text("")).toContain("This link no longer works");
      expect(page.text("")).not.toContain("<button");
    }
    expect((await submit(letter.unsubscribe, ONE_CLICK)).status).toBe(200);
    expect((await submit(letter.subscribe, "action=subscribe")).status).toBe(200);
    expect(t.contents()).toEqual(before);
  });

  test("gets no statement about newsletters, because its address may belong to a new contact", async () => {
    const { t, fetchAs, submit, letter } = await mailed();
    const id = (await t.call("GET", "/contacts")).text("contacts.0.id");
    await t.call("DELETE", `/contacts/${id}`);
    await t.call("POST", "/contacts", { email: "ada@example.net", subscribed: true });
    const answers = [
      await fetchAs("GET", letter.unsubscribe),
      await submit(letter.unsubscribe, ONE_CLICK),
    ];
    for (const answer of answers) {
      expect(answer.text("")).toContain(
        "<p>This email was sent to an address that has been deleted since. " +
          "If you still get newsletters, use the link in the newest one.</p>",
      );
    }
  });
});

describe("a mail to an address without a contact", () => {
  /** A test mail of a campaign, sent to an address that belongs to no contact. */
  async function tested() {
    const mailing = await startMailing();
    const { t } = mailing;
    const campaign = {
      name: "News",
      subject: "News",
      body: "<p>Hello</p>",
      from: "news@acme.test",
      audienceType: "ALL",
    };
    const created = await t.create("/campaigns", campaign, "data.id");
    const to = "ada@example.net";
    const id = await t.create(`/campaigns/${created}/test`, { email: to }, "data.email");
    await t.deliver();
    await settled(mailing);
    const letter = await received(id, (await t.call("GET", `/emails/${id}/raw`)).text(""));
    return { ...mailing, letter };
  }

  test("says that it gets no newsletters, without buttons", async () => {
    const { t, fetchAs, submit, letter } = await tested();
    const before = t.contents();
    for (const page of ["unsubscribe", "subscribe", "manage"] as const) {
      const shown = (await fetchAs("GET", letter[page])).text("");
      expect(shown).toContain("<p>acme sends no newsletters to ad…\u2060@example.net.</p>");
      expect(shown).not.toContain("<button");
    }
    expect((await submit(letter.unsubscribe, ONE_CLICK)).status).toBe(200);
    expect(t.contents()).toEqual(before);
  });

  test("changes the contact that was created with this address later", async () => {
    const { t, submit, isSubscribed, letter } = await tested();
    await t.call("POST", "/contacts", { email: "ada@example.net", subscribed: true });
    await submit(letter.unsubscribe, ONE_CLICK);
    expect(isSubscribed()).toBe(false);
  });
});

describe("the text of the page", () => {
  test("shows only the beginning of the address", async () => {
    const { fetchAs, letter } = await mailed("ada.lovelace@example.net");
    const page = (await fetchAs("GET", letter.manage)).text("");
    expect(page).toContain("ad…\u2060@example.net");
    expect(page).not.toContain("lovelace");
  });

  test("is escaped", async () => {
    const { t, fetchAs, letter } = await mailed();
    t.db.sqlite.run(
      `UPDATE projects SET name = '<b>"A" & ''B''</b>{email}' WHERE seq = ${t.project.seq}`,
    );
    const page = (await fetchAs("GET", letter.manage)).text("");
    expect(page).not.toContain("<b>");
    expect(page).toContain("&lt;b&gt;&quot;A&quot; &amp; &#x27;B&#x27;&lt;/b&gt;{email} sends");
  });

  const languages: [project: string, accepted: string, title: string][] = [
    ["en", "de", "Unsubscribe?"],
    ["de", "en", "Newsletter abbestellen?"],
    ["fr", "en", "Se désabonner\u00a0?"],
    ["es", "en", "¿Darse de baja?"],
    ["nl", "en", "Uitschrijven?"],
    ["pt", "en", "Cancelar inscrição?"],
    ["it", "en", "Vuoi annullare l’iscrizione?"],
    ["pl", "en", "Czy chcesz się wypisać?"],
    ["ja", "en", "配信を停止しますか？"],
    ["sv", "de, en", "Newsletter abbestellen?"],
  ];

  test("is in the language of the project, or else in one that the browser accepts", async () => {
    const { fetchAs, setProject, letter } = await mailed();
    for (const [language, accepted, title] of languages) {
      setProject({ language });
      const headers = { "accept-language": accepted };
      const page = (await fetchAs("GET", letter.unsubscribe, { headers })).text("");
      expect([language, page]).toEqual([language, expect.stringContaining(`<h1>${title}</h1>`)]);
    }
  });
});

describe("the page itself", () => {
  test("has privacy headers, loads nothing and runs no script", async () => {
    const { fetchAs, letter } = await mailed();
    const { headers, text } = await fetchAs("GET", letter.manage);
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("x-robots-tag")).toBe("noindex, nofollow");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    const page = text("");
    const style = /<style>([\s\S]*)<\/style>/.exec(page)?.[1] ?? "";
    const hash = new Bun.CryptoHasher("sha256").update(style).digest("base64");
    expect(headers.get("content-security-policy")).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; form-action 'self'; ` +
        "base-uri 'none'; frame-ancestors 'none'",
    );
    expect(page).not.toMatch(/<script|https?:|src=| style=/);
    expect(page).toContain("prefers-color-scheme: dark");
    expect(page).toContain('name="viewport"');
  });

  test("shows an error page without details when the storage refuses the write", async () => {
    const { t, submit, letter } = await mailed();
    t.db.sqlite.run("PRAGMA query_only = ON");
    const answer = await submit(letter.unsubscribe, ONE_CLICK);
    t.db.sqlite.run("PRAGMA query_only = OFF");
    expect(answer.status).toBe(503);
    expect(answer.text("")).toContain("That did not work");
    expect(answer.text("")).not.toMatch(/sqlite|readonly/i);
  });
});

test("links in transactional mail unsubscribe as well", async () => {
  const mailing = await startMailing();
  const letter = await mailing.send({ type: "TRANSACTIONAL" });
  await mailing.submit(letter.unsubscribe, ONE_CLICK);
  expect(mailing.isSubscribed()).toBe(false);
});

test("a link does not change a contact of another project with the same address", async () => {
  const mailing = await startMailing();
  const letter = await mailing.send();
  const other = await mailing.t.makeProject("other");
  await mailing.t.call("POST", "/contacts", { email: "ada@example.net" }, { key: other.secretKey });
  await mailing.submit(letter.unsubscribe, ONE_CLICK);
  const theirs = await mailing.t.call("GET", "/contacts", undefined, { key: other.secretKey });
  expect(theirs.at("contacts.0.subscribed")).toBe(true);
});
