/**
 * Persons are erased while the server is killed and restarted. Requests without an answer are sent
 * again with the same Idempotency-Key. Afterwards each person must have exactly one receipt, which is
 * completed, and their addresses must stand in no file of the data folder.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { type Api, createApi } from "../bench/api.ts";
import { limitAim, type Outcome, presenceAim, whole } from "../bench/report.ts";
import { openReader } from "../bench/store.ts";
import {
  type CrashOptions,
  killRepeatedly,
  runUntilDone,
  stopAndCheck,
  withCrashStore,
} from "./kills.ts";

const MAX_UPTIME_MS = 700;
const AT_ONCE = 5;
const EVENTS_OF_FIRST = 600;

export type ErasureCrashOptions = CrashOptions & { people: number };

const Received = Type.Object({}, { additionalProperties: true });

type Person = { email: string; isErased: boolean };

export function crashErasures(options: ErasureCrashOptions): Promise<Outcome> {
  const { kills } = options;
  return withCrashStore({ ...options, isHourly: false }, {}, async (store) => {
    const reader = openReader(store.data);
    const people: Person[] = Array.from({ length: options.people }, (_, number) => ({
      email: `erase-${number}@example.net`,
      isErased: false,
    }));
    const base = `http://127.0.0.1:${store.port}`;
    let answered = 0;
    let killsBetween = 0;

    /** Asks for the erasure; the same request is answered in the same way after a kill. */
    async function erase(person: Person): Promise<void> {
      const headers = {
        authorization: `Bearer ${store.key}`,
        "content-type": "application/json",
        "idempotency-key": `erase ${person.email}`.replace("@", " at "),
      };
      const body = JSON.stringify({ email: person.email });
      try {
        const { status } = await fetch(`${base}/erasures`, { method: "POST", headers, body });
        person.isErased = status === 201;
        answered++;
      } catch {
        // The server was killed before it answered.
      }
    }

    async function eraseAll(isOver: () => boolean): Promise<void> {
      const open = people.filter(({ isErased }) => !isErased);
      const lines = Array.from({ length: AT_ONCE }, async () => {
        for (let next = open.shift(); next !== undefined && !isOver(); next = open.shift()) {
          await erase(next);
        }
      });
      await Promise.all(lines);
    }

    const running = () => reader.count("erasures WHERE state = 'RUNNING'");

    await killRepeatedly(store, options, {
      args: [],
      maxUptimeMs: MAX_UPTIME_MS,
      async begin(kill) {
        if (kill === 0) await fill(createApi(store, store.key), people);
      },
      work: (_, isOver) => eraseAll(isOver),
      progress: () => answered,
      maxProgress: (3 * options.people) / kills,
      expectsProgress: () => people.some(({ isErased }) => !isErased),
      async end(server) {
        await server.crash();
        if (running() > 0) killsBetween++;
      },
    });
    const { server } = await runUntilDone(
      store,
      { ...options, isHourly: false },
      {
        args: [],
        start: kills,
        begin: () => eraseAll(() => false),
        progress: () => answered,
        isDone: () => people.every(({ isErased }) => isErased) && running() === 0,
      },
    );
    const completed = reader.count("erasures WHERE state = 'COMPLETED'");
    const withAddress = reader.count("contacts WHERE email LIKE 'erase-%'");
    reader.close();
    const checks = await stopAndCheck(server, store.data);
    const found = filesWithAddress(store.data);
    return {
      figures: [
        ["people", whole(options.people)],
        ["kills with erasures under way", `${killsBetween} of ${kills}`],
      ],
      aims: [
        limitAim("persons without exactly one receipt", Math.abs(completed - options.people), 0),
        limitAim("contacts that are left", withAddress, 0),
        limitAim(`files with an address ${found.join(", ")}`, found.length, 0),
        presenceAim("kills with erasures under way", killsBetween, Math.floor(kills / 3)),
        ...checks,
      ],
    };
  });
}

/**
 * Contacts with events, and other people's records that mention them. The first contact has so many that
 * it is removed in parts.
 */
async function fill(api: Api, people: readonly Person[]): Promise<void> {
  for (const { email } of people) {
    await api.read(Received, "POST", "/contacts", { email, data: { note: email } });
    const guest = { by: email, url: `https://example.com/?to=${encodeURIComponent(email)}` };
    const event = { event: "invited", email: "guest@example.net", data: guest };
    await api.read(Received, "POST", "/v1/track", event);
  }
  const email = people[0]?.email;
  const often = Array.from({ length: EVENTS_OF_FIRST }, (_, i) => ({ event: `e${i % 3}`, email }));
  await Promise.all(often.map((event) => api.read(Received, "POST", "/v1/track", event)));
}

const ADDRESS = /erase-\d{1,9}(?:@|%40|=40)example/i;

function filesWithAddress(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .filter((entry) => ADDRESS.test(readFileSync(join(entry.parentPath, entry.name), "latin1")))
    .map(({ name }) => name);
}
