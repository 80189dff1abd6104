/** Tracking hosts of projects: added, checked over the network, carried by links, removed. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { hostStateAfter } from "../../../src/modules/delivery/tracking-hosts.ts";
import { answerCheck } from "../../../src/modules/delivery/tracking-check.ts";
import { countReportedHit } from "../../../src/modules/tracking/tracking.ts";
import { redirectUrl } from "../../../src/render/links.ts";
import { createDns } from "../../../src/protocols/dns/client.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { testApp, type TestApp } from "../../support/app.ts";
import { startDnsServer, type TestDns, type TestRecords } from "../../support/dns-server.ts";
import { expectError } from "../../support/refusal.ts";

/** Servers of other owners are at 127.0.0.3 and 127.0.0.4; the name of this one is at 127.0.0.2. */
const RECORDS: Record<string, TestRecords> = {
  "track.mail.test": { A: ["127.0.0.2"] },
  "links.acme.test": { CNAME: "track.mail.test" },
  "go.acme.test": { A: ["127.0.0.2"] },
  "elsewhere.acme.test": { A: ["127.0.0.3"] },
  "other.acme.test": { A: ["127.0.0.2", "127.0.0.4"] },
};

let dns: TestDns;
let front: ReturnType<typeof Bun.serve>;
let t: TestApp;
/** The server at the tracking URL; by default it is the application. */
let serve: (request: Request) => Response | Promise<Response>;

beforeAll(async () => {
  dns = await startDnsServer({ ttlSeconds: 0, negativeSeconds: 0 });
  front = Bun.serve({ hostname: "127.0.0.2", port: 0, fetch: (request) => serve(request) });
});
afterAll(async () => {
  await front.stop(true);
  await dns.close();
});
beforeEach(async () => {
  dns.records = { ...RECORDS };
  t = await testApp({
    dns: createDns({ servers: [dns.server], clock: systemClock, tries: 1, timeoutMs: 1_000 }),
    config: {
      allowPrivateAddresses: true,
      trackingUrl: `http://track.mail.test:${front.port}`,
    },
  });
  serve = (request) => t.app.handle(request);
});
afterEach(() => t.close());

const add = (host: string) => t.create("/tracking-hosts", { host }, "data.id");
const check = (id: string) => t.call("POST", `/tracking-hosts/${id}/check`);
const base = (host: string) => `http://${host}:${front.port}`;

async function sentHtml(): Promise<string> {
  t.db.sqlite.run("UPDATE projects SET tracking = 'ENABLED'");
  const body = `<p><a href="https://shop.example/sale">Sale</a></p>`;
  const mail = { from: "a@acme.test", to: "b@example.net", subject: "Hi", body };
  const id = await t.create("/v1/send", mail, "emails.0.email");
  await t.deliver();
  const { body: raw } = await t.call("GET", `/emails/${id}/raw`);
  return String(raw).replaceAll("=\r\n", "").replaceAll("=3D", "=");
}

describe("a host", () => {
  test("is carried by links once it leads here, and no more after it was removed", async () => {
    const id = await add("Links.acme.test.");
    const shown = await t.call("GET", "/tracking-hosts");
    expect(shown.at("data.items.0")).toMatchObject({
      host: "links.acme.test",
      status: "PENDING",
      record: { type: "CNAME", name: "links.acme.test", host: "links", value: "track.mail.test" },
    });
    expect(await sentHtml()).toContain(`${base("track.mail.test")}/c/`);
    expect((await check(id)).at("data")).toMatchObject({ status: "ACTIVE", problem: null });
    const html = await sentHtml();
    expect(html).toContain(`${base("links.acme.test")}/o/`);
    const [link = ""] = /http:\/\/links\.acme\.test:\d+\/c\/[\w/-]+/.exec(html) ?? [];

    expect((await t.call("DELETE", `/tracking-hosts/${id}`)).status).toBe(204);
    expect(await sentHtml()).toContain(`${base("track.mail.test")}/c/`);
    // The link in the old mail works, with the Host header of the removed host.
    const followed = await t.app.handle(
      new Request(link, { headers: { host: "links.acme.test" } }),
    );
    expect([followed.status, followed.headers.get("location")]).toEqual([
      302,
      "https://shop.example/sale",
    ]);
    expect((await t.call("GET", "/tracking-hosts")).at("data.items")).toEqual([]);
    // It may come back.
    expect(await add("links.acme.test")).toBe(id);
  });

  const faults: [host: string, problem: RegExp][] = [
    ["none.acme.test", /has no address in the DNS yet/],
    ["elsewhere.acme.test", /leads to 127\.0\.0\.3, which is no address of track\.mail\.test/],
  ];

  test.each(faults)("%s is not used", async (host, problem) => {
    const id = await add(host);
    const answer = (await check(id)).at("data");
    expect(answer).toMatchObject({ status: "PENDING", problem: expect.stringMatching(problem) });
    expect(await sentHtml()).toContain(`${base("track.mail.test")}/c/`);
  });

  test("is not used if another server answers, nobody does, or it redirects", async () => {
    const id = await add("go.acme.test");
    const answers: [typeof serve, RegExp][] = [
      [() => new Response("hello"), /another server answers at .* \(status 200\)/],
      [(request) => Response.redirect(request.url.replace("go.acme", "track.mail")), /status 302/],
      [() => new Response("no", { status: 404 }), /status 404/],
    ];
    for (const [answer, problem] of answers) {
      serve = answer;
      const { at } = await check(id);
      expect(at("data")).toMatchObject({
        status: "PENDING",
        problem: expect.stringMatching(problem),
      });
    }
  });

  test("is checked again by itself when it is due", async () => {
    const due = () => t.app.recurring.find(({ name }) => name === "tracking hosts")?.run();
    await add("later.acme.test");
    await due();
    dns.records["later.acme.test"] = { A: ["127.0.0.2"] };
    await due();
    const status = async () => (await t.call("GET", "/tracking-hosts")).at("data.items.0.status");
    expect(await status()).toBe("PENDING");
    t.clock.advance(60_000);
    await due();
    expect(await status()).toBe("ACTIVE");
  });

  test("of one project is refused to another one, and so is a domain of others", async () => {
    await add("links.acme.test");
    const { secretKey: key } = await t.makeProject("other");
    const asOther = (host: string) => t.call("POST", "/tracking-hosts", { host }, { key });
    const notOurs = { status: 422, code: "VALIDATION_ERROR" };
    const errors = [["host", "invalid_value"]] as const;
    expectError(await asOther("links.acme.test"), { ...notOurs, errors });
    expectError(await t.call("POST", "/tracking-hosts", { host: "go.acme.test" }), {
      status: 409,
      code: "CONFLICT",
    });
  });

  const refused: [host: string, code: string][] = [
    ["127.0.0.1", "invalid_format"],
    ["com", "invalid_format"],
    ["acme.test", "invalid_value"],
    ["track.mail.test", "invalid_value"],
    ["links.shop.example", "invalid_value"],
    ["a b", "invalid_format"],
  ];

  test.each(refused)("%s is refused", async (host, code) => {
    const answer = await t.call("POST", "/tracking-hosts", { host });
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors: [["host", code]] });
  });
});

test("a report of a click on a link of the host counts no click", async () => {
  await check(await add("links.acme.test"));
  await sentHtml();
  const { id = "" } = t.db.sqlite.query<{ id: string }, []>("SELECT id FROM emails").get() ?? {};
  const { trackingKey } = t.app.app;
  t.clock.advance(60_000);
  const report = (host: string) => {
    const url = redirectUrl(base(host), trackingKey, {
      emailId: id,
      target: "https://shop.example/sale",
    });
    const hit = { kind: "click", emailId: id, url, at: t.clock.now(), isMachine: false } as const;
    return t.app.writer.write(() => countReportedHit(t.app.app, hit, t.clock.now()));
  };
  expect(await report("links.acme.test")).toBe(false);
  expect(await report("links.other.example")).toBe(true);
});

test("a check is answered for its own text only, without a key", async () => {
  const path = "/.well-known/mailstead-tracking/";
  const nonce = "a".repeat(32);
  const answer = await t.call("GET", path + nonce, undefined, { key: null });
  expect([answer.status, answer.body]).toEqual([200, answerCheck(t.app.app, nonce)]);
  for (const wrong of ["short", `${nonce}b`, `${"a".repeat(31)}_`]) {
    expect((await t.call("GET", path + wrong, undefined, { key: null })).status).toBe(404);
  }
});

describe("the state after a check", () => {
  const NOW = 1_000_000;
  const MINUTE = 60_000;
  const fault = { kind: "fault", reason: "gone" } as const;
  const active = { status: "ACTIVE", problem: null, misses: 0, verifiedAt: 5 } as const;
  const removed = { status: "REMOVED", problem: null, misses: 6, verifiedAt: null } as const;

  test("of a host in use is lost after three faults", () => {
    const first = hostStateAfter(active, fault, NOW);
    expect(first).toMatchObject({ status: "ACTIVE", misses: 1, nextCheckAt: NOW + MINUTE });
    expect(hostStateAfter({ ...active, misses: 2 }, fault, NOW)).toMatchObject({
      status: "PENDING",
      verifiedAt: null,
      problem: "gone",
    });
  });

  test("does not change if the DNS could not be asked", () => {
    const unknown = { kind: "unknown", reason: "no answer" } as const;
    expect(hostStateAfter({ ...active, misses: 2 }, unknown, NOW)).toMatchObject({
      status: "ACTIVE",
      misses: 2,
      problem: null,
    });
  });

  test("of a removed host is kept while it leads here, and forgotten after seven faults", () => {
    expect(hostStateAfter(removed, fault, NOW)).toBe("forgotten");
    expect(hostStateAfter(removed, { kind: "found" }, NOW)).toMatchObject({
      status: "REMOVED",
      misses: 0,
      verifiedAt: null,
    });
  });
});
