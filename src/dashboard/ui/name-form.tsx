import { TextInput } from "@mantine/core";
import { DialogForm } from "./dialog-form.tsx";
import { useApiForm } from "./use-api-form.ts";

/** A form in a dialog that creates an object of which only the name is asked. */
export function NameForm<T>(props: {
  /** The words on the button, such as "Create the layout". */
  action: string;
  create: (name: string, idempotencyKey: string) => Promise<T>;
  onDone: (created: T) => Promise<void> | void;
  onCancel: () => void;
}) {
  const { action, create, onDone, onCancel } = props;
  const form = useApiForm({
    initial: { name: "" },
    submit: ({ name }, idempotencyKey) => create(name.trim(), idempotencyKey),
    onDone,
  });
  return (
    <DialogForm
      form={form}
      action={action}
      isIncomplete={form.values.name.trim() === ""}
      onCancel={onCancel}
    >
      <TextInput
        label="Name"
        required
        withAsterisk={false}
        maxLength={255}
        data-autofocus
        {...form.field("name")}
      />
    </DialogForm>
  );
}
