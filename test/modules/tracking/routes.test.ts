import { afterEach, describe, expect, test } from "bun:test";
import { SOONEST_MS } from "../../../src/modules/tracking/machines.ts";
import type { TestOptions } from "../../support/app.ts";
import { quiet } from "../../support/eventually.ts";
import { type Mailing, type Received, startMailing } from "../../support/mailing.ts";

const mailings: Mailing[] = [];

afterEach(async () => {
  for (const { t } of mailings.splice(0)) await t.close();
});

const MINUTE = 60_000;

/** A mail that arrived a minute ago, and what its recipient can do with it. */
async function arrived(options: TestOptions = {}, agoMs = MINUTE) {
  const mailing = await startMailing(options);
  mailings.push(mailing);
  const letter = await mailing.send();
  const { t } = mailing;
  t.clock.advance(agoMs);
  const link = letter.hrefs.find((href) => href.includes("/c/")) ?? "";
  const pixel = letter.pixel ?? "";

  return {
    ...mailing,
    letter,
    link,
    pixel,

    /** Lets the second pass after which visits are counted. */
    async counted(): Promise<void> {
      t.clock.advance(1_000);
      await quiet();
    },

    moments: () =>
      t.db.sqlite
        .query<Record<string, number | string | null>, [string]>(
          `SELECT status, opened_at AS opened, clicked_at AS clicked,
             machine_opened_at AS machineOpened, machine_clicked_at AS machineClicked
           FROM emails WHERE id = ?`,
        )
        .get(letter.id),
  };
}

const UNSEEN = {
  status: "SENT",
  opened: null,
  clicked: null,
  machineOpened: null,
  machineClicked: null,
};

describe("a person who opens", () => {
  test("gets a pixel that is kept nowhere, and is counted once", async () => {
    const { t, fetchAs, pixel, counted, moments, events, letter } = await arrived();
    const at = t.clock.now();
    const answer = await fetchAs("GET", pixel);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("image/gif");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.text("")).toStartWith("GIF89a");
    expect(moments()).toEqual(UNSEEN);
    await counted();
    expect(moments()).toEqual({ ...UNSEEN, status: "OPENED", opened: at });
    await fetchAs("GET", pixel);
    await counted();
    expect(moments()).toEqual({ ...UNSEEN, status: "OPENED", opened: at });
    expect(events()).toEqual([{ name: "email.opened", email: letter.id, data: null }]);
  });

  test("is seen at GET /emails/{id} and GET /events", async () => {
    const { t, fetchAs, pixel, counted, letter } = await arrived();
    await fetchAs("GET", pixel);
    await counted();
    const email = await t.call("GET", `/emails/${letter.id}`);
    expect(email.at("data.status")).toBe("OPENED");
    expect(email.at("data.openedAt")).toBe("2026-03-02T10:01:00.000Z");
    const events = await t.call("GET", "/events?event=email.opened");
    expect(events.at("data.total")).toBe(1);
    expect(events.at("data.items.0")).toMatchObject({
      emailId: letter.id,
      contactEmail: "ada@example.net",
      createdAt: "2026-03-02T10:01:00.000Z",
    });
  });
});

describe("a person who clicks", () => {
  test("is led to the target, and has opened as well", async () => {
    const { t, fetchAs, link, counted, moments, events, letter } = await arrived();
    const at = t.clock.now();
    const answer = await fetchAs("GET", link);
    expect(answer.status).toBe(302);
    expect(answer.headers.get("location")).toBe("https://example.com/a?b=1&c=2");
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("x-robots-tag")).toContain("noindex");
    await counted();
    expect(moments()).toEqual({ ...UNSEEN, status: "CLICKED", opened: at, clicked: at });
    expect(events()).toEqual([
      { name: "email.opened", email: letter.id, data: null },
      {
        name: "email.clicked",
        email: letter.id,
        data: '{"url":"https://example.com/a?b=1&c=2"}',
      },
    ]);
  });

  test("again later is another event and the same first click", async () => {
    const { t, fetchAs, link, counted, moments, events } = await arrived();
    const at = t.clock.now();
    await fetchAs("GET", link);
    await counted();
    t.clock.advance(MINUTE);
    await fetchAs("GET", link);
    await counted();
    expect(moments()).toMatchObject({ status: "CLICKED", opened: at, clicked: at });
    expect(events().map(({ name }) => name)).toEqual([
      "email.opened",
      "email.clicked",
      "email.clicked",
    ]);
  });

  test("twice at once, or a hundred times, has clicked once", async () => {
    const { fetchAs, link, counted, events } = await arrived();
    for (let i = 0; i < 100; i++) await fetchAs("GET", link);
    await counted();
    for (let i = 0; i < 100; i++) await fetchAs("GET", link);
    await counted();
    expect(events().map(({ name }) => name)).toEqual(["email.opened", "email.clicked"]);
  });

  test("after opening goes on to CLICKED, and opening again does not go back", async () => {
    const { fetchAs, link, pixel, counted, moments } = await arrived();
    await fetchAs("GET", pixel);
    await counted();
    await fetchAs("GET", link);
    await counted();
    await fetchAs("GET", pixel);
    await counted();
    expect(moments()).toMatchObject({ status: "CLICKED" });
  });
});

describe("the status", () => {
  const cases: [status: string, opened: string, clicked: string][] = [
    ["SENT", "OPENED", "CLICKED"],
    ["DELIVERED", "OPENED", "CLICKED"],
    ["OPENED", "OPENED", "CLICKED"],
    ["CLICKED", "CLICKED", "CLICKED"],
    ["BOUNCED", "BOUNCED", "BOUNCED"],
    ["COMPLAINED", "COMPLAINED", "COMPLAINED"],
    ["FAILED", "FAILED", "FAILED"],
  ];

  for (const [status, opened, clicked] of cases) {
    test(`${status} becomes ${opened} by an open, ${clicked} by a click`, async () => {
      const { t, fetchAs, pixel, link, counted, moments } = await arrived();
      t.db.sqlite.run("UPDATE emails SET status = ?", [status]);
      await fetchAs("GET", pixel);
      await counted();
      expect(moments()).toMatchObject({ status: opened });
      await fetchAs("GET", link);
      await counted();
      expect(moments()).toMatchObject({ status: clicked });
    });
  }
});

describe("a machine", () => {
  const visits: [what: string, method: string, headers: Record<string, string>][] = [
    ["that calls itself one", "GET", { "user-agent": "Barracuda Sentinel (EE)" }],
    ["that only looks", "HEAD", {}],
    ["that prefetches", "GET", { "sec-purpose": "prefetch" }],
  ];

  for (const [what, method, headers] of visits) {
    test(`${what} gets what it asks for and is no person`, async () => {
      const { t, fetchAs, pixel, link, counted, moments, events } = await arrived();
      const at = t.clock.now();
      expect((await fetchAs(method, pixel, { headers })).status).toBe(200);
      const answer = await fetchAs(method, link, { headers });
      expect(answer.status).toBe(302);
      expect(answer.headers.get("location")).toBe("https://example.com/a?b=1&c=2");
      await counted();
      expect(moments()).toEqual({ ...UNSEEN, machineOpened: at, machineClicked: at });
      expect(events()).toEqual([]);
    });
  }

  test("that comes within seconds of delivery is told by that", async () => {
    const { t, fetchAs, pixel, link, counted, moments, events } = await arrived({}, 0);
    const sentAt = t.clock.now();
    t.clock.advance(SOONEST_MS.open - 1);
    await fetchAs("GET", pixel);
    t.clock.advance(SOONEST_MS.click - SOONEST_MS.open);
    await fetchAs("GET", link);
    await counted();
    expect(moments()).toEqual({
      ...UNSEEN,
      machineOpened: sentAt + SOONEST_MS.open - 1,
      machineClicked: sentAt + SOONEST_MS.click - 1,
    });
    expect(events()).toEqual([]);
  });

  test("does not hide the person that comes after it", async () => {
    const { t, fetchAs, pixel, link, counted, moments } = await arrived({}, 0);
    await fetchAs("GET", link);
    t.clock.advance(SOONEST_MS.click);
    await fetchAs("GET", pixel);
    await fetchAs("GET", link);
    await counted();
    expect(moments()).toMatchObject({ status: "CLICKED", clicked: t.clock.now() - 1_000 });
  });
});

describe("links that are not ours", () => {
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
    ["with the target in clear", ({ link }) => path(link).replace(/[^/]+$/, "https://x.example/")],
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

  for (const [what, of] of redirects) {
    test(`redirect ${what}: a page that says so, and nothing counted`, async () => {
      const arrival = await arrived();
      const { fetchAs, counted, moments } = arrival;
      const headers = { "accept-language": "nl" };
      const answer = await fetchAs("GET", of(arrival), { headers });
      expect(answer.status).toBe(404);
      expect(answer.headers.get("location")).toBeNull();
      expect(answer.headers.get("content-type")).toContain("text/html");
      expect(answer.text("")).toContain("Deze link werkt niet");
      await counted();
      expect(moments()).toEqual(UNSEEN);
    });
  }

  const pixels: [what: string, of: (paths: Paths) => string][] = [
    ["cut off", ({ pixel }) => pixel.slice(0, 20)],
    ["empty", () => "/o/"],
    ["altered", ({ pixel }) => pixel.replace("/o/A", "/o/B")],
    ["with the token of a redirect", ({ link }) => `/o/${path(link).split("/")[2]}.gif`],
    ["with the token to unsubscribe", ({ letter }) => `/o/${letter.unsubscribe.slice(13)}.gif`],
    ["with broken percent-encoding", () => "/o/%E0%A4%A"],
  ];

  for (const [what, of] of pixels) {
    test(`pixel ${what}: the pixel, and nothing counted`, async () => {
      const arrival = await arrived();
      const { fetchAs, counted, moments } = arrival;
      const answer = await fetchAs("GET", of(arrival));
      expect(answer.status).toBe(200);
      expect(answer.text("")).toStartWith("GIF89a");
      await counted();
      expect(moments()).toEqual(UNSEEN);
    });
  }

  test("a full stop or bracket taken along does no harm", async () => {
    const { fetchAs, link, pixel, counted, moments } = await arrived();
    for (const end of [".", "]", ")", "?utm_source=x"]) {
      const answer = await fetchAs("GET", path(link) + end);
      expect(answer.headers.get("location")).toBe("https://example.com/a?b=1&c=2");
    }
    await fetchAs("GET", `${pixel}?proxy=1`);
    await counted();
    expect(moments()).toMatchObject({ status: "CLICKED" });
  });
});

describe("whom nothing is noted of", () => {
  test("a contact that was deleted; the link still leads where it led", async () => {
    const { t, fetchAs, link, pixel, counted } = await arrived();
    await t.call("DELETE", `/contacts/${(await t.call("GET", "/contacts")).text("contacts.0.id")}`);
    const before = t.contents();
    await fetchAs("GET", pixel);
    expect((await fetchAs("GET", link)).status).toBe(302);
    await counted();
    expect(t.contents()).toEqual(before);
  });

  test("a mail that is not there", async () => {
    const { t, fetchAs, link, counted } = await arrived();
    t.db.sqlite.run("PRAGMA foreign_keys = OFF");
    t.db.sqlite.run("DELETE FROM emails");
    expect((await fetchAs("GET", link)).status).toBe(302);
    await counted();
    expect(t.eventNames()).not.toContain("email.clicked");
  });

  test("a test mail", async () => {
    const { t, fetchAs, link, counted, moments } = await arrived();
    t.db.sqlite.run("UPDATE emails SET source = 'TEST'");
    await fetchAs("GET", link);
    await counted();
    expect(moments()).toEqual(UNSEEN);
  });

  test("anybody, where the project has switched tracking off since", async () => {
    const { fetchAs, link, pixel, counted, moments, setProject } = await arrived();
    setProject({ tracking: "DISABLED" });
    await fetchAs("GET", pixel);
    expect((await fetchAs("GET", link)).status).toBe(302);
    await counted();
    expect(moments()).toEqual(UNSEEN);
  });

  test("a mail that has not left yet", async () => {
    const { t, fetchAs, pixel, counted, moments } = await arrived();
    t.db.sqlite.run("UPDATE emails SET status = 'QUEUED', sent_at = NULL");
    await fetchAs("GET", pixel);
    await counted();
    expect(moments()).toMatchObject({ status: "QUEUED", opened: null });
  });
});

describe("visits are counted", () => {
  test("at the latest when the application stops", async () => {
    const { t, fetchAs, link, moments } = await arrived();
    await fetchAs("GET", link);
    expect(moments()).toEqual(UNSEEN);
    await t.close();
    expect(moments()).toMatchObject({ status: "CLICKED" });
  });

  test("without waiting where there are 500 of them", async () => {
    const { fetchAs, pixel, moments } = await arrived();
    for (let i = 0; i < 500; i++) await fetchAs("GET", pixel);
    await quiet();
    expect(moments()).toMatchObject({ status: "OPENED" });
  });

  test("once the storage takes them again", async () => {
    const { t, fetchAs, link, counted, moments, events } = await arrived();
    await fetchAs("GET", link);
    t.db.sqlite.run("PRAGMA query_only = ON");
    await counted();
    await counted();
    expect(moments()).toEqual(UNSEEN);
    t.db.sqlite.run("PRAGMA query_only = OFF");
    await counted();
    await counted();
    expect(moments()).toMatchObject({ status: "CLICKED" });
    expect(events()).toHaveLength(2);
  });
});

describe("the mode of a project decides which mail is tracked", () => {
  const cases = [
    ["ENABLED", "MARKETING", true],
    ["ENABLED", "TRANSACTIONAL", true],
    ["MARKETING_ONLY", "MARKETING", true],
    ["MARKETING_ONLY", "TRANSACTIONAL", false],
    ["DISABLED", "MARKETING", false],
    ["DISABLED", "TRANSACTIONAL", false],
  ] as const;

  for (const [tracking, type, isTracked] of cases) {
    test(`${tracking}, ${type}: ${isTracked ? "tracked" : "not tracked"}`, async () => {
      const mailing = await startMailing();
      mailings.push(mailing);
      mailing.setProject({ tracking });
      const { hrefs, pixel, mail } = await mailing.send({ type });
      expect(hrefs.some((href) => href.includes("/c/"))).toBe(isTracked);
      expect(hrefs.includes("https://example.com/a?b=1&amp;c=2")).toBe(!isTracked);
      expect(pixel !== null).toBe(isTracked);
      expect(hrefs.filter((href) => /\/(?:manage|subscribe)\//.test(href))).toHaveLength(2);
      expect(mail.text).toContain("a [https://example.com/a?b=1&c=2]");
    });
  }
});

test("tracked links may have a base of their own", async () => {
  const config = { url: "https://mail.example.com", trackingUrl: "https://go.example.com/x" };
  const mailing = await startMailing({ config });
  mailings.push(mailing);
  const { mail, hrefs } = await mailing.send();
  expect(hrefs[0]).toStartWith("https://go.example.com/x/c/");
  expect(hrefs[1]).toStartWith("https://mail.example.com/manage/");
  expect(mail.html).toContain('<img src="https://go.example.com/x/o/');
});
