/** Prepares to send a campaign now or at a time: the checks before the change, and the change. */

import type { App } from "../../core/app.ts";
import type { Change } from "../../db/writer.ts";
import type { Role } from "../../http/roles.ts";
import { AppError, fieldError } from "../../lib/errors.ts";
import { zoneName } from "../../lib/wall-clock.ts";
import { heldOutOf } from "./ab-tests/ab-groups.ts";
import { findAbTest } from "./ab-tests/ab-tests.ts";
import { campaignAudience } from "./audience.ts";
import { campaignLifecycle } from "./lifecycle.ts";
import { RECIPIENT_ZONE } from "./local-times.ts";
import type { SendCampaignInput } from "./model.ts";
import type { CampaignRow } from "./present.ts";
import { campaignRunner } from "./runner.ts";
import { requireConfirmed, requireNoticeRole } from "./sending-rules.ts";
import { campaignService } from "./service.ts";

export async function prepareSend(
  app: App,
  projectSeq: number,
  id: string,
  { input, role }: { input: SendCampaignInput; role: Role | null },
): Promise<Change<CampaignRow>> {
  const [audience, campaigns] = [campaignAudience(app), campaignService(app)];
  const [lifecycle, runner] = [campaignLifecycle(app), campaignRunner(app)];
  const { scheduledFor, confirm } = input;
  const isScheduled = typeof scheduledFor === "string";
  const campaign = campaigns.get(projectSeq, id);
  lifecycle.ensure(campaign, isScheduled ? "schedule" : "send");
  if (campaign.category === "TRANSACTIONAL") requireNoticeRole(role);
  await audience.ensureRecipients(campaign);
  if (confirm !== undefined) {
    const { recipients } = await audience.breakdown(campaign);
    requireConfirmed(recipients - heldOutOf(recipients, findAbTest(app, campaign.seq)), confirm);
  }
  const zones = zonesIn(input);
  const move = isScheduled
    ? lifecycle.schedule(projectSeq, id, { at: Date.parse(scheduledFor), ...zones })
    : lifecycle.sendNow(projectSeq, id);
  return () => {
    ensureUnchanged(campaign, campaigns.get(projectSeq, id));
    const moved = move();
    app.writer.afterCommit(runner.wake);
    return moved;
  };
}

/** The audience was counted, and the role checked, for the campaign as it was then. */
function ensureUnchanged(then: CampaignRow, now: CampaignRow): void {
  if (then.revision === now.revision) return;
  throw new AppError(409, "CONFLICT", "The campaign was changed at the same time.", {
    suggestion: "Look at the campaign, then repeat the request.",
  });
}

/** The usual names of the zones of a request. */
function zonesIn({ timeZone, fallbackTimeZone, scheduledFor }: SendCampaignInput) {
  const isLocal = timeZone === RECIPIENT_ZONE;
  if (isLocal && typeof scheduledFor !== "string") {
    throw fieldError("scheduledFor", "required", "is required for the timeZone RECIPIENT");
  }
  if (!isLocal && (fallbackTimeZone ?? null) !== null) {
    const message = "must be omitted unless timeZone is RECIPIENT";
    throw fieldError("fallbackTimeZone", "invalid_value", message);
  }
  return {
    timeZone: isLocal ? RECIPIENT_ZONE : zoneIn("timeZone", timeZone),
    fallbackZone: isLocal ? (zoneIn("fallbackTimeZone", fallbackTimeZone) ?? "UTC") : null,
  };
}

function zoneIn(field: string, name: string | null | undefined): string | null {
  if (name === undefined || name === null) return null;
  const zone = zoneName(name);
  if (zone !== null) return zone;
  throw fieldError(field, "invalid_value", "must be a time zone such as Europe/Berlin");
}
