/**
 * People fill in a sign-up form and confirm, each by two presses of the button at once, while the
 * server is killed and restarted. Requests without an answer are sent again. Afterwards each person
 * must be one contact with one consent and one confirmation, must have got one mail, and must have
 * confirmed once.
 */

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { createApi } from "../bench/api.ts";
import { relayTo } from "../bench/children.ts";
import { SENDER } from "../bench/mail.ts";
import { type Aim, limitAim, type Outcome, presenceAim, whole } from "../bench/report.ts";
import { openReader } from "../bench/store.ts";
import {
  type CrashOptions,
  killRepeatedly,
  runUntilDone,
  stopAndCheck,
  withCrashStore,
} from "./kills.ts";

const MAX_UPTIME_MS = 600;
const AT_ONCE = 5;
/** Each of these networks sends fewer forms than one may in an hour. */
const PEOPLE_PER_NETWORK = 20;

export type FormCrashOptions = CrashOptions & { people: number };

const Created = Type.Object({ data: Type.Object({ id: Type.String() }) });

type Person = { email: string; network: string; isSent: boolean; isConfirmed: boolean };

const personOf = (number: number): Person => {
  const network = Math.floor(number / PEOPLE_PER_NETWORK);
  return {
    email: `person-${number}@example.net`,
    network: `10.${Math.floor(network / 250)}.${network % 250}.1`,
    isSent: false,
    isConfirmed: false,
  };
};

export function crashForms(options: FormCrashOptions): Promise<Outcome> {
  const { kills } = options;
  return withCrashStore({ ...options, isHourly: false }, {}, async (store) => {
    setSender(store.data);
    const args = [...relayTo(1, 0), "--trusted-proxy", "127.0.0.1"];
    const reader = openReader(store.data);
    const people = Array.from({ length: options.people }, (_, number) => personOf(number));
    const base = `http://127.0.0.1:${store.port}`;
    let form = "";
    let answered = 0;
    let killsBetween = 0;

    /** Sends a form of a browser; null if the server was killed before it answered. */
    async function post(path: string, network: string, fields: Record<string, string>) {
      try {
        const headers = { "x-forwarded-for": network };
        const body = new URLSearchParams(fields);
        const init = { method: "POST", headers, body, redirect: "manual" } as const;
        const { status } = await fetch(base + path, init);
        answered++;
        return status;
      } catch {
        return null;
      }
    }

    async function signUp(person: Person): Promise<void> {
      const { email, network } = person;
      if (!person.isSent) {
        person.isSent = (await post(`/f/${form}`, network, { email, name: email })) === 303;
      }
      const [link] = person.isSent ? linksTo(email) : [];
      if (link === undefined) return;
      const presses = [1, 2].map(() =>
        post(new URL(link).pathname, network, { action: "confirm" }),
      );
      person.isConfirmed = (await Promise.all(presses)).some((status) => status === 200);
    }

    const linksTo = (email: string) =>
      reader.texts(
        `SELECT variables ->> '$.mail.link' AS text FROM emails WHERE to_address = '${email}'`,
      );

    async function signUpAll(isOver: () => boolean): Promise<void> {
      const open = people.filter(({ isConfirmed }) => !isConfirmed);
      const lines = Array.from({ length: AT_ONCE }, async () => {
        for (let next = open.shift(); next !== undefined && !isOver(); next = open.shift()) {
          await signUp(next);
        }
      });
      await Promise.all(lines);
    }

    await killRepeatedly(store, options, {
      args,
      maxUptimeMs: MAX_UPTIME_MS,
      async begin(kill) {
        if (kill > 0) return;
        const fields = [{ name: "name", label: "Name", kind: "TEXT" }];
        const body = { name: "Footer", title: "Letters", fields };
        form = (await createApi(store, store.key).read(Created, "POST", "/forms", body)).data.id;
      },
      work: (_, isOver) => signUpAll(isOver),
      progress: () => answered,
      maxProgress: (3 * options.people) / kills,
      expectsProgress: () => people.some(({ isConfirmed }) => !isConfirmed),
      async end(server) {
        await server.crash();
        if (reader.count("form_submissions WHERE confirmed_at IS NULL") > 0) killsBetween++;
      },
    });
    const { server } = await runUntilDone(
      store,
      { ...options, isHourly: false },
      {
        args,
        start: kills,
        begin: () => signUpAll(() => false),
        progress: () => answered,
        isDone: () => people.every(({ isConfirmed }) => isConfirmed),
      },
    );
    const checks = await stopAndCheck(server, store.data);
    const aims = compare(reader, options.people);
    reader.close();
    return {
      figures: [
        ["people", whole(options.people)],
        ["kills with submissions that waited", `${killsBetween} of ${kills}`],
      ],
      aims: [
        ...aims,
        presenceAim("kills with submissions that waited", killsBetween, Math.floor(kills / 3)),
        ...checks,
      ],
    };
  });
}

function setSender(data: string): void {
  const sqlite = new Database(join(data, "mailstead.db"));
  sqlite.run("UPDATE projects SET from_address = ?", [SENDER]);
  sqlite.close();
}

function compare(reader: ReturnType<typeof openReader>, people: number): Aim[] {
  const wrong = (sql: string) => reader.count(`(${sql})`);
  const consents = (kind: string) =>
    wrong(`SELECT contact_seq FROM contacts LEFT JOIN consents
             ON contact_seq = contacts.seq AND kind = '${kind}' AND source_type = 'FORM'
           GROUP BY contacts.seq HAVING count(consents.seq) <> 1`);
  return [
    limitAim("people without a contact", people - reader.count("contacts WHERE is_subscribed")),
    limitAim(
      "contacts without the values of the form",
      reader.count("contacts WHERE data ->> 'name' IS NOT email"),
    ),
    limitAim(
      "people who got no mail, or more than one",
      Math.abs(people - reader.count("emails")) +
        wrong("SELECT 1 FROM emails GROUP BY to_address HAVING count(*) <> 1"),
    ),
    limitAim("contacts without exactly one consent", consents("GIVEN")),
    limitAim("contacts without exactly one confirmation", consents("CONFIRMED")),
    limitAim(
      "contacts without exactly one event form.confirmed",
      wrong(`SELECT contacts.seq FROM contacts
             LEFT JOIN events e ON e.contact_seq = contacts.seq AND e.name = 'form.confirmed'
             GROUP BY contacts.seq HAVING count(e.seq) <> 1`),
    ),
    limitAim(
      "difference of the figures of the form from the people",
      wrong(`SELECT 1 FROM forms WHERE submitted <> ${people} OR confirmed <> ${people}`),
    ),
  ];
}
