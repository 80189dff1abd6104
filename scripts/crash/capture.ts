/**
 * Catches messages over SMTP. Every message that was answered with 250 must be in the inbox, once and
 * parsed. A message that was sent when the server died may be there or not: its client has no answer
 * and would repeat it.
 */

import { type Static, Type } from "@sinclair/typebox";
import { limitAim } from "../bench/report.ts";
import { listItems } from "./emails.ts";
import { idOf, sendMessage, type Sent, type SmtpLoad } from "./smtp-load.ts";

const Listed = Type.Object({
  id: Type.String(),
  subject: Type.String(),
  parseError: Type.Union([Type.String(), Type.Null()]),
});
type Listed = Static<typeof Listed>;

/** The key is that of the project whose inbox catches the mail. */
export const CAPTURE_LOAD: SmtpLoad = {
  listener: "--capture-smtp",
  args: ["--capture-max-messages", "0"],
  logsIn: false,
  repeats: false,
  send: (client, number) =>
    sendMessage(client, { from: "a@shop.test", to: "b@example.net" }, messageOf(number)),
  compare: async (sent, client) =>
    compare(sent, await listItems(client, "/inboxes/default/messages", Listed)),
};

const subjectOf = (number: number): string => `Mail ${number}`;

const messageOf = (number: number): string =>
  `From: a@shop.test\r\nTo: b@example.net\r\nSubject: ${subjectOf(number)}\r\n\r\nText\r\n`;

function compare(sent: Sent, listed: readonly Listed[]) {
  const accepted = new Map(
    [...sent.accepted].map(([number, reply]) => [idOf(reply), subjectOf(number)]),
  );
  const byId = new Map(listed.map((message) => [message.id, message]));
  const subjects = new Set(listed.map(({ subject }) => subject));
  const isDamaged = ({ id, subject, parseError }: Listed): boolean =>
    parseError !== null || (accepted.get(id) ?? subject) !== subject;
  return [
    limitAim("lost", [...accepted.keys()].filter((id) => !byId.has(id)).length),
    limitAim("in the inbox more than once", listed.length - subjects.size),
    limitAim("with another subject, or not parsed", listed.filter(isDamaged).length),
  ];
}
