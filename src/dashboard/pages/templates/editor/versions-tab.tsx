/** The versions of a template: the changes of each, and its differences from the present one. */

import "../styles.ts";
import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { RotateCcw } from "lucide-react";
import type {
  ListedVersion,
  Template,
  TemplateVersion,
} from "../../../../modules/templates/model.ts";
import { api, type ListPage } from "../../../api.ts";
import { DiffView } from "../../../ui/editors/diff-view.tsx";
import { changedFields } from "../../../ui/editors/merge.ts";
import { Loaded } from "../../../ui/loaded.tsx";
import { showFailure, showUndo } from "../../../ui/undo.tsx";
import type { TemplateEditing } from "./template-editing.ts";
import {
  TEMPLATE_LABELS,
  templateSource,
  storedTemplate,
  templateKey,
  templatePath,
} from "./template-source.ts";

/** Times are shown with their minutes, because versions are often minutes apart. */
const time = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

type Props = {
  template: Template;
  project: string;
  editor: TemplateEditing;
  /** The revision that is compared. */
  chosen: string | undefined;
  onChoose: (revision: string) => void;
};

export function VersionsTab(props: Props) {
  const { template, project, onChoose } = props;
  const { id, revision } = template;
  const versions = useQuery({
    queryKey: [...templateKey(project, id), "versions", revision],
    queryFn: ({ signal }) =>
      api.get<ListPage<ListedVersion>>(`${templatePath(id)}/versions`, { signal }),
  });
  return (
    <Loaded query={versions} height={320}>
      {({ items }) => {
        // Until another is chosen, it is the version before the present one.
        const chosen = props.chosen ?? (items[1] && String(items[1].revision));
        return (
          <div className="versions">
            <div className="versions-side">
              <p className="muted small">
                Changes that one person makes within five minutes are one version. A version that
                was created, restored, tested or sent is kept.
              </p>
              <ol className="versions-list" aria-label="Versions, newest first">
                {items.map((version, i) => (
                  <li key={version.revision}>
                    <VersionButton
                      version={version}
                      isNow={i === 0}
                      isChosen={String(version.revision) === chosen}
                      onChoose={() => onChoose(String(version.revision))}
                    />
                  </li>
                ))}
              </ol>
            </div>
            {chosen === undefined ? (
              <p className="muted">
                This is the only version yet. When the template changes, the versions before it stay
                here, and you can compare and restore them.
              </p>
            ) : (
              <ChosenVersion key={chosen} {...props} chosen={chosen} />
            )}
          </div>
        );
      }}
    </Loaded>
  );
}

function VersionButton(props: {
  version: ListedVersion;
  isNow: boolean;
  isChosen: boolean;
  onChoose: () => void;
}) {
  const { version, isNow, isChosen, onChoose } = props;
  const { author, changed, createdAt, revision } = version;
  return (
    <button
      type="button"
      className="version"
      aria-current={isChosen ? "true" : undefined}
      onClick={onChoose}
    >
      <span className="version-line">
        <strong>
          <time dateTime={createdAt}>{time.format(new Date(createdAt))}</time>
        </strong>
        {isNow && <span className="muted small">Now</span>}
      </span>
      <span className="muted small">{revision === 1 ? "First version" : changedText(changed)}</span>
      {author !== null && <bdi className="muted small cut">{author.name}</bdi>}
    </button>
  );
}

function changedText(changed: readonly string[]): string {
  const words = changed.flatMap((name) => TEMPLATE_LABELS[name] ?? []);
  return words.length === 0 ? "Nothing changed" : `Changed: ${words.join(", ")}`;
}

function ChosenVersion({ template, project, editor, chosen }: Props & { chosen: string }) {
  const { id, revision } = template;
  const path = `${templatePath(id)}/versions/${encodeURIComponent(chosen)}`;
  const version = useQuery({
    queryKey: [...templateKey(project, id), "version", chosen],
    queryFn: ({ signal }) => api.get<TemplateVersion>(path, { signal }),
    staleTime: Infinity,
  });
  return (
    <Loaded query={version} height={320}>
      {(old) => (
        <section className="version-detail" aria-label="The chosen version">
          <div className="version-head">
            <h2>Version of {time.format(new Date(old.createdAt))}</h2>
            {old.revision !== revision && (
              <RestoreButton template={template} project={project} editor={editor} old={old} />
            )}
          </div>
          <Differences old={old} now={template} />
        </section>
      )}
    </Loaded>
  );
}

function Differences({ old, now }: { old: TemplateVersion; now: Template }) {
  const source = templateSource(now);
  const before = templateSource({ ...now, ...old });
  const names = changedFields(before, source).filter((name) => TEMPLATE_LABELS[name] !== undefined);
  if (names.length === 0) return <p className="muted">The template is as it was then.</p>;
  const textIn = (values: Readonly<Record<string, unknown>>, name: string) => {
    const value = values[name];
    return typeof value === "string" ? value : "";
  };
  return names.map((name) => (
    <section key={name}>
      <h3>{TEMPLATE_LABELS[name]}</h3>
      <DiffView
        before={textIn(before, name)}
        after={textIn(source, name)}
        titles={["This version", "Now"]}
      />
    </section>
  ));
}

/** Restoring is a change like any other, so it is undone by restoring the version before. */
function RestoreButton(props: {
  template: Template;
  project: string;
  editor: TemplateEditing;
  old: TemplateVersion;
}) {
  const { template, project, editor, old } = props;
  const { id } = template;
  const client = useQueryClient();

  async function restore(revision: number, isUndo: boolean): Promise<void> {
    try {
      // Changes that are not saved yet become a version, which the undo brings back.
      const state = await editor.saveNow();
      if (state.status !== "SAVED") throw new Error("The present changes are not saved yet.");
      const before = client.getQueryData<Template>(templateKey(project, id));
      const path = `${templatePath(id)}/versions/${revision}/restore`;
      const restored = await api.post<Template>(path, undefined, {
        headers: { "If-Match": `"${before?.revision ?? template.revision}"` },
      });
      editor.takeOver(storedTemplate(restored));
      client.setQueryData(templateKey(project, id), restored);
      if (isUndo || before === undefined) return;
      showUndo({
        text: "The version was restored.",
        onUndo: () => void restore(before.revision, true),
      });
    } catch (error) {
      showFailure("The version was not restored", error);
    }
  }

  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<RotateCcw size={14} aria-hidden />}
      onClick={() => void restore(old.revision, false)}
    >
      Restore this version
    </Button>
  );
}
