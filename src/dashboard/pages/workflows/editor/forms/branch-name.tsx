import { TextInput } from "@mantine/core";
import { useState } from "react";

/**
 * The name of a branch, which the way out of the step carries. A name that is empty or taken is not
 * passed on, because the steps after the branch would lose their way.
 */
export function BranchName(props: {
  label: string;
  value: string;
  /** The names of the other branches. */
  others: readonly string[];
  error: string | undefined;
  onChange: (name: string) => void;
}) {
  const { label, value, others, error, onChange } = props;
  const [typed, setTyped] = useState(value);
  const isTaken = others.includes(typed);
  const fault = isTaken
    ? "Another branch has this name."
    : typed.trim() === ""
      ? "Give the branch a name."
      : error;
  return (
    <TextInput
      aria-label={label}
      className="grow"
      maxLength={100}
      value={typed}
      error={fault}
      onChange={({ currentTarget }) => {
        const next = currentTarget.value;
        setTyped(next);
        if (next.trim() !== "" && !others.includes(next)) onChange(next);
      }}
      onBlur={() => setTyped(value)}
    />
  );
}
