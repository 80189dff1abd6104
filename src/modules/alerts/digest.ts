/** The content of the weekly digest: what was sent, and what needs the operator. */

import { backupState } from "../../backup/state.ts";
import type { App } from "../../core/app.ts";
import { freeBytes } from "../../db/folder.ts";
import { NO_OWNER } from "../../db/reader.ts";
import { isoTime } from "../../lib/clock.ts";
import { VERSION } from "../../lib/version.ts";
import type { MailText } from "../accounts/mail-texts.ts";
import { openAlerts } from "./alert-rows.ts";
import { lostDomains } from "./conditions.ts";
import { folderGrowth } from "./disk.ts";
import { bytesText, utcText } from "./figures.ts";
import { mailHtml, systemPage } from "./messages.ts";

const WEEK_MS = 7 * 24 * 60 * 60_000;
const MAX_PROJECTS = 5;

type Counts = { tried: number; sent: number; bounced: number; complained: number };
type Figures = {
  from: number;
  to: number;
  week: Counts;
  before: Counts;
  projects: readonly { name: string; sent: number }[];
  domains: readonly string[];
  backup: string;
  disk: string;
  alerts: readonly string[];
};

/** The digest of the week before `to`. */
export async function digestMail(app: App, to: number): Promise<MailText> {
  const origin = { hostname: app.config.hostname, url: app.url };
  return writeDigest(await readFigures(app, to), origin);
}

async function readFigures(app: App, to: number): Promise<Figures> {
  const from = to - WEEK_MS;
  const [week, before] = await Promise.all([
    readCounts(app, from, to),
    readCounts(app, from - WEEK_MS, from),
  ]);
  return {
    from,
    to,
    week: totalOf(week),
    before: totalOf(before),
    projects: week
      .filter(({ sent }) => sent > 0)
      .toSorted((one, other) => other.sent - one.sent)
      .slice(0, MAX_PROJECTS),
    domains: lostDomains(app).map(
      ({ domain, project }) =>
        `${domain} (project ${project}): its DKIM record is missing or wrong`,
    ),
    backup: backupText(app),
    disk: diskText(app, from),
    alerts: openAlerts(app).map(({ title, raisedAt }) => `${title}, since ${utcText(raisedAt)}`),
  };
}

async function readCounts(app: App, from: number, to: number) {
  const { rows } = await app.reader.find(NO_OWNER, {
    sql: `SELECT p.name, sum(h.sent), sum(h.sent + h.bounced - h.bounced_later), sum(h.bounced),
                 sum(h.complained)
          FROM projects p CROSS JOIN project_hours h
            ON h.project_seq = p.seq AND h.hour >= +? AND h.hour < +?
          WHERE in_time() GROUP BY p.seq`,
    values: [from, to],
  });
  return rows.map(([name, sent, tried, bounced, complained]) => ({
    name: String(name),
    sent: Number(sent),
    tried: Number(tried),
    bounced: Number(bounced),
    complained: Number(complained),
  }));
}

function totalOf(projects: readonly Counts[]): Counts {
  const total = (name: keyof Counts) => projects.reduce((sum, counts) => sum + counts[name], 0);
  return {
    sent: total("sent"),
    tried: total("tried"),
    bounced: total("bounced"),
    complained: total("complained"),
  };
}

function backupText({ config, db }: App): string {
  const { last, failure } = backupState(db, config.backupTo);
  if (failure !== null) return `The latest one failed on ${utcText(failure.at)}: ${failure.error}`;
  if (last !== null) return `The last one is of ${utcText(last.createdAt)}, and was verified.`;
  return config.backupTo === null
    ? "This server makes none by itself (--backup-to)."
    : "There is none yet.";
}

function diskText(app: App, since: number): string {
  const free = app.folder === null ? null : freeBytes(app.folder);
  if (free === null) return "The database is in memory.";
  const growth = folderGrowth(app, since) ?? 0;
  const change = growth < 0 ? "shrank" : "grew";
  return `${bytesText(free)} are free. The data ${change} by ${bytesText(Math.abs(growth))} in the week.`;
}

const number = new Intl.NumberFormat("en");
const percent = (part: number, whole: number): string =>
  whole === 0 ? "–" : `${((part / whole) * 100).toFixed(2)} %`;

type Row = [label: string, week: string, before: string];

function writeDigest(
  { from, to, week, before, projects, domains, backup, disk, alerts }: Figures,
  origin: { hostname: string; url: string },
): MailText {
  const day = (at: number) => isoTime(at).slice(0, 10);
  const rate = (name: "bounced" | "complained", of: "tried" | "sent") =>
    [percent(week[name], week[of]), percent(before[name], before[of])] as const;
  const rows: Row[] = [
    ["Mails sent", number.format(week.sent), number.format(before.sent)],
    ["Bounces", ...rate("bounced", "tried")],
    ["Complaints", ...rate("complained", "sent")],
  ];
  const sections: [title: string, lines: readonly string[]][] = [
    ["Open alerts", alerts.length === 0 ? ["None."] : alerts],
    ["Projects", projects.map(({ name, sent }) => `${name}: ${number.format(sent)} mails`)],
    ["Domains with problems", domains.length === 0 ? ["None."] : domains],
    ["Backups", [backup]],
    ["Disk", [disk]],
  ];
  const shown = sections.filter(([, lines]) => lines.length > 0);
  const title = `The week from ${day(from)} to ${day(to)}`;
  const end = `Sent by Mailstead ${VERSION} on ${origin.hostname}. With --weekly-digest false it is not sent.`;
  return {
    subject: `[${origin.hostname}] ${title}: ${number.format(week.sent)} mails`,
    text: [
      title,
      rows.map(([label, now, then]) => `${label}: ${now} (week before: ${then})`).join("\n"),
      ...shown.map(([heading, lines]) => [heading, ...lines.map((line) => `- ${line}`)].join("\n")),
      `Page System: ${systemPage(origin)}`,
      `${end}\n`,
    ].join("\n\n"),
    html: digestHtml({ title, rows, sections: shown, end, page: systemPage(origin) }),
  };
}

function digestHtml(parts: {
  title: string;
  rows: readonly Row[];
  sections: readonly (readonly [string, readonly string[]])[];
  end: string;
  page: string;
}): string {
  const { title, rows, sections, end, page } = parts;
  const escape = (text: string) => Bun.escapeHTML(text);
  const cell = (text: string) => `<td style="padding:4px 16px 4px 0">${escape(text)}</td>`;
  const heads = ["", "This week", "Week before"].map(
    (head) => `<th align="left" style="padding:4px 16px 4px 0">${head}</th>`,
  );
  return mailHtml([
    `<h1 style="font-size:18px">${escape(title)}</h1>`,
    `<table cellspacing="0"><tr>${heads.join("")}</tr>`,
    ...rows.map((row) => `<tr>${row.map(cell).join("")}</tr>`),
    "</table>",
    ...sections.flatMap(([heading, lines]) => [
      `<h2 style="font-size:15px">${escape(heading)}</h2>`,
      `<ul>${lines.map((line) => `<li>${escape(line)}</li>`).join("")}</ul>`,
    ]),
    `<p><a href="${escape(page)}">Open the page System</a></p>`,
    `<p style="color:#666">${escape(end)}</p>`,
  ]);
}
