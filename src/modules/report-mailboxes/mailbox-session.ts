/** Opens a session with the server of a mailbox, as guarded as requests for untrusted URLs are. */

import type { App } from "../../core/app.ts";
import type { reportMailboxes } from "../../db/schema/report-mailboxes.ts";
import { deriveKey, seal, unseal } from "../../lib/crypto.ts";
import { perApp } from "../../lib/per-app.ts";
import { FetchRefused } from "../../protocols/fetch-guarded/refusal.ts";
import { addressesOf } from "../../protocols/fetch-guarded/target.ts";
import { type ImapSession, openImap } from "../../protocols/mailboxes/imap.ts";
import { MailboxFault } from "../../protocols/mailboxes/mailbox-fault.ts";
import { withWire } from "../../protocols/mailboxes/mailbox-wire.ts";
import { openPop3, type Pop3Session } from "../../protocols/mailboxes/pop3.ts";

export type MailboxRow = typeof reportMailboxes.$inferSelect;

type Limits = { sessionMs: number; signal: AbortSignal };

const sealingKey = perApp(({ secret }: App) => deriveKey(secret, "report-mailbox-passwords"));

export const sealPassword = (app: App, password: string): Buffer =>
  seal(sealingKey(app), Buffer.from(password));

/**
 * Logs in, calls `use` with the session, and closes the connection. Throws MailboxFault, also when
 * the signal is aborted.
 */
export async function withSession<T>(
  app: App,
  mailbox: MailboxRow,
  limits: Limits,
  use: (session: ImapSession | Pop3Session) => Promise<T>,
): Promise<T> {
  const { host, port, username, folder } = mailbox;
  const password = unseal(sealingKey(app), mailbox.password)?.toString();
  if (password === undefined) {
    throw new MailboxFault("login", "its password was sealed with another secret: set it again");
  }
  const server = { host, port, isEncrypted: mailbox.security === "TLS" };
  const addresses = await allowedAddresses(app, host);
  return withWire(server, { clock: app.clock, addresses, ...limits }, async (wire) =>
    use(
      mailbox.protocol === "IMAP"
        ? await openImap(wire, { username, password, folder })
        : await openPop3(wire, { username, password }),
    ),
  );
}

/** Mailboxes are on public addresses, unless the operator allows others (docs/security.md). */
async function allowedAddresses({ config, dns }: App, host: string): Promise<readonly string[]> {
  const { allowPrivateAddresses } = config;
  const hostname = host.includes(":") ? `[${host}]` : host;
  try {
    return await addressesOf({ hostname }, { dns, allowPrivateAddresses });
  } catch (error) {
    if (error instanceof FetchRefused) throw new MailboxFault("connect", error.message);
    throw error;
  }
}
