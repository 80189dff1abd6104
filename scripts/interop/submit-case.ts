/** Submits a mail through a smarthost client, and looks for it at the server of its recipient. */

import { createTransport } from "nodemailer";
import { reach } from "./bounce-cases.ts";
import type { RunningSender } from "./sender.ts";
import type { MailServer } from "./server.ts";

/** Returns the faults; none if the mail arrived with our signatures and a signed return path. */
export async function submitAndFind(options: {
  sender: RunningSender;
  client: MailServer;
  port: number;
  domain: string;
  target: MailServer;
}): Promise<string[]> {
  const { client, port, domain, target } = options;
  const subject = `Submitted by ${client.name} for ${domain}`;
  const transport = createTransport({
    host: client.address,
    port,
    tls: { rejectUnauthorized: false },
  });
  await transport.sendMail({
    from: "hello@sender.example",
    to: `away@${domain}`,
    subject,
    text: "Grüße aus der Warteschlange\r\n",
    attachments: [{ filename: "a.bin", content: Buffer.alloc(2_000, 7) }],
  });
  transport.close();
  const find = () => target.received().find((text) => text.includes(`Subject: ${subject}\r\n`));
  await reach(() => find() !== undefined, true);
  const text = find()?.toString("latin1");
  if (text === undefined) return ["it did not arrive"];
  const faults: string[] = [];
  if (!/^Return-Path: <b\+[a-z2-7]{45}@bounce\.sender\.example>/im.test(text)) {
    faults.push("its return path is not signed");
  }
  if ((text.match(/^DKIM-Signature:/gim)?.length ?? 0) !== 2)
    faults.push("it has not 2 signatures");
  if (!/^Received: .*ESMTPS?A?/ims.test(text)) faults.push("it has no Received field");
  return faults;
}
