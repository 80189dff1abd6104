/** Rows of the audit log for changes that commands make. */

import type { Store } from "./store.ts";

/**
 * Part of a change: adds the row of a command such as `key create`, whose first word is what the
 * command changes.
 */
export function recordCommand(
  { accounts }: Pick<Store, "accounts">,
  command: string,
  change: { projectSeq: number; objectId: string; fields?: readonly string[] },
): void {
  const [noun = ""] = command.split(" ");
  accounts.record({
    actor: { kind: "CLI", id: null, label: `mailstead ${command}` },
    action: command.replace(" ", "."),
    objectType: noun,
    address: null,
    ...change,
  });
}
