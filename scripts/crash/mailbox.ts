/**
 * What arrived at the SMTP server, by recipient: how often, and whether it was always the same. A
 * name server says that this is where mail for the recipients goes.
 */

import { withoutSignatures } from "../../test/support/dkim.ts";
import { startDns } from "../../test/support/dns-server.ts";
import { startSink, type SunkMessage } from "../../test/support/smtp-sink.ts";
import { RECIPIENT_DOMAIN } from "./sender.ts";

type Arrival = { messageId: string; digest: string };

export async function openMailbox() {
  const arrivals = new Map<string, Arrival[]>();
  const sink = await startSink({ onMessage: keep });
  const host = `mx.${RECIPIENT_DOMAIN}`;
  const names = await startDns({
    records: { [RECIPIENT_DOMAIN]: { MX: [`10 ${host}`] }, [host]: { A: ["127.0.0.1"] } },
  });

  function keep({ to, data }: SunkMessage): void {
    const text = Buffer.from(data).toString("latin1");
    const arrival = { messageId: messageIdOf(text), digest: digestOf(text) };
    for (const address of to) arrivals.set(address, [...(arrivals.get(address) ?? []), arrival]);
    // The sink keeps what it takes; thousands of mails are not needed twice.
    sink.messages.length = 0;
  }

  return {
    port: sink.port,
    dns: `127.0.0.1:${names.server.port}`,
    close: async () => {
      await sink.close();
      await names.close();
    },
    to: (address: string): readonly Arrival[] => arrivals.get(address) ?? [],
    recipients: () => arrivals.size,
  };
}

export type Mailbox = Awaited<ReturnType<typeof openMailbox>>;

function messageIdOf(text: string): string {
  return /^Message-ID: <([^>@]+)@/im.exec(text)?.[1] ?? "";
}

/** A signature names the time at which it was made; everything else must stay the same. */
function digestOf(text: string): string {
  return new Bun.CryptoHasher("sha256").update(withoutSignatures(text)).digest("hex");
}
