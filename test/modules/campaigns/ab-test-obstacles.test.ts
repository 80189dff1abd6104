/**
 * A campaign with an A/B test is stopped in each of its phases, by complaints, by a held queue, or because
 * its project is disabled. Nothing leaves meanwhile, and afterwards each contact gets one mail.
 */

import { beforeEach, describe, expect, test } from "bun:test";
import { processReport } from "../../../src/modules/bounces/bounces.ts";
import { wakeSending } from "../../../src/outbox/enqueue.ts";
import { holdQueue, queueHold, releaseQueue } from "../../../src/outbox/queue-hold.ts";
import { insertAbContacts, smallGroups } from "../../support/ab-contacts.ts";
import { expectSoon } from "../../support/eventually.ts";
import { complaint, returnPathOf } from "../bounces/reports.ts";
import { type CampaignApp, campaignsPerTest } from "./campaign-app.ts";

const MINUTE = 60_000;
const SHARES = { share: 40, holdOut: 0 };
const AB_TEST = {
  ...SHARES,
  variants: [{}, { subject: "Why?" }],
  winner: { by: "CLICKS", afterMinutes: 60 },
};
/** One mail a minute. */
const SLOW = 1 / 60;

let t: CampaignApp;
const next = campaignsPerTest({ config: { campaignLimitAfter: 3 } });
beforeEach(async () => {
  t = await next();
});

type Phase = "TEST" | "WAITING" | "REST";

/** Phase, status and mails that were sent; read beside the API, which refuses a disabled project. */
function look() {
  const row = t.db.sqlite
    .query<{ phase: Phase; status: string }, [number]>(
      `SELECT ab_tests.phase, campaigns.status FROM campaigns
       JOIN ab_tests ON ab_tests.campaign_seq = campaigns.seq WHERE project_seq = ?`,
    )
    .get(t.project.seq);
  return { ...row, sent: t.count("sent_at IS NOT NULL") };
}

/** Rounds of the runner go on until it is so; the steps of a test go on beside them. */
const soon = (expected: object) =>
  expectSoon(async () => {
    await t.app.campaigns.tick();
    return look();
  }, expect.objectContaining(expected));

async function minutes(count: number): Promise<void> {
  t.clock.advance(count * MINUTE);
  await t.settle();
}

/** Sends a campaign until three mails of the test, or one of the rest, have left. */
async function startIn(phase: Phase): Promise<string> {
  const isSlow = phase === "TEST";
  const id = await t.campaign({ abTest: AB_TEST, ...(isSlow ? { rate: SLOW } : {}) });
  insertAbContacts(t.db.sqlite, { id, ...SHARES }, smallGroups(SHARES));
  await t.act(id, "send");
  await t.settle();
  if (phase === "TEST") {
    await minutes(1);
    await minutes(1);
    await soon({ phase, sent: 3 });
    return id;
  }
  await soon({ phase: "WAITING", sent: 6 });
  if (phase === "WAITING") return id;
  t.setAll("campaigns", "rate = ?", SLOW);
  await minutes(60);
  await soon({ phase, sent: 7 });
  return id;
}

/**
 * The ways in which a campaign is stopped, and continued. `phases` are those to which the phases may go
 * meanwhile.
 */
type Obstacle = {
  stop: (id: string) => Promise<void>;
  end: (id: string) => Promise<void>;
  status: string;
  after: Readonly<Record<Phase, Phase>>;
};

const STAYS = { TEST: "TEST", WAITING: "WAITING", REST: "REST" } as const;

async function complain(): Promise<void> {
  const sent = t.db.sqlite
    .query<{ id: string }, [number]>(
      "SELECT id FROM emails WHERE project_seq = ? AND status = 'SENT' ORDER BY seq LIMIT 3",
    )
    .all(t.project.seq);
  for (const { id } of sent)
    await processReport(t.app.app, Buffer.from(complaint()), returnPathOf(id));
}

const OBSTACLES: Readonly<Record<string, Obstacle>> = {
  complaints: {
    stop: complain,
    end: async (id) => void (await t.act(id, "resume")),
    status: "PAUSED",
    after: STAYS,
  },
  "a held queue": {
    async stop() {
      holdQueue(t.db, t.clock.now());
      await queueHold(t.app.app).refresh();
    },
    async end() {
      releaseQueue(t.db);
      await queueHold(t.app.app).refresh();
    },
    status: "SENDING",
    after: STAYS,
  },
  "a disabled project": {
    stop: () => setEnabled(0),
    end: () => setEnabled(1),
    status: "SENDING",
    // The winner is chosen in time. Its mails are written and wait.
    after: { ...STAYS, WAITING: "REST" },
  },
};

async function setEnabled(value: number): Promise<void> {
  await t.app.writer.write(() => {
    t.db.sqlite.run("UPDATE projects SET is_enabled = ? WHERE seq = ?", [value, t.project.seq]);
    wakeSending(t.app.app);
  });
}

describe.each(Object.entries(OBSTACLES))(
  "an A/B test and %s",
  (_, { stop, end, status, after }) => {
    test.each(["TEST", "WAITING", "REST"] as const)("in the phase %s", async (phase) => {
      const id = await startIn(phase);
      const { sent } = look();
      await stop(id);
      await minutes(180);
      await soon({ phase: after[phase], status, sent });

      t.setAll("campaigns", "rate = NULL");
      await end(id);
      await t.settle();
      if (phase === "TEST") {
        await soon({ phase: "WAITING", sent: 6 });
        await minutes(60);
      }
      await soon({ phase: "REST", status: "SENT", sent: 10 });
      expect(new Set(t.received().map((raw) => /^To: (.*)$/m.exec(raw)?.[1])).size).toBe(10);
      expect([t.count("variant = 'A'"), t.count("variant = 'B'")]).toEqual([3, 3]);
    });
  },
);
