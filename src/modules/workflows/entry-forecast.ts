/**
 * Forecasts how many contacts will enter a workflow if it is enabled. Threads for reading count them.
 */

import type { App } from "../../core/app.ts";
import { isoTime } from "../../lib/clock.ts";
import { segmentService } from "../segments/service.ts";
import { nextTimes } from "./cron.ts";
import type { EntryForecast } from "./entry-model.ts";
import { type Graph, triggerOf } from "./graph/graph.ts";

const RECENT_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
const SHOWN_TIMES = 3;

const NOTHING = {
  eventName: null,
  recentContacts: null,
  recentDays: null,
  nextTimes: [],
  segmentId: null,
  members: null,
};

/** The member count rejects with 404 if the segment of a schedule was deleted. */
export async function forecastEntries(
  app: App,
  { projectSeq }: { projectSeq: number },
  graph: Graph,
): Promise<EntryForecast> {
  const trigger = triggerOf(graph);
  if ("eventName" in trigger) {
    const { eventName } = trigger;
    const recentContacts = await countRecent(app, projectSeq, eventName);
    const text =
      `The next event "${eventName}" of a contact starts it. ` +
      `${contactsText(recentContacts)} had that event in the last ${RECENT_DAYS} days; ` +
      "only later events count.";
    return {
      ...NOTHING,
      type: "EVENT",
      eventName,
      recentContacts,
      recentDays: RECENT_DAYS,
      text,
    };
  }
  if (trigger.type === "MANUAL") {
    const text = "Nobody enters until you start it for a contact or a segment.";
    return { ...NOTHING, type: "MANUAL", text };
  }
  const { segmentId } = trigger;
  const members = await countMembers(app, projectSeq, segmentId);
  const times = nextTimes(trigger, app.clock.now(), SHOWN_TIMES).map(isoTime);
  const [next = "never"] = times;
  const text = `${contactsText(members)} would enter now. The schedule lets the contacts enter next at ${next}.`;
  return { ...NOTHING, type: "SCHEDULE", nextTimes: times, segmentId, members, text };
}

function countMembers(app: App, projectSeq: number, segmentId: string | null): Promise<number> {
  const segments = segmentService(app);
  return segments.audiences.count(
    segmentId === null
      ? segments.audienceOfCondition(projectSeq, null)
      : segments.audienceOf(projectSeq, segmentId),
  );
}

/** A contact had the event recently if its last one was. */
async function countRecent(app: App, projectSeq: number, eventName: string): Promise<number> {
  const sql = `
    SELECT count(*) FROM contact_events AS history
    WHERE history.name_seq = (SELECT seq FROM event_names WHERE project_seq = +? AND name = +?)
      AND (history.contact_seq & 255 OR in_time()) AND history.last_at >= +?`;
  const since = app.clock.now() - RECENT_DAYS * DAY_MS;
  const { rows } = await app.reader.find(projectSeq, {
    sql,
    values: [projectSeq, eventName, since],
  });
  return Number(rows[0]?.[0] ?? 0);
}

const contactsText = (count: number): string =>
  count === 1 ? "1 contact" : `${new Intl.NumberFormat("en").format(count)} contacts`;
