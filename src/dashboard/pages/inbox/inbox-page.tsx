/**
 * The inbox of captured mail: the list at the left, the message at the right. On narrow screens one
 * of both is shown. All of its state is in the URL.
 */

import { ActionIcon, Button, Menu } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { Ellipsis, Plug, ShieldAlert, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Inbox } from "../../../modules/inboxes/inbox-model.ts";
import { api, ApiError } from "../../api.ts";
import { lazyPart, Once } from "../../lazy.tsx";
import { useShortcuts } from "../../shortcuts.ts";
import { useMay } from "../../state.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { NoMatches } from "../../ui/data-table.tsx";
import { FilterBar, type FilterField } from "../../ui/filter-bar.tsx";
import { Note } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { RoleNeeded } from "../../ui/role-needed.tsx";
import { activeRulesText, useInboxes } from "../../use-inboxes.ts";
import { SavedViews } from "../../ui/views/saved-views.tsx";
import { ConnectPanel } from "./connect-panel.tsx";
import { InboxSwitcher } from "./inbox-switcher.tsx";
import { ListSkeleton, MessageList } from "./message-list.tsx";
import { MessageView } from "./message-view.tsx";
import { NoMessages, NothingOpen } from "./no-messages.tsx";
import { chipsOf, type InboxSearch, searchOf, readInboxSearch } from "./search.ts";
import { inboxPath, isNamed, useMessages } from "./use-messages.ts";
import { useRemoval } from "./use-removal.ts";

const route = getRouteApi("/user/p/$project/inboxes/{-$inbox}");
const DEFAULT_INBOX = "default";
const number = new Intl.NumberFormat();

const RulesPanel = lazyPart(async () => (await import("./rules-panel.tsx")).RulesPanel);
const FIELDS: readonly FilterField[] = [
  { key: "to", hint: "Recipient: a part of the address or name" },
  { key: "from", hint: "Sender: a part of the address or name" },
  { key: "subject", hint: "A part of the subject" },
  { key: "tag", hint: "Messages with this tag" },
  {
    key: "is",
    hint: "State of the message",
    values: ["unread", "read", "tagged"].map((value) => ({ value, label: value })),
  },
  {
    key: "has",
    hint: "What it contains",
    values: ["attachment", "inline"].map((value) => ({ value, label: value })),
  },
  { key: "after", hint: "Received since a date, such as 2026-01-31" },
  { key: "before", hint: "Received before a date" },
];

export function InboxPage() {
  const { inbox = DEFAULT_INBOX } = route.useParams();
  const mayRead = useMay("EDITOR");
  if (mayRead) return <InboxOf key={inbox} inbox={inbox} />;
  return (
    <Page title="Inbox">
      <RoleNeeded role="EDITOR">{null}</RoleNeeded>
    </Page>
  );
}

function InboxOf({ inbox }: { inbox: string }) {
  const search = route.useSearch();
  const { project } = route.useParams();
  const navigate = route.useNavigate();
  const query = search.q ?? "";
  const list = useMessages(inbox, query);
  const { data: inboxes = [] } = useInboxes();
  const current = inboxes.find((each) => isNamed(each, inbox));
  const activeRules = current?.activeRules ?? 0;
  const isFailing = activeRules > 0;
  const rulesText = activeRulesText(activeRules);
  const removal = useRemoval(inbox);
  const [isDeleting, setIsDeleting] = useState(false);

  const change = (next: { [Key in keyof InboxSearch]: string | undefined }, isReplaced = false) =>
    void navigate({ search: readInboxSearch(next), replace: isReplaced });
  const goTo = ({ name }: Inbox, next: InboxSearch = {}) =>
    void navigate({
      params: { project, inbox: name === DEFAULT_INBOX ? undefined : name },
      search: next,
    });
  const rows = list.rows.filter(({ id }) => !removal.hidden.has(id));
  const total = Math.max((list.total ?? 0) - (list.rows.length - rows.length), rows.length);
  const { message: openId } = search;
  const open = (id: string | undefined) =>
    change({ ...search, message: id }, openId !== undefined && id !== undefined);
  const at = rows.findIndex(({ id }) => id === openId);
  const neighbours = { next: rows[at + 1]?.id, previous: rows[at - 1]?.id };

  useShortcuts({
    j: () => open(at === -1 ? rows[0]?.id : (neighbours.next ?? openId)),
    k: () => open(at === -1 ? openId : (neighbours.previous ?? openId)),
    ...(openId === undefined ? {} : { Escape: () => open(undefined) }),
  });

  function remove({ id, subject }: { id: string; subject: string }): void {
    removal.remove(id, subject);
    open(neighbours.next ?? neighbours.previous);
  }

  const isEmpty = !list.isLoading && list.error === null && rows.length === 0;
  const isForbidden = list.error instanceof ApiError && list.error.status === 403;
  const isUnknown = list.error instanceof ApiError && list.error.status === 404;
  const isNew = isEmpty && query === "";

  return (
    <Page
      title="Inbox"
      isFixed
      badge={
        <InboxSwitcher
          inboxes={inboxes}
          current={current}
          name={inbox}
          onChoose={(chosen) => goTo(chosen)}
          onCreated={(created) => goTo(created, { panel: "connect" })}
        />
      }
      actions={
        <>
          <Button
            size="xs"
            variant="default"
            aria-label="Connect"
            leftSection={<Plug size={14} aria-hidden />}
            onClick={() => change({ ...search, panel: "connect" })}
          >
            Connect
          </Button>
          <Button
            size="xs"
            variant="default"
            aria-label={isFailing ? `Failure rules: ${rulesText}` : "Failure rules"}
            className="inbox-rules-button"
            data-on={isFailing || undefined}
            leftSection={<ShieldAlert size={14} aria-hidden />}
            onClick={() => change({ ...search, panel: "rules" })}
          >
            {isFailing ? rulesText : "Failure rules"}
          </Button>
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon size={30} aria-label="More actions of the inbox">
                <Ellipsis size={17} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item
                color="red"
                disabled={rows.length === 0}
                leftSection={<Trash2 size={14} />}
                onClick={() => setIsDeleting(true)}
              >
                {query === "" ? "Delete all messages…" : "Delete all that match…"}
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </>
      }
    >
      {isForbidden || isUnknown ? (
        <Note
          icon={<ShieldAlert size={20} aria-hidden />}
          title={isForbidden ? "You may not read captured mail" : "This inbox does not exist"}
        >
          {isForbidden
            ? "It often contains links to sign in, so only editors and administrators of the project may read it."
            : "It was deleted, or its time to live has passed. Choose another one above."}
        </Note>
      ) : (
        <div
          className="inbox"
          data-open={openId !== undefined || undefined}
          data-new={isNew || undefined}
        >
          <div className="inbox-list">
            {!isNew && (
              <FilterBar
                label="Search: to, subject, tag…"
                fields={FIELDS}
                filters={chipsOf(query)}
                parse={chipsOf}
                onChange={(filters) => change({ ...search, q: searchOf(filters) })}
              >
                <SavedViews
                  page="inbox"
                  search={search}
                  onChoose={(view) => change(readInboxSearch(view))}
                />
              </FilterBar>
            )}
            {!isNew && (
              <p className="inbox-count muted small figures">
                {list.error === null && countText(total, current, query)}
                {!list.isLive && (
                  <span className="inbox-offline" role="status">
                    Not live: connecting…
                  </span>
                )}
              </p>
            )}
            {list.error !== null && <Problem error={list.error} onRetry={list.retry} />}
            {list.isLoading && <ListSkeleton />}
            {isEmpty && query !== "" && (
              <NoMatches onClear={() => change({ ...search, q: undefined })} />
            )}
            {isNew && openId === undefined && current !== undefined && (
              <NoMessages inbox={current} isLive={list.isLive} />
            )}
            {rows.length > 0 && (
              <MessageList
                list={list}
                rows={rows}
                openId={openId}
                href={(id) => `?${new URLSearchParams({ ...search, message: id })}`}
                onOpen={open}
              />
            )}
          </div>
          {!isNew && openId === undefined && (
            <div className="inbox-message">
              <NothingOpen />
            </div>
          )}
          {openId !== undefined && (
            <div className="inbox-message">
              <MessageView
                place={{ inbox, id: openId }}
                tab={search.tab}
                neighbours={neighbours}
                onOpen={open}
                onClose={() => open(undefined)}
                onDelete={remove}
              />
            </div>
          )}
        </div>
      )}
      {current !== undefined && (
        <>
          <ConnectPanel
            isOpen={search.panel === "connect"}
            inbox={current}
            onClose={() => change({ ...search, panel: undefined }, true)}
            onDeleted={() => void navigate({ params: { project, inbox: undefined }, search: {} })}
          />
          <Once isOn={search.panel === "rules"}>
            <RulesPanel
              isOpen={search.panel === "rules"}
              inbox={current}
              onClose={() => change({ ...search, panel: undefined }, true)}
            />
          </Once>
        </>
      )}
      <Confirm
        isOpen={isDeleting}
        onClose={() => setIsDeleting(false)}
        title={query === "" ? "Delete all messages?" : "Delete all that match?"}
        text={deletionText(total, query)}
        action={`Delete ${number.format(total)} ${total === 1 ? "message" : "messages"}`}
        onConfirm={async () => {
          await api.delete(`${inboxPath(inbox)}/messages`, {
            body: query === "" ? { all: true } : { query },
          });
          change({ ...search, message: undefined }, true);
        }}
      />
    </Page>
  );
}

function countText(total: number, inbox: Inbox | undefined, query: string): string {
  const count = `${number.format(total)} ${total === 1 ? "message" : "messages"}`;
  if (query !== "") return `${count} found`;
  const unread = inbox?.unread ?? 0;
  return unread === 0 ? count : `${count}, ${number.format(unread)} unread`;
}

function deletionText(total: number, query: string): string {
  const which = query === "" ? "of this inbox" : `that match ${query}`;
  return `${number.format(total)} ${total === 1 ? "message" : "messages"} ${which} will be deleted, also pinned ones. This cannot be undone.`;
}
