/**
 * Runs an SMTP server that records, for each recipient, the Message-ID, the subject and a digest of every mail, and
 * a name server whose MX record for the recipients' domain names that SMTP server. Both listen on one
 * address.
 */

import { withoutSignatures } from "../../test/support/dkim.ts";
import { startDnsServer } from "../../test/support/dns-server.ts";
import { startSink, type SunkMessage } from "../../test/support/smtp-sink.ts";
import { RECIPIENT_DOMAIN } from "./sender.ts";

type Arrival = { messageId: string; subject: string; digest: string };

export async function openMailbox(address = "127.0.0.1") {
  const arrivals = new Map<string, Arrival[]>();
  const sink = await startSink({ address, onMessage: recordArrival });
  const host = `mx.${RECIPIENT_DOMAIN}`;
  const dns = await startDnsServer({
    records: { [RECIPIENT_DOMAIN]: { MX: [`10 ${host}`] }, [host]: { A: [address] } },
    address,
  });

  function recordArrival({ to, data }: SunkMessage): void {
    const text = Buffer.from(data).toString("latin1");
    const arrival = {
      messageId: messageIdOf(text),
      subject: /^Subject: (.*)\r$/im.exec(text)?.[1] ?? "",
      digest: digestOf(text),
    };
    for (const address of to) arrivals.set(address, [...(arrivals.get(address) ?? []), arrival]);
    // The sink also stores every mail; they are dropped to save memory.
    sink.messages.length = 0;
  }

  return {
    port: sink.port,
    dns: `${address}:${dns.server.port}`,
    close: async () => {
      await sink.close();
      await dns.close();
    },
    to: (address: string): readonly Arrival[] => arrivals.get(address) ?? [],
    recipients: () => arrivals.size,
  };
}

export type Mailbox = Awaited<ReturnType<typeof openMailbox>>;

function messageIdOf(text: string): string {
  return /^Message-ID: <([^>@]+)@/im.exec(text)?.[1] ?? "";
}

/** Returns a digest without DKIM signatures: they contain their time, all other bytes must match. */
function digestOf(text: string): string {
  return new Bun.CryptoHasher("sha256").update(withoutSignatures(text)).digest("hex");
}
