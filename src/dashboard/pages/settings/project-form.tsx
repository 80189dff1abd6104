import { Button, Group } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { ProjectDetails } from "../../../modules/project-model.ts";
import { api } from "../../api.ts";
import { Problem } from "../../ui/problem.tsx";
import { useUnsaved } from "../../ui/unsaved.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { detailsKey } from "./use-project-details.ts";

/** A form of some settings of a project. `bodyOf` makes the request of its values. */
export function useProjectForm<V extends Record<string, unknown>>(
  project: ProjectDetails,
  options: {
    valuesOf: (project: ProjectDetails) => V;
    bodyOf: (values: V) => object;
    onSaved?: (values: V) => void | Promise<void>;
  },
) {
  const { valuesOf, bodyOf, onSaved } = options;
  const client = useQueryClient();
  const [isSaved, setIsSaved] = useState(false);
  const settings = useApiForm<V, ProjectDetails>({
    initial: valuesOf(project),
    submit: (values) => api.patch<ProjectDetails>(`/projects/${project.id}`, bodyOf(values)),
    onDone: async (saved) => {
      setIsSaved(true);
      const values = valuesOf(saved);
      settings.form.setValues(values);
      settings.form.setInitialValues(values);
      settings.form.resetDirty(values);
      client.setQueryData(detailsKey(project.id), saved);
      await onSaved?.(values);
    },
  });
  const isChanged = settings.form.isDirty();
  return {
    ...settings,
    isChanged,
    isSaved,
    /** The question that is asked before unsaved values are left. */
    unsaved: useUnsaved(isChanged),
    onSubmit(event: FormEvent<HTMLFormElement>): void {
      setIsSaved(false);
      settings.onSubmit(event);
    },
  };
}

/** The end of the form: its error, the buttons, and that it was saved. */
export function SaveRow(props: {
  form: { error: unknown; isBusy: boolean; isChanged: boolean; isSaved: boolean };
  onDiscard: () => void;
}) {
  const { form, onDiscard } = props;
  const { error, isBusy, isChanged, isSaved } = form;
  return (
    <>
      {error !== null && <Problem error={error} />}
      <Group gap="sm">
        <Button type="submit" loading={isBusy} disabled={!isChanged}>
          Save changes
        </Button>
        {isChanged && (
          <Button variant="default" onClick={onDiscard}>
            Discard
          </Button>
        )}
        <span className="muted small" role="status">
          {isSaved && !isChanged ? "Saved" : ""}
        </span>
      </Group>
    </>
  );
}
