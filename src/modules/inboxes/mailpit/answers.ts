/** The forms in which Mailpit answers: JSON, or plain text for success, refusals and raw data. */

export class MailpitRefusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

const PLAIN = { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" };

export const okAnswer = (): Response => new Response("ok", { headers: PLAIN });

export const textAnswer = (text: string): Response => new Response(text, { headers: PLAIN });

export const jsonAnswer = (value: unknown, status = 200): Response =>
  Response.json(value, { status, headers: { "Cache-Control": "no-store" } });

export function refusalAnswer({ status, message, headers }: MailpitRefusal): Response {
  return new Response(message, { status, headers: { ...PLAIN, ...headers } });
}

export const badRequest = (message: string): MailpitRefusal => new MailpitRefusal(400, message);

export const pageNotFound = (): MailpitRefusal => new MailpitRefusal(404, "404 page not found");

export const messageNotFound = (): MailpitRefusal => new MailpitRefusal(404, "Message not found");
