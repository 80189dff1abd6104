/**
 * Lets all contacts enter three workflows while the server is killed and restarted: by a schedule, once
 * ever; by a schedule with re-entry, once per run; and by hand. The clock is an hour later at each
 * start, so that a time of the schedules has come. Afterwards each run must have looked at each contact
 * once, and each execution must have its steps once. At last an event is tracked for some contacts, again
 * with kills: it ends their executions, and no others.
 */

import { Type } from "@sinclair/typebox";
import { createApi } from "../bench/api.ts";
import { relayTo } from "../bench/children.ts";
import { type Aim, limitAim, type Outcome, presenceAim, whole } from "../bench/report.ts";
import { openReader } from "../bench/store.ts";
import { addContacts, addressOf } from "./campaign.ts";
import {
  type CrashOptions,
  type CrashStore,
  killRepeatedly,
  runUntilDone,
  stopAndCheck,
  withCrashStore,
} from "./kills.ts";

const MAX_UPTIME_MS = 800;
/** Kills while the event that is an exit is tracked: one for so many kills before. */
const KILLS_PER_EXIT_KILL = 10;
/** Contacts of which the event is tracked: one of so many. */
const CONTACTS_PER_EXIT = 50;
const LEFT = "left";

export type EntryCrashOptions = CrashOptions & { contacts: number };

const Created = Type.Object({ data: Type.Object({ id: Type.String() }) });

export function crashEntries(options: EntryCrashOptions): Promise<Outcome> {
  const { kills, contacts } = options;
  return withCrashStore({ ...options, isHourly: true }, {}, async (store) => {
    addContacts(store.data, contacts);
    const args = relayTo(1, 0);
    const reader = openReader(store.data);
    const progress = () => reader.count("workflow_executions");
    let killsWhileEntering = 0;
    await killRepeatedly(store, options, {
      args,
      maxUptimeMs: MAX_UPTIME_MS,
      async begin(kill) {
        if (kill === 0) await createWorkflows(store);
      },
      progress,
      maxProgress: (3 * contacts) / kills,
      expectsProgress: () => true,
      async end(server) {
        await server.crash();
        if (reader.count("workflow_entry_runs WHERE status = 'RUNNING' AND cursor > 0") > 0)
          killsWhileEntering++;
      },
    });
    const isEntered = () =>
      reader.count("workflow_entry_runs WHERE status = 'RUNNING'") === 0 &&
      reader.count("workflow_executions WHERE status = 'RUNNING' OR due_at IS NOT NULL") === 0;
    const entered = await runUntilDone(
      store,
      { ...options, isHourly: false },
      {
        args,
        start: kills,
        progress,
        isDone: isEntered,
      },
    );
    await entered.server.stop();

    const exits = await trackExits(store, options, { args, start: entered.nextStart });
    const checks = await stopAndCheck(exits.server, store.data);
    const found = compareRuns(reader, contacts);
    const ended = reader.count(
      `workflow_executions WHERE status = 'EXITED' AND exit_reason = 'The event "${LEFT}" happened.'`,
    );
    reader.close();
    return {
      figures: [
        ["contacts", whole(contacts)],
        ["entry runs", whole(found.runs)],
        ["executions", whole(found.executions)],
        ["kills while contacts entered", `${killsWhileEntering} of ${kills}`],
      ],
      aims: [
        ...found.aims,
        {
          name: "executions that the event ended",
          isMet: ended === exits.tracked,
          measured: whole(ended),
          wanted: whole(exits.tracked),
        },
        presenceAim("kills while contacts entered", killsWhileEntering, Math.floor(kills / 3)),
        ...checks,
      ],
    };
  });
}

/**
 * Tracks the event for some contacts while the server is killed; repeats the requests that were not
 * answered.
 */
async function trackExits(
  store: CrashStore,
  options: EntryCrashOptions,
  { args, start }: { args: readonly string[]; start: number },
) {
  const numbers = Array.from(
    { length: Math.floor(options.contacts / CONTACTS_PER_EXIT) },
    (_, i) => 1 + i * CONTACTS_PER_EXIT,
  );
  const open = [...numbers];
  const api = createApi(store, store.key);
  const done = () => numbers.length - open.length;
  async function track(isOver: () => boolean): Promise<void> {
    for (let [number] = open; number !== undefined && !isOver(); [number] = open) {
      try {
        await api.send("POST", "/v1/track", { event: LEFT, email: addressOf(number) });
      } catch {
        return; // The server was killed; an event that is tracked twice ends nothing more.
      }
      open.shift();
    }
  }
  const kills = Math.max(1, Math.floor(options.kills / KILLS_PER_EXIT_KILL));
  await killRepeatedly(
    { ...store, launch: (kill, flags) => store.launch(start + kill, flags) },
    { ...options, kills },
    {
      args,
      maxUptimeMs: MAX_UPTIME_MS,
      work: (_, isOver) => track(isOver),
      progress: done,
      maxProgress: numbers.length / kills,
      expectsProgress: () => open.length > 0,
    },
  );
  const reader = openReader(store.data);
  const { server } = await runUntilDone(
    store,
    { ...options, isHourly: false },
    {
      args,
      start: start + kills,
      begin: () => track(() => false),
      progress: done,
      isDone: () =>
        reader.count("workflow_executions WHERE status = 'EXITED'") >= numbers.length &&
        reader.count("workflow_entry_runs WHERE status = 'RUNNING'") === 0 &&
        reader.count("workflow_executions WHERE status = 'RUNNING'") === 0,
    },
  );
  reader.close();
  return { server, tracked: numbers.length };
}

async function createWorkflows(store: CrashStore): Promise<void> {
  const api = createApi(store, store.key);
  const create = async (body: object) =>
    (await api.read(Created, "POST", "/workflows", { enabled: true, ...body })).data.id;
  const hourly = { type: "SCHEDULE", cron: "0 * * * *", timeZone: "Europe/Berlin" };
  const mark = { id: "mark", type: "UPDATE_CONTACT", config: { updates: { stage: "met" } } };
  const split = {
    id: "split",
    type: "SPLIT",
    config: {
      branches: [
        { id: "a", weight: 30 },
        { id: "b", weight: 70 },
      ],
    },
  };
  const days = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"];
  const config = { days, from: "00:00", to: "24:00", timeZone: "CONTACT" };
  const window = { id: "window", type: "TIME_WINDOW", config };
  await create({
    name: "once",
    trigger: hourly,
    steps: [split, window, mark],
    transitions: [
      { from: "split", to: "window", branch: "a" },
      { from: "split", to: "window", branch: "b" },
      { from: "window", to: "mark" },
    ],
  });
  await create({ name: "each run", trigger: hourly, allowReentry: true, steps: [window] });
  const wait = { id: "wait", type: "WAIT_FOR_EVENT", config: { eventName: "never" } };
  const manual = await create({
    name: "by hand",
    trigger: { type: "MANUAL" },
    exits: [{ on: "EVENT", eventName: LEFT }],
    steps: [wait],
  });
  await api.send("POST", `/workflows/${manual}/entries`, { segmentId: null });
}

function compareRuns(reader: ReturnType<typeof openReader>, contacts: number) {
  const of = (name: string) => `(SELECT seq FROM workflows WHERE name = '${name}')`;
  const executionsOf = (name: string) =>
    reader.count(`workflow_executions WHERE workflow_seq = ${of(name)}`);
  const repeatedIn = (name: string) =>
    reader.count(`(SELECT contact_seq FROM workflow_executions WHERE workflow_seq = ${of(name)}
                   GROUP BY contact_seq HAVING count(*) > 1)`);
  const reentered = executionsOf("each run");
  const counted = Number(
    reader.texts(`SELECT sum(entered) AS text FROM workflow_entry_runs
                  WHERE workflow_seq = ${of("each run")}`)[0],
  );
  const completed = reader.count(`workflow_execution_steps AS step
    JOIN workflow_executions AS e ON e.seq = step.execution_seq
    WHERE e.workflow_seq = ${of("once")}`);
  const aims: Aim[] = [
    limitAim("contacts that a schedule without re-entry left out", contacts - executionsOf("once")),
    limitAim("contacts that entered it twice", repeatedIn("once")),
    limitAim("contacts left out by hand", contacts - executionsOf("by hand")),
    limitAim("contacts that entered by hand twice", repeatedIn("by hand")),
    limitAim(
      "runs that looked at a contact twice or not at all",
      reader.count(`workflow_entry_runs WHERE entered + skipped <> ${contacts}`),
    ),
    limitAim(
      "difference of the executions with re-entry from the counts of the runs",
      Math.abs(reentered - counted),
    ),
    limitAim(
      "difference of the completed steps from four for each execution",
      Math.abs(completed - 4 * contacts),
    ),
    limitAim(
      "contacts that a step did not change",
      reader.count("contacts WHERE data ->> '$.stage' IS NOT 'met'"),
    ),
  ];
  return {
    runs: reader.count("workflow_entry_runs"),
    executions: reader.count("workflow_executions"),
    aims,
  };
}
