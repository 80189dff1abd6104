/**
 * Campaigns: one mail to every contact of an audience. In order: a campaign is created as a DRAFT
 * (service.ts, columns.ts); it is sent or scheduled (lifecycle.ts, states.ts); the runner starts it
 * when it is due (runner.ts). Its audience is fixed then (audience.ts, audience-snapshot.ts). One mail
 * per recipient is written (expand.ts), while the outbox already sends the first of them; events of
 * these mails update its counters and may pause it (event-handlers.ts, stats.ts, render-cost.ts); the
 * runner finishes it when no mail is left. Its statistics are read at any time (report.ts,
 * recipients.ts).
 */

import type { App } from "../../core/app.ts";
import type { Config } from "../../config/settings.ts";
import type { Db } from "../../db/open.ts";
import { statement } from "../../db/statement.ts";
import type { Writer } from "../../db/writer.ts";
import type { EventLog } from "../../events/log.ts";
import type { Admission } from "../../http/admission.ts";
import { normalizedAddress } from "../../http/formats.ts";
import type { ListPage } from "../../http/pagination.ts";
import type { Announcements } from "../../events/announcements.ts";
import type { Clock } from "../../lib/clock.ts";
import { type Log, withPages } from "../../lib/log.ts";
import { domainOf } from "../../protocols/mime/address.ts";
import type { Contacts } from "../contacts/service.ts";
import { senderNotVerified } from "../domains/service.ts";
import { type EmailStore, mailQueued } from "../../outbox/enqueue.ts";
import type { Module } from "../module.ts";
import { pageUrl } from "../projects.ts";
import type { Segments } from "../segments/service.ts";
import { onMachineHit } from "../tracking/tracking.ts";
import { campaignActionRoutes } from "./action-routes.ts";
import { archivePages } from "./archive-pages.ts";
import { createCampaignAudience } from "./audience.ts";
import { createCost } from "./render-cost.ts";
import { createExpansion } from "./expand.ts";
import { createCampaignHandlers } from "./event-handlers.ts";
import { createLifecycle, type NoteChange } from "./lifecycle.ts";
import { campaignReportRoutes } from "./report-routes.ts";
import { campaignRoutes } from "./routes.ts";
import { createRunner } from "./runner.ts";
import { createCampaigns } from "./service.ts";
import type { Cancellation } from "../../outbox/cancel.ts";
import type { References } from "../../lib/references.ts";
import { createStats } from "./stats.ts";
import { createTestMails } from "./test-mail.ts";

export type CampaignModule = ReturnType<typeof createCampaignModule>;

const findProject = statement<{ projectSeq: number }, [string]>(
  "SELECT project_seq AS projectSeq FROM campaigns WHERE id = +?",
);

export function createCampaignModule(deps: {
  app: App;
  db: Db;
  writer: Writer;
  clock: Clock;
  log: Log;
  listPage: ListPage;
  contacts: Contacts;
  segments: Segments;
  store: EmailStore;
  cancellation: Pick<Cancellation, "ofCampaign">;
  isSenderVerified: (projectSeq: number, domain: string) => boolean;
  config: Pick<Config, "campaignBounceLimit" | "campaignComplaintLimit" | "campaignLimitAfter">;
  events: Pick<EventLog, "onEvent">;
  admission: Admission;
  references: Pick<References, "register">;
  announcements: Pick<Announcements, "announce">;
}) {
  const { app, db, writer, clock, listPage, contacts, segments, store } = deps;
  const { config, isSenderVerified } = deps;
  const log = withPages(deps.log, ({ campaign }) => {
    const found = typeof campaign === "string" ? findProject(app).get(campaign) : null;
    return found === null ? null : pageUrl(app, found.projectSeq, `campaigns/${String(campaign)}`);
  });
  const wake = () => writer.afterCommit(mailQueued(app).raise);
  const noteChange: NoteChange = ({ projectSeq, id }) =>
    writer.afterCommit(() =>
      deps.announcements.announce({ projectSeq, type: "campaign.changed", id }),
    );
  const campaigns = createCampaigns({
    app,
    db,
    clock,
    segments,
    requireVerified,
    noteChange,
  });
  const stats = createStats({ db, writer });
  const lifecycle = createLifecycle({
    app,
    db,
    clock,
    campaigns,
    store,
    stats,
    requireVerified,
    wake,
    noteChange,
  });
  deps.references.register("segment", campaigns.usersOfSegment, campaigns.checkUsersOfSegments);
  deps.references.register("domain", campaigns.usersOfDomain);
  deps.references.register("layout", campaigns.usersOfLayout);
  const audience = createCampaignAudience({
    app,
    db,
    listPage,
    segments,
    columnsOf: campaigns.audienceColumns,
  });
  const expansion = createExpansion({ app, db, writer, clock, segments, audience, store, wake });

  function requireVerified(projectSeq: number, from: string): void {
    const domain = domainOf(normalizedAddress(from));
    if (!isSenderVerified(projectSeq, domain)) throw senderNotVerified(domain);
  }

  const testMails = createTestMails({
    app,
    clock,
    contacts,
    store,
    lifecycle,
    wake,
  });
  const runner = createRunner({
    db,
    writer,
    clock,
    log,
    lifecycle,
    expansion,
    cancellation: deps.cancellation,
    isSenderVerified,
  });
  const limits = {
    bounceRate: config.campaignBounceLimit,
    complaintRate: config.campaignComplaintLimit,
    afterMails: config.campaignLimitAfter,
  };
  const handlers = createCampaignHandlers({ db, log, stats, lifecycle, limits });
  deps.events.onEvent(handlers.handle);
  onMachineHit(app, handlers.noteMachine);
  const { admission } = deps;

  return {
    name: "campaigns",
    routes: [
      campaignRoutes({ app, admission, campaigns, testMails, runner }),
      archivePages(app),
      campaignActionRoutes({ admission, audience, campaigns, lifecycle, runner, writer }),
      campaignReportRoutes({
        app,
        admission,
        audience,
        campaigns,
      }),
    ],
    recurring: [{ name: "campaigns", pattern: "*/5 * * * * *", run: runner.tick }],
    wake: runner.wake,
    start: runner.start,
    stop: runner.stop,
    runner,
    /** For the module of rehearsals. */
    service: { campaigns, audience },
    /** Checks of the dispatcher, just before a mail of a campaign leaves. */
    lifecycle,
    /** Part of a change: counts a mail of a campaign whose sender was refused. */
    noteFailure: handlers.noteFailure,
    cost: createCost({ writer, lifecycle, log }),
  } satisfies Module & Record<string, unknown>;
}
