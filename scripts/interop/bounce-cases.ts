/** The cases of interop-bounces.ts: what happens to a mail, and what must become of it. */

import { createTransport } from "nodemailer";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { PLAIN_MAIL } from "./mails.ts";
import type { RunningSender } from "./sender.ts";
import type { MailServer } from "./server.ts";

export type Case = {
  name: string;
  /** Local part and domain of the recipient; the domain is the server's own, or one behind it. */
  to: { local: string; isBehind: boolean };
  /** Mails that are sent to the address, one after the other. */
  mails?: number;
  /** The message that this program sends to the return path after the mail arrived. */
  reply?: (mail: { returnPath: string; message: Buffer; to: string }) => string;
  /** The program for which the case exists; both if undefined. */
  only?: "Postfix" | "Exim";
  status: string;
  event: string;
  suppression: string;
  /** Least age of the mail when its report arrives. */
  leastSeconds?: number;
};

const BOUNCED = { status: "BOUNCED", event: "email.bounced" } as const;

export const CASES: readonly Case[] = [
  {
    name: "unknown user at the second hop",
    to: { local: "unknown", isBehind: true },
    ...BOUNCED,
    suppression: "HARD_BOUNCE",
  },
  {
    name: "unknown local user",
    to: { local: "nobody", isBehind: false },
    ...BOUNCED,
    suppression: "HARD_BOUNCE",
  },
  {
    name: "mailbox full, three mails",
    to: { local: "full", isBehind: true },
    mails: 3,
    ...BOUNCED,
    suppression: "SOFT_BOUNCE",
  },
  {
    name: "over its quota, one mail",
    to: { local: "quota", isBehind: false },
    only: "Exim",
    ...BOUNCED,
    suppression: "none",
  },
  {
    name: "delayed, then given up after 8 s",
    to: { local: "slow", isBehind: true },
    ...BOUNCED,
    suppression: "none",
    leastSeconds: 6,
  },
  {
    name: "refused as spam at the second hop",
    to: { local: "spam", isBehind: true },
    ...BOUNCED,
    suppression: "none",
  },
  {
    name: "complaint (ARF)",
    to: { local: "ada", isBehind: false },
    reply: complaintAbout,
    status: "COMPLAINED",
    event: "email.complained",
    suppression: "COMPLAINT",
  },
  {
    name: "vacation note",
    to: { local: "away", isBehind: false },
    reply: vacationOf,
    status: "DELIVERED",
    event: "email.delivered",
    suppression: "none",
  },
];

export type CaseResult = {
  status: string;
  reports: string;
  event: string;
  suppression: string;
  faults: string[];
};

const Email = Type.Object({
  data: Type.Object({
    status: Type.String(),
    reports: Type.Array(
      Type.Object({
        form: Type.String(),
        class: Type.Union([Type.String(), Type.Null()]),
        statusCode: Type.Union([Type.String(), Type.Null()]),
      }),
    ),
  }),
});
const Events = Type.Object({
  data: Type.Object({
    items: Type.Array(Type.Object({ name: Type.String(), emailId: Type.Any() })),
  }),
});
const Suppressions = Type.Object({
  data: Type.Object({
    items: Type.Array(Type.Object({ email: Type.String(), reason: Type.String() })),
  }),
});

const LIMIT_MS = 60_000;
const POLL_MS = 250;

type Place = {
  sender: RunningSender;
  domain: string;
  bouncing: MailServer;
  inboundPort: number;
};

export async function runCase(each: Case, place: Place): Promise<CaseResult> {
  const { sender, domain } = place;
  const { local, isBehind } = each.to;
  const host = isBehind ? `behind.${domain}` : domain;
  const to = `${local}@${host}`;
  const startedMs = performance.now();
  let id = "";
  for (let i = 0; i < (each.mails ?? 1); i++) {
    id = await sender.send({ ...PLAIN_MAIL, name: `${to} ${i}`, to: { local } }, host);
    if (each.reply !== undefined) await replyTo(each, { ...place, to });
    await reach(() => statusOf(sender, id), each.status);
  }
  const seconds = (performance.now() - startedMs) / 1000;
  const { data } = Value.Parse(Email, await sender.call(`/emails/${id}`));
  const result = {
    status: data.status,
    reports: data.reports
      .map((report) => `${report.form} ${report.statusCode ?? ""}`.trim())
      .join(", "),
    event: await lastEvent(sender, id, to),
    suppression: await suppressionOf(sender, to),
  };
  const faults = (["status", "event", "suppression"] as const).flatMap((part) =>
    result[part] === each[part] ? [] : [`${part} is ${result[part]} instead of ${each[part]}`],
  );
  if (seconds < (each.leastSeconds ?? 0)) faults.push(`it bounced after ${seconds} s`);
  const expectedReports = each.event === "email.delivered" ? 0 : 1;
  if (data.reports.length !== expectedReports) faults.push(`${data.reports.length} reports`);
  return { ...result, faults };
}

async function statusOf(sender: RunningSender, id: string): Promise<string> {
  return Value.Parse(Email, await sender.call(`/emails/${id}`)).data.status;
}

async function lastEvent(sender: RunningSender, id: string, to: string): Promise<string> {
  const path = `/events?email=${encodeURIComponent(to)}`;
  const { items } = Value.Parse(Events, await sender.call(path)).data;
  const names = items.filter(({ emailId }) => emailId === id).map(({ name }) => name);
  return names.find((name) => name.startsWith("email.")) ?? "none";
}

async function suppressionOf(sender: RunningSender, to: string): Promise<string> {
  const path = `/suppressions?email=${encodeURIComponent(to)}`;
  const { items } = Value.Parse(Suppressions, await sender.call(path)).data;
  return items.find(({ email }) => email === to)?.reason ?? "none";
}

/** Polls until the value is the wanted one, or the time is over. */
export async function reach<T>(read: () => T | Promise<T>, wanted: T): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  while ((await read()) !== wanted && performance.now() < deadline) await Bun.sleep(POLL_MS);
}

/** Waits until the mail arrived in the maildir, and sends the message about it to its return path. */
async function replyTo({ reply }: Case, { bouncing, inboundPort, to }: Place & { to: string }) {
  const find = () => bouncing.received().find((text) => text.includes(`X-Interop: ${to} 0\r\n`));
  await reach(() => find() !== undefined, true);
  const message = find();
  const returnPath = /^Return-Path: <([^>]+)>/im.exec(message?.toString("latin1") ?? "")?.[1];
  if (message === undefined || returnPath === undefined) {
    throw new Error(`the mail to ${to} did not arrive with a return path`);
  }
  await submit(inboundPort, { to: returnPath, raw: reply?.({ returnPath, message, to }) ?? "" });
}

async function submit(port: number, { to, raw }: { to: string; raw: string }): Promise<void> {
  const transport = createTransport({
    host: "127.0.0.1",
    port,
    tls: { rejectUnauthorized: false },
  });
  await transport.sendMail({ envelope: { from: "", to: [to] }, raw });
  transport.close();
}

function complaintAbout({ returnPath, message }: { returnPath: string; message: Buffer }): string {
  return lines(
    "From: <fbl@provider.example>",
    `To: <${returnPath}>`,
    "Subject: FW: Interop",
    "MIME-Version: 1.0",
    'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
    "",
    "--b",
    "Content-Type: text/plain",
    "",
    "This is an email abuse report.",
    "",
    "--b",
    "Content-Type: message/feedback-report",
    "",
    "Feedback-Type: abuse",
    "User-Agent: Interop/1.0",
    "Version: 1",
    "",
    "--b",
    "Content-Type: message/rfc822",
    "",
    message.toString("latin1"),
    "--b--",
  );
}

function vacationOf({ returnPath, to }: { returnPath: string; to: string }): string {
  return lines(
    `From: <${to}>`,
    `To: <${returnPath}>`,
    "Subject: Automatic reply: Interop",
    "Auto-Submitted: auto-replied",
    "",
    "I am away until Monday.",
  );
}

function lines(...all: readonly string[]): string {
  return `${all.join("\r\n")}\r\n`;
}
