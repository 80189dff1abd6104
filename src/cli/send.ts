/** The command `mailstead send`: sends one mail and prints the SMTP conversation. */

import { withMailpitAliases } from "../config/mailpit-variables.ts";
import { type Config, SETTINGS } from "../config/settings.ts";
import { hasInstallation } from "../db/folder.ts";
import { findInAllProjects } from "../modules/domains/domains.ts";
import { readSigner } from "../modules/domains/keys.ts";
import { type Outcome, sendOne } from "../outbox/outcome.ts";
import { systemClock } from "../lib/clock.ts";
import { createDns } from "../protocols/dns/client.ts";
import { systemDnsServers } from "../protocols/dns/servers.ts";
import { newId } from "../lib/id.ts";
import { silentLog } from "../lib/log.ts";
import { domainOf, parseAddress } from "../protocols/mime/address.ts";
import { type Signer, signMessage } from "../protocols/dkim/sign.ts";
import { messageIdOf } from "../protocols/mime/message-id.ts";
import { textOfHtml } from "../render/text-on-demand.ts";
import { createTransport, isSignedByRelay } from "../outbox/transports/create-transport.ts";
import { captureAddress } from "./capture-address.ts";
import { type Command, type Input, UsageError } from "./command.ts";
import { conversationPrinter } from "./conversation.ts";
import type { Io } from "./io.ts";
import { readServerSettings, withStore } from "./store.ts";

const DEFAULT_SUBJECT = "A mail from mailstead send";
/** The mail of `mailstead send` without addresses. */
const SAMPLE = {
  from: "hello@example.org",
  to: "you@example.com",
  body: "It works: this mail came over SMTP.\n\nYour code is 482913: https://example.org/confirm?code=482913\n",
} as const;
const MAX_BODY_BYTES = 10 * 1024 * 1024;

export const send: Command = {
  name: "send",
  summary: "Send one mail now, without the queue, and show the conversation with the server",
  details:
    "The mail goes to the listener of mailstead dev, unless --transport names another way: a relay,\n" +
    "directly to the recipient's servers, or capture, which only shows the mail. It goes also to a\n" +
    "suppressed address, and is signed if the domain of the sender has keys here. The body is read\n" +
    "from standard input; without addresses, a sample mail is sent. The exit code is 0 if the server\n" +
    "accepted the mail.\n\n" +
    "  mailstead send\n" +
    "  echo Hello | mailstead send --to ada@example.net --from me@example.com --transport direct",
  positionals: [],
  flags: [
    { name: "to", placeholder: "ADDRESS", help: "Recipient" },
    { name: "from", placeholder: "ADDRESS", help: "Sender" },
    { name: "subject", placeholder: "TEXT", help: `Subject (default “${DEFAULT_SUBJECT}”)` },
    { name: "html", help: "The body is HTML" },
  ],
  settings: [
    "data",
    "secret",
    "transport",
    "captureSmtp",
    "relayUrl",
    "hostname",
    "dns",
    "directPort",
    "sourceAddresses",
    "allowPrivateAddresses",
  ],
  run: async (input) => {
    const { config, isToListener } = await readRoute(input);
    const isSample = input.flags["from"] === undefined && input.flags["to"] === undefined;
    const from = isSample ? SAMPLE.from : addressOf(input, "from");
    const to = isSample ? SAMPLE.to : addressOf(input, "to");
    const body = isSample ? await readSampleBody(input.io) : await readBody(input.io);
    const message = await compose(input, { from, to, body });
    const signer = await findSigner(input, config, domainOf(from));
    const signed =
      signer === null ? message : await signMessage(message, signer, new Date(systemClock.now()));
    if (!input.isJson)
      input.io.stdout.line(`* ${signed.byteLength} octets, ${signaturesOf(signer, config, from)}`);
    const outcome = await deliver(input, config, { from, to, message: signed });
    printOutcome(input, outcome);
    if (outcome.kind !== "accepted" && isToListener && !input.isJson) {
      input.io.stderr.line("mailstead dev starts the listener; --capture-smtp names another one.");
    }
    return outcome.kind === "accepted" ? 0 : 1;
  },
};

/**
 * Without another way, also in the dashboard, mail goes to the listener of `mailstead dev`, which is a
 * relay here.
 */
async function readRoute(input: Input): Promise<{ config: Config; isToListener: boolean }> {
  const { environment } = withMailpitAliases(input.io.env);
  const config = await readServerSettings(input, { environment });
  const isListenerGiven = input.settings[SETTINGS.captureSmtp.flag] !== undefined;
  const isWayStored = config.transport !== "capture" && !isListenerGiven;
  if (isWayGiven(input) || isWayStored) return { config, isToListener: false };
  const relayUrl = { ...captureAddress(config), tls: "none" as const };
  return { config: { ...config, transport: "relay", relayUrl }, isToListener: true };
}

function isWayGiven({ settings, io }: Input): boolean {
  return ([SETTINGS.transport, SETTINGS.relayUrl] as const).some(
    ({ flag, env }) =>
      settings[flag] !== undefined ||
      (io.env[env] ?? "") !== "" ||
      (io.env[`${env}_FILE`] ?? "") !== "",
  );
}

/** The sample's own text, unless another one is piped in. */
async function readSampleBody(io: Io): Promise<string> {
  const body = io.stdin.isTerminal ? "" : await readBody(io);
  return body.trim() === "" ? SAMPLE.body : body;
}

function addressOf(input: Input, flag: "from" | "to"): string {
  const text = input.flags[flag];
  if (text === undefined) throw new UsageError(`--${flag} is required: an email address`);
  const parsed = parseAddress(text);
  if (parsed.ok) return parsed.address;
  const bare = /<([^<>]+)>\s*$/.exec(text)?.[1];
  throw new UsageError(
    bare === undefined
      ? `--${flag}: ${parsed.reason}`
      : `--${flag} expects only the address: ${bare}`,
  );
}

async function readBody({ stdin, stderr }: Io): Promise<string> {
  if (stdin.isTerminal) stderr.line("Type the body and end it with Ctrl-D on an empty line.");
  const body = await new Response(stdin.stream()).text();
  if (Buffer.byteLength(body) <= MAX_BODY_BYTES) return body;
  throw new UsageError("the body on standard input is larger than 10 MiB");
}

async function compose(
  input: Input,
  { from, to, body }: { from: string; to: string; body: string },
): Promise<Uint8Array> {
  // Loaded only by this command: with the encoders of nodemailer it takes 4 ms and 2 MiB.
  const { composeMessage } = await import("../protocols/mime/message.ts");
  const isHtml = input.flags["html"] !== undefined;
  const plainAsHtml = `<pre style="white-space: pre-wrap">${Bun.escapeHTML(body)}</pre>`;
  const now = systemClock.now();
  const composed = composeMessage({
    from: { name: null, address: from },
    to: { name: null, address: to },
    replyTo: null,
    subject: input.flags["subject"] ?? DEFAULT_SUBJECT,
    html: isHtml ? body : plainAsHtml,
    text: isHtml ? await textOfHtml(body) : body,
    headers: [],
    attachments: [],
    messageId: messageIdOf(newId(now), from),
    date: new Date(now),
  });
  if (!composed.ok) throw new UsageError(composed.reason);
  return composed.message;
}

/**
 * Returns the keys of a domain of any project; null if no project has the domain, or if the relay
 * signs.
 */
async function findSigner(input: Input, config: Config, domain: string): Promise<Signer | null> {
  if (!hasInstallation(config.data) || isSignedByRelay(config)) return null;
  return withStore(input, async (store) => {
    const [found] = findInAllProjects(store, domain);
    return found === undefined ? null : readSigner(store, found);
  });
}

async function deliver(
  input: Input,
  config: Config,
  mail: { from: string; to: string; message: Uint8Array },
): Promise<Outcome> {
  const clock = systemClock;
  const dns = createDns({ servers: config.dns ?? systemDnsServers(), clock });
  const printer = conversationPrinter(
    input.isJson ? () => {} : (line) => input.io.stdout.line(line),
  );
  const transport = createTransport(config, { dns, clock, log: silentLog, onStep: printer.onStep });
  const { from, to, message } = mail;
  const outcome = await sendOne(transport, { envelope: { from, to }, message });
  printer.printRest(outcome.conversations);
  await transport.close();
  dns.close();
  return outcome;
}

function signaturesOf(signer: Signer | null, config: Config, from: string): string {
  const domain = domainOf(from);
  if (signer !== null) {
    return `signed for ${domain}: ${signer.keys.map(({ selector }) => selector).join(", ")}`;
  }
  return `unsigned: ${isSignedByRelay(config) ? "the relay signs" : `${domain} has no keys here`}`;
}

function printOutcome(input: Input, outcome: Outcome): void {
  if (input.isJson) {
    const { kind, class: reason, conversations } = outcome;
    input.io.stdout.line(
      JSON.stringify({ kind, class: reason, reason: outcome.reason, conversations }),
    );
    return;
  }
  if (outcome.kind === "accepted" && outcome.captured !== undefined) {
    input.io.stdout.line(`\n${Buffer.from(outcome.captured).toString()}`);
  }
  input.io.stdout.line(`= ${outcome.kind}: ${outcome.reason}`);
}
