import { Button, Group, Stack, Switch, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { SavedView } from "../../../modules/views/model.ts";
import { api } from "../../api.ts";
import { useMay } from "../../state.ts";
import { Dialog } from "../dialog.tsx";
import { DialogForm } from "../dialog-form.tsx";
import { useApiForm } from "../use-api-form.ts";
import { useViewRefresh } from "./use-views.ts";
import { wordsOfQuery, type ViewPage } from "./view-lists.ts";

type Props = { page: ViewPage; query: string; onClose: () => void };

/** The dialog that saves the present search of a list under a name. */
export function SaveView({ isOpen, ...rest }: Props & { isOpen: boolean }) {
  return (
    <Dialog opened={isOpen} onClose={rest.onClose} title="Save this search" size="sm">
      {rest.query === "" ? <NoSearch onClose={rest.onClose} /> : <SaveForm {...rest} />}
    </Dialog>
  );
}

function NoSearch({ onClose }: { onClose: () => void }) {
  return (
    <Stack gap="md">
      <p>
        The list shows all of its rows. Search it first: a view is a name for a search, so that you
        find the same rows again.
      </p>
      <Group justify="flex-end">
        <Button onClick={onClose}>Close</Button>
      </Group>
    </Stack>
  );
}

function SaveForm({ page, query, onClose }: Props) {
  const mayShare = useMay("EDITOR");
  const refresh = useViewRefresh();
  const form = useApiForm({
    initial: { name: "", isShared: false },
    submit: (values, idempotencyKey) =>
      api.post<SavedView>("/views", { page, query, ...values }, { idempotencyKey }),
    async onDone({ name }) {
      await refresh();
      notifications.show({ message: `The view ${name} is saved.` });
      onClose();
    },
  });
  return (
    <DialogForm form={form} action="Save the view" onCancel={onClose}>
      <p className="muted views-words">{wordsOfQuery(query)}</p>
      <TextInput
        label="Name"
        required
        withAsterisk={false}
        maxLength={100}
        autoComplete="off"
        data-autofocus
        {...form.field("name")}
      />
      {mayShare && (
        <Switch
          label="Share with the project"
          description="All members see the view and can use it."
          checked={form.values.isShared}
          onChange={({ currentTarget }) =>
            form.form.setFieldValue("isShared", currentTarget.checked)
          }
        />
      )}
    </DialogForm>
  );
}
