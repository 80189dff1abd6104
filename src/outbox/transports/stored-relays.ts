/**
 * The relays of projects as they are stored. They are read again after a change, and every few seconds
 * because a command in another process may have changed one.
 */

import type { App } from "../../core/app.ts";
import type { projectRelays } from "../../db/schema/projects.ts";
import { statement } from "../../db/statement.ts";
import { deriveKey, seal, unseal } from "../../lib/crypto.ts";
import { perApp } from "../../lib/per-app.ts";
import type { Relay } from "../../protocols/smtp/relay-url.ts";

type StoredRelay = Omit<
  typeof projectRelays.$inferSelect,
  "seq" | "password" | "id" | "createdAt" | "changedAt"
> & { password: Uint8Array | null };

const COLUMNS =
  "project_seq AS projectSeq, host, port, security, username, password, signed_by AS signedBy";

const findRelays = statement<StoredRelay, []>(
  `SELECT ${COLUMNS} FROM project_relays WHERE project_seq > 0`,
);

const findRelay = statement<StoredRelay, [number]>(
  `SELECT ${COLUMNS} FROM project_relays WHERE project_seq = +?`,
);

/** The stored relay of a project, also for commands; null if it has none of its own. */
export function findProjectRelay(
  store: Pick<App, "db" | "secret">,
  projectSeq: number,
): Relay | "unreadable" | null {
  const stored = findRelay(store).get(projectSeq);
  return stored === null ? null : openRelay(store.secret, stored);
}

export const sealRelayPassword = (secret: string, password: string): Buffer =>
  seal(sealKey(secret), Buffer.from(password));

/** "unreadable" if the password was sealed with another secret. */
function openRelay(secret: string, stored: StoredRelay): Relay | "unreadable" {
  const { host, port, security, username, password: sealed, signedBy } = stored;
  const password = sealed === null ? null : unseal(sealKey(secret), sealed);
  if (password === null && sealed !== null) return "unreadable";
  return {
    host,
    port,
    tls: TLS[security],
    ...(username !== null && { user: username, password: password?.toString() ?? "" }),
    ...(signedBy !== "AUTO" && { sign: signedBy === "SERVER" }),
  };
}

const TLS = { STARTTLS: "starttls", TLS: "implicit", NONE: "none" } as const;

const sealKey = (secret: string): Buffer => deriveKey(secret, "project-relay-passwords");

type Entry = { columns: string; relay: Relay | "unreadable" };

export const storedRelays = perApp((app: App) => {
  let entries: ReadonlyMap<number, Entry> | null = null;

  /** A relay that did not change stays the same object, so that its connections stay open. */
  function read(): ReadonlyMap<number, Entry> {
    const before = entries;
    const stored = findRelays(app).all();
    return new Map(stored.map((row) => [row.projectSeq, entryOf(row, before)]));
  }

  function entryOf(row: StoredRelay, before: ReadonlyMap<number, Entry> | null): Entry {
    const columns = JSON.stringify(Object.values(row));
    const known = before?.get(row.projectSeq);
    if (known?.columns === columns) return known;
    const relay = openRelay(app.secret, row);
    if (relay === "unreadable") {
      app.log.error("the relay of a project cannot be read, so its mail waits", {
        project: row.projectSeq,
        reason: "the secret of this server is another one",
      });
    }
    return { columns, relay };
  }

  return {
    /** The relay of a project; null if it has none of its own. Captured mail leaves by none. */
    find(projectSeq: number): Relay | "unreadable" | null {
      if (app.config.transport === "capture") return null;
      entries ??= read();
      return entries.get(projectSeq)?.relay ?? null;
    },
    /** True if a relay has changed. */
    refresh(): boolean {
      const [before, now] = [entries, read()];
      entries = now;
      const isSame = (projectSeq: number) => before?.get(projectSeq) === now.get(projectSeq);
      return before !== null && ![...before.keys(), ...now.keys()].every(isSame);
    },
  };
});
