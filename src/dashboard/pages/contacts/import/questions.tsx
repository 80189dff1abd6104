/** The questions that a file leaves open: the meaning of words that seem to say who left. */

import { Select } from "@mantine/core";
import type { ImportProgress, ImportRun } from "../../../../modules/contacts/import/model.ts";
import type { ImportOptions } from "./use-import.ts";

type Standing = NonNullable<ImportRun["statuses"]>[string];

const NOTHING = "NOTHING";
const MEANINGS = [
  { value: "SUBSCRIBED", label: "Subscribed" },
  { value: "UNSUBSCRIBED", label: "Unsubscribed" },
  { value: "HARD_BOUNCE", label: "The address bounced" },
  { value: "COMPLAINT", label: "Marked mail as spam" },
  { value: "MANUAL", label: "Blocked" },
  { value: NOTHING, label: "Says nothing about it" },
] as const;

const standingOf = (value: string): Standing => {
  const found = MEANINGS.find((meaning) => meaning.value === value)?.value ?? NOTHING;
  return found === NOTHING ? null : found;
};

export function Questions(props: {
  job: ImportProgress;
  options: ImportOptions;
  onChange: (next: ImportOptions) => void;
}) {
  const { job, options, onChange } = props;
  const { statuses = {} } = options;
  if (job.questions.length === 0) return null;
  return (
    <section className="card import-questions" aria-labelledby="import-questions">
      <h2 id="import-questions">Who left?</h2>
      {job.questions.map(({ column, words }) =>
        words.length === 0 ? (
          <p key={column}>
            The column <strong>{column}</strong> seems to say who left. Choose below what it means,
            or “Field of the contact” if it means something else.
          </p>
        ) : (
          <fieldset key={column} className="import-words">
            <legend>
              What do these words of the column <strong>{column}</strong> say about a person?
            </legend>
            {words.map((word) => (
              <Select
                key={word}
                label={word}
                placeholder="Choose"
                data={MEANINGS}
                value={word in statuses ? (statuses[word] ?? NOTHING) : null}
                allowDeselect={false}
                onChange={(value) =>
                  value !== null &&
                  onChange({ statuses: { ...statuses, [word]: standingOf(value) } })
                }
              />
            ))}
          </fieldset>
        ),
      )}
    </section>
  );
}
