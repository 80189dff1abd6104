import type { FieldValues } from "./merge.ts";
import type { Editing } from "./use-autosave.ts";
import { saveText } from "./save-text.ts";

/**
 * Saves the changes of an editor before a request that works with the stored record. Throws if the
 * server refuses them.
 */
export async function saveAll<T extends FieldValues>(
  editor: Pick<Editing<T>, "saveNow">,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  const state = await editor.saveNow();
  if (state.status !== "SAVED") throw new Error(`${saveText(state, labels)}.`);
}
