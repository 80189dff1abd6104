/**
 * A small application under test: it mails a code to a new customer over SMTP, and opens the account
 * of a customer who enters the code.
 */

import { randomInt } from "node:crypto";
import { createTransport } from "nodemailer";

export function startDemoShop(smtp: { host: string; port: number }) {
  const transport = createTransport(smtp);
  const codes = new Map<string, string>();
  const customers = new Set<string>();

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    routes: {
      "/sign-up": {
        async POST(request) {
          const { email = "" } = await fieldsOf(request);
          const code = String(randomInt(100_000, 1_000_000));
          codes.set(email, code);
          await transport.sendMail({
            from: "Demo Shop <shop@example.org>",
            to: email,
            subject: "Confirm your address",
            text: `Welcome! Your code is ${code}. It is valid for ten minutes.`,
          });
          return new Response(null, { status: 202 });
        },
      },
      "/confirm": {
        async POST(request) {
          const { email = "", code } = await fieldsOf(request);
          if (code === undefined || codes.get(email) !== code)
            return new Response(null, { status: 403 });
          customers.add(email);
          return new Response(null, { status: 200 });
        },
      },
    },
  });

  async function post(path: string, fields: Record<string, string>): Promise<number> {
    const response = await fetch(new URL(path, server.url), {
      method: "POST",
      body: new URLSearchParams(fields),
    });
    await response.arrayBuffer();
    return response.status;
  }

  return {
    customers,
    signUp: (email: string) => post("/sign-up", { email }),
    confirm: (email: string, code: string) => post("/confirm", { email, code }),
    async stop(): Promise<void> {
      transport.close();
      await server.stop(true);
    },
  };
}

/** The fields of a form, as browsers send it. */
async function fieldsOf(request: Request): Promise<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(await request.text()));
}
