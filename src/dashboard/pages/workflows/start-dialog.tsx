/** Starts a workflow by hand: for one contact, for those of a segment, or for all. */

import { Radio, Stack } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Contact } from "../../../modules/contacts/model.ts";
import type { Segment } from "../../../modules/segments/model.ts";
import type { Workflow } from "../../../modules/workflows/model.ts";
import { api, type ListPage } from "../../api.ts";
import { ContactSelect } from "../../ui/contact-preview.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { DialogForm } from "../../ui/dialog-form.tsx";
import { showDone } from "../../ui/undo.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { SegmentSelect } from "./editor/forms/choices.tsx";
import { workflowPath } from "./use-workflow.ts";

type Props = { project: string; workflow: Workflow; isOpen: boolean; onClose: () => void };

export function StartDialog({ isOpen, ...rest }: Props) {
  const { workflow, onClose } = rest;
  return (
    <Dialog opened={isOpen} onClose={onClose} title={`Start ${workflow.name}`} size="md">
      <StartForm {...rest} />
    </Dialog>
  );
}

const number = new Intl.NumberFormat();
const CHOICES = [
  { value: "CONTACT", label: "One contact" },
  { value: "SEGMENT", label: "The contacts of a segment" },
  { value: "ALL", label: "All contacts" },
] as const;
type Who = (typeof CHOICES)[number]["value"];

function StartForm({ project, workflow, onClose }: Omit<Props, "isOpen">) {
  const client = useQueryClient();
  const [who, setWho] = useState<Who>("CONTACT");
  const [contactId, setContactId] = useState("");
  const [segmentId, setSegmentId] = useState<string | null>(null);
  const path = workflowPath(workflow.id);
  const form = useApiForm({
    initial: {},
    submit: (_, idempotencyKey) =>
      who === "CONTACT"
        ? api.post(`${path}/executions`, { contactId }, { idempotencyKey })
        : api.post(
            `${path}/entries`,
            { segmentId: who === "ALL" ? null : segmentId },
            { idempotencyKey },
          ),
    async onDone() {
      showDone(
        who === "CONTACT"
          ? "Started. The contact is in the workflow now."
          : "Started. The page shows how many contacts have entered.",
      );
      onClose();
      await client.invalidateQueries({ queryKey: ["workflow-counts"] });
    },
  });
  const count = useCount(project, who, segmentId);
  const isIncomplete =
    (who === "CONTACT" && contactId === "") || (who === "SEGMENT" && segmentId === null);
  return (
    <DialogForm
      form={form}
      action={
        who === "CONTACT" || count === undefined
          ? "Start the workflow"
          : `Start it for ${number.format(count)} ${count === 1 ? "contact" : "contacts"}`
      }
      isIncomplete={isIncomplete}
      onCancel={onClose}
    >
      <Radio.Group
        label="Who enters"
        value={who}
        onChange={(value) => {
          const chosen = CHOICES.find((each) => each.value === value);
          if (chosen !== undefined) setWho(chosen.value);
        }}
      >
        <Stack gap="xs" mt={6}>
          {CHOICES.map(({ value, label }) => (
            <Radio key={value} value={value} label={label} />
          ))}
        </Stack>
      </Radio.Group>
      {who === "CONTACT" && (
        <ContactSelect
          contactId={contactId === "" ? undefined : contactId}
          onContact={setContactId}
          label="Contact"
          nobody="Choose a contact"
        />
      )}
      {who === "SEGMENT" && (
        <SegmentSelect
          project={project}
          label="Segment"
          value={segmentId}
          error={undefined}
          onChange={setSegmentId}
        />
      )}
      <p className="muted">
        They begin at once after the first step, and may get mail.
        {workflow.allowReentry
          ? " Contacts who are in the workflow are left out."
          : " Contacts who have been in the workflow are left out."}
      </p>
    </DialogForm>
  );
}

/** The number of contacts of the choice; undefined while it is loading. */
function useCount(project: string, who: Who, segmentId: string | null): number | undefined {
  const all = useQuery({
    queryKey: ["contacts", project, "total"],
    queryFn: ({ signal }) =>
      api.get<ListPage<Contact>>("/contacts", { query: { limit: 1 }, signal }),
    enabled: who === "ALL",
  });
  const segment = useQuery({
    queryKey: ["segments", project, segmentId, "count"],
    queryFn: ({ signal }) =>
      api.get<Segment>(`/segments/${encodeURIComponent(segmentId ?? "")}`, { signal }),
    enabled: who === "SEGMENT" && segmentId !== null,
  });
  if (who === "ALL") return all.data?.total;
  return segment.data?.memberCount ?? undefined;
}
