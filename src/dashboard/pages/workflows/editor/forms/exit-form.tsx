import { TextInput } from "@mantine/core";
import { type FormProps, textAt, withMember } from "./form-props.ts";

export function ExitForm({ step, fault, onChange }: FormProps) {
  const { config } = step;
  return (
    <TextInput
      label="Reason"
      description="Shown with the executions that end here, such as “became a customer”."
      maxLength={1000}
      value={textAt(config, "reason")}
      error={fault("config.reason")}
      onChange={({ currentTarget }) =>
        onChange(withMember(config, "reason", currentTarget.value || undefined))
      }
    />
  );
}
