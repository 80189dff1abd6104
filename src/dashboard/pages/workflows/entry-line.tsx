/** The latest run in which the contacts of a segment entered the workflow, and how far it is. */

import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { EntryRun } from "../../../modules/workflows/entry-model.ts";
import { api, type ListPage } from "../../api.ts";
import { useMay } from "../../state.ts";
import { Time } from "../../ui/time.tsx";
import { showFailure } from "../../ui/undo.tsx";
import { workflowPath } from "./use-workflow.ts";

const number = new Intl.NumberFormat();

const WORDS: Readonly<Record<EntryRun["status"], string>> = {
  RUNNING: "Contacts are entering",
  COMPLETED: "Contacts entered",
  FAILED: "The entry of contacts failed",
  CANCELLED: "The entry of contacts was cancelled",
};

export function EntryLine({ project, id }: { project: string; id: string }) {
  const client = useQueryClient();
  const mayEdit = useMay("EDITOR");
  const path = `${workflowPath(id)}/entries`;
  // The live messages that renew the numbers of the workflow renew this one as well.
  const { data } = useQuery({
    queryKey: ["workflow-counts", project, id, "entries"],
    queryFn: ({ signal }) => api.get<ListPage<EntryRun>>(path, { query: { limit: 1 }, signal }),
  });
  const cancel = useMutation({
    mutationFn: (run: string) => api.post(`${path}/${encodeURIComponent(run)}/cancel`),
    onError: (error) => showFailure("The entry was not cancelled", error),
    onSettled: () => client.invalidateQueries({ queryKey: ["workflow-counts"] }),
  });
  const [run] = data?.items ?? [];
  if (run === undefined) return null;
  const { status, entered, skipped, error, createdAt } = run;
  return (
    <div className="count-line small" role={status === "RUNNING" ? "status" : undefined}>
      <span className="figures">
        {WORDS[status]} <Time at={createdAt} />: <strong>{number.format(entered)}</strong> entered
        {skipped > 0 && <>, {number.format(skipped)} left out</>}
        {error !== null && <>. {error}</>}
      </span>
      {status === "RUNNING" && mayEdit && (
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          loading={cancel.isPending}
          onClick={() => cancel.mutate(run.id)}
        >
          Stop
        </Button>
      )}
    </div>
  );
}
