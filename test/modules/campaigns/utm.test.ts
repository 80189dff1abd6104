import { beforeEach, expect, test } from "bun:test";
import { received } from "../../support/mailing.ts";
import { type CampaignApp, campaignsPerTest } from "./campaign-app.ts";

let t: CampaignApp;
const next = campaignsPerTest();
beforeEach(async () => {
  t = await next();
});

const BODY =
  '<p>Hi {{ name }}</p><a href="https://shop.test/sale?a=1#top">Sale</a> <a href="{{ unsubscribeUrl }}">Out</a>';

test("the parameters are in the tracked links of every mail, and in the preview", async () => {
  t.insertContacts(6);
  const utm = { source: "news", campaign: "spring" };
  const id = await t.campaign({ body: BODY, utm });
  const preview = await t.call("POST", `/campaigns/${id}/preview`, {});
  const extended = "https://shop.test/sale?a=1&utm_source=news&utm_campaign=spring#top";
  expect(preview.text("data.html").replaceAll("&amp;", "&")).toContain(`href="${extended}"`);
  await t.act(id, "send");
  await t.settle();
  const mails = await Promise.all(t.received().map((raw) => received("", raw)));
  expect(mails).toHaveLength(6);
  for (const { hrefs } of mails) {
    const [link = "", out = ""] = hrefs;
    const [, encoded = ""] = link.split("/c/")[1]?.split("/") ?? [];
    expect(Buffer.from(encoded, "base64url").toString()).toBe(extended);
    expect(out).not.toContain("utm_");
  }
});

test("a copy and a follow-up have the parameters, and null removes them", async () => {
  const id = await t.campaign({ utm: { source: "news" } });
  expect((await t.act(id, "duplicate")).at("data.utm")).toEqual({ source: "news" });
  const cleared = await t.call("PATCH", `/campaigns/${id}`, { utm: null });
  expect(cleared.at("data.utm")).toBeNull();
  const long = await t.call("PATCH", `/campaigns/${id}`, { utm: { source: "x".repeat(256) } });
  expect(long.at("error.errors.0.field")).toBe("utm.source");
});
