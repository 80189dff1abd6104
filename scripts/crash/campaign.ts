/**
 * Sends a campaign while the server is killed, or stopped with SIGTERM, and restarted: while the
 * audience is written, while mails are sent, and while the campaign is paused and resumed.
 * Afterwards each recipient must have the mail, and have it twice only if it was under way at a
 * kill. A second campaign is cancelled immediately before a kill: afterwards no more of its mails
 * may leave.
 */

import { recountUsage } from "../../src/db/usage-recount.ts";
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { type Api, createApi } from "../bench/api.ts";
import { relayTo, type Server } from "../bench/children.ts";
import { BODY, SENDER } from "../bench/mail.ts";
import { type Aim, limitAim, type Outcome, presenceAim, whole } from "../bench/report.ts";
import {
  type CrashOptions,
  killRepeatedly,
  leasedAtStarts,
  randomOf,
  runUntilDone,
  stopAndCheck,
  sum,
  withCrashStore,
} from "./kills.ts";
import { MAX_LEASED } from "../../src/outbox/lane/capacity.ts";
import { type Mailbox, openMailbox } from "./mailbox.ts";

const MAX_UPTIME_MS = 1_000;
const POLL_MS = 10;

export type CampaignCrashOptions = CrashOptions & {
  recipients: number;
  isSigned: boolean;
  /** TERM lets the server end the mails under way, so that none is leased afterwards. */
  signal: "KILL" | "TERM";
};

const Created = Type.Object({ data: Type.Object({ id: Type.String() }) });
const Stats = Type.Object({
  data: Type.Object({
    totalRecipients: Type.Integer(),
    sent: Type.Integer(),
    queued: Type.Integer(),
    cancelled: Type.Integer(),
  }),
});
const Shown = Type.Object({ data: Type.Object({ status: Type.String() }) });

export function crashCampaign(options: CampaignCrashOptions): Promise<Outcome> {
  const { kills, recipients, signal, isSigned } = options;
  return withCrashStore(options, { isSigned }, async (store) => {
    const { data, key } = store;
    addContacts(data, recipients);
    const mailbox = await openMailbox();
    const args = relayTo(mailbox.port, 0);
    const campaigns = createCampaigns(createApi(store, key));
    const ends = { faulty: 0, whileSending: 0, arrivedBefore: 0 };

    async function end(server: Server): Promise<void> {
      if (signal === "KILL") await server.crash();
      else if ((await server.stop()) !== 0) ends.faulty++;
      const arrived = mailbox.recipients();
      if (arrived > ends.arrivedBefore && arrived < recipients) ends.whileSending++;
      ends.arrivedBefore = arrived;
    }

    const random = randomOf(options.seed);
    let first = "";
    let isPaused = false;
    let paused = 0;
    await killRepeatedly(store, options, {
      args,
      maxUptimeMs: MAX_UPTIME_MS,
      async begin(kill) {
        if (kill === 0) first = await campaigns.send("First");
        else isPaused = await campaigns.pauseOrResume(first, random.integer(10) < 3);
        if (isPaused) paused++;
      },
      progress: () => mailbox.recipients(),
      maxProgress: recipients / kills,
      // The first kill may come while the audience is written.
      expectsProgress: (kill) => kill > 0 && !isPaused && mailbox.recipients() < recipients,
      end,
    });

    // The rate leaves at least a second to cancel the second campaign.
    const last = await runUntilDone(store, options, {
      args: relayTo(mailbox.port, recipients),
      start: kills,
      begin: () => campaigns.resume(first),
      progress: () => countArrivals(mailbox, recipients),
      async isDone() {
        const { sent, queued } = await campaigns.stats(first);
        return sent >= recipients && queued === 0;
      },
    });
    const stats = await campaigns.stats(first);
    const arrivals = compareArrivals(mailbox, recipients);

    // The second campaign is cancelled while it is being sent, and the server is killed at once.
    const second = await campaigns.send("Second");
    while ((await campaigns.stats(second)).sent <= recipients / 50) await Bun.sleep(POLL_MS);
    await campaigns.cancel(second);
    await last.server.crash();
    const before = countArrivals(mailbox, recipients);
    const { server } = await runUntilDone(store, options, {
      args,
      start: last.nextStart,
      progress: () => countArrivals(mailbox, recipients),
      isDone: async () =>
        (await campaigns.stats(second)).queued === 0 && (await campaigns.status(first)) === "SENT",
    });
    const cancelled = await campaigns.stats(second);
    const checks = await stopAndCheck(server, data);
    const afterCancel = countArrivals(mailbox, recipients) - before;
    await mailbox.close();

    const leased = leasedAtStarts(data);
    const underWay = sum(leased);
    return {
      figures: [
        ["arrived", `${whole(arrivals.arrived)} of ${whole(recipients)}`],
        ["under way at the kills", whole(underWay)],
        ["kills while mails were sent", `${ends.whileSending} of ${kills}`],
        ["paused by request", `${paused} times`],
        [
          "cancelled, then killed",
          `${whole(cancelled.sent)} sent, ${whole(cancelled.cancelled)} cancelled`,
        ],
      ],
      aims: [
        limitAim("skipped", recipients - arrivals.arrived),
        signal === "TERM"
          ? limitAim("duplicates", arrivals.duplicates)
          : limitAim("duplicates", arrivals.duplicates, underWay, "the mails that were not ended"),
        limitAim("duplicates that differ", arrivals.differing),
        limitAim("most mails leased at a kill", Math.max(0, ...leased), MAX_LEASED),
        presenceAim("kills while mails were sent", ends.whileSending, kills / 3),
        limitAim("exit codes other than 0 after SIGTERM", ends.faulty),
        statisticsAim(stats, recipients),
        limitAim("arrived after the cancel", afterCancel),
        ...checks,
      ],
    };
  });
}

function statisticsAim(
  { totalRecipients, sent, queued }: { totalRecipients: number; sent: number; queued: number },
  recipients: number,
): Aim {
  return {
    name: "statistics",
    isMet: totalRecipients === recipients && sent === recipients && queued === 0,
    measured: `${whole(totalRecipients)} recipients, ${whole(sent)} sent, ${whole(queued)} queued`,
    wanted: `${whole(recipients)} recipients and sent, 0 queued`,
  };
}

function createCampaigns(api: Api) {
  const status = async (id: string) =>
    (await api.read(Shown, "GET", `/campaigns/${id}`)).data.status;
  const resume = async (id: string) => {
    if ((await status(id)) === "PAUSED") await api.send("POST", `/campaigns/${id}/resume`);
  };
  return {
    status,
    resume,
    stats: async (id: string) => (await api.read(Stats, "GET", `/campaigns/${id}/stats`)).data,
    cancel: (id: string) => api.send("POST", `/campaigns/${id}/cancel`),

    async send(subject: string): Promise<string> {
      const content = { name: subject, subject, body: BODY, from: SENDER, audienceType: "ALL" };
      const { data } = await api.read(Created, "POST", "/campaigns", content);
      await api.send("POST", `/campaigns/${data.id}/send`);
      return data.id;
    },

    /** Resumes a paused campaign, as a user would; if `mayPause`, pauses one that is sending. */
    async pauseOrResume(id: string, mayPause: boolean): Promise<boolean> {
      const isPausing = mayPause && (await status(id)) === "SENDING";
      if (isPausing) await api.send("POST", `/campaigns/${id}/pause`);
      else await resume(id);
      return isPausing;
    },
  };
}

export const addressOf = (number: number) => `reader-${number}@example.net`;

/** Adds contacts to the only project of a data folder. */
export function addContacts(data: string, count: number): void {
  const sqlite = new Database(join(data, "mailstead.db"));
  sqlite.run(
    `INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
     WITH numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
     SELECT 'reader-' || n, projects.seq, 'reader-' || n || '@example.net', 1,
            json_object('name', 'Reader ' || n, 'order', n), 0, 0
     FROM numbers CROSS JOIN projects`,
    [count],
  );
  recountUsage(sqlite);
  // The connection may be closed later, when its statements are garbage: nothing is left for it.
  sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  sqlite.close();
}

function compareArrivals(mailbox: Mailbox, recipients: number) {
  let arrived = 0;
  let duplicates = 0;
  let differing = 0;
  for (let number = 1; number <= recipients; number++) {
    const [first, ...more] = mailbox.to(addressOf(number));
    if (first === undefined) continue;
    arrived++;
    duplicates += more.length;
    differing += more.filter(
      ({ messageId, digest }) => messageId !== first.messageId || digest !== first.digest,
    ).length;
  }
  return { arrived, duplicates, differing };
}

function countArrivals(mailbox: Mailbox, recipients: number): number {
  let total = 0;
  for (let number = 1; number <= recipients; number++) {
    total += mailbox.to(addressOf(number)).length;
  }
  return total;
}
