import "./styles.ts";
import { TextInput } from "@mantine/core";

/** The name of an object as the heading of its page, where it is changed. */
export function TitleField(props: {
  /** The word for the object, such as "template". */
  noun: string;
  value: string;
  onChange: (name: string) => void;
}) {
  const { noun, value, onChange } = props;
  return (
    <TextInput
      aria-label={`Name of the ${noun}`}
      variant="unstyled"
      className="title-field"
      maxLength={255}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
