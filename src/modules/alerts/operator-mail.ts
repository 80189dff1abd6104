/**
 * The second path of mail, to the operators: through the relay of `--alert-relay-url`, or straight to the
 * mail server of the address. It uses neither the queue nor the transport of `--transport`, which may
 * be what is broken. The mail is signed if the domain of its sender has keys here.
 */

import type { App } from "../../core/app.ts";
import { perApp } from "../../lib/per-app.ts";
import { sendOne, type Transport } from "../../outbox/outcome.ts";
import { createTransport } from "../../outbox/transports/create-transport.ts";
import { domainOf } from "../../protocols/mime/address.ts";
import type { Mailbox } from "../../protocols/mime/mailbox.ts";
import { composeMessage } from "../../protocols/mime/message.ts";
import { messageIdOf } from "../../protocols/mime/message-id.ts";
import { signMessage, type Signer } from "../../protocols/dkim/sign.ts";
import type { Timeouts } from "../../protocols/smtp/timeouts.ts";
import type { MailText } from "../accounts/mail-texts.ts";
import { isSenderVerified } from "../domains/domains.ts";
import { signerOf } from "../domains/keys.ts";
import { listProjects } from "../projects.ts";

/** Shorter than those of ordinary mail, because an alert is tried again soon. */
const TIMEOUTS: Partial<Timeouts> = {
  connectMs: 15_000,
  tlsMs: 20_000,
  greetingMs: 60_000,
  commandMs: 60_000,
  dotMs: 60_000,
  totalMs: 120_000,
};

/** A copy of the application, which has the settings of this path and state of its own. */
type SecondPath = { app: App; transport: Transport };

const secondPaths = perApp((): { current: SecondPath | null } => ({ current: null }));

/** The second path of the present settings. The transport of earlier ones ends with its last mail. */
function secondPath(app: App): SecondPath {
  const paths = secondPaths(app);
  const relayUrl = app.config.alertRelayUrl;
  const { current } = paths;
  if (current !== null && current.app.config.relayUrl === relayUrl) return current;
  if (current !== null) void current.transport.close();
  const transport = relayUrl === null ? ("direct" as const) : ("relay" as const);
  const config = { ...app.config, transport, relayUrl, fallbackRelayUrl: null, sendRate: 0 };
  const { dns, clock, log } = app;
  paths.current = {
    app: { ...app, config },
    transport: createTransport(config, { dns, clock, log, timeouts: TIMEOUTS }),
  };
  return paths.current;
}

type MailResult = { isDelivered: boolean; isFinal: boolean; reply: string };

/** Sends one mail. `id` is the same in each try, and so is its Message-ID. */
export async function sendOperatorMail(
  app: App,
  mail: MailText & { id: string; to: string; at: number },
): Promise<MailResult> {
  const { id, to, at, ...content } = mail;
  const second = secondPath(app);
  const from = senderOf(app, to);
  const composed = composeMessage({
    ...content,
    from,
    to: { address: to, name: null },
    replyTo: null,
    headers: [["Auto-Submitted", "auto-generated"]],
    attachments: [],
    messageId: messageIdOf(id, from.address),
    date: new Date(at),
  });
  if (!composed.ok) {
    return { isDelivered: false, isFinal: true, reply: "The mail could not be composed." };
  }
  const signer = findSigner(second.app, domainOf(from.address));
  const message =
    signer === null
      ? composed.message
      : await signMessage(composed.message, signer, new Date(app.clock.now()));
  const envelope = { from: from.address, to };
  const { kind, reason } = await sendOne(second.transport, { envelope, message, isUrgent: true });
  return {
    isDelivered: kind === "accepted",
    isFinal: kind === "bounced" || kind === "failed",
    reply: reason,
  };
}

export async function closeOperatorMail(app: App): Promise<void> {
  const { current } = secondPaths(app);
  current?.transport.withdrawWaiting();
  await current?.transport.close();
}

/**
 * The sender of `--system-from`, else the default sender of a project, else one of this host. A host name
 * without a domain makes no valid address: then the operator is the sender as well.
 */
function senderOf(app: App, operator: string): Mailbox {
  const { systemFrom, hostname } = app.config;
  if (systemFrom !== null) return systemFrom;
  for (const { seq, fromAddress } of listProjects(app)) {
    if (fromAddress !== null && isSenderVerified(app, seq, domainOf(fromAddress))) {
      return { address: fromAddress, name: "Mailstead" };
    }
  }
  const address = hostname.includes(".") ? `mailstead@${hostname}` : operator;
  return { address, name: "Mailstead" };
}

/** The keys of the project that has verified the domain. */
function findSigner(app: App, domain: string): Signer | null {
  for (const { seq } of listProjects(app)) {
    const signer = signerOf(app, seq, domain);
    if (signer !== null) return signer;
  }
  return null;
}
