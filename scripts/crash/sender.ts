/** Sends mails through the API, several at once, over a server that may die at any moment. */

import { Type } from "@sinclair/typebox";
import { parse } from "../bench/children.ts";
import { SENDER } from "../bench/mail.ts";

const Answer = Type.Object({ emails: Type.Array(Type.Object({ email: Type.String() })) });

const REQUEST_LIMIT_MS = 10_000;

export type Sender = ReturnType<typeof createSender>;

export function createSender(options: { url: string; key: string; connections: number }) {
  const { url, key, connections } = options;
  /** Number of a mail → id of its email record, once it was answered with 200. */
  const accepted = new Map<number, string>();
  /** Asked for, and the server died before it answered. */
  const unanswered: number[] = [];
  const counts = { broken: 0, replayed: 0 };
  let next = 0;

  async function send(number: number): Promise<void> {
    const response = await fetch(`${url}/v1/send`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        // A mail whose answer was lost is asked for again, and must not become two.
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
    const [email] = parse(Answer, JSON.parse(text)).emails;
    if (email !== undefined) accepted.set(number, email.email);
  }

  /** One mail after the other, those without an answer first, until it is told to end. */
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
    /** Numbers given out so far. */
    asked: () => next,
    open: () => unanswered.length,

    /** Until `isOver`, or until the server is gone. */
    async run(isOver: () => boolean): Promise<void> {
      await Promise.all(Array.from({ length: connections }, () => work(isOver)));
    },
  };
}

/** The server answered, and not with 200: nothing that a crash explains. */
class RefusedError extends Error {}

export const RECIPIENT_DOMAIN = "example.net";

export function recipientOf(number: number): string {
  return `person-${number}@${RECIPIENT_DOMAIN}`;
}
