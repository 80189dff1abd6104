/** A captured message with everything that the inbox shows of one, sent over SMTP. */

import { createTransport } from "nodemailer";
import { stringAt, valueAt } from "../../test/support/json.ts";

const SAMPLE = {
  from: "Shop <shop@example.com>",
  to: "Ada Lovelace <ada@example.com>",
  subject: "Your sign-in code",
  text: "Your code is 482913.",
  html: `<p style="display:grid">Your code is <b>482913</b>.</p>
<a href="https://shop.example/login?token=8f14e45fceea167a">Sign in</a>
<img width="1">`,
  headers: { "X-Tags": "signup" },
  attachments: [{ filename: "orders.csv", content: "a,b\n1,2\n" }],
};

/** Sends it to the default inbox of the first project. `cookie` is the session of its owner. */
export async function sendSampleMessage(base: string, cookie: string): Promise<void> {
  const response = await fetch(`${base}/app/api/state`, { headers: { cookie } });
  const state: unknown = await response.json();
  const transport = createTransport({
    host: stringAt(state, "data.smtp.host"),
    port: Number(valueAt(state, "data.smtp.port")),
    ignoreTLS: true,
  });
  await transport.sendMail(SAMPLE);
  transport.close();
}
