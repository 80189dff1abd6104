import { ActionIcon, Button, Group, Menu, Stack, TextInput } from "@mantine/core";
import { Ellipsis } from "lucide-react";
import { useState } from "react";
import type { SavedView } from "../../../modules/views/model.ts";
import { api } from "../../api.ts";
import { useProject } from "../../state.ts";
import { Confirm } from "../confirm.tsx";
import { Dialog, useBusyDialog } from "../dialog.tsx";
import { Problem } from "../problem.tsx";
import { showFailure, showUndo } from "../undo.tsx";
import { useApiForm } from "../use-api-form.ts";
import { useViewRefresh } from "./use-views.ts";
import { isSameQuery, rightsOf, wordsOfQuery, type ViewPage } from "./view-lists.ts";

const pathOf = ({ id }: SavedView) => `/views/${encodeURIComponent(id)}`;

type Props = {
  page: ViewPage;
  /** The present search of the list. */
  query: string;
  views: readonly SavedView[];
  onClose: () => void;
};

/** The dialog that renames, shares, changes and deletes the views of a list. */
export function ManageViews({ isOpen, ...rest }: Props & { isOpen: boolean }) {
  return (
    <Dialog opened={isOpen} onClose={rest.onClose} title="Saved views" size="lg">
      <ViewRows {...rest} />
    </Dialog>
  );
}

function ViewRows({ page, query, views }: Props) {
  const [renamed, setRenamed] = useState<string | null>(null);
  const [asked, setAsked] = useState<SavedView | null>(null);
  const { change, remove, removeOwn } = useViewChanges(page);
  if (views.length === 0) return <p className="muted">There are no saved views.</p>;
  return (
    <>
      <ul className="views-list" aria-label="Saved views">
        {views.map((view) => (
          <li key={view.id} className="views-row">
            {renamed === view.id ? (
              <RenameForm view={view} onClose={() => setRenamed(null)} />
            ) : (
              <>
                <div className="views-text">
                  <strong className="views-name">{view.name}</strong>
                  <p className="muted small views-words">{lineOf(view)}</p>
                </div>
                <RowMenu
                  view={view}
                  query={query}
                  onRename={() => setRenamed(view.id)}
                  onChange={(changes) => void change(view, changes)}
                  onRemove={() => (view.isOwn ? void removeOwn(view) : setAsked(view))}
                />
              </>
            )}
          </li>
        ))}
      </ul>
      <Confirm
        isOpen={asked !== null}
        onClose={() => setAsked(null)}
        title="Delete this view?"
        text={
          <p>
            The view <strong>{asked?.name}</strong> disappears for all members. This cannot be
            undone.
          </p>
        }
        action="Delete the view"
        onConfirm={async () => (asked === null ? undefined : remove(asked))}
      />
    </>
  );
}

/** "Shared by Ada · status: bounced". */
function lineOf({ isShared, isOwn, author, query }: SavedView): string {
  const words = wordsOfQuery(query);
  if (!isShared) return words;
  return `${isOwn ? "Shared" : `Shared by ${author ?? "a member"}`} · ${words}`;
}

type Changes = { isShared?: boolean; query?: string };

function useViewChanges(page: ViewPage) {
  const refresh = useViewRefresh();

  async function remove(view: SavedView): Promise<void> {
    await api.delete(pathOf(view));
    await refresh();
  }

  async function restore({ name, query, isShared }: SavedView): Promise<void> {
    await api.post("/views", { page, name, query, isShared });
    await refresh();
  }

  const reported = async (title: string, run: () => Promise<void>) => {
    try {
      await run();
    } catch (error) {
      showFailure(title, error);
    }
  };

  return {
    remove,
    change: (view: SavedView, changes: Changes) =>
      reported(`${view.name} was not changed`, async () => {
        await api.patch(pathOf(view), changes);
        await refresh();
      }),
    removeOwn: (view: SavedView) =>
      reported(`${view.name} was not deleted`, async () => {
        await remove(view);
        showUndo({
          text: `The view ${view.name} is deleted.`,
          onUndo: () => void reported("It was not undone", () => restore(view)),
        });
      }),
  };
}

function RowMenu(props: {
  view: SavedView;
  query: string;
  onRename: () => void;
  onChange: (changes: Changes) => void;
  onRemove: () => void;
}) {
  const { view, query, onRename, onChange, onRemove } = props;
  const { mayChange, mayShare } = rightsOf(view, useProject()?.role ?? null);
  if (!mayChange) return null;
  const isReplaceable = query !== "" && !isSameQuery(query, view.query);
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={30} aria-label={`Actions of ${view.name}`}>
          <Ellipsis size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={onRename}>Rename</Menu.Item>
        {mayShare && (
          <Menu.Item onClick={() => onChange({ isShared: !view.isShared })}>
            {view.isShared ? "Stop sharing" : "Share with the project"}
          </Menu.Item>
        )}
        {isReplaceable && (
          <Menu.Item onClick={() => onChange({ query })}>Replace by the present search</Menu.Item>
        )}
        <Menu.Item color="red" onClick={onRemove}>
          {view.isOwn ? "Delete" : "Delete…"}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function RenameForm({ view, onClose }: { view: SavedView; onClose: () => void }) {
  const refresh = useViewRefresh();
  const form = useApiForm({
    initial: { name: view.name },
    submit: ({ name }) => api.patch<SavedView>(pathOf(view), { name }),
    async onDone() {
      await refresh();
      onClose();
    },
  });
  useBusyDialog(form.isBusy);
  return (
    <form onSubmit={form.onSubmit} className="views-rename">
      <Stack gap="xs">
        <TextInput
          label={`New name of ${view.name}`}
          required
          withAsterisk={false}
          maxLength={100}
          autoComplete="off"
          autoFocus
          {...form.field("name")}
        />
        {form.error !== null && <Problem error={form.error} />}
        <Group gap="xs">
          <Button type="submit" size="xs" loading={form.isBusy}>
            Rename
          </Button>
          <Button size="xs" variant="default" onClick={onClose}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
