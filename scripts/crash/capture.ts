/**
 * Sends messages over SMTP without pause while the server is killed and restarted. Afterwards every
 * message that was answered with 250 must be in the inbox, once and parsed. A message that was sent
 * when the server died may be there or not: its client has no answer and would repeat it.
 */

import { type Static, Type } from "@sinclair/typebox";
import { idOf, listAll, sendDuringKills, sendMessage, type SmtpCrashOptions } from "./smtp-load.ts";

type CaptureReport = {
  /** Messages that were answered with 250. */
  accepted: number;
  listed: number;
  /** Messages that were answered with 250 and are not in the inbox. */
  lost: number;
  /** Messages that are in the inbox more than once. */
  duplicates: number;
  /** Messages in the inbox that have another subject than was sent, or could not be parsed. */
  damaged: number;
  /** Messages that were being sent at a kill. */
  unanswered: number;
};

const Listed = Type.Object({
  id: Type.String(),
  subject: Type.String(),
  parseError: Type.Union([Type.String(), Type.Null()]),
});
type Listed = Static<typeof Listed>;

/** The key is that of the project whose inbox catches the mail. */
export async function runCaptureCrashLoop(options: SmtpCrashOptions): Promise<CaptureReport> {
  const { accepted, unanswered, server, client } = await sendDuringKills(options, {
    listener: "--capture-smtp",
    args: ["--capture-max-messages", "0", "--api-rate", "0"],
    logsIn: false,
    repeats: false,
    send: (smtp, number) =>
      sendMessage(smtp, { from: "a@shop.test", to: "b@example.net" }, messageOf(number)),
  });
  const listed = await listAll(client, "/inboxes/default/messages", Listed);
  await server.stop();
  return { ...compare(accepted, listed), unanswered };
}

const subjectOf = (number: number): string => `Mail ${number}`;

const messageOf = (number: number): string =>
  `From: a@shop.test\r\nTo: b@example.net\r\nSubject: ${subjectOf(number)}\r\n\r\nText\r\n`;

function compare(replies: ReadonlyMap<number, string>, listed: readonly Listed[]) {
  const accepted = new Map([...replies].map(([number, reply]) => [idOf(reply), subjectOf(number)]));
  const byId = new Map(listed.map((message) => [message.id, message]));
  const subjects = new Set(listed.map(({ subject }) => subject));
  const isDamaged = ({ id, subject, parseError }: Listed): boolean =>
    parseError !== null || (accepted.get(id) ?? subject) !== subject;
  return {
    accepted: accepted.size,
    listed: listed.length,
    lost: [...accepted.keys()].filter((id) => !byId.has(id)).length,
    duplicates: listed.length - subjects.size,
    damaged: listed.filter(isDamaged).length,
  };
}
