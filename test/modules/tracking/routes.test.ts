import { describe, expect, test } from "bun:test";
import { FASTEST_PERSON_MS } from "../../../src/modules/tracking/machines.ts";
import { settleEventLoop } from "../../support/eventually.ts";
import { type Mailing, mailingOf, type Received, startMailing } from "../../support/mailing.ts";
import { projectPerTest } from "../../support/project-per-test.ts";

const projects = projectPerTest();

const MINUTE = 60_000;

/** Sends a mail with a pixel and a tracked link, and advances the clock by `agoMs`. */
async function sendTracked(agoMs = MINUTE, own?: Promise<Mailing>) {
  const mailing = own === undefined ? mailingOf(await projects.next()) : await own;
  const letter = await mailing.send();
  const { t } = mailing;
  t.clock.advance(agoMs);
  await settleEventLoop(); // Other work that is now due must not change the database later.
  const link = letter.hrefs.find((href) => href.includes("/c/")) ?? "";
  const pixel = letter.pixel ?? "";

  return {
    ...mailing,
    letter,
    link,
    pixel,

    /** Advances the clock by the second after which hits are counted. */
    async flushHits(): Promise<void> {
      t.clock.advance(1_000);
      await settleEventLoop();
      await t.app.writer.drain(); // After many hits at once, the next ones wait for a commit.
      await settleEventLoop();
    },

    storedHits: () =>
      t.db.sqlite
        .query<Record<string, number | string | null>, [string]>(
          `SELECT status, opened_at AS opened, clicked_at AS clicked,
             machine_opened_at AS machineOpened, machine_clicked_at AS machineClicked
           FROM emails WHERE id = ?`,
        )
        .get(letter.id),
  };
}

const UNTOUCHED = {
  status: "SENT",
  opened: null,
  clicked: null,
  machineOpened: null,
  machineClicked: null,
};

describe("an open by a person", () => {
  test("returns a pixel that must not be cached, and is counted once", async () => {
    const { t, fetchAs, pixel, flushHits, storedHits, events, letter } = await sendTracked();
    const at = t.clock.now();
    const answer = await fetchAs("GET", pixel);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("image/gif");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.text("")).toStartWith("GIF89a");
    expect(storedHits()).toEqual(UNTOUCHED);
    await flushHits();
    expect(storedHits()).toEqual({ ...UNTOUCHED, status: "OPENED", opened: at });
    await fetchAs("GET", pixel);
    await flushHits();
    expect(storedHits()).toEqual({ ...UNTOUCHED, status: "OPENED", opened: at });
    expect(events()).toEqual([{ name: "email.opened", email: letter.id, data: null }]);
  });

  test("is visible in GET /emails/{id} and GET /events", async () => {
    const { t, fetchAs, pixel, flushHits, letter } = await sendTracked();
    const at = new Date(t.clock.now()).toISOString();
    await fetchAs("GET", pixel);
    await flushHits();
    const email = await t.call("GET", `/emails/${letter.id}`);
    expect(email.at("data.status")).toBe("OPENED");
    expect(email.at("data.openedAt")).toBe(at);
    const events = await t.call("GET", "/events?event=email.opened");
    expect(events.at("data.total")).toBe(1);
    expect(events.at("data.items.0")).toMatchObject({
      emailId: letter.id,
      contactEmail: "ada@example.net",
      createdAt: at,
    });
  });
});

describe("a click by a person", () => {
  test("is counted once when strangers have filled their part of the storage", async () => {
    const { t, fetchAs, link, flushHits, events } = await sendTracked();
    const fill = 0.95 * 51_200 * 1024 * 1024;
    t.db.sqlite.run("UPDATE project_usage SET stored_bytes = ?", [fill]);
    t.clock.advance(MINUTE);
    for (let i = 0; i < 3; i++) {
      expect((await fetchAs("GET", link)).status).toBe(302);
      await flushHits();
      t.clock.advance(MINUTE);
    }
    expect(events().map(({ name }) => name)).toEqual(["email.opened", "email.clicked"]);
  });

  test("redirects to the target and counts an open as well", async () => {
    const { t, fetchAs, link, flushHits, storedHits, events, letter } = await sendTracked();
    const at = t.clock.now();
    const answer = await fetchAs("GET", link);
    expect(answer.status).toBe(302);
    expect(answer.headers.get("location")).toBe("https://example.com/a?b=1&c=2");
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("x-robots-tag")).toContain("noindex");
    await flushHits();
    expect(storedHits()).toEqual({ ...UNTOUCHED, status: "CLICKED", opened: at, clicked: at });
    expect(events()).toEqual([
      { name: "email.opened", email: letter.id, data: null },
      {
        name: "email.clicked",
        email: letter.id,
        data: '{"url":"https://example.com/a?b=1&c=2"}',
      },
    ]);
  });

  test("that is repeated later adds an event and keeps the time of the first click", async () => {
    const { t, fetchAs, link, flushHits, storedHits, events } = await sendTracked();
    const at = t.clock.now();
    await fetchAs("GET", link);
    await flushHits();
    t.clock.advance(MINUTE);
    await fetchAs("GET", link);
    await flushHits();
    expect(storedHits()).toMatchObject({ status: "CLICKED", opened: at, clicked: at });
    expect(events().map(({ name }) => name)).toEqual([
      "email.opened",
      "email.clicked",
      "email.clicked",
    ]);
  });

  test("that is repeated at once counts once", async () => {
    const { fetchAs, link, flushHits, events } = await sendTracked();
    for (let i = 0; i < 100; i++) await fetchAs("GET", link);
    await flushHits();
    for (let i = 0; i < 100; i++) await fetchAs("GET", link);
    await flushHits();
    expect(events().map(({ name }) => name)).toEqual(["email.opened", "email.clicked"]);
  });

  test("changes the status to CLICKED, and a later open does not change it back", async () => {
    const { fetchAs, link, pixel, flushHits, storedHits } = await sendTracked();
    await fetchAs("GET", pixel);
    await flushHits();
    await fetchAs("GET", link);
    await flushHits();
    await fetchAs("GET", pixel);
    await flushHits();
    expect(storedHits()).toMatchObject({ status: "CLICKED" });
  });
});

describe("the status of a mail", () => {
  const cases: [status: string, opened: string, clicked: string][] = [
    ["SENT", "OPENED", "CLICKED"],
    ["DELIVERED", "OPENED", "CLICKED"],
    ["OPENED", "OPENED", "CLICKED"],
    ["CLICKED", "CLICKED", "CLICKED"],
    ["BOUNCED", "BOUNCED", "BOUNCED"],
    ["COMPLAINED", "COMPLAINED", "COMPLAINED"],
    ["FAILED", "FAILED", "FAILED"],
  ];

  test.each(cases)(
    "%s changes to %s on an open and to %s on a click",
    async (status, opened, clicked) => {
      const { t, fetchAs, pixel, link, flushHits, storedHits, letter } = await sendTracked();
      t.db.sqlite.run("UPDATE emails SET status = ? WHERE id = ?", [status, letter.id]);
      await fetchAs("GET", pixel);
      await flushHits();
      expect(storedHits()).toMatchObject({ status: opened });
      await fetchAs("GET", link);
      await flushHits();
      expect(storedHits()).toMatchObject({ status: clicked });
    },
  );
});

describe("a hit by a machine", () => {
  const requests: [what: string, method: string, headers: Record<string, string>][] = [
    ["with a scanner's User-Agent", "GET", { "user-agent": "Barracuda Sentinel (EE)" }],
    ["with a HEAD request", "HEAD", {}],
    ["that prefetches", "GET", { "sec-purpose": "prefetch" }],
  ];

  test.each(requests)(
    "%s gets the normal answer and counts as a machine's",
    async (_, method, headers) => {
      const { t, fetchAs, pixel, link, flushHits, storedHits, events } = await sendTracked();
      const at = t.clock.now();
      expect((await fetchAs(method, pixel, { headers })).status).toBe(200);
      const answer = await fetchAs(method, link, { headers });
      expect(answer.status).toBe(302);
      expect(answer.headers.get("location")).toBe("https://example.com/a?b=1&c=2");
      await flushHits();
      expect(storedHits()).toEqual({ ...UNTOUCHED, machineOpened: at, machineClicked: at });
      expect(events()).toEqual([]);
    },
  );

  test("is recognised when it comes within seconds of sending", async () => {
    const { t, fetchAs, pixel, link, flushHits, storedHits, events } = await sendTracked(0);
    const sentAt = t.clock.now();
    t.clock.advance(FASTEST_PERSON_MS.open - 1);
    await fetchAs("GET", pixel);
    t.clock.advance(FASTEST_PERSON_MS.click - FASTEST_PERSON_MS.open);
    await fetchAs("GET", link);
    await flushHits();
    expect(storedHits()).toEqual({
      ...UNTOUCHED,
      machineOpened: sentAt + FASTEST_PERSON_MS.open - 1,
      machineClicked: sentAt + FASTEST_PERSON_MS.click - 1,
    });
    expect(events()).toEqual([]);
  });

  test("does not prevent a later hit by a person from being counted", async () => {
    const { t, fetchAs, pixel, link, flushHits, storedHits } = await sendTracked(0);
    await fetchAs("GET", link);
    t.clock.advance(FASTEST_PERSON_MS.click);
    await fetchAs("GET", pixel);
    await fetchAs("GET", link);
    await flushHits();
    expect(storedHits()).toMatchObject({ status: "CLICKED", clicked: t.clock.now() - 1_000 });
  });
});

describe("an invalid link", () => {
  type Paths = { link: string; pixel: string; letter: Received };
  const path = (link: string) => new URL(link).pathname;
  const swapped = (link: string, target: string) =>
    path(link).replace(/[^/]+$/, Buffer.from(target).toString("base64url"));
  const redirects: [what: string, of: (paths: Paths) => string][] = [
    ["cut off in the target", ({ link }) => path(link).slice(0, -3)],
    ["cut off after the token", ({ link }) => path(link).replace(/[^/]+$/, "")],
    ["cut off in the token", ({ link }) => path(link).slice(0, 20)],
    ["empty", () => "/c/"],
    ["with another target", ({ link }) => swapped(link, "https://evil.example/")],
    ["with a script as target", ({ link }) => swapped(link, "javascript:alert(1)")],
    ["with an unencoded target", ({ link }) => path(link).replace(/[^/]+$/, "https://x.example/")],
    [
      "with a forged signature",
      ({ link }) => path(link).replace(/\/c\/(.{22}).{16}/, "/c/$1AAAAAAAAAAAAAAAA"),
    ],
    ["with an altered token", ({ link }) => path(link).replace("/c/A", "/c/B")],
    [
      "with the token of a pixel",
      ({ link, pixel }) => path(link).replace(/\/c\/[^/]+/, `/c/${pixel.slice(3, -4)}`),
    ],
    [
      "with the token to unsubscribe",
      ({ link, letter }) => path(link).replace(/\/c\/[^/]+/, `/c/${letter.unsubscribe.slice(13)}`),
    ],
    ["with broken percent-encoding", () => "/c/%E0%A4%A/%E0%A4%A"],
  ];

  test("shows an error page and counts nothing, as a redirect", async () => {
    const tracked = await sendTracked();
    const { fetchAs, flushHits, storedHits } = tracked;
    for (const [what, of] of redirects) {
      const headers = { "accept-language": "nl" };
      const answer = await fetchAs("GET", of(tracked), { headers });
      expect([what, answer.status]).toEqual([what, 404]);
      expect(answer.headers.get("location")).toBeNull();
      expect(answer.headers.get("content-type")).toContain("text/html");
      expect(answer.text("")).toContain("Deze link werkt niet");
    }
    await flushHits();
    expect(storedHits()).toEqual(UNTOUCHED);
  });

  const pixels: [what: string, of: (paths: Paths) => string][] = [
    ["cut off", ({ pixel }) => pixel.slice(0, 20)],
    ["empty", () => "/o/"],
    ["altered", ({ pixel }) => pixel.replace("/o/A", "/o/B")],
    ["with the token of a redirect", ({ link }) => `/o/${path(link).split("/")[2]}.gif`],
    ["with the token to unsubscribe", ({ letter }) => `/o/${letter.unsubscribe.slice(13)}.gif`],
    ["with broken percent-encoding", () => "/o/%E0%A4%A"],
  ];

  test("returns the pixel and counts nothing, as a pixel", async () => {
    const tracked = await sendTracked();
    const { fetchAs, flushHits, storedHits } = tracked;
    for (const [what, of] of pixels) {
      const answer = await fetchAs("GET", of(tracked));
      expect([what, answer.status]).toEqual([what, 200]);
      expect(answer.text("")).toStartWith("GIF89a");
    }
    await flushHits();
    expect(storedHits()).toEqual(UNTOUCHED);
  });

  test("works when only a full stop, a bracket or a query was added", async () => {
    const { fetchAs, link, pixel, flushHits, storedHits } = await sendTracked();
    for (const end of [".", "]", ")", "?utm_source=x"]) {
      const answer = await fetchAs("GET", path(link) + end);
      expect(answer.headers.get("location")).toBe("https://example.com/a?b=1&c=2");
    }
    await fetchAs("GET", `${pixel}?proxy=1`);
    await flushHits();
    expect(storedHits()).toMatchObject({ status: "CLICKED" });
  });
});

describe("a hit is not counted", () => {
  test("for a deleted contact, and the link still redirects", async () => {
    const { t, fetchAs, link, pixel, flushHits, storedHits } = await sendTracked();
    await t.call("DELETE", `/contacts/${(await t.call("GET", "/contacts")).text("contacts.0.id")}`);
    const before = t.eventNames();
    await fetchAs("GET", pixel);
    expect((await fetchAs("GET", link)).status).toBe(302);
    await flushHits();
    expect(storedHits()).toEqual(UNTOUCHED);
    expect(t.eventNames()).toEqual(before);
  });

  test("for a mail that does not exist", async () => {
    const { t, fetchAs, link, flushHits } = await sendTracked();
    t.db.sqlite.run("PRAGMA foreign_keys = OFF");
    t.db.sqlite.run("DELETE FROM emails");
    t.db.sqlite.run("PRAGMA foreign_keys = ON");
    expect((await fetchAs("GET", link)).status).toBe(302);
    await flushHits();
    expect(t.eventNames()).not.toContain("email.clicked");
  });

  test("for a test mail", async () => {
    const { t, fetchAs, link, flushHits, storedHits } = await sendTracked();
    t.db.sqlite.run("UPDATE emails SET source = 'TEST'");
    await fetchAs("GET", link);
    await flushHits();
    expect(storedHits()).toEqual(UNTOUCHED);
  });

  test("when the project switched tracking off after sending", async () => {
    const { fetchAs, link, pixel, flushHits, storedHits, setProject } = await sendTracked();
    setProject({ tracking: "DISABLED" });
    await fetchAs("GET", pixel);
    expect((await fetchAs("GET", link)).status).toBe(302);
    await flushHits();
    expect(storedHits()).toEqual(UNTOUCHED);
  });

  test("for a mail that was not sent yet", async () => {
    const { t, fetchAs, pixel, flushHits, storedHits } = await sendTracked();
    t.db.sqlite.run("UPDATE emails SET status = 'QUEUED', sent_at = NULL");
    await fetchAs("GET", pixel);
    await flushHits();
    expect(storedHits()).toMatchObject({ status: "QUEUED", opened: null });
  });
});

describe("queued hits are counted", () => {
  test("when the application stops", async () => {
    const { t, fetchAs, link, storedHits } = await sendTracked(MINUTE, startMailing());
    await fetchAs("GET", link);
    expect(storedHits()).toEqual(UNTOUCHED);
    await t.close();
    expect(storedHits()).toMatchObject({ status: "CLICKED" });
  });
});

describe("the tracking mode of a project decides which mail is tracked", () => {
  const cases = [
    ["ENABLED", "MARKETING", true],
    ["ENABLED", "TRANSACTIONAL", true],
    ["MARKETING_ONLY", "MARKETING", true],
    ["MARKETING_ONLY", "TRANSACTIONAL", false],
    ["DISABLED", "MARKETING", false],
    ["DISABLED", "TRANSACTIONAL", false],
  ] as const;

  test.each(cases)("%s, %s: %p", async (tracking, type, isTracked) => {
    const mailing = mailingOf(await projects.next());
    mailing.setProject({ tracking });
    const { hrefs, pixel, mail } = await mailing.send({ type });
    expect(hrefs.some((href) => href.includes("/c/"))).toBe(isTracked);
    expect(hrefs.includes("https://example.com/a?b=1&amp;c=2")).toBe(!isTracked);
    expect(pixel !== null).toBe(isTracked);
    expect(hrefs.filter((href) => /\/(?:manage|subscribe)\//.test(href))).toHaveLength(2);
    expect(mail.text).toContain("a [https://example.com/a?b=1&c=2]");
  });
});

test("tracked links use `trackingUrl` when it is set", async () => {
  const config = { url: "https://mail.example.com", trackingUrl: "https://go.example.com/x" };
  const mailing = await startMailing({ config });
  const { mail, hrefs } = await mailing.send();
  expect(hrefs[0]).toStartWith("https://go.example.com/x/c/");
  expect(hrefs[1]).toStartWith("https://mail.example.com/manage/");
  expect(mail.html).toContain('<img src="https://go.example.com/x/o/');
  await mailing.t.close();
});
