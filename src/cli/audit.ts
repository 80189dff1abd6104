/** Rows of the audit log for changes that commands make. */

import type { Store } from "./store.ts";

type Change = { projectSeq: number; objectId: string; fields?: readonly string[] };

/**
 * Part of a change: adds the row of a command such as `key create`, whose first word is what the
 * command changes.
 */
export function recordCommand(
  store: Pick<Store, "accounts">,
  command: string,
  change: Change,
): void {
  store.accounts.record(entryOf(command, change));
}

/** Part of a change: runs it, and adds its row with the old and new values. */
export function changeByCommand<T>(
  { accounts }: Pick<Store, "accounts">,
  command: string,
  change: Change & { run: () => T },
): T {
  const { run, ...rest } = change;
  const entry = entryOf(command, rest);
  const before = accounts.readAudited(entry);
  const result = run();
  accounts.record({ ...entry, before });
  return result;
}

function entryOf(command: string, change: Change) {
  const [noun = ""] = command.split(" ");
  return {
    actor: { kind: "CLI", id: null, label: `mailstead ${command}` },
    action: command.replace(" ", "."),
    objectType: noun,
    address: null,
    ...change,
  } as const;
}
