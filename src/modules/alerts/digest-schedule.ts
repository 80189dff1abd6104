/**
 * The time of the weekly digest: on Monday at 08:00 in the time zone of the system. The time of the
 * next one is stored, and moved in the change that queues the mails, so there is one for each week also
 * through restarts. A server that was down at that time sends it at its start.
 */

import type { App } from "../../core/app.ts";
import { readInstallationValue, storeInstallationValue } from "../../db/installation-values.ts";
import { isoTime } from "../../lib/clock.ts";
import { systemTimeZone } from "../../lib/time-zone.ts";
import { addNotices, noticeSender } from "./notices.ts";

const PATTERN = "0 0 8 * * 1";

/** Queues the digest if it is due. */
export async function queueDigest(app: App): Promise<void> {
  const { clock, config, db, writer } = app;
  const isWanted = config.weeklyDigest && config.operatorEmail.length > 0;
  const stored = readInstallationValue(db, "digest_due_at");
  if (!isWanted) {
    // Otherwise the digest would be late as soon as it is wanted again.
    if (stored !== null)
      await writer.write(() => storeInstallationValue(db, "digest_due_at", null));
    return;
  }
  const now = clock.now();
  if (stored !== null && now < Date.parse(stored)) return;
  const next = await nextDigestAt(now);
  const isQueued = await writer.write(() => {
    if (readInstallationValue(db, "digest_due_at") !== stored) return false;
    storeInstallationValue(db, "digest_due_at", isoTime(next));
    if (stored !== null) addNotices(app, "DIGEST");
    return stored !== null;
  });
  if (isQueued) noticeSender(app).wake();
}

async function nextDigestAt(after: number): Promise<number> {
  const { Cron } = await import("croner");
  const next = new Cron(PATTERN, { timezone: systemTimeZone() }).nextRun(new Date(after));
  if (next === null) throw new Error(`${PATTERN} never recurs`);
  return next.getTime();
}
