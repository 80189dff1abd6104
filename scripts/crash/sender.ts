/** Sends mails through the API over several connections; the server may be killed at any time. */

import { Type } from "@sinclair/typebox";
import { parse } from "../bench/children.ts";
import { SENDER } from "../bench/mail.ts";

export const SendResponse = Type.Object({
  emails: Type.Array(Type.Object({ email: Type.String() })),
});

const REQUEST_LIMIT_MS = 10_000;

export type Sender = ReturnType<typeof createSender>;

export function createSender(options: { url: string; key: string; connections: number }) {
  const { url, key, connections } = options;
  /** Id of the email record by number of the mail, for mails that were answered with 200. */
  const accepted = new Map<number, string>();
  /** Numbers of mails whose request had no response because the server was killed. */
  const unanswered: number[] = [];
  const counts = { broken: 0, replayed: 0 };
  let next = 0;

  async function send(number: number): Promise<void> {
    const response = await fetch(`${url}/v1/send`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        // The key prevents a second mail when a request without response is repeated.
        "idempotency-key": `mail-${number}`,
      },
      body: JSON.stringify({
        to: recipientOf(number),
        from: SENDER,
        subject: `Mail ${number}`,
        body: "<p>This is mail {{ number }}</p>",
        data: { number },
      }),
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    });
    const text = await response.text();
    if (response.status !== 200) throw new RefusedError(`${response.status}: ${text}`);
    if (response.headers.has("idempotency-replayed")) counts.replayed++;
    const [email] = parse(SendResponse, JSON.parse(text)).emails;
    if (email !== undefined) accepted.set(number, email.email);
  }

  /** Sends one mail after another, unanswered ones first, until `isOver` or the server is gone. */
  async function work(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const number = unanswered.shift() ?? next++;
      try {
        await send(number);
      } catch (error) {
        if (error instanceof RefusedError) throw error;
        counts.broken++;
        unanswered.push(number);
        return;
      }
    }
  }

  return {
    accepted,
    counts,
    unansweredCount: () => unanswered.length,

    /** Sends mails until `isOver` returns true or the server is gone. */
    async run(isOver: () => boolean): Promise<void> {
      await Promise.all(Array.from({ length: connections }, () => work(isOver)));
    },
  };
}

/** The server answered with a status other than 200, which a kill does not explain. */
class RefusedError extends Error {}

export const RECIPIENT_DOMAIN = "example.net";

export function recipientOf(number: number): string {
  return `person-${number}@${RECIPIENT_DOMAIN}`;
}
