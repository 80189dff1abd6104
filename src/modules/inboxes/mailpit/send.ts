/** POST /api/v1/send    store a message that is described in JSON, as if it had been sent */

import { extname } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import type { Clock } from "../../../lib/clock.ts";
import { randomBase62 } from "../../../lib/crypto.ts";
import { localEnvelope } from "../envelope.ts";
import type { Intake } from "../messages/intake.ts";
import { credentialsOf } from "./access.ts";
import { badRequest, jsonAnswer, MailpitRefusal } from "./answers.ts";
import { validated } from "./body.ts";
import type { SentMailbox, SentMessage } from "./compose.ts";
import type { MailpitContext, MailpitMessages, MailpitRoute } from "./context.ts";

export const SEND_PATH = "/api/v1/send";

/** Base64 of a message of 25 MiB, and its keys. */
const MAX_BODY_BYTES = 36 * 1024 * 1024;
const MAX_RECIPIENTS = 1000;

const nullable = <T extends Parameters<typeof Type.Optional>[0]>(type: T) =>
  Type.Optional(Type.Union([type, Type.Null()]));
const Text = nullable(Type.String());
const Mailbox = Type.Object({ email: Type.String(), name: Text });
const Mailboxes = nullable(Type.Array(Mailbox, { maxItems: MAX_RECIPIENTS }));
const SentAttachment = Type.Object({
  content: Type.String(),
  filename: Type.String(),
  contenttype: Text,
  contentid: Text,
});
const SendBody = Type.Object({
  from: Mailbox,
  to: Mailboxes,
  cc: Mailboxes,
  bcc: nullable(Type.Array(Type.String(), { maxItems: MAX_RECIPIENTS })),
  replyto: Mailboxes,
  subject: Text,
  text: Text,
  html: Text,
  attachments: nullable(Type.Array(SentAttachment, { maxItems: 1000 })),
  tags: nullable(Type.Array(Type.String(), { maxItems: 100 })),
  headers: nullable(Type.Record(Type.String(), Type.String())),
});
type SendBody = Static<typeof SendBody>;

export function mailpitSendRoute(deps: {
  clock: Clock;
  hostname: string;
  intake: Pick<Intake, "store">;
  messages: MailpitMessages;
}): MailpitRoute {
  const { clock, hostname, intake, messages } = deps;

  async function send(context: MailpitContext): Promise<Response> {
    const body = validated(SendBody, await messages.jsonOf(context, MAX_BODY_BYTES));
    const now = clock.now();
    const messageId = `<${randomBase62(22)}@${hostname}>`;
    const sent = { ...sentMessageOf(body), messageId, date: new Date(now) };
    const recipients = [...sent.to, ...sent.cc, ...sent.bcc].map(({ address }) => address);
    if (recipients.length === 0) throw badRequest("no recipients");
    // Loaded by the first request: with the encoders of nodemailer it takes 4 ms and 2 MiB.
    const { composeSent } = await import("./compose.ts");
    const stored = await intake.store(
      {
        inboxSeq: context.inbox.seq,
        envelope: localEnvelope(sent.from.address, recipients),
        username: credentialsOf(context.request)?.user ?? "",
        emailId: null,
      },
      composeSent(sent),
    );
    return jsonAnswer({ ID: stored.id });
  }

  return [
    "POST",
    SEND_PATH,
    async (context) => {
      try {
        return await send(context);
      } catch (error) {
        if (!(error instanceof MailpitRefusal)) throw error;
        return jsonAnswer({ Error: error.message }, error.status);
      }
    },
  ];
}

function sentMessageOf(body: SendBody): Omit<SentMessage, "messageId" | "date"> {
  const boxes = (list: SendBody["to"]): SentMailbox[] => (list ?? []).map(mailboxOf);
  return {
    from: mailboxOf(body.from),
    to: boxes(body.to),
    cc: boxes(body.cc),
    bcc: (body.bcc ?? []).map((address) => ({ name: "", address: address.trim() })),
    replyTo: boxes(body.replyto),
    subject: body.subject ?? "",
    text: body.text ?? "",
    html: body.html ?? "",
    headers: Object.entries(body.headers ?? {}),
    tags: (body.tags ?? []).map((tag) => tag.trim()).filter((tag) => tag !== ""),
    attachments: (body.attachments ?? []).map(attachmentOf),
  };
}

function mailboxOf({ email, name }: Static<typeof Mailbox>): SentMailbox {
  return { name: name ?? "", address: email.trim() };
}

function attachmentOf({
  content,
  filename,
  contenttype,
  contentid,
}: Static<typeof SentAttachment>) {
  const base64 = content.slice(0, 200).includes(",")
    ? content.slice(content.indexOf(",") + 1)
    : content;
  const bytes = Buffer.from(base64, "base64");
  if (bytes.byteLength === 0 && base64.trim() !== "") {
    throw badRequest(`the content of ${filename} is not base64`);
  }
  const isInline = (contentid ?? "") !== "";
  return {
    filename,
    content: bytes,
    contentType: (contenttype ?? "") === "" ? sniffedType(bytes, filename) : (contenttype ?? ""),
    contentId: isInline ? (contentid ?? null) : null,
    disposition: isInline ? ("inline" as const) : ("attachment" as const),
  };
}

const SIGNATURES: readonly (readonly [prefix: string, type: string])[] = [
  ["\x89PNG\r\n\x1a\n", "image/png"],
  ["\xff\xd8\xff", "image/jpeg"],
  ["GIF8", "image/gif"],
  ["%PDF-", "application/pdf"],
  ["PK\x03\x04", "application/zip"],
  ["\x1f\x8b", "application/gzip"],
];

/** The type of a file by its first bytes, else by its name. */
function sniffedType(content: Buffer, filename: string): string {
  const head = content.subarray(0, 16).toString("latin1");
  const known = SIGNATURES.find(([prefix]) => head.startsWith(prefix))?.[1];
  if (known !== undefined) return known;
  const byName = extname(filename) === "" ? "" : Bun.file(filename).type;
  return byName === "" ? "application/octet-stream" : (byName.split(";", 1)[0] ?? byName);
}
