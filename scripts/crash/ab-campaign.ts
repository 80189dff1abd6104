/**
 * Sends a campaign with an A/B test while the server is killed and restarted: while its test is written
 * and sent, while it waits for the winner, and while the rest is written and sent. The winner is chosen
 * by an event of a recipient of variant B. The clock must be an hour later at each start, so that the time of the
 * test passes. Afterwards each contact must have one variant, or nothing if it is held out.
 */

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { type Api, createApi } from "../bench/api.ts";
import { relayTo } from "../bench/children.ts";
import { BODY, SENDER } from "../bench/mail.ts";
import { limitAim, type Outcome, presenceAim, whole } from "../bench/report.ts";
import { addContacts, addressOf, type CampaignCrashOptions } from "./campaign.ts";
import {
  killRepeatedly,
  leasedAtStarts,
  randomOf,
  runUntilDone,
  stopAndCheck,
  sum,
  withCrashStore,
} from "./kills.ts";
import { type Mailbox, openMailbox } from "./mailbox.ts";

const MAX_UPTIME_MS = 1_000;
/** With at least so many kills, each phase has some of them. */
const MANY_KILLS = 10;
/**
 * Longer than the hour between two starts, so that at least one start finds the test waiting, and records
 * the event that decides. In a long run, several do.
 */
const AFTER_MINUTES = { long: 150, short: 90 };
const SUBJECTS = { A: "Your order", B: "It is on its way", C: "News of your order" };
const WINNER = "B";

const Created = Type.Object({ data: Type.Object({ id: Type.String() }) });
const Shown = Type.Object({
  data: Type.Object({
    status: Type.String(),
    abTestState: Type.Object({
      phase: Type.String(),
      winnerId: Type.Union([Type.String(), Type.Null()]),
      decidedAt: Type.Union([Type.String(), Type.Null()]),
    }),
  }),
});
const Recipients = Type.Object({
  data: Type.Object({ items: Type.Array(Type.Object({ email: Type.String() })) }),
});
const Report = Type.Object({
  data: Type.Object({
    variants: Type.Array(Type.Object({ sent: Type.Integer(), decidedHits: Type.Integer() })),
    rest: Type.Object({ sent: Type.Integer() }),
    holdOut: Type.Object({ contacts: Type.Integer() }),
  }),
});

export function crashAbCampaign(options: CampaignCrashOptions): Promise<Outcome> {
  const { kills, recipients, isSigned, signal } = options;
  return withCrashStore(options, { isSigned }, async (store) => {
    const { data, key } = store;
    addContacts(data, recipients);
    const mailbox = await openMailbox();
    const args = relayTo(mailbox.port, 0);
    const campaign = createAbCampaign(createApi(store, key));
    const random = randomOf(options.seed);
    const phases: string[] = [];
    let isPaused = false;

    async function begin(kill: number): Promise<void> {
      if (kill === 0)
        return await campaign.start(AFTER_MINUTES[kills < MANY_KILLS ? "short" : "long"]);
      isPaused = await campaign.pauseOrResume(random.integer(10) < 2);
      const { phase } = await campaign.look();
      phases.push(phase);
      if (phase === "WAITING") await campaign.recordEvent();
    }

    await killRepeatedly(store, options, {
      args,
      maxUptimeMs: MAX_UPTIME_MS,
      begin,
      progress: () => mailbox.recipients(),
      maxProgress: recipients / kills,
      expectsProgress: (kill) => kill > 0 && !isPaused && phases.at(-1) !== "WAITING",
      end: async (server) => {
        if (signal === "KILL") await server.crash();
        else await server.stop();
      },
    });

    const { server } = await runUntilDone(store, options, {
      args,
      start: kills,
      async begin() {
        await campaign.pauseOrResume(false);
      },
      progress: () => mailbox.recipients(),
      // Work that is left waits for the next hour, so a short run starts the server again soon.
      quietMs: kills < MANY_KILLS ? 300 : 1_000,
      async isDone() {
        const { status, phase } = await campaign.look();
        if (phase === "WAITING") await campaign.recordEvent();
        await campaign.wakeRunner();
        return status === "SENT";
      },
    });
    const report = await campaign.report();
    const checks = await stopAndCheck(server, data);
    await mailbox.close();

    const groups = groupsIn(data);
    const found = compare(mailbox, recipients, groups);
    const underWay = sum(leasedAtStarts(data));
    const inPhase = (name: string) => phases.filter((phase) => phase === name).length;
    const tested = sum(report.variants.map(({ sent }) => sent));
    return {
      figures: [
        [
          "test, rest, held out",
          `${whole(tested)}, ${whole(report.rest.sent)}, ${whole(groups.held.size)}`,
        ],
        ["starts in TEST, WAITING, REST", ["TEST", "WAITING", "REST"].map(inPhase).join(", ")],
        ["under way at the kills", whole(underWay)],
      ],
      aims: [
        limitAim("skipped", found.skipped),
        limitAim("duplicates", found.duplicates, underWay, "the mails that were not ended"),
        limitAim("duplicates that differ", found.differing),
        limitAim("contacts with another variant than stored", found.wrong),
        limitAim("held out, but with a mail", found.held),
        limitAim("winners besides B", campaign.winners().filter((id) => id !== WINNER).length),
        limitAim("times at which a winner was chosen", campaign.times(), 1),
        limitAim("hold-outs that the report misses", groups.held.size - report.holdOut.contacts),
        limitAim(
          "mails that the report misses",
          recipients - groups.held.size - tested - report.rest.sent,
        ),
        ...(kills < MANY_KILLS
          ? []
          : [
              presenceAim("starts in the test", inPhase("TEST"), kills / 5),
              presenceAim("starts while it waits", inPhase("WAITING")),
              presenceAim("starts in the rest", inPhase("REST"), kills / 5),
            ]),
        ...checks,
      ],
    };
  });
}

function createAbCampaign(api: Api) {
  const winners = new Set<string>();
  const times = new Set<string>();
  let [id, draftId] = ["", ""];
  let hasEvent = false;

  async function look() {
    const { data } = await api.read(Shown, "GET", `/campaigns/${id}`);
    const { phase, winnerId, decidedAt } = data.abTestState;
    if (winnerId !== null) winners.add(winnerId);
    if (decidedAt !== null) times.add(decidedAt);
    return { status: data.status, phase };
  }

  return {
    look,
    winners: () => [...winners],
    times: () => times.size,
    report: async () => (await api.read(Report, "GET", `/campaigns/${id}/ab-test`)).data,

    async start(afterMinutes: number): Promise<void> {
      const { data } = await api.read(Created, "POST", "/campaigns", {
        name: "Test",
        subject: SUBJECTS.A,
        body: BODY,
        from: SENDER,
        audienceType: "ALL",
        abTest: {
          variants: [{}, { subject: SUBJECTS.B }, { subject: SUBJECTS.C }],
          share: 20,
          holdOut: 5,
          winner: { by: "EVENT", eventName: "ordered", afterMinutes },
        },
      });
      ({ id } = data);
      const draft = await api.read(Created, "POST", "/campaigns/drafts", { name: "Draft" });
      draftId = draft.data.id;
      await api.send("POST", `/campaigns/${id}/send`);
    },

    /** A change of any campaign wakes the runner, which otherwise looks every 5 s. */
    wakeRunner: () => api.send("PATCH", `/campaigns/${draftId}`, { name: "Draft" }),

    /** Resumes a paused campaign, as a user would; if `mayPause`, pauses one that is sending. */
    async pauseOrResume(mayPause: boolean): Promise<boolean> {
      const { status } = await look();
      if (status === "PAUSED") await api.send("POST", `/campaigns/${id}/resume`);
      const isPausing = mayPause && status === "SENDING";
      if (isPausing) await api.send("POST", `/campaigns/${id}/pause`);
      return isPausing;
    },

    /** Tracks the event that decides the test, for a recipient who has a mail of the later winner. */
    async recordEvent(): Promise<void> {
      if (hasEvent) return;
      const path = `/campaigns/${id}/recipients?variantId=${WINNER}&status=SENT&limit=1`;
      const [recipient] = (await api.read(Recipients, "GET", path)).data.items;
      if (recipient === undefined) return;
      await api.send("POST", "/v1/track", { event: "ordered", email: recipient.email });
      hasEvent = true;
    },
  };
}

type Groups = { variants: ReadonlyMap<string, string>; held: ReadonlySet<string> };

/** The variant of each address in the test, and the addresses that are held out. */
function groupsIn(data: string): Groups {
  const sqlite = new Database(join(data, "mailstead.db"), { readonly: true });
  const mails = sqlite
    .query<{ email: string; variant: string }, []>(
      "SELECT to_address AS email, variant FROM emails WHERE variant IS NOT NULL",
    )
    .all();
  const held = sqlite
    .query<{ email: string }, []>(
      "SELECT email FROM ab_hold_outs JOIN contacts ON contacts.seq = contact_seq",
    )
    .all();
  sqlite.close();
  return {
    variants: new Map(mails.map(({ email, variant }) => [email, variant])),
    held: new Set(held.map(({ email }) => email)),
  };
}

function compare(mailbox: Mailbox, recipients: number, { variants, held }: Groups) {
  const found = { skipped: 0, duplicates: 0, differing: 0, wrong: 0, held: 0 };
  for (let number = 1; number <= recipients; number++) {
    const address = addressOf(number);
    const [first, ...more] = mailbox.to(address);
    if (first === undefined) {
      if (!held.has(address)) found.skipped++;
      continue;
    }
    if (held.has(address)) found.held++;
    const id = variants.get(address) ?? WINNER;
    if (first.subject !== Reflect.get(SUBJECTS, id)) found.wrong++;
    found.duplicates += more.length;
    found.differing += more.filter(
      ({ messageId, digest }) => messageId !== first.messageId || digest !== first.digest,
    ).length;
  }
  return found;
}
