import { Button, Stack, TextInput } from "@mantine/core";
import { api } from "../../api.ts";
import { useBusyDialog } from "../../ui/dialog.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";

/** Creates a project; only owners may. */
export function NewProject({ onDone }: { onDone: (project: { id: string }) => unknown }) {
  const form = useApiForm({
    initial: { name: "" },
    submit: (values, idempotencyKey) =>
      api.post<{ id: string }>("/projects", values, { project: null, idempotencyKey }),
    onDone: async (project) => void (await onDone(project)),
  });
  useBusyDialog(form.isBusy);
  return (
    <form onSubmit={form.onSubmit} className="entry-form">
      <Stack gap="md">
        <TextInput
          label="Project name"
          description="The name of your product, for example. Recipients see it below marketing mail and on the unsubscribe page. You can change it later."
          required
          withAsterisk={false}
          autoFocus
          {...form.field("name")}
        />
        {form.error !== null && <Problem error={form.error} />}
        <Button type="submit" fullWidth loading={form.isBusy}>
          Create the project
        </Button>
      </Stack>
    </form>
  );
}
