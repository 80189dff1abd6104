import { Button, Menu } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Bookmark, Check, ChevronDown, Plus, Settings2 } from "lucide-react";
import type { SavedView } from "../../../modules/views/model.ts";
import { ManageViews } from "./manage-views.tsx";
import { SaveView } from "./save-view.tsx";
import { useViews } from "./use-views.ts";
import { isSameQuery, queryOfSearch, searchOfQuery, type ViewPage } from "./view-lists.ts";

/**
 * The menu of the saved views of a list, for the right side of its FilterBar. `search` has the
 * search parameters of the page, and `onChoose` gets those of the chosen view.
 */
export function SavedViews(props: {
  page: ViewPage;
  search: Readonly<Record<string, string | undefined>>;
  onChoose: (search: Readonly<Record<string, string>>) => void;
}) {
  const { page, search, onChoose } = props;
  const { data: views = [] } = useViews(page);
  const [isSaving, saving] = useDisclosure(false);
  const [isManaging, managing] = useDisclosure(false);
  const query = queryOfSearch(page, search);
  const current = views.find((view) => isSameQuery(view.query, query));
  const own = views.filter(({ isOwn }) => isOwn);
  const others = views.filter(({ isOwn }) => !isOwn);
  const choose = (view: SavedView) => onChoose(searchOfQuery(view.query));

  return (
    <>
      <Menu position="bottom-end" width={280}>
        <Menu.Target>
          <Button
            variant="default"
            className="views-button"
            leftSection={<Bookmark size={14} aria-hidden />}
            rightSection={<ChevronDown size={13} aria-hidden />}
            aria-label={current === undefined ? "Saved views" : `Saved view: ${current.name}`}
          >
            <span className="cut">{current?.name ?? "Views"}</span>
          </Button>
        </Menu.Target>
        <Menu.Dropdown className="views-menu">
          {views.length === 0 && (
            <p className="muted small views-none">
              No saved views yet. Search the list, then save the search under a name.
            </p>
          )}
          {own.length > 0 && <Menu.Label>Your views</Menu.Label>}
          {own.map((view) => (
            <Choice key={view.id} view={view} current={current} onChoose={choose} />
          ))}
          {others.length > 0 && <Menu.Label>Shared with the project</Menu.Label>}
          {others.map((view) => (
            <Choice key={view.id} view={view} current={current} onChoose={choose} />
          ))}
          <Menu.Divider />
          <Menu.Item leftSection={<Plus size={14} aria-hidden />} onClick={saving.open}>
            Save this search…
          </Menu.Item>
          {views.length > 0 && (
            <Menu.Item leftSection={<Settings2 size={14} aria-hidden />} onClick={managing.open}>
              Manage views…
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <SaveView page={page} query={query} isOpen={isSaving} onClose={saving.close} />
      <ManageViews
        page={page}
        query={query}
        views={views}
        isOpen={isManaging}
        onClose={managing.close}
      />
    </>
  );
}

function Choice(props: {
  view: SavedView;
  current: SavedView | undefined;
  onChoose: (view: SavedView) => void;
}) {
  const { view, current, onChoose } = props;
  const note = view.isOwn ? (view.isShared ? "Shared" : "") : (view.author ?? "");
  return (
    <Menu.Item
      classNames={{ itemLabel: "views-label" }}
      onClick={() => onChoose(view)}
      rightSection={view.id === current?.id ? <Check size={14} aria-label="chosen" /> : null}
    >
      <span className="views-choice">
        <span className="cut">{view.name}</span>
        {note !== "" && <span className="muted small cut">{note}</span>}
      </span>
    </Menu.Item>
  );
}
