/**
 * Compares backtests with a live run of the demonstration: the events of its year happen again in a new
 * project that has its templates and workflows, with a clock that stops at each due time.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "bun:test";
import { type Aim, limitAim, presenceAim } from "../../../scripts/bench/report.ts";
import { WORKFLOWS } from "../../../scripts/seed/demo/workflow-texts.ts";
import { seedDemo } from "../../../scripts/seed/demo.ts";
import { openDataFolder } from "../../../src/db/folder.ts";
import { openDatabase } from "../../../src/db/open.ts";
import { eventLog } from "../../../src/events/log.ts";
import { isServiceEvent } from "../../../src/lib/service-events.ts";
import {
  backtest,
  lived,
  moveClock,
  replayed,
  settle,
} from "../../modules/workflows/live-and-replayed.ts";
import { type Automation, startAutomation } from "../../support/automation.ts";
import { manualClock } from "../../support/clock.ts";
import { dkimPairs } from "../../support/dkim.ts";
import { valueAt } from "../../support/json.ts";

const UNTIL_MS = Date.parse("2026-06-01T12:00:00Z");
const SIZES = { contacts: 240, mails: 4_000, events: 9_000, inboxMessages: 24 };

type Happened = {
  name: string;
  email: string;
  json: string | null;
  at: number;
  /** The state of the contact at the end of the year. */
  contactData: string;
};

const EVENTS = `
  SELECT events.name, contacts.email, events.data AS json, events.created_at AS at,
         contacts.data AS contactData
  FROM events JOIN contacts ON contacts.seq = events.contact_seq
  WHERE events.name IN (SELECT value FROM json_each(?)) ORDER BY events.seq`;

export async function compareDemoBacktest({ seed }: { seed: number }): Promise<Aim[]> {
  const events = await eventsOfDemo(seed);
  const clock = manualClock((events[0]?.at ?? UNTIL_MS) - 1_000);
  const fetchGuarded = async () => ({
    status: 200,
    headers: new Headers(),
    body: new Uint8Array(),
    isTruncated: false,
  });
  // The delivery of mails is not compared; a low rate saves its time.
  const a = await startAutomation({ clock, fetchGuarded, config: { sendRate: 1 } });
  try {
    const ids = await createWorkflows(a);
    for (const event of events) await happen(a, event);
    await moveClock(a, UNTIL_MS - clock.now());
    return await compare(a, ids);
  } finally {
    await a.close();
  }
}

/** The recorded events on which the workflows depend, in the order of the log. */
async function eventsOfDemo(seed: number): Promise<Happened[]> {
  const folder = mkdtempSync(join(tmpdir(), "mailstead-demo-"));
  try {
    await seedDemo(folder, { sizes: SIZES, untilMs: UNTIL_MS, seed, makeDkimKeys: dkimPairs });
    const { databaseFile } = openDataFolder(folder, null);
    const { sqlite } = openDatabase(databaseFile);
    const awaited = WORKFLOWS.flatMap(({ event, steps }) => [
      event,
      ...steps.flatMap(({ config }) => config["eventName"] ?? []),
    ]);
    const names = [...new Set([...awaited, "contact.subscribed", "contact.unsubscribed"])];
    const found = sqlite.query<Happened, [string]>(EVENTS).all(JSON.stringify(names));
    sqlite.close();
    return found;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function createWorkflows(a: Automation): Promise<string[]> {
  const templates = new Map<string, string>();
  const ids: string[] = [];
  for (const { name, event: eventName, allowReentry, steps, transitions } of WORKFLOWS) {
    const given = [];
    for (const step of steps) {
      const { templateId: key } = step.config;
      if (typeof key !== "string") {
        given.push(step);
        continue;
      }
      const templateId = templates.get(key) ?? (await a.template({ name: key }));
      templates.set(key, templateId);
      given.push({ ...step, config: { templateId } });
    }
    const [first] = steps;
    const leading = { from: "trigger", to: first?.id ?? "" };
    const graph = {
      trigger: { type: "EVENT", eventName },
      steps: given,
      transitions: [leading, ...transitions],
    };
    ids.push(await a.workflow(graph, { name, allowReentry }));
  }
  return ids;
}

async function happen(a: Automation, event: Happened): Promise<void> {
  const { name, email, json, at } = event;
  await moveClock(a, Math.max(0, at - a.t.clock.now()));
  if (a.contactId(email) === "") {
    const data: unknown = JSON.parse(event.contactData);
    const subscribed = name !== "contact.subscribed";
    await a.t.create("/contacts", { email, subscribed, data }, "id");
  }
  const data: unknown = json === null ? {} : JSON.parse(json);
  if (name === "contact.subscribed" || name === "contact.unsubscribed") {
    const subscribed = name === "contact.subscribed";
    const answer = await a.t.call("PATCH", `/contacts/${a.contactId(email)}`, { subscribed });
    expect(answer.status).toBe(200);
  } else if (isServiceEvent(name)) {
    await recordEvent(a, { name, email, json });
  } else {
    const answer = await a.t.call("POST", "/v1/track", { event: name, email, data });
    expect(answer.status).toBe(200);
  }
  await settle(a);
}

/** An event that the service itself records, such as the open of a mail. */
async function recordEvent(
  { t }: Automation,
  { name, email, json }: Pick<Happened, "name" | "email" | "json">,
): Promise<void> {
  const { app } = t.app;
  const projectSeq = t.project.seq;
  const find = app.db.sqlite.query<{ seq: number }, [number, string]>(
    "SELECT seq FROM contacts WHERE project_seq = ? AND email = ?",
  );
  const contactSeq = find.get(projectSeq, email)?.seq ?? null;
  const data = json === null ? {} : { json };
  await app.writer.write(() => {
    eventLog(app).record({ projectSeq, name, contactSeq, ...data, at: t.clock.now() });
  });
}

async function compare(a: Automation, ids: readonly string[]): Promise<Aim[]> {
  let executions = 0;
  let different = 0;
  for (const id of ids) {
    const result = valueAt(await backtest(a, id), "result");
    const [found, expected] = [replayed(result), lived(a, id)];
    if (!Bun.deepEquals(found, expected)) {
      different++;
      console.error(JSON.stringify({ id, found, expected }, null, 1));
    }
    executions += Number(valueAt(result, "started"));
  }
  return [
    limitAim("workflows of the demonstration whose backtest differs", different),
    presenceAim("executions of the demonstration", executions, 100),
  ];
}
