import { Button, Group, Radio, Select, Stack, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ProjectDetails } from "../../../modules/project-model.ts";
import { api } from "../../api.ts";
import { stateQuery } from "../../state.ts";
import { Problem } from "../../ui/problem.tsx";
import { useUnsaved } from "../../ui/unsaved.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { LANGUAGE_CHOICES, TRACKING_CHOICES } from "./choices.ts";
import { detailsKey } from "./use-project-details.ts";

type Values = {
  name: string;
  sender: { address: string; name: string };
  tracking: ProjectDetails["tracking"];
  language: string;
};

/** The settings of a project for admins. */
export function GeneralForm({ project }: { project: ProjectDetails }) {
  const client = useQueryClient();
  const [isSaved, setIsSaved] = useState(false);
  const form = useApiForm({
    initial: valuesOf(project),
    submit: (values) => api.patch<ProjectDetails>(`/projects/${project.id}`, bodyOf(values)),
    onDone: async (saved) => {
      setIsSaved(true);
      form.form.setValues(valuesOf(saved));
      form.form.setInitialValues(valuesOf(saved));
      form.form.resetDirty(valuesOf(saved));
      client.setQueryData(detailsKey(project.id), saved);
      await client.invalidateQueries({ queryKey: stateQuery.queryKey });
    },
  });
  const isChanged = form.form.isDirty();
  const unsaved = useUnsaved(isChanged);
  const senderError = form.form.errors["sender"];
  return (
    <form
      className="section"
      onSubmit={(event) => {
        setIsSaved(false);
        form.onSubmit(event);
      }}
    >
      {unsaved}
      <h2>Project</h2>
      <Stack gap="lg">
        <TextInput
          label="Name"
          description="Recipients see it below marketing mail and on the unsubscribe page."
          required
          withAsterisk={false}
          maxLength={100}
          autoComplete="off"
          {...form.field("name")}
        />
        <div className="settings-pair">
          <TextInput
            label="Default sender"
            description="Mail that names no sender is sent from this address."
            placeholder="hello@your-domain.example"
            type="email"
            autoComplete="off"
            spellCheck={false}
            {...form.field("sender.address")}
            error={senderError}
          />
          <TextInput
            label="Name of the sender"
            description="Recipients see it beside the address."
            autoComplete="off"
            maxLength={200}
            disabled={form.values.sender.address.trim() === ""}
            {...form.field("sender.name")}
          />
        </div>
        <Radio.Group label="Track opens and clicks in" {...form.field("tracking")}>
          <Stack gap="xs" mt={4}>
            {TRACKING_CHOICES.map(({ value, label, description }) => (
              <Radio key={value} value={value} label={label} description={description} />
            ))}
          </Stack>
        </Radio.Group>
        <Select
          className="wide"
          label="Language for recipients"
          description="The unsubscribe pages and the footer are in this language."
          data={LANGUAGE_CHOICES}
          allowDeselect={false}
          {...form.field("language")}
        />
        {form.error !== null && <Problem error={form.error} />}
        <Group gap="sm">
          <Button type="submit" loading={form.isBusy} disabled={!isChanged}>
            Save changes
          </Button>
          {isChanged && (
            <Button variant="default" onClick={() => form.form.reset()}>
              Discard
            </Button>
          )}
          <span className="muted small" role="status">
            {isSaved && !isChanged ? "Saved" : ""}
          </span>
        </Group>
      </Stack>
    </form>
  );
}

function valuesOf({ name, sender, tracking, language }: ProjectDetails): Values {
  return {
    name,
    sender: { address: sender?.address ?? "", name: sender?.name ?? "" },
    tracking,
    language,
  };
}

function bodyOf({ name, sender, tracking, language }: Values) {
  const address = sender.address.trim();
  const senderName = sender.name.trim();
  return {
    name: name.trim(),
    sender: address === "" ? null : { address, name: senderName === "" ? null : senderName },
    tracking,
    language,
  };
}
