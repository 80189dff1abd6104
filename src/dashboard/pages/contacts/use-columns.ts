import { useMemo } from "react";
import type { Contact } from "../../../modules/contacts/model.ts";
import { showFailure } from "../../ui/undo.tsx";
import { usePreference } from "../../ui/use-preference.ts";
import { firstChoice, readChoice } from "./column-choice.ts";

/** Contacts whose data decide the first columns. */
const SAMPLED = 100;

/** The columns that the user chose for this project, or those that fit its first contacts. */
export function useColumns(project: string, rows: readonly Contact[]) {
  const { value, save } = usePreference(`contact-columns ${project}`);
  const stored = JSON.stringify(readChoice(value));
  const first = JSON.stringify(firstChoice(rows.slice(0, SAMPLED)));
  const choice = useMemo(
    () => readChoice(JSON.parse(stored)) ?? readChoice(JSON.parse(first)) ?? [],
    [stored, first],
  );
  return {
    choice,
    choose: (next: string[]) =>
      void save(next).catch((error: unknown) => showFailure("The columns were not stored", error)),
  };
}
