/** The mail of a step: its template with a preview, and who gets it. */

import { Button, Group, Radio, Select, Stack, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ExternalLink, Plus } from "lucide-react";
import { useState } from "react";
import type { Template } from "../../../../../modules/templates.ts";
import { api, type ListPage } from "../../../../api.ts";
import { isRecord } from "../../../../ui/is-record.ts";
import { ContactPreview } from "../../../../ui/contact-preview.tsx";
import { type FormProps, textAt, withMember } from "./form-props.ts";

const SHOWN = 25;
const TYPING_MS = 250;

export function SendForm({ step, project, fault, onChange }: FormProps) {
  const { config } = step;
  const id = textAt(config, "templateId");
  const template = useQuery({
    queryKey: ["templates", project, id],
    queryFn: ({ signal }) => api.get<Template>(`/templates/${encodeURIComponent(id)}`, { signal }),
    enabled: id !== "",
    retry: false,
  });
  const isMissing = id !== "" && template.isError;
  return (
    <>
      <TemplateSelect
        project={project}
        chosen={template.data}
        id={id}
        error={
          fault("config.templateId") ??
          (isMissing
            ? "This template cannot be read. It may be deleted: choose another."
            : undefined)
        }
        onChange={(templateId) => onChange({ ...config, templateId })}
      />
      <Group gap="xs">
        {template.data !== undefined && (
          <Button
            component="a"
            size="compact-sm"
            variant="default"
            href={`/app/p/${project}/templates/${id}`}
            target="_blank"
            rightSection={<ExternalLink size={13} aria-hidden />}
          >
            Edit the template
          </Button>
        )}
        <Button
          component="a"
          size="compact-sm"
          variant="subtle"
          href={`/app/p/${project}/templates/new`}
          target="_blank"
          leftSection={<Plus size={14} aria-hidden />}
        >
          Create a template
        </Button>
      </Group>
      <Recipient step={step} fault={fault} onChange={onChange} />
      {template.data !== undefined && <Preview template={template.data} />}
    </>
  );
}

function TemplateSelect(props: {
  project: string;
  chosen: Template | undefined;
  id: string;
  error: string | undefined;
  onChange: (id: string) => void;
}) {
  const { project, chosen, id, error, onChange } = props;
  const [typed, setTyped] = useState("");
  const wanted = typed === chosen?.name ? "" : typed.trim();
  const [name] = useDebouncedValue(wanted, TYPING_MS);
  const found = useQuery({
    queryKey: ["templates", project, "choices", name],
    queryFn: ({ signal }) =>
      api.get<ListPage<Template>>("/templates", { query: { name, limit: SHOWN }, signal }),
    placeholderData: keepPreviousData,
    // A template may have just been made in another tab.
    staleTime: 0,
  });
  const items = (found.data?.items ?? []).map((each) => ({ value: each.id, label: each.name }));
  const isListed = id === "" || items.some(({ value }) => value === id);
  return (
    <Select
      label="Template"
      placeholder="Choose a template"
      searchable
      selectFirstOptionOnChange={false}
      allowDeselect={false}
      data={isListed ? items : [{ value: id, label: chosen?.name ?? id }, ...items]}
      value={id === "" ? null : id}
      searchValue={typed}
      onSearchChange={setTyped}
      // The server has searched.
      filter={({ options }) => options}
      nothingFoundMessage="No template has this name."
      error={error}
      onChange={(value) => value !== null && onChange(value)}
    />
  );
}

function Recipient({ step, fault, onChange }: Pick<FormProps, "step" | "fault" | "onChange">) {
  const { config } = step;
  const recipient = isRecord(config["recipient"]) ? config["recipient"] : {};
  const isCustom = recipient["type"] === "CUSTOM";
  return (
    <>
      <Radio.Group
        label="Sent to"
        value={isCustom ? "CUSTOM" : "CONTACT"}
        onChange={(type) =>
          onChange(
            withMember(config, "recipient", type === "CUSTOM" ? { type, email: "" } : undefined),
          )
        }
      >
        <Stack gap="xs" mt={6}>
          <Radio value="CONTACT" label="The contact" />
          <Radio value="CUSTOM" label="Another address" description="Such as your sales team." />
        </Stack>
      </Radio.Group>
      {isCustom && (
        <TextInput
          label="Address"
          type="email"
          autoComplete="off"
          spellCheck={false}
          value={textAt(recipient, "email")}
          error={fault("config.recipient")}
          onChange={({ currentTarget }) =>
            onChange({ ...config, recipient: { type: "CUSTOM", email: currentTarget.value } })
          }
        />
      )}
    </>
  );
}

function Preview({ template }: { template: Template }) {
  const { id, revision } = template;
  const [isOpen, setIsOpen] = useState(false);
  const [contactId, setContactId] = useState("");
  return (
    <div>
      <Button
        size="compact-sm"
        variant="subtle"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
      >
        {isOpen ? "Hide the preview" : "Show the mail"}
      </Button>
      {isOpen && (
        <ContactPreview
          path={`/templates/${encodeURIComponent(id)}/preview`}
          noun="template"
          version={`${id} ${revision}`}
          contactId={contactId === "" ? undefined : contactId}
          onContact={setContactId}
        />
      )}
    </div>
  );
}
