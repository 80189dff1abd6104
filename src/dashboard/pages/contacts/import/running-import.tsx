/** The line above the list of contacts that shows how far an import has come. */

import "./styles.ts";
import { Progress } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ImportSummary } from "../../../../modules/contacts/import/model.ts";
import { api, type ListPage } from "../../../api.ts";
import { hasEnded } from "./counts.ts";

const LOOK_AGAIN_MS = 2_000;
const number = new Intl.NumberFormat();

export function RunningImport({ project }: { project: string }) {
  const { data } = useQuery({
    queryKey: ["imports", project, "newest"],
    queryFn: ({ signal }) =>
      api.get<ListPage<ImportSummary>>("/contacts/import", { query: { limit: 1 }, signal }),
    refetchInterval: ({ state }) => (isRunning(state.data?.items[0]) ? LOOK_AGAIN_MS : false),
    refetchOnMount: "always",
  });
  const job = data?.items[0];
  if (job === undefined || !isRunning(job)) return null;
  const { id, processed, total } = job;
  return (
    <div className="import-running" role="status">
      <span>
        An import runs: {number.format(processed)}
        {total === null ? "" : ` of ${number.format(total)}`} rows
      </span>
      <Progress
        value={total === null || total === 0 ? 0 : (100 * processed) / total}
        w={160}
        aria-label="Progress of the import"
      />
      <Link to="/p/$project/contacts/import" params={{ project }} search={{ job: id }}>
        Show the import
      </Link>
    </div>
  );
}

const isRunning = (job: ImportSummary | undefined) => job !== undefined && !hasEnded(job);
