import type { FieldValues } from "../../../ui/editors/merge.ts";
import type { Editing } from "../../../ui/editors/use-autosave.ts";
import { saveText } from "../../../ui/editors/save-text.ts";

/** Saves what was typed. Throws if the server does not take it: it works with what it has. */
export async function saveAll<T extends FieldValues>(
  editor: Pick<Editing<T>, "saveNow">,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  const state = await editor.saveNow();
  if (state.status !== "SAVED") throw new Error(`${saveText(state, labels)}.`);
}
