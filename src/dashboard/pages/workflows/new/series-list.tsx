/** Common series that a workflow can begin as. Each makes a disabled workflow and its templates. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { StartedSeries, WorkflowSeries } from "../../../../modules/workflows/series-model.ts";
import type { Workflow } from "../../../../modules/workflows/model.ts";
import { api, type ListPage, newIdempotencyKey } from "../../../api.ts";
import { Loaded } from "../../../ui/loaded.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { ownZone } from "../../campaigns/editor/zone-time.ts";
import { TYPE_WORDS } from "../step-texts.ts";

export function SeriesList(props: {
  project: string;
  onStarted: (workflow: Workflow) => Promise<void>;
}) {
  const { project, onStarted } = props;
  const client = useQueryClient();
  const [busy, setBusy] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const key = useRef(newIdempotencyKey());
  const series = useQuery({
    queryKey: ["workflow-series", project],
    queryFn: ({ signal }) => api.get<ListPage<WorkflowSeries>>("/workflow-series", { signal }),
  });

  async function start(id: string): Promise<void> {
    if (busy !== null) return;
    setBusy(id);
    setError(null);
    try {
      const body = { seriesId: id, timeZone: ownZone() };
      const options = { idempotencyKey: `${key.current}-${id}` };
      const { workflow } = await api.post<StartedSeries>("/workflow-series", body, options);
      void client.invalidateQueries({ queryKey: ["templates", project] });
      await onStarted(workflow);
    } catch (caught) {
      key.current = newIdempotencyKey();
      setError(caught);
      setBusy(null);
    }
  }

  return (
    <>
      {error !== null && <Problem error={error} />}
      <Loaded query={series} height={320}>
        {({ items }) => (
          <ul className="kinds" aria-label="Series">
            {items.map(({ id, name, description, steps, templates, segment }) => (
              <li key={id}>
                <button
                  type="button"
                  className="kind"
                  aria-busy={busy === id}
                  onClick={() => void start(id)}
                >
                  <span>
                    <strong>{name}</strong>
                    <span className="small">{description}</span>
                    <span className="muted small">{steps.map(stepText).join(" → ")}</span>
                    <span className="muted small">
                      Makes {templates.length} {templates.length === 1 ? "template" : "templates"}
                      {segment !== null && `, and the segment “${segment}”`}.
                    </span>
                  </span>
                </button>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </>
  );
}

const WORDS: Readonly<Record<string, string>> = TYPE_WORDS;

const stepText = ({ type, name }: WorkflowSeries["steps"][number]): string =>
  name === "" ? (WORDS[type] ?? type) : name;
