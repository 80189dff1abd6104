import { Select, Stack, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import type { ProjectDetails } from "../../../modules/project-model.ts";
import { stateQuery } from "../../state.ts";
import { LANGUAGE_CHOICES } from "./choices.ts";
import { SaveRow, useProjectForm } from "./project-form.tsx";

type Values = {
  name: string;
  sender: { address: string; name: string };
  language: string;
};

/** The settings of a project for admins. */
export function GeneralForm({ project }: { project: ProjectDetails }) {
  const client = useQueryClient();
  const form = useProjectForm(project, {
    valuesOf,
    bodyOf,
    onSaved: () => client.invalidateQueries({ queryKey: stateQuery.queryKey }),
  });
  const senderError = form.form.errors["sender"];
  return (
    <form className="section" onSubmit={form.onSubmit}>
      {form.unsaved}
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
        <Select
          className="wide"
          label="Language for recipients"
          description="The unsubscribe pages and the footer are in this language."
          data={LANGUAGE_CHOICES}
          allowDeselect={false}
          {...form.field("language")}
        />
        <SaveRow form={form} onDiscard={() => form.form.reset()} />
      </Stack>
    </form>
  );
}

function valuesOf({ name, sender, language }: ProjectDetails): Values {
  return {
    name,
    sender: { address: sender?.address ?? "", name: sender?.name ?? "" },
    language,
  };
}

function bodyOf({ name, sender, language }: Values) {
  const address = sender.address.trim();
  const senderName = sender.name.trim();
  return {
    name: name.trim(),
    sender: address === "" ? null : { address, name: senderName === "" ? null : senderName },
    language,
  };
}
