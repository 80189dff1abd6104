/**
 * The send calls of SendGrid, Postmark, Mailgun and Amazon SES at the paths of these providers, so
 * that a program is tested after one change: its base URL. They exist only in `mailstead dev`.
 *
 * 1. The key of the call chooses the inbox, as the user name does over SMTP: the name or the id of an
 *    inbox, otherwise the default inbox (../mailpit/access.ts admits the client).
 * 2. sendgrid.ts, postmark.ts, mailgun.ts and ses.ts read the body and compose the messages. Each
 *    field is used, shown as a header of the message, or refused by its name.
 * 3. All messages of a call are stored in one transaction, and are on disk before the answer.
 * 4. The provider's own form is used for the answer and for refusals, so that its SDK reads both.
 */

import { peerOf, type RequestServer } from "../../../http/incoming.ts";
import { type AnyElysia, Elysia } from "elysia";
import type { App } from "../../../core/app.ts";
import { bodiesOf } from "../../../http/body.ts";
import { undocumented } from "../../../http/documented.ts";
import { localAccessOf } from "../../../http/local-access.ts";
import { AppError } from "../../../lib/errors.ts";
import { localEnvelope } from "../envelope.ts";
import { createMailpitAccess } from "../mailpit/access.ts";
import { MailpitRefusal } from "../mailpit/answers.ts";
import { createReadBody } from "../mailpit/body.ts";
import { messageIntake } from "../messages/intake.ts";
import { type InboxRow, inboxService } from "../service.ts";
import type { CaughtMail } from "./compose-mail.ts";
import { type Provider, ProviderFault, type ProviderRequest } from "./provider.ts";

/** The largest message of the providers is one of 40 MB, of Amazon SES. */
const MAX_BODY_BYTES = 54 * 1024 * 1024;

type ProviderPath = readonly [path: string, load: () => Promise<Provider>];

/** A provider is loaded by its first call. */
const PATHS: readonly ProviderPath[] = [
  ["/v3/mail/send", async () => (await import("./sendgrid.ts")).sendgrid],
  ["/email", async () => (await import("./postmark.ts")).postmark.single],
  ["/email/batch", async () => (await import("./postmark.ts")).postmark.batch],
  ["/email/withTemplate", async () => (await import("./postmark.ts")).postmark.withTemplate],
  [
    "/email/batchWithTemplates",
    async () => (await import("./postmark.ts")).postmark.batchWithTemplates,
  ],
  ["/v3/:domain/messages", async () => (await import("./mailgun.ts")).mailgun.messages],
  ["/v3/:domain/messages.mime", async () => (await import("./mailgun.ts")).mailgun.mime],
  ["/v2/email/outbound-emails", async () => (await import("./ses.ts")).sesJson],
  ["/", async () => (await import("./ses-query.ts")).sesQuery],
];

type Incoming = {
  request: Request;
  params: Record<string, string>;
  server: RequestServer | null;
};

export function providerRoutes(app: App): AnyElysia {
  const { clock, config, writer } = app;
  const [inboxes, intake] = [inboxService(app), messageIntake(app)];
  const access = createMailpitAccess({ inboxes, writer, localAccess: localAccessOf(app), config });
  const readBody = createReadBody(bodiesOf(app));

  async function answer(provider: Provider, incoming: Incoming): Promise<Response> {
    const { request, params, server } = incoming;
    const key = provider.readKey(request);
    if (key === null) throw new ProviderFault(401, "", provider.missingKey);
    const peer = peerOf({ request, server });
    const inbox = await access.inboxOfKey(request, peer, key);
    const body = await readBody(request, inbox.projectSeq, MAX_BODY_BYTES);
    const call: ProviderRequest = {
      request,
      params,
      body,
      now: clock.now(),
      hostname: config.hostname,
    };
    const { mails, response } = await provider.receive(call);
    await store(mails, inbox, namesInbox(key, inbox) ? inbox.name : "");
    return response;
  }

  /** A key that names no inbox may be the secret of another service, so it is not stored. */
  async function store(mails: readonly CaughtMail[], inbox: InboxRow, username: string) {
    if (mails.length === 0) return;
    await writer.write(() => {
      for (const { from, recipients, raw } of mails) {
        const { seq } = inboxes.findByRecipient(recipients) ?? inbox;
        const envelope = localEnvelope(from, recipients);
        intake.insert({ inboxSeq: seq, envelope, username, emailId: null }, raw);
      }
    });
  }

  const routes = new Elysia({ name: "provider-routes" });
  for (const [path, load] of PATHS) {
    const handler = async (incoming: Incoming): Promise<Response> => {
      const provider = await load();
      try {
        return await answer(provider, incoming);
      } catch (error) {
        return provider.refuse(faultOf(error), clock.now());
      }
    };
    routes.route("POST", path, handler, { parse: "none", detail: undocumented("ANYONE") });
  }
  return routes;
}

function namesInbox(key: string, { id, name }: InboxRow): boolean {
  const [user] = key.split(":", 1);
  return user === id || user === name;
}

/** The refusal of a request; other errors are thrown again. */
function faultOf(error: unknown): ProviderFault {
  if (error instanceof ProviderFault) return error;
  if (error instanceof MailpitRefusal) {
    return new ProviderFault(error.status, "", error.message, error.headers);
  }
  if (error instanceof AppError) {
    const [field] = error.errors ?? [];
    return new ProviderFault(error.status, field?.field ?? "", error.message, error.headers);
  }
  throw error;
}
