/**
 * Runs `mailstead sendmail`: options.ts reads its options, message.ts completes the message, which
 * is sent over SMTP. The exit codes are those of sysexits.h, which callers understand.
 */

import { hostname, userInfo } from "node:os";
import { createTransport } from "nodemailer";
import { withMailpitAliases } from "../../config/mailpit-variables.ts";
import { readConfig } from "../../config/read.ts";
import { systemClock } from "../../lib/clock.ts";
import { describeError } from "../../lib/log.ts";
import { captureAddress } from "../capture-address.ts";
import { type Input, UsageError } from "../command.ts";
import type { Io } from "../io.ts";
import { cutInput, prepareMessage, UnreadableMessageError } from "./message.ts";
import { parseSendmail, type SendmailOptions } from "./options.ts";

const EXIT = {
  usage: 64,
  data: 65,
  noUser: 67,
  noHost: 68,
  unavailable: 69,
  tempFail: 75,
} as const;

const MAX_BYTES = 50 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

/** Resolves to the exit code; an error is printed. */
export async function runSendmail(input: Input): Promise<number> {
  try {
    return await run(input);
  } catch (error) {
    const { code, message } = explain(error);
    input.io.stderr.line(`mailstead sendmail: ${message}`);
    return code;
  }
}

async function run(input: Input): Promise<number> {
  const options = parseSendmail(input.positionals);
  const message = cutInput(await readInput(input.io), options);
  const from = options.from ?? `${userInfo().username}@${hostname()}`;
  const prepared = prepareMessage(message, {
    from,
    fullName: options.fullName,
    date: new Date(systemClock.now()),
    messageId: `<${crypto.randomUUID()}@${hostname()}>`,
  });
  const found = options.readsRecipients ? prepared.recipients : [];
  const recipients = [...new Set([...options.recipients, ...found])];
  if (recipients.length === 0) throw new UsageError("no recipients: name them, or use -t");
  return send(input, options, { from, recipients, raw: prepared.raw });
}

async function readInput({ stdin }: Io): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of stdin.stream()) {
    bytes += piece.byteLength;
    if (bytes > MAX_BYTES) throw new UnreadableMessageError("the message is larger than 50 MiB");
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

async function send(
  input: Input,
  { server }: SendmailOptions,
  mail: { from: string; recipients: string[]; raw: Buffer },
): Promise<number> {
  const { environment } = withMailpitAliases(input.io.env);
  const { host, port } = server ?? captureAddress(readConfig({}, environment));
  const transport = createTransport({
    host,
    port,
    secure: false,
    // The message would go in cleartext to a server without TLS, so a certificate proves nothing.
    tls: { rejectUnauthorized: false },
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  });
  const { from, recipients: to, raw } = mail;
  const { rejected } = await transport.sendMail({ envelope: { from, to }, raw });
  transport.close();
  if (rejected.length === 0) return 0;
  input.io.stderr.line(`mailstead sendmail: the server refused ${rejected.map(String).join(", ")}`);
  return EXIT.noUser;
}

function explain(error: unknown): { code: number; message: string } {
  const message = error instanceof Error ? error.message : describeError(error);
  if (error instanceof UsageError) return { code: EXIT.usage, message };
  if (error instanceof UnreadableMessageError) return { code: EXIT.data, message };
  const reply = member(error, "responseCode");
  if (typeof reply === "number" && reply >= 500) {
    const isRecipient = member(error, "command") === "RCPT TO";
    return { code: isRecipient ? EXIT.noUser : EXIT.unavailable, message };
  }
  if (member(error, "code") === "EDNS") return { code: EXIT.noHost, message };
  return { code: EXIT.tempFail, message };
}

function member(error: unknown, name: string): unknown {
  return typeof error === "object" && error !== null ? Reflect.get(error, name) : undefined;
}
