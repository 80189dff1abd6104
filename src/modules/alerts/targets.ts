/**
 * The targets of alerts, which the settings name: addresses, which get mail over the second path
 * (operator-mail.ts), a webhook, a topic of ntfy, and an incoming webhook of Slack. A request has a time
 * limit, goes through the guarded fetch, and its reply is read up to a limit.
 */

import type { App } from "../../core/app.ts";
import type { TARGET_KINDS } from "../../db/schema/alerts.ts";
import { deriveKey } from "../../lib/crypto.ts";
import { perApp } from "../../lib/per-app.ts";
import { FetchRefused } from "../../protocols/fetch-guarded/refusal.ts";
import type { MailText } from "../accounts/mail-texts.ts";
import { signedHeaders } from "../webhooks/secrets.ts";
import { alertJson, alertMail, type AlertMessage, ntfyRequest, slackJson } from "./messages.ts";
import { sendOperatorMail } from "./operator-mail.ts";

/** `reply` is one line for people. After a final failure there is no further try. */
export type TargetResult = { isDelivered: boolean; isFinal: boolean; reply: string };

export type AlertTarget = {
  /** The same after a restart, and without the secrets of a URL. */
  name: string;
  kind: (typeof TARGET_KINDS)[number];
  /** The address, or the host of the URL. */
  label: string;
  send: (message: AlertMessage, signal?: AbortSignal) => Promise<TargetResult>;
  /** Sends the weekly digest; null for targets that do not get it. */
  sendMail: ((mail: MailText & { id: string; at: number }) => Promise<TargetResult>) | null;
};

const MAX_REPLY_BYTES = 2_000;
const MAX_REPLY_CHARACTERS = 300;

/** The targets that the settings name now. */
export function alertTargets(app: App): AlertTarget[] {
  const { operatorEmail, alertWebhook, alertNtfy, alertSlack } = app.config;
  return [
    ...operatorEmail.map((address) => emailTarget(app, address)),
    ...(alertWebhook === null ? [] : [webhookTarget(app, alertWebhook)]),
    ...(alertNtfy === null ? [] : [ntfyTarget(app, alertNtfy)]),
    ...(alertSlack === null ? [] : [slackTarget(app, alertSlack)]),
  ];
}

const originOf = ({ config, url }: App) => ({ hostname: config.hostname, url });

function emailTarget(app: App, address: string): AlertTarget {
  return {
    name: `email ${address}`,
    kind: "EMAIL",
    label: address,
    send: (message) =>
      sendOperatorMail(app, {
        ...alertMail(message, originOf(app)),
        id: message.id,
        to: address,
        at: message.clearedAt ?? message.raisedAt,
      }),
    sendMail: (mail) => sendOperatorMail(app, { ...mail, to: address }),
  };
}

function webhookTarget(app: App, url: string): AlertTarget {
  return httpTarget(app, { kind: "WEBHOOK", url }, (message) => {
    const now = app.clock.now();
    const body = alertJson(message, originOf(app), now);
    const headers = signedHeaders({ id: message.id, body }, [alertSigningKey(app)], now);
    return { headers: { "content-type": "application/json", ...headers }, body };
  });
}

function ntfyTarget(app: App, url: string): AlertTarget {
  return httpTarget(app, { kind: "NTFY", url }, (message) => {
    const { headers, body } = ntfyRequest(message, originOf(app));
    return { headers: { "content-type": "text/plain; charset=utf-8", ...headers }, body };
  });
}

function slackTarget(app: App, url: string): AlertTarget {
  return httpTarget(app, { kind: "SLACK", url }, (message) => ({
    headers: { "content-type": "application/json" },
    body: slackJson(message, originOf(app)),
  }));
}

type HttpKind = Exclude<AlertTarget["kind"], "EMAIL">;
type Post = { headers: Record<string, string>; body: string };

function httpTarget(
  app: App,
  { kind, url }: { kind: HttpKind; url: string },
  requestOf: (message: AlertMessage) => Post,
): AlertTarget {
  return {
    name: kind.toLowerCase(),
    kind,
    label: new URL(url).host,
    sendMail: null,
    async send(message, signal) {
      try {
        const response = await app.fetchGuarded(url, {
          method: "POST",
          ...requestOf(message),
          maxBodyBytes: MAX_REPLY_BYTES,
          ...(signal !== undefined && { signal }),
        });
        const isDelivered = response.status >= 200 && response.status < 300;
        return { isDelivered, isFinal: false, reply: replyOf(response) };
      } catch (error) {
        if (!(error instanceof FetchRefused)) throw error;
        return { isDelivered: false, isFinal: false, reply: error.message };
      }
    },
  };
}

// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\x00-\x1f\x7f]+/g;

/** The status and the beginning of the body, as one line. */
function replyOf({ status, body }: { status: number; body: Uint8Array }): string {
  const text = new TextDecoder().decode(body).replace(CONTROLS, " ").trim();
  return `${status} ${text}`.trim().slice(0, MAX_REPLY_CHARACTERS).toWellFormed();
}

const SECRET_BYTES = 24;

/** The key that signs the requests of `--alert-webhook`. It follows from the installation secret. */
const alertSigningKey = perApp(({ secret }: App) => signingKeyOf(secret));

const signingKeyOf = (secret: string) =>
  deriveKey(secret, "alert-webhook").subarray(0, SECRET_BYTES);

/** The same key as text, in the form of the secrets of webhooks. */
export const alertSigningSecret = (secret: string): string =>
  `whsec_${signingKeyOf(secret).toString("base64")}`;
