import { Button, Group, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api.ts";
import { stateQuery } from "../../state.ts";
import { Problem } from "../../ui/problem.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";

/** The name that others see in the team and in the audit. */
export function ProfileForm({ name }: { name: string }) {
  const client = useQueryClient();
  const [isSaved, setIsSaved] = useState(false);
  const form = useApiForm({
    initial: { name },
    submit: (values) => api.patch("/app/api/account", values, { project: null }),
    onDone: async () => {
      setIsSaved(true);
      await client.invalidateQueries({ queryKey: stateQuery.queryKey });
    },
  });
  return (
    <form onSubmit={form.onSubmit}>
      <Group align="flex-end" gap="xs">
        <TextInput
          className="grow"
          label="Name"
          autoComplete="name"
          required
          withAsterisk={false}
          {...form.field("name")}
        />
        <Button type="submit" variant="default" loading={form.isBusy}>
          Save
        </Button>
      </Group>
      {form.error !== null && <Problem error={form.error} />}
      <p className="muted small" role="status">
        {isSaved ? "Saved" : ""}
      </p>
    </form>
  );
}
