/** The module of accounts: stores the times of the last requests of sessions, and removes old rows. */

import type { Writer } from "../../db/writer.ts";
import type { Module } from "../module.ts";
import type { Accounts } from "./service.ts";

export function createAccountModule({
  accounts,
  writer,
}: {
  accounts: Accounts;
  writer: Writer;
}): Module {
  const { sessions, tokens, audit } = accounts;
  const flush = () => sessions.flushUses(writer);

  async function purge(): Promise<void> {
    await writer.write(() => {
      sessions.purge();
      tokens.purge();
    });
    while (await writer.write(audit.purge));
  }

  return {
    name: "accounts",
    recurring: [
      { name: "session uses", pattern: "*/30 * * * * *", run: flush },
      { name: "accounts purge", pattern: "23 7 * * * *", run: purge },
    ],
    lifetimes: [sessions.shift, tokens.shift],
    flush,
  };
}
