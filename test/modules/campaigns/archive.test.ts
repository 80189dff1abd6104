import { beforeEach, describe, expect, test } from "bun:test";
import { type CampaignApp, campaignsPerTest } from "./campaign-app.ts";

let t: CampaignApp;
const next = campaignsPerTest();
beforeEach(async () => {
  t = await next();
});

const fetchPage = (path: string) => t.app.handle(new Request(`http://localhost${path}`));
const urlOf = async (id: string): Promise<string> =>
  new URL((await t.call("GET", `/campaigns/${id}`)).text("data.archiveUrl")).pathname;

const BODY =
  "<html><body><script>alert(1)</script><h1>Hi {{ name ?? reader }} {{ email }}</h1>" +
  '<a href="{{ viewInBrowserUrl }}">Web</a> <a href="{{ unsubscribeUrl }}">Out</a></body></html>';

async function sentCampaign(fields: object = {}): Promise<string> {
  await t.contact("ada@x.test", { data: { name: "Ada" } });
  const id = await t.campaign({ name: "Frühling & Co", body: BODY, archived: true, ...fields });
  await t.act(id, "send");
  await t.settle();
  return id;
}

describe("the public page of a campaign", () => {
  test("is linked in its mails, and has nobody's data", async () => {
    const id = await sentCampaign();
    const path = await urlOf(id);
    expect(path).toBe(`/archive/${t.project.id}/fruhling-co`);
    const [mail = ""] = t.received();
    // The link is tracked like others, and its text is in the text alternative as it is.
    expect(mail.replaceAll("=\r\n", "")).toContain(path);
    const page = await fetchPage(path);
    const html = await page.text();
    expect(page.status).toBe(200);
    expect(page.headers.get("x-robots-tag")).toBe("noindex");
    expect(page.headers.get("content-security-policy")).toContain("sandbox");
    expect(html).toContain("Hi reader");
    expect(html).not.toMatch(/ada|<script|\/unsubscribe\//i);
  });

  test("does not exist before the campaign is sent, and when it is hidden again", async () => {
    const draft = await t.campaign({ archived: true });
    expect((await fetchPage(await urlOf(draft))).status).toBe(404);
    const id = await sentCampaign();
    const path = await urlOf(id);
    const hidden = await t.call("PATCH", `/campaigns/${id}`, { archived: false });
    expect(hidden.at("data")).toMatchObject({ archived: false, archiveUrl: null, status: "SENT" });
    expect((await fetchPage(path)).status).toBe(404);
    await t.call("PATCH", `/campaigns/${id}`, { archived: true });
    expect(await urlOf(id)).toBe(path);
    expect((await fetchPage(path)).status).toBe(200);
  });

  test("keeps the content with which the campaign was sent", async () => {
    const layout = { name: "L", body: "<html><body>Before {{ content }}</body></html>" };
    const layoutId = await t.create("/layouts", layout, "data.id");
    const id = await sentCampaign({ body: "<p>Body</p>", layoutId });
    const path = await urlOf(id);
    await t.call("PATCH", `/layouts/${layoutId}`, { body: "<html>After {{ content }}</html>" });
    expect(await (await fetchPage(path)).text()).toContain("Before <p>Body");
  });

  test("is listed with its subject, newest first", async () => {
    await sentCampaign({ subject: "<First>" });
    t.clock.advance(86_400_000);
    await sentCampaign({ subject: "Second" });
    await sentCampaign({ subject: "Secret", archived: false });
    const page = await fetchPage(`/archive/${t.project.id}`);
    const html = await page.text();
    expect([page.status, page.headers.get("x-robots-tag")]).toEqual([200, "noindex, nofollow"]);
    expect(
      [...html.matchAll(/<a href="([^"]*)">([^<]*)<\/a>/g)].map(([, href, text]) => [href, text]),
    ).toEqual([
      [`/archive/${t.project.id}/fruhling-co-2`, "Second"],
      [`/archive/${t.project.id}/fruhling-co`, "&lt;First&gt;"],
    ]);
  });

  test("is shown although its subject needs the data of a contact", async () => {
    const id = await sentCampaign({ subject: "{{ name }}" });
    expect((await fetchPage(await urlOf(id))).status).toBe(200);
    expect(await (await fetchPage(`/archive/${t.project.id}`)).text()).toContain(
      ">fruhling-co</a>",
    );
  });

  test("has a slug of its own", async () => {
    await t.campaign({ archiveSlug: "news" });
    const taken = await t.call("POST", "/campaigns/drafts", { name: "N", archiveSlug: "news" });
    expect([taken.status, taken.text("error.code")]).toEqual([409, "CONFLICT"]);
    const invalid = await t.call("POST", "/campaigns/drafts", { name: "N", archiveSlug: "../x" });
    expect(invalid.at("error.errors.0.field")).toBe("archiveSlug");
  });

  test("answers unknown addresses with a page", async () => {
    for (const path of ["/archive/nope", "/archive/nope/x", `/archive/${t.project.id}`]) {
      const page = await fetchPage(path);
      expect([path, page.status, page.headers.get("content-type")]).toEqual([
        path,
        404,
        "text/html; charset=utf-8",
      ]);
    }
  });
});
