/**
 * Campaigns: one mail to every contact of an audience. In order: a campaign is created as a DRAFT
 * (service.ts, columns.ts); it is sent or scheduled (lifecycle.ts, states.ts); the runner starts it when it is
 * due (runner.ts) and writes one mail per recipient (expand.ts, audience.ts), while the outbox
 * already sends the first of them; events of these mails update its statistics and may pause it
 * (event-handlers.ts, stats.ts, render-cost.ts); the runner finishes it when no mail is left.
 */

import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import { normalizedAddress } from "../../http/formats.ts";
import type { Cursors } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { FairScheduler } from "../../lib/slice-queue.ts";
import { domainOf } from "../../protocols/mime/address.ts";
import type { Contacts } from "../contacts/service.ts";
import { senderNotVerified } from "../domains/not-verified.ts";
import type { EmailStore } from "../../outbox/enqueue.ts";
import type { Quotas } from "../quotas/service.ts";
import type { Segments } from "../segments/service.ts";
import type { Previews } from "../templates/preview.ts";
import { createCost } from "./render-cost.ts";
import { createExpansion } from "./expand.ts";
import { createCampaignHandlers, type Limits } from "./event-handlers.ts";
import { createLifecycle } from "./lifecycle.ts";
import { createRunner } from "./runner.ts";
import { createCampaigns } from "./service.ts";
import type { Cancellation } from "../../outbox/cancel.ts";
import type { References } from "../../lib/references.ts";
import { createStats } from "./stats.ts";
import { createRecipients } from "./recipients.ts";
import { createTestMails } from "./test-mail.ts";

export function createCampaignModule(deps: {
  db: Db;
  writer: Writer;
  clock: Clock;
  log: Log;
  cursors: Cursors;
  contacts: Contacts;
  segments: Segments;
  store: EmailStore;
  cancellation: Pick<Cancellation, "ofCampaign">;
  scheduler: FairScheduler;
  renderFor: Previews["renderFor"];
  isSenderVerified: (projectSeq: number, domain: string) => boolean;
  suppressionOf: (projectSeq: number, address: string) => string | null;
  quotas: Pick<Quotas, "ensureQueue">;
  limits: Limits;
  references: Pick<References, "register">;
  /** Wakes the dispatcher, because there is mail to send. */
  wakeDispatcher: () => void;
}) {
  const { db, writer, clock, log, cursors, contacts, segments, store } = deps;
  const { scheduler, renderFor, isSenderVerified, suppressionOf, quotas, limits, wakeDispatcher } =
    deps;
  const wake = () => writer.afterCommit(wakeDispatcher);
  const campaigns = createCampaigns({ db, clock, cursors, segments, requireVerified });
  const stats = createStats({ db });
  const lifecycle = createLifecycle({ db, clock, campaigns, store, stats, requireVerified, wake });
  deps.references.register("segment", campaigns.usersOfSegment);
  deps.references.register("domain", campaigns.usersOfDomain);
  const expansion = createExpansion({ db, writer, clock, segments, store, wake });

  function requireVerified(projectSeq: number, from: string): void {
    const domain = domainOf(normalizedAddress(from));
    if (!isSenderVerified(projectSeq, domain)) throw senderNotVerified(domain);
  }

  return {
    campaigns,
    recipients: createRecipients({ db, cursors, scheduler, stats }),
    stats,
    lifecycle,
    facts: createCampaignHandlers({ db, log, stats, lifecycle, limits }),
    cost: createCost({ writer, lifecycle, log }),
    testMails: createTestMails({
      clock,
      contacts,
      store,
      lifecycle,
      renderFor,
      suppressionOf,
      quotas,
      wake,
    }),
    runner: createRunner({
      db,
      writer,
      clock,
      log,
      lifecycle,
      expansion,
      cancellation: deps.cancellation,
      isSenderVerified,
    }),
  };
}
