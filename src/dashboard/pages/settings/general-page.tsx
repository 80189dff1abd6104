/** The general settings of a project, and the creation of another one. */

import { Button, Skeleton, Stack } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import type { ProjectDetails } from "../../../modules/project-model.ts";
import { stateQuery, useAppState, useMay } from "../../state.ts";
import { CopyText } from "../../ui/copy.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Fields } from "../../ui/fields.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Time } from "../../ui/time.tsx";
import { useCreateDialog } from "../../ui/use-create-dialog.ts";
import { useDelayed } from "../../ui/use-delayed.ts";
import { NewProject } from "../entry/new-project.tsx";
import { LANGUAGE_CHOICES, TRACKING_CHOICES } from "./choices.ts";
import { EnabledSection } from "./enabled-section.tsx";
import { GeneralForm } from "./general-form.tsx";
import { SettingsFrame } from "./settings-frame.tsx";
import { useProjectDetails } from "./use-project-details.ts";

export function GeneralPage() {
  const { data, error, isPending, refetch } = useProjectDetails();
  const isSlow = useDelayed(isPending);
  const { user } = useAppState();
  return (
    <SettingsFrame actions={user?.isOwner === true ? <NewProjectButton /> : undefined}>
      <div className="narrow">
        {error !== null && data === undefined && (
          <Problem error={error} onRetry={() => void refetch()} />
        )}
        {data === undefined ? isSlow && <GeneralSkeleton /> : <General project={data} />}
      </div>
    </SettingsFrame>
  );
}

function General({ project }: { project: ProjectDetails }) {
  const mayManage = useMay("ADMIN");
  const { user } = useAppState();
  return (
    <>
      {mayManage ? (
        <GeneralForm key={project.id} project={project} />
      ) : (
        <section className="section">
          <h2>Project</h2>
          <p className="muted settings-note">Admins of the project may change these settings.</p>
          <ReadOnly project={project} />
        </section>
      )}
      <section className="section">
        <h2>About</h2>
        <Fields>
          <Field label="Project id">
            <CopyText value={project.id} label="Copy the project id" />
          </Field>
          <Field label="Created">
            <Time at={project.createdAt} />
          </Field>
        </Fields>
      </section>
      {user?.isOwner === true && <EnabledSection project={project} />}
    </>
  );
}

function ReadOnly({ project }: { project: ProjectDetails }) {
  const { name, sender, tracking, language } = project;
  const labelOf = (choices: readonly { value: string; label: string }[], value: string) =>
    choices.find((choice) => choice.value === value)?.label ?? value;
  return (
    <Fields>
      <Field label="Name">{name}</Field>
      <Field label="Default sender">
        {sender === null ? <span className="muted">None</span> : senderText(sender)}
      </Field>
      <Field label="Tracking">{labelOf(TRACKING_CHOICES, tracking)}</Field>
      <Field label="Language">{labelOf(LANGUAGE_CHOICES, language)}</Field>
    </Fields>
  );
}

function senderText({ address, name }: NonNullable<ProjectDetails["sender"]>): string {
  return name === null || name === undefined || name === "" ? address : `${name} <${address}>`;
}

function NewProjectButton() {
  const [isOpen, dialog] = useCreateDialog(true);
  const client = useQueryClient();
  const navigate = useNavigate();
  async function open({ id }: { id: string }): Promise<void> {
    dialog.close();
    await client.refetchQueries({ queryKey: stateQuery.queryKey });
    await navigate({ to: "/p/$project", params: { project: id } });
  }
  return (
    <>
      <Button variant="default" leftSection={<Plus size={16} aria-hidden />} onClick={dialog.open}>
        New project
      </Button>
      <Dialog opened={isOpen} onClose={dialog.close} title="New project" size="sm">
        <p className="muted">It has its own contacts, keys and domains.</p>
        <NewProject onDone={open} />
      </Dialog>
    </>
  );
}

function GeneralSkeleton() {
  return (
    <Stack gap="lg" aria-busy="true">
      <Skeleton height={20} width={120} />
      <Skeleton height={36} />
      <Skeleton height={36} />
      <Skeleton height={120} />
    </Stack>
  );
}
