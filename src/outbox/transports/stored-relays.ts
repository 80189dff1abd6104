/**
 * The relays of projects as they are stored. They are read again after a change, and every few seconds
 * because a command in another process may have changed one.
 */

import type { App } from "../../core/app.ts";
import { statement } from "../../db/statement.ts";
import { deriveKey, unseal } from "../../lib/crypto.ts";
import { perApp } from "../../lib/per-app.ts";
import { parseRelayUrl, type Relay } from "../../protocols/smtp/relay-url.ts";

type StoredRelay = { projectSeq: number; url: Uint8Array };

const findRelays = statement<StoredRelay, []>(
  "SELECT project_seq AS projectSeq, url FROM project_relays WHERE project_seq > 0",
);

const findSealed = statement<Pick<StoredRelay, "url">, [number]>(
  "SELECT url FROM project_relays WHERE project_seq = +?",
);

/** The stored relay of a project, also for commands; null if it has none of its own. */
export function findProjectRelay(
  store: Pick<App, "db" | "secret">,
  projectSeq: number,
): Relay | "unreadable" | null {
  const stored = findSealed(store).get(projectSeq);
  return stored === null ? null : openRelay(store.secret, stored.url);
}

/** "unreadable" if the relay was sealed with another secret. */
function openRelay(secret: string, sealed: Uint8Array): Relay | "unreadable" {
  const url = unseal(sealKey(secret), sealed);
  const parsed = url === null ? null : parseRelayUrl(url.toString());
  return parsed?.ok === true ? parsed.relay : "unreadable";
}

const sealKey = (secret: string): Buffer => deriveKey(secret, "project-relays");

type Entry = { sealed: Buffer; relay: Relay | "unreadable" };

export const storedRelays = perApp((app: App) => {
  let entries: ReadonlyMap<number, Entry> | null = null;

  /** A relay that did not change stays the same object, so that its connections stay open. */
  function read(): ReadonlyMap<number, Entry> {
    const before = entries;
    return new Map(
      findRelays(app)
        .all()
        .map(({ projectSeq, url }) => {
          const sealed = Buffer.from(url);
          const known = before?.get(projectSeq);
          if (known !== undefined && known.sealed.equals(sealed)) return [projectSeq, known];
          const relay = openRelay(app.secret, sealed);
          if (relay === "unreadable") {
            app.log.error("the relay of a project cannot be read, so its mail waits", {
              project: projectSeq,
              reason: "the secret of this server is another one",
            });
          }
          return [projectSeq, { sealed, relay }];
        }),
    );
  }

  return {
    /** The relay of a project; null if it has none of its own. Captured mail leaves by none. */
    find(projectSeq: number): Relay | "unreadable" | null {
      if (app.config.transport === "capture") return null;
      entries ??= read();
      return entries.get(projectSeq)?.relay ?? null;
    },
    refresh(): void {
      entries = read();
    },
  };
});
