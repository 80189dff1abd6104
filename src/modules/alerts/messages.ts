/** The texts of alerts for each kind of target. Pure. */

import { isoTime } from "../../lib/clock.ts";
import { oneLine } from "../../lib/one-line.ts";
import type { MailText } from "../accounts/mail-texts.ts";
import type { Severity } from "./conditions.ts";
import { utcText } from "./figures.ts";

/** The message about one alert, in the words for every target. */
export type AlertMessage = {
  kind: "RAISED" | "CLEARED" | "TEST";
  /** The same in each try, and different for each kind. */
  id: string;
  condition: string;
  severity: Severity;
  title: string;
  finding: string;
  fix: string;
  raisedAt: number;
  clearedAt: number | null;
};

/** The origin of the alert. */
type AlertOrigin = { hostname: string; url: string };

const WORDS = { RAISED: "Problem", CLEARED: "Solved", TEST: "Test" } as const;
const MAX_SUBJECT_CHARACTERS = 200;

export function testMessage(id: string, now: number): AlertMessage {
  return {
    kind: "TEST",
    id,
    condition: "test",
    severity: "info",
    title: "Alerts of this server arrive here",
    finding: "This is a test, which an owner of the installation asked for.",
    fix: "Nothing has to be done.",
    raisedAt: now,
    clearedAt: null,
  };
}

export const systemPage = ({ url }: AlertOrigin): string => `${url}/app/admin/system`;

/** The first line: `Problem: Mail does not leave`. */
function headlineOf({ kind, title }: AlertMessage): string {
  return oneLine(`${WORDS[kind]}: ${title}`).slice(0, MAX_SUBJECT_CHARACTERS).toWellFormed();
}

/** The sentences below the first line. */
function linesOf({ kind, finding, fix, raisedAt, clearedAt }: AlertMessage): string[] {
  if (kind === "CLEARED") {
    const until = clearedAt === null ? "" : ` to ${utcText(clearedAt)}`;
    return [
      `This is over. It lasted from ${utcText(raisedAt)}${until}.`,
      `What was found: ${finding}`,
    ];
  }
  return [finding, `What to do: ${fix}`];
}

/** The HTML body of a mail to an operator. */
export function mailHtml(blocks: readonly string[]): string {
  const style = "font-family:system-ui,sans-serif;font-size:14px;line-height:1.5;max-width:640px";
  return `<div style="${style}">\n${blocks.join("\n")}\n</div>\n`;
}

export function alertMail(message: AlertMessage, origin: AlertOrigin): MailText {
  const lines = linesOf(message);
  const page = systemPage(origin);
  const end = `Sent by Mailstead on ${origin.hostname}.`;
  const paragraphs = lines.map((line) => `<p>${Bun.escapeHTML(line)}</p>`);
  return {
    subject: `[${origin.hostname}] ${headlineOf(message)}`,
    text: `${[headlineOf(message), ...lines, `Page System: ${page}`, end].join("\n\n")}\n`,
    html: mailHtml([
      `<h1 style="font-size:18px">${Bun.escapeHTML(headlineOf(message))}</h1>`,
      ...paragraphs,
      `<p><a href="${Bun.escapeHTML(page)}">Open the page System</a></p>`,
      `<p style="color:#666">${Bun.escapeHTML(end)}</p>`,
    ]),
  };
}

/** The body of the requests of `--alert-webhook`. */
export function alertJson(message: AlertMessage, origin: AlertOrigin, now: number): string {
  const { kind, id, raisedAt, clearedAt, ...rest } = message;
  return JSON.stringify({
    type: `alert.${kind.toLowerCase()}`,
    timestamp: isoTime(now),
    data: {
      id,
      ...rest,
      raisedAt: isoTime(raisedAt),
      clearedAt: clearedAt === null ? null : isoTime(clearedAt),
      hostname: origin.hostname,
      url: systemPage(origin),
    },
  });
}

/** ntfy: 5 is urgent, 3 usual. */
const NTFY_PRIORITIES: Readonly<Record<Severity, string>> = {
  critical: "5",
  warning: "4",
  info: "3",
};
const NTFY_TAGS: Readonly<Record<Severity, string>> = {
  critical: "rotating_light",
  warning: "warning",
  info: "information_source",
};

export function ntfyRequest(message: AlertMessage, origin: AlertOrigin) {
  const { kind, severity } = message;
  const isOver = kind === "CLEARED";
  return {
    headers: {
      title: headerText(`[${origin.hostname}] ${headlineOf(message)}`),
      priority: isOver ? "3" : NTFY_PRIORITIES[severity],
      tags: isOver ? "white_check_mark" : NTFY_TAGS[severity],
      click: systemPage(origin),
    },
    body: linesOf(message).join("\n\n"),
  };
}

/** Octets above ASCII are not allowed in a header, and ntfy reads encoded words (RFC 2047). */
function headerText(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return `=?UTF-8?B?${Buffer.from(text).toString("base64")}?=`;
}

/** Slack reads &, < and > as markup; Mattermost and Discord show the entities as characters too. */
const SLACK_ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

export function slackJson(message: AlertMessage, origin: AlertOrigin): string {
  const escape = (text: string) => text.replace(/[&<>]/g, (mark) => SLACK_ENTITIES[mark] ?? mark);
  const icon = message.kind === "CLEARED" ? ":white_check_mark:" : ":rotating_light:";
  const mark = message.kind === "TEST" ? ":information_source:" : icon;
  const first = `${mark} *${escape(`[${origin.hostname}] ${headlineOf(message)}`)}*`;
  return JSON.stringify({
    text: [first, ...linesOf(message).map(escape), systemPage(origin)].join("\n"),
  });
}
