import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ProjectDetails } from "../../../modules/project-model.ts";
import { api } from "../../api.ts";
import { stateQuery } from "../../state.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Problem } from "../../ui/problem.tsx";
import { detailsKey } from "./use-project-details.ts";

/** Lets an owner disable a project, which refuses its keys, and enable it again. */
export function EnabledSection({ project }: { project: ProjectDetails }) {
  const { id, name, isEnabled } = project;
  const client = useQueryClient();
  const [isAsking, question] = useDisclosure(false);
  const set = useMutation({
    mutationFn: (isOn: boolean) =>
      api.patch<ProjectDetails>(`/projects/${id}`, { isEnabled: isOn }),
    onSuccess: async (saved) => {
      client.setQueryData(detailsKey(id), saved);
      await client.invalidateQueries({ queryKey: stateQuery.queryKey });
    },
  });
  return (
    <section className="section card">
      <h3>{isEnabled ? "Disable the project" : "The project is disabled"}</h3>
      <p className="muted settings-note">
        {isEnabled
          ? "Its keys are refused until it is enabled again. Nothing is deleted."
          : "Its keys are refused, and nothing in it can be changed. Nothing was deleted."}
      </p>
      {set.error !== null && !isAsking && <Problem error={set.error} />}
      {isEnabled ? (
        <Button variant="default" onClick={question.open}>
          Disable the project
        </Button>
      ) : (
        <Button loading={set.isPending} onClick={() => set.mutate(true)}>
          Enable the project
        </Button>
      )}
      <Confirm
        isOpen={isAsking}
        onClose={question.close}
        title="Disable the project?"
        text="Applications that use its keys cannot send mail until it is enabled again."
        name={name}
        action="Disable the project"
        onConfirm={() => set.mutateAsync(false)}
      />
    </section>
  );
}
