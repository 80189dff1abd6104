/** A message beside the list: who sent it to whom, its code, actions, and its parts in tabs. */

import { ActionIcon, Button, Menu, Skeleton, Tooltip } from "@mantine/core";
import {
  ArrowLeft,
  ChevronDown,
  ChevronUp,
  Download,
  Ellipsis,
  Mail,
  MailOpen,
  Pin,
  PinOff,
  Send,
  Trash2,
} from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { MessageDetail } from "../../../modules/inboxes/model.ts";
import { ApiError, projectUrl } from "../../api.ts";
import { useShortcuts } from "../../shortcuts.ts";
import { Note } from "../../ui/note.tsx";
import { PageTabs, TabLink } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { exactTime } from "../../ui/time.tsx";
import { showFailure } from "../../ui/undo.tsx";
import { useDelayed } from "../../ui/use-delayed.ts";
import { CodeBar } from "./code-bar.tsx";
import { MessagePanel, tabsOf } from "./message-panel.tsx";
import { People } from "./people.tsx";
import { ReleaseDialog } from "./release-dialog.tsx";
import { TagEditor } from "./tag-editor.tsx";
import { type MessagePlace, useMessage, usePatchMessage } from "./use-message.ts";
import { messagePath } from "./use-messages.ts";

export type Neighbours = { next: string | undefined; previous: string | undefined };

type Props = {
  place: MessagePlace;
  tab: string | undefined;
  neighbours: Neighbours;
  onOpen: (id: string) => void;
  onClose: () => void;
  onDelete: (message: MessageDetail) => void;
};

export function MessageView(props: Props) {
  const { place, onClose } = props;
  const query = useMessage(place);
  const isSlow = useDelayed(query.isPending);
  if (query.data !== undefined) return <Opened key={place.id} {...props} message={query.data} />;
  if (query.error instanceof ApiError && query.error.status === 404) {
    return (
      <div className="inbox-nothing">
        <Note icon={<Mail size={20} aria-hidden />} title="This message is gone">
          It was deleted, or it was one of the oldest: an inbox keeps a limited number of messages.
        </Note>
        <Button size="xs" variant="default" onClick={onClose}>
          Close
        </Button>
      </div>
    );
  }
  return (
    <div className="message">
      {query.error !== null && <Problem error={query.error} onRetry={() => void query.refetch()} />}
      {isSlow && <Skeleton height={360} aria-busy="true" />}
    </div>
  );
}

function Opened(props: Props & { message: MessageDetail }) {
  const { place, tab, message, neighbours, onOpen, onClose, onDelete } = props;
  const { id, subject, pinned } = message;
  const [isReleasing, setIsReleasing] = useState(false);
  const patch = usePatchMessage(place.inbox);
  const change = (text: string, values: Parameters<typeof patch>[1]) =>
    void patch(id, values).catch((error: unknown) => showFailure(text, error));
  const setRead = (read: boolean) => change("The message was not changed", { read });
  const setPinned = (isPinned: boolean) =>
    change("The message was not changed", { pinned: isPinned });
  useMarkAsRead(message, () => setRead(true));
  const remove = () => onDelete(message);
  useShortcuts({
    "#": remove,
    Delete: remove,
    u: () => setRead(!message.read),
    s: () => setPinned(!pinned),
  });
  const { next, previous } = neighbours;
  const tabs = tabsOf(message);
  const current = tabs.find(({ key }) => key === tab)?.key ?? tabs[0]?.key ?? "source";

  return (
    <article className="message" aria-label={subject === "" ? "Message" : subject}>
      <header className="message-head">
        <div className="message-line-of-title">
          <ActionIcon className="message-back" aria-label="Back to the list" onClick={onClose}>
            <ArrowLeft size={18} />
          </ActionIcon>
          <h2>{subject === "" ? "(no subject)" : subject}</h2>
          <div className="message-actions">
            <IconAction
              label="Previous message"
              isOff={previous === undefined}
              run={() => previous !== undefined && onOpen(previous)}
            >
              <ChevronUp size={17} />
            </IconAction>
            <IconAction
              label="Next message"
              isOff={next === undefined}
              run={() => next !== undefined && onOpen(next)}
            >
              <ChevronDown size={17} />
            </IconAction>
            <IconAction
              label={pinned ? "Unpin" : "Pin, so that it is not removed by age"}
              run={() => setPinned(!pinned)}
            >
              {pinned ? <PinOff size={16} /> : <Pin size={16} />}
            </IconAction>
            <IconAction label="Delete" run={remove}>
              <Trash2 size={16} />
            </IconAction>
            <MoreMenu
              message={message}
              place={place}
              onSetRead={setRead}
              onRelease={() => setIsReleasing(true)}
            />
            <Button
              size="xs"
              variant="default"
              className="message-release"
              leftSection={<Send size={14} aria-hidden />}
              onClick={() => setIsReleasing(true)}
            >
              Release
            </Button>
          </div>
        </div>
        <People message={message} />
        <div className="message-facts muted small">
          <time dateTime={message.receivedAt}>{exactTime(new Date(message.receivedAt))}</time>
          <TagEditor
            tags={message.tags}
            onChange={(tags) => change("The tags were not changed", { tags })}
          />
        </div>
        <CodeBar place={place} />
        <PageTabs label="Parts of the message">
          {tabs.map(({ key, label }) => (
            <TabLink key={key} tab={key} current={current}>
              {label}
            </TabLink>
          ))}
        </PageTabs>
      </header>
      <div className="message-panel">
        <MessagePanel place={place} message={message} tab={current} />
      </div>
      <ReleaseDialog
        isOpen={isReleasing}
        onClose={() => setIsReleasing(false)}
        place={place}
        message={message}
      />
    </article>
  );
}

/** A message is read once it is shown, unless it is marked as unread afterwards. */
function useMarkAsRead({ id, read }: MessageDetail, mark: () => void): void {
  const marked = useRef("");
  useEffect(() => {
    if (marked.current === id) return;
    marked.current = id;
    if (!read) mark();
    // `mark` is a new function each time.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [id]);
}

function IconAction(props: {
  label: string;
  isOff?: boolean;
  run: () => void;
  children: React.ReactNode;
}) {
  const { label, isOff = false, run, children } = props;
  return (
    <Tooltip label={label}>
      <ActionIcon aria-label={label} disabled={isOff} onClick={run}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

function MoreMenu(props: {
  message: MessageDetail;
  place: MessagePlace;
  onSetRead: (read: boolean) => void;
  onRelease: () => void;
}) {
  const { message, place, onSetRead, onRelease } = props;
  const raw = projectUrl(`${messagePath(place.inbox, place.id)}/raw`);
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label="More actions">
          <Ellipsis size={17} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={message.read ? <Mail size={14} /> : <MailOpen size={14} />}
          onClick={() => onSetRead(!message.read)}
        >
          {message.read ? "Mark as unread" : "Mark as read"}
        </Menu.Item>
        <Menu.Item leftSection={<Send size={14} />} onClick={onRelease}>
          Release to an address…
        </Menu.Item>
        <Menu.Item
          component="a"
          href={raw}
          download={`${message.id}.eml`}
          leftSection={<Download size={14} />}
        >
          Download .eml
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
