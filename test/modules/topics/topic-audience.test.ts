/**
 * The recipients of marketing mail with topics and pauses: the numbers of an audience, its lists, the
 * mails that are sent and an independent model agree, for random choices, defaults, pauses and
 * suppressions.
 */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { waitUntil } from "../../support/eventually.ts";
import { listAt } from "../../support/json.ts";
import { type CampaignApp, campaignApp } from "../campaigns/campaign-app.ts";

const DAY = 24 * 60 * 60_000;
const CONTACTS = 24;

let t: CampaignApp;
beforeAll(async () => {
  t = await campaignApp();
});
afterAll(() => t.close());

/** The same numbers for the same seed (a linear congruential generator). */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

type Person = {
  email: string;
  subscribed: boolean;
  choice: boolean | null;
  isPaused: boolean;
  isSuppressed: boolean;
};

/** The reason for which a person gets no mail, or null. */
function reasonOf(
  person: Person,
  { hasTopic, isDefault }: { hasTopic: boolean; isDefault: boolean },
) {
  if (!person.subscribed) return "UNSUBSCRIBED";
  if (hasTopic && !(person.choice ?? isDefault)) return "TOPIC";
  if (person.isPaused) return "PAUSED";
  return person.isSuppressed ? "MANUAL" : null;
}

const statusOf = (id: string) =>
  t.db.sqlite
    .query<{ status: string }, [string]>("SELECT status FROM campaigns WHERE id = ?")
    .get(id)?.status;

const REASONS = ["UNSUBSCRIBED", "TOPIC", "PAUSED", "MANUAL"] as const;

test.each([1, 2, 3, 4, 5, 6])("the audience is exact, round %i", async (round) => {
  const random = randomOf(round);
  const project = await t.makeProject(`round-${round}`);
  const { call, create } = t.inProject(project);
  const isDefault = round % 2 === 0;
  const defaultState = isDefault ? "SUBSCRIBED" : "UNSUBSCRIBED";
  const topicId = await create("/topics", { name: "News", default: defaultState }, "data.id");
  const people: Person[] = [];
  for (let n = 0; n < CONTACTS; n++) {
    const person = {
      email: `p${n}@round.test`,
      subscribed: random(5) > 0,
      choice: [null, true, false][random(3)] ?? null,
      isPaused: random(4) === 0,
      isSuppressed: random(5) === 0,
    };
    people.push(person);
    const { email, subscribed } = person;
    const id = await create("/contacts", { email, subscribed, data: { n } }, "id");
    if (person.choice !== null) {
      const topics = [{ topicId, subscribed: person.choice }];
      await call("PUT", `/contacts/${id}/topics`, { topics });
    }
    // A pause that is over does not count.
    const ms = person.isPaused ? 2 * DAY : random(2) * 60_000;
    if (ms > 0) {
      const pausedUntil = new Date(t.clock.now() + ms).toISOString();
      await call("PATCH", `/contacts/${id}`, { pausedUntil });
    }
    if (person.isSuppressed) await create("/suppressions", { email }, "data.email");
  }
  t.clock.advance(120_000);

  const half = { field: "data.n", operator: "lessThan", value: CONTACTS / 2 };
  const audienceFilter = { logic: "AND", groups: [{ filters: [half] }] };
  for (const filter of [null, audienceFilter]) {
    for (const category of ["MARKETING", "TRANSACTIONAL"]) {
      const hasTopic = category === "MARKETING" && random(4) > 0;
      const among = filter === null ? people : people.slice(0, CONTACTS / 2);
      const reasons = among.map((person) => {
        if (category === "TRANSACTIONAL") return person.isSuppressed ? "MANUAL" : null;
        return reasonOf(person, { hasTopic, isDefault });
      });
      const expected = (reason: string | null) =>
        among.filter((_, i) => reasons[i] === reason).map(({ email }) => email);
      const body = {
        name: "Spring",
        subject: "Hello",
        body: "<p>Hello</p>",
        from: `news@round-${round}.test`,
        category,
        ...(filter === null
          ? { audienceType: "ALL" }
          : { audienceType: "FILTERED", audienceFilter: filter }),
        ...(hasTopic ? { topicId } : {}),
      };
      const id = await create("/campaigns", body, "data.id");
      const { body: counted } = await call("GET", `/campaigns/${id}/audience`);
      const { data } = Object(counted);
      expect({ ...data, excluded: data.excluded.map(Object) }).toMatchObject({
        matched: among.length,
        recipients: expected(null).length,
        unsubscribed: expected("UNSUBSCRIBED").length,
        suppressed: expected("MANUAL").length,
        isExact: true,
        excluded: REASONS.flatMap((reason) => {
          const count = expected(reason).length;
          const query = `/campaigns/${id}/audience/contacts?reason=${reason}`;
          return count === 0 ? [] : [{ reason, count, query }];
        }),
      });
      for (const reason of [null, ...REASONS]) {
        const query = reason === null ? "" : `&reason=${reason}`;
        const path = `/campaigns/${id}/audience/contacts?limit=100${query}`;
        const listed = listAt((await call("GET", path)).body, "data.items").map((item) =>
          String(Object(item).email),
        );
        expect([reason, listed.toSorted()]).toEqual([reason, expected(reason).toSorted()]);
      }
      const { status } = await call("POST", `/campaigns/${id}/send`);
      expect(status).toBe(expected(null).length === 0 ? 409 : 204);
      if (status === 409) continue;
      await waitUntil(() => {
        void t.app.campaigns.tick();
        return statusOf(id) === "SENT";
      });
      const sent = t.db.sqlite
        .query<{ to: string }, [string]>(
          `SELECT to_address AS "to" FROM emails JOIN campaigns ON campaigns.seq = campaign_seq
           WHERE campaigns.id = ? AND emails.status = 'SENT'`,
        )
        .all(id)
        .map(({ to }) => to);
      expect(sent.toSorted()).toEqual(expected(null).toSorted());
    }
  }
});

describe("a mail that waits", () => {
  const at = () => new Date(t.clock.now() + DAY).toISOString();

  async function waiting(template: object = {}) {
    const topicId = await t.create("/topics", { name: "Offers", default: "SUBSCRIBED" }, "data.id");
    const content = { name: "Offer", subject: "Offer", body: "<p>Offer</p>", type: "MARKETING" };
    const from = "news@acme.test";
    const body = { ...content, from, topicId, ...template };
    const templateId = await t.create("/templates", body, "data.id");
    const email = `waits-${topicId}@example.com`;
    const contact = await t.contact(email);
    const mail = { to: email, template: templateId, scheduledAt: at() };
    const id = await t.create("/v1/send", mail, "data.emails.0.email");
    return { topicId, templateId, contact, email, id };
  }

  const outcome = async (id: string) => {
    t.clock.advance(DAY);
    await t.deliver();
    const { body } = await t.call("GET", `/emails/${id}`);
    return [Object(body).data.status, Object(body).data.lastError];
  };

  test("is sent while nothing changes", async () => {
    const { id } = await waiting();
    expect(await outcome(id)).toEqual(["SENT", null]);
  });

  test("is not sent to a contact who has left the topic meanwhile", async () => {
    const { id, topicId, contact } = await waiting();
    const topics = [{ topicId, subscribed: false }];
    await t.call("PUT", `/contacts/${contact}/topics`, { topics });
    const reason = "The recipient is not in the topic “Offers” any more.";
    expect(await outcome(id)).toEqual(["CANCELLED", reason]);
  });

  test("is not sent to a contact who has paused meanwhile", async () => {
    const { id, contact } = await waiting();
    const pausedUntil = new Date(t.clock.now() + 3 * DAY).toISOString();
    await t.call("PATCH", `/contacts/${contact}`, { pausedUntil });
    const reason = `The recipient has paused marketing mail until ${pausedUntil}.`;
    expect(await outcome(id)).toEqual(["CANCELLED", reason]);
  });

  test("is not sent when its topic was deleted", async () => {
    const { id, topicId, templateId } = await waiting();
    expect((await t.call("DELETE", `/topics/${topicId}`)).status).toBe(409);
    await t.call("PATCH", `/templates/${templateId}`, { topicId: null });
    expect((await t.call("DELETE", `/topics/${topicId}`)).status).toBe(204);
    expect(await outcome(id)).toEqual(["CANCELLED", "The topic of the mail was deleted."]);
  });

  test("is refused at once for a contact who may not get it, also when it is sent again", async () => {
    const { id, topicId, templateId, contact, email } = await waiting();
    await outcome(id);
    const topics = [{ topicId, subscribed: false }];
    await t.call("PUT", `/contacts/${contact}/topics`, { topics });
    const send = (rest: object = {}) =>
      t.call("POST", "/v1/send", { to: email, template: templateId, ...rest });
    const refusals = async () => [
      (await send()).at("error"),
      (await t.call("POST", `/emails/${id}/resend`)).at("error"),
    ];
    const left = { code: "RECIPIENT_UNSUBSCRIBED", statusCode: 400 };
    expect(await refusals()).toMatchObject([left, left]);
    expect((await send()).text("error.message")).toContain("in the topic “Offers”");
    await t.call("PUT", `/contacts/${contact}/topics`, { topics: [{ topicId, subscribed: true }] });
    const pausedUntil = new Date(t.clock.now() + DAY).toISOString();
    await t.call("PATCH", `/contacts/${contact}`, { pausedUntil });
    const paused = { code: "RECIPIENT_PAUSED", statusCode: 400 };
    expect(await refusals()).toMatchObject([paused, paused]);
    // A mail for a time after the pause is accepted.
    expect((await send({ scheduledAt: pausedUntil })).status).toBe(200);
  });

  test("has the topic of the request, which transactional mail cannot have", async () => {
    const { templateId, email } = await waiting();
    const other = await t.create("/topics", { name: "Joiners only" }, "data.id");
    const refused = await t.call("POST", "/v1/send", {
      to: email,
      template: templateId,
      topicId: other,
    });
    expect(refused.at("error.code")).toBe("RECIPIENT_UNSUBSCRIBED");
    for (const [rest, code] of [
      [{ topicId: other, subject: "s", body: "b", from: "news@acme.test" }, "invalid_value"],
      [{ topicId: "none", template: templateId }, "unknown_reference"],
    ] as const) {
      const answer = await t.call("POST", "/v1/send", { to: email, ...rest });
      expect(answer.at("error.errors.0")).toMatchObject({ field: "topicId", code });
    }
  });
});

test("a template or a campaign that is a notice has no topic", async () => {
  const topicId = await t.create("/topics", { name: "Notices" }, "data.id");
  const content = { name: "n", subject: "s", body: "b", from: "news@acme.test", topicId };
  for (const [path, body] of [
    ["/templates", { ...content, type: "TRANSACTIONAL" }],
    ["/campaigns", { ...content, audienceType: "ALL", category: "TRANSACTIONAL" }],
  ] as const) {
    const answer = await t.call("POST", path, body);
    expect(answer.at("error.errors.0.field")).toBe("topicId");
  }
  const template = await t.create("/templates", { ...content, type: "MARKETING" }, "data.id");
  const patched = await t.call("PATCH", `/templates/${template}`, { type: "TRANSACTIONAL" });
  expect(patched.at("error.errors.0.field")).toBe("topicId");
  const both = { type: "TRANSACTIONAL", topicId: null };
  expect((await t.call("PATCH", `/templates/${template}`, both)).at("data.topicId")).toBeNull();
  // The topic comes back with the version that had it.
  const restored = await t.call("POST", `/templates/${template}/versions/1/restore`);
  expect(restored.at("data.topicId")).toBe(topicId);
  // A campaign takes the topic of the template whose content it copies.
  const draft = await t.call("POST", "/campaigns/drafts", { name: "d", templateId: template });
  expect(draft.at("data.topicId")).toBe(topicId);
  const users = listAt((await t.call("GET", `/topics/${topicId}/usage`)).body, "data.users");
  expect(users.map((user) => Object(user).kind)).toEqual(["template", "campaign"]);
});

test("a contact who leaves or pauses after a campaign has started gets nothing", async () => {
  const c = await campaignApp();
  try {
    const topic = { name: "News", default: "SUBSCRIBED" };
    const topicId = await c.create("/topics", topic, "data.id");
    await c.contact("first@x.test");
    const leaves = await c.contact("leaves@x.test");
    const pauses = await c.contact("pauses@x.test");
    await c.contact("last@x.test");
    const id = await c.campaign({ topicId, rate: 1 / 60 });
    await c.act(id, "send");
    await c.settle();
    await c.call("PUT", `/contacts/${leaves}/topics`, { topics: [{ topicId, subscribed: false }] });
    const pausedUntil = new Date(c.clock.now() + DAY).toISOString();
    await c.call("PATCH", `/contacts/${pauses}`, { pausedUntil });
    c.setAll("campaigns", "rate = NULL");
    c.clock.advance(2_000_000);
    await c.settle();
    const { body } = await c.call("GET", `/campaigns/${id}/recipients?limit=10`);
    const states = listAt(body, "data.items").map(Object);
    expect(states.map(({ email, status }) => `${email} ${status}`).toSorted()).toEqual([
      "first@x.test SENT",
      "last@x.test SENT",
      "leaves@x.test CANCELLED",
      "pauses@x.test CANCELLED",
    ]);
    // A contact who leaves the topic by the link of a mail counts once in the report of its campaign.
    const raw = c.received().join("").replaceAll("=\r\n", "");
    const path = /\/unsubscribe\/[\w-]+/.exec(raw)?.[0] ?? "";
    for (let n = 0; n < 2; n++) {
      await c.app.handle(new Request(`http://localhost${path}`, { method: "POST" }));
    }
    expect(await c.stats(id)).toMatchObject({ unsubscribed: 1, cancelled: 2 });
    const left = await c.call("GET", `/campaigns/${id}/recipients?action=UNSUBSCRIBED`);
    expect(left.at("data.items.0.email")).toBe("first@x.test");
  } finally {
    await c.close();
  }
});
