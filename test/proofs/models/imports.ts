/**
 * Imports of random exports of six services. A model remembers each address that ever left:
 * by a file, by an unsubscription here or by a suppression. None of them may be subscribed
 * afterwards, and all other addresses that a file lists as subscribed are.
 */

import { type Aim, limitAim, presenceAim } from "../../../scripts/bench/report.ts";
import { upload, waitForJob } from "../../modules/contacts/upload.ts";
import { type Random, seeded } from "../../modules/segments/seeded.ts";
import { type TestApp, testApp } from "../../support/app.ts";

/** People of one project. A few are in many files, so that files contradict each other. */
const PEOPLE = 60;
/** After so many imports, a new project begins. */
const IMPORTS_PER_PROJECT = 50;

type Person = { email: string; isOut: boolean };
type Export = { header: string[]; row: (person: Person, random: Random) => string[] };

const TIMES = ["2024-05-06 07:08:09", "2023-12-31T23:59:59Z", "2020-02-29"];
const NAMES = ["Ada", "Zoë", "O'Neil", "", 'Bob "B" Doe', "山田", "<b>Eve</b>"];

/** The files that each service exports, with its words for people who are in and out. */
const SERVICES: Readonly<Record<string, (random: Random) => Export>> = {
  mailchimp: (random) =>
    random.pick([
      {
        header: [
          "Email Address",
          "First Name",
          "MEMBER_RATING",
          "OPTIN_TIME",
          "UNSUB_TIME",
          "LEID",
        ],
        row: ({ email, isOut }) => [
          email,
          random.pick(NAMES),
          "2",
          random.pick(TIMES),
          isOut ? random.pick(TIMES) : "",
          "1234",
        ],
      },
      {
        header: ["Email Address", "First Name", "CLEAN_TIME", "CLEAN_CAMPAIGN_TITLE"],
        row: ({ email, isOut }) => [
          email,
          random.pick(NAMES),
          isOut ? random.pick(TIMES) : "",
          isOut ? "News" : "",
        ],
      },
      {
        header: ["Email Address", "Email Marketing Status", "Tags"],
        row: ({ email, isOut }) => [
          email,
          isOut
            ? random.pick(["Unsubscribed", "Cleaned", "Non-subscribed", "Archived"])
            : "Subscribed",
          '"VIP","News"',
        ],
      },
    ]),
  listmonk: () => ({
    header: ["uuid", "email", "name", "attributes", "status", "created_at", "updated_at"],
    row: ({ email, isOut }, random) => [
      "0c1f6e2e-0000-4000-8000-000000000000",
      email,
      random.pick(NAMES),
      random.pick(["", "{}", '{"city": "Rome", "status": "gold"}']),
      isOut ? random.pick(["blocklisted", "unsubscribed", "disabled"]) : "enabled",
      random.pick(TIMES),
      random.pick(TIMES),
    ],
  }),
  plunk: () => ({
    header: ["email", "subscribed", "data", "createdAt"],
    row: ({ email, isOut }, random) => [
      email,
      isOut ? random.pick(["false", "FALSE", "0"]) : random.pick(["true", "TRUE", "1"]),
      random.pick(["", '{"plan":"pro"}']),
      random.pick(TIMES),
    ],
  }),
  resend: () => ({
    header: ["id", "email", "first_name", "last_name", "created_at", "unsubscribed"],
    row: ({ email, isOut }, random) => [
      "e169aa45",
      email,
      random.pick(NAMES),
      random.pick(NAMES),
      random.pick(TIMES),
      isOut ? "true" : "false",
    ],
  }),
  sendgrid: (random) =>
    random.pick([
      {
        header: ["EMAIL", "FIRST_NAME", "GLOBALLY_UNSUBSCRIBED", "CREATED_AT"],
        row: ({ email, isOut }) => [
          email,
          random.pick(NAMES),
          isOut ? random.pick(["true", "yes", "1"]) : random.pick(["false", "no", ""]),
          random.pick(TIMES),
        ],
      },
      {
        header: ["status", "reason", "email", "created"],
        row: ({ email, isOut }) => [
          isOut ? random.pick(["5.1.1", "5.1.10"]) : "",
          isOut ? "550 5.1.1 No such user" : "",
          email,
          "1700000000",
        ],
      },
    ]),
  brevo: (random) =>
    random.pick([
      {
        header: ["EMAIL", "FIRSTNAME", "EMAIL_BLACKLISTED", "ADDED_TIME"],
        row: ({ email, isOut }) => [
          email,
          random.pick(NAMES),
          isOut ? random.pick(["true", "Yes", "1"]) : random.pick(["false", "No", "0", ""]),
          random.pick(TIMES),
        ],
      },
      {
        header: ["EMAIL", "FIRSTNAME", "BLOCKLISTED"],
        row: ({ email, isOut }) => [
          email,
          random.pick(NAMES),
          isOut ? random.pick(["hard bounce", "unsubscribed", "spam", "TRUE"]) : "",
        ],
      },
    ]),
};

const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;

/** Writes the rows as a person's programs might: other separators, line ends, order and capitals. */
function fileOf({ header, row }: Export, people: readonly Person[], random: Random): string {
  const separator = random.pick([",", ",", ";", "\t"]);
  const end = random.pick(["\n", "\r\n"]);
  const isQuoted = random.chance(0.3);
  const order = header.map((_, i) => i).toSorted(() => random.int(3) - 1);
  const names = random.pick([
    header,
    header.map((name) => name.toUpperCase()),
    header.map((name) => name.toLowerCase().replaceAll(" ", "_")),
  ]);
  const line = (cells: readonly string[]) =>
    order
      .map((i) => cells[i] ?? "")
      .map((cell) => (isQuoted || /[",;\t\n]/.test(cell) ? quoted(cell) : cell))
      .join(separator);
  const rows = people.map((person) => line(row(person, random)));
  if (random.chance(0.2)) rows.push("");
  const sign = random.pick(["", "\uFEFF"]);
  return `${sign}${[line(names), ...rows].join(end)}${random.pick(["", end])}`;
}

/** Unsubscribes or suppresses an address here, between two imports. */
async function leave(t: TestApp, email: string, random: Random): Promise<void> {
  const path = random.pick(["/contacts", "/suppressions"]);
  const body = path === "/contacts" ? { email, subscribed: false } : { email };
  const { status } = await t.call("POST", path, body);
  if (status >= 300) throw new Error(`POST ${path} answers ${status}`);
}

/** Imports the file at once, or after a dry run; returns false if the file is refused. */
async function importFile(t: TestApp, file: string, random: Random): Promise<boolean> {
  const isTried = random.chance(0.1);
  const answer = await upload(t, file, isTried ? { fields: { dryRun: "true" } } : {});
  if (answer.status === 422) return false;
  if (answer.status !== 202) throw new Error(JSON.stringify(answer.body));
  const jobId = answer.text("data.jobId");
  const ended = await waitForJob(t, jobId);
  if (!isTried) return ended.at("data.status") === "COMPLETED";
  const run = await t.call("POST", `/contacts/import/${jobId}/run`, {});
  if (run.status >= 300) return false;
  const progress = await waitForJob(t, run.text("data.jobId"));
  return progress.at("data.status") === "COMPLETED";
}

/** Returns the addresses that get campaigns: subscribed and not suppressed. */
function reachable(t: TestApp): Set<string> {
  const rows = t.db.sqlite
    .query<{ email: string }, [number]>(
      `SELECT email FROM contacts WHERE project_seq = ? AND is_subscribed AND NOT EXISTS (
         SELECT 1 FROM suppressions
         WHERE suppressions.project_seq = contacts.project_seq
           AND suppressions.email = contacts.email)`,
    )
    .all(t.project.seq);
  return new Set(rows.map(({ email }) => email));
}

/** Imports so many random files, and compares who is subscribed with the model after each. */
export async function compareImports(size: { imports: number; seed: number }): Promise<Aim[]> {
  const random = seeded(size.seed);
  const services = Object.keys(SERVICES);
  let [accepted, refused, subscribedAgain, notSubscribed, wereOut] = [0, 0, 0, 0, 0];
  let t: TestApp | null = null;
  let out = new Set<string>();
  let known = new Set<string>();
  for (let i = 0; i < size.imports; i++) {
    if (t === null || i % IMPORTS_PER_PROJECT === 0) {
      await t?.close();
      t = await testApp();
      await t.app.start();
      [out, known] = [new Set(), new Set()];
    }
    const address = () => `p${random.int(PEOPLE)}@people.example`;
    if (random.chance(0.2)) {
      const email = address();
      await leave(t, email, random);
      out.add(email);
    }
    const people = [
      { email: address(), isOut: random.chance(0.4) },
      ...random.list(7, () => ({ email: address(), isOut: random.chance(0.4) })),
    ];
    const makeExport = SERVICES[random.pick(services)];
    if (makeExport === undefined) throw new Error("an unknown service");
    const file = fileOf(makeExport(random), people, random);
    const isAccepted = await importFile(t, file, random);
    if (!isAccepted) refused++;
    else {
      accepted++;
      for (const { email, isOut } of people) {
        known.add(email);
        if (isOut) out.add(email);
      }
    }
    const reached = reachable(t);
    subscribedAgain += [...out].filter((email) => reached.has(email)).length;
    notSubscribed += [...known].filter((email) => !out.has(email) && !reached.has(email)).length;
    wereOut += people.filter(({ email, isOut }) => !isOut && out.has(email)).length;
  }
  await t?.close();
  return [
    presenceAim("imports", accepted, Math.ceil(size.imports * 0.99)),
    limitAim("imports that were refused", refused, Math.floor(size.imports * 0.01)),
    presenceAim("rows that list a person who was out as subscribed", wereOut),
    limitAim("people who were out and are subscribed", subscribedAgain),
    limitAim("people who never were out and are not subscribed", notSubscribed),
  ];
}
