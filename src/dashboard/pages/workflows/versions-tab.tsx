/** The versions of a workflow: the author, time and changes of each, and a way back to it. */

import "../../ui/editors/styles.ts";
import "./styles.ts";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { RotateCcw } from "lucide-react";
import type { Workflow } from "../../../modules/workflows/model.ts";
import type {
  WorkflowVersion,
  WorkflowVersionDetails,
} from "../../../modules/workflows/version-model.ts";
import { api, type ListPage } from "../../api.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { workflowDraft } from "./editor/draft.ts";
import { branchWord, TYPE_WORDS } from "./step-texts.ts";
import { workflowKey, workflowPath } from "./use-workflow.ts";
import type { WorkflowTabProps } from "./workflow-tabs.tsx";

/** Times are shown with their minutes, because versions are often minutes apart. */
const time = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function WorkflowVersions(props: WorkflowTabProps) {
  const { workflow, project, search, onChange } = props;
  const { id, revision } = workflow;
  const versions = useQuery({
    queryKey: [...workflowKey(project, id), "versions", revision],
    queryFn: ({ signal }) =>
      api.get<ListPage<WorkflowVersion>>(`${workflowPath(id)}/versions`, { signal }),
  });
  return (
    <Loaded query={versions} height={320}>
      {({ items }) => {
        const chosen = search.version ?? String(items[0]?.number ?? 1);
        return (
          <div className="versions">
            <div className="versions-side">
              <p className="muted small">
                Each saved change of the graph is a version; the newest 50 are kept. Contacts in the
                workflow keep the version that they began with.
              </p>
              <ol className="versions-list" aria-label="Versions, newest first">
                {items.map((version) => (
                  <li key={version.number}>
                    <VersionButton
                      version={version}
                      isChosen={String(version.number) === chosen}
                      onChoose={() =>
                        onChange({ tab: "versions", version: String(version.number) }, true)
                      }
                    />
                  </li>
                ))}
              </ol>
            </div>
            <ChosenVersion key={chosen} {...props} chosen={chosen} />
          </div>
        );
      }}
    </Loaded>
  );
}

function VersionButton(props: {
  version: WorkflowVersion;
  isChosen: boolean;
  onChoose: () => void;
}) {
  const { version, isChosen, onChoose } = props;
  const { author, createdAt, number, current } = version;
  return (
    <button
      type="button"
      className="version"
      aria-current={isChosen ? "true" : undefined}
      onClick={onChoose}
    >
      <span className="version-line">
        <strong>Version {number}</strong>
        {current && <span className="muted small">Now</span>}
      </span>
      <time className="muted small" dateTime={createdAt}>
        {time.format(new Date(createdAt))}
      </time>
      {author !== null && <bdi className="muted small cut">{author.name}</bdi>}
    </button>
  );
}

function ChosenVersion(props: WorkflowTabProps & { chosen: string }) {
  const { workflow, project, chosen } = props;
  const path = `${workflowPath(workflow.id)}/versions/${encodeURIComponent(chosen)}`;
  const version = useQuery({
    queryKey: [...workflowKey(project, workflow.id), "version", chosen, workflow.revision],
    queryFn: ({ signal }) => api.get<WorkflowVersionDetails>(path, { signal }),
  });
  return (
    <Loaded query={version} height={320}>
      {(found) => (
        <section className="version-detail" aria-label="The chosen version">
          <div className="version-head">
            <h2>Version {found.number}</h2>
            {!found.current && props.editor.mayEdit && <RestoreButton {...props} version={found} />}
          </div>
          <Changes version={found} />
        </section>
      )}
    </Loaded>
  );
}

/** The version becomes the edited graph, which the user looks at and saves, or discards. */
function RestoreButton(props: WorkflowTabProps & { version: WorkflowVersionDetails }) {
  const { workflow, editor, version, onChange } = props;
  function restore(): void {
    const { steps, transitions, exits } = version;
    const draft = workflowDraft({ ...workflow, steps, transitions, exits });
    editor.change({ steps: draft.steps, transitions: draft.transitions, exits: draft.exits });
    onChange({ tab: "canvas" });
  }
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<RotateCcw size={14} aria-hidden />}
      onClick={restore}
    >
      Restore this version
    </Button>
  );
}

type Change = {
  key: string;
  kind: "ADDED" | "REMOVED" | "CHANGED";
  what: string;
  fields?: Field[];
};
type Field = WorkflowVersionDetails["changes"]["steps"][number]["fields"][number];

const KIND_WORDS = { ADDED: "Added", REMOVED: "Removed", CHANGED: "Changed" } as const;

function Changes({ version }: { version: WorkflowVersionDetails }) {
  const { against } = version.changes;
  if (against === null) {
    return <p className="muted">This is the oldest version that is kept.</p>;
  }
  const changes = changesOf(version);
  if (changes.length === 0) {
    return <p className="muted">Only positions differ from version {against}.</p>;
  }
  return (
    <>
      <p className="muted small">What changed since version {against}</p>
      <ul className="version-changes">
        {changes.map(({ key, kind, what, fields = [] }) => (
          <li key={key}>
            <span className="version-kind" data-kind={kind}>
              {KIND_WORDS[kind]}
            </span>{" "}
            {what}
            {fields.length > 0 && <Fields fields={fields} />}
          </li>
        ))}
      </ul>
    </>
  );
}

function Fields({ fields }: { fields: readonly Field[] }) {
  return (
    <dl className="version-fields">
      {fields.map(({ field, before, after }) => (
        <div key={field}>
          <dt>{field.replace(/^config\./, "")}</dt>
          <dd>
            <del>{valueText(before)}</del> <span aria-hidden>→</span> <ins>{valueText(after)}</ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}

const LONGEST_VALUE = 200;

/** JSON of one line, except for texts. */
function valueText(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}

function changesOf({ changes, steps }: WorkflowVersionDetails): Change[] {
  const names = new Map<string, string>([
    ...changes.steps.map(({ stepId, name, type }) => [stepId, titleOf({ name, type })] as const),
    ...steps.map((step) => [step.id, titleOf(step)] as const),
  ]);
  const nameOf = (id: string | null) => (id === null ? "the end" : (names.get(id) ?? id));
  return [
    ...changes.steps.map(({ kind, stepId, fields }) => ({
      key: `step ${stepId}`,
      kind,
      what: `step ${nameOf(stepId)}`,
      fields,
    })),
    ...changes.transitions.map(({ kind, from, branch, before, after }) => {
      const word = branchWord(branch);
      const start = `way from ${nameOf(from)}${word === null ? "" : ` (${word})`}`;
      const what =
        kind === "CHANGED"
          ? `${start}: to ${nameOf(after)}, before to ${nameOf(before)}`
          : `${start} to ${nameOf(after ?? before)}`;
      return { key: `way ${from} ${branch ?? ""}`, kind, what };
    }),
    ...changes.exits.map(({ kind, exit }) => ({
      key: `exit ${JSON.stringify(exit)}`,
      kind,
      what: `exit ${exitText(exit)}`,
    })),
  ];
}

/** A step without a name has its type as its name. */
const titleOf = ({ name, type }: Pick<Workflow["steps"][number], "name" | "type">): string =>
  name === type ? TYPE_WORDS[type] : `“${name}”`;

function exitText(exit: Workflow["exits"][number]): string {
  switch (exit.on) {
    case "EVENT":
      return `when the event ${exit.eventName} happens`;
    case "UNSUBSCRIBED":
      return "when the contact unsubscribes";
    case "SEGMENT_LEFT":
      return "when the contact leaves a segment";
  }
}
