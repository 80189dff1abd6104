/** The list of messages: three lines each, of which only the visible ones are in the document. */

import { Button, Skeleton } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowUp, Paperclip, Pin } from "lucide-react";
import { type MouseEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Message } from "../../../modules/inboxes/model.ts";
import { Time } from "../../ui/time.tsx";
import { useDelayed } from "../../ui/use-delayed.ts";
import type { LoadedMessages } from "./use-messages.ts";

const ROW_PX = 78;
/** Rows outside the visible part that are in the document. */
const OVERSCAN = 6;
/** The next page is requested when so many rows are left. */
const AHEAD = 20;
const SKELETON_ROWS = 7;

type Props = {
  list: LoadedMessages;
  rows: readonly Message[];
  openId: string | undefined;
  href: (id: string) => string;
  onOpen: (id: string) => void;
};

export function MessageList({ list, rows, openId, href, onOpen }: Props) {
  const { total, hasMore, isLoadingMore, loadMore } = list;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    useFlushSync: false,
  });
  const items = virtual.getVirtualItems();
  const lastIndex = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && !isLoadingMore && lastIndex >= rows.length - AHEAD) loadMore();
  }, [hasMore, isLoadingMore, lastIndex, rows.length, loadMore]);

  const above = useKeptPosition(scroller, rows);
  const openIndex = rows.findIndex(({ id }) => id === openId);
  useEffect(() => {
    if (openIndex >= 0) virtual.scrollToIndex(openIndex, { align: "auto" });
    // Only when another message is opened: a list that scrolls itself would be in the way.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [openId]);

  return (
    <div className="inbox-rows">
      <div className="inbox-new" role="status" aria-live="polite">
        {above.count > 0 && (
          <Button
            size="compact-sm"
            radius="xl"
            leftSection={<ArrowUp size={14} />}
            onClick={above.show}
          >
            {above.count} new
          </Button>
        )}
      </div>
      <div className="inbox-scroll" ref={scroller} tabIndex={0} role="region" aria-label="Messages">
        <ul style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const message = rows[index];
            if (message === undefined) return null;
            return (
              <li
                key={message.id}
                aria-setsize={total ?? rows.length}
                aria-posinset={index + 1}
                style={{ transform: `translateY(${start}px)`, height: ROW_PX }}
              >
                <Row
                  message={message}
                  isOpen={message.id === openId}
                  href={href(message.id)}
                  onOpen={onOpen}
                />
              </li>
            );
          })}
        </ul>
        {isLoadingMore && <p className="inbox-more muted small">Loading more…</p>}
      </div>
    </div>
  );
}

/**
 * New rows above the visible part do not move it. Returns their number, and a function that scrolls
 * to them.
 */
function useKeptPosition(
  scroller: { readonly current: HTMLDivElement | null },
  rows: readonly Message[],
) {
  const top = useRef(rows[0]?.id);
  const [count, setCount] = useState(0);
  useLayoutEffect(() => {
    const element = scroller.current;
    const added = rows.findIndex(({ id }) => id === top.current);
    top.current = rows[0]?.id;
    if (element === null || added <= 0 || element.scrollTop === 0) return;
    element.scrollTop += added * ROW_PX;
    setCount((before) => before + added);
  }, [rows, scroller]);
  useEffect(() => {
    const element = scroller.current;
    if (element === null || count === 0) return undefined;
    const follow = () => {
      if (element.scrollTop < ROW_PX) setCount(0);
    };
    element.addEventListener("scroll", follow, { passive: true });
    return () => element.removeEventListener("scroll", follow);
  }, [count, scroller]);
  return { count, show: () => scroller.current?.scrollTo({ top: 0 }) };
}

function Row(props: {
  message: Message;
  isOpen: boolean;
  href: string;
  onOpen: (id: string) => void;
}) {
  const { message, isOpen, href, onOpen } = props;
  const { id, subject, snippet, read, pinned, attachments, tags, receivedAt } = message;
  function open(event: MouseEvent): void {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    onOpen(id);
  }
  return (
    <a
      className="inbox-row"
      href={href}
      onClick={open}
      data-id={id}
      data-unread={!read || undefined}
      aria-current={isOpen ? "true" : undefined}
    >
      <span className="inbox-row-line">
        {!read && <span className="unread-dot" role="img" aria-label="Unread" />}
        <span className="inbox-row-subject cut">{subject === "" ? "(no subject)" : subject}</span>
        {pinned && <Pin size={13} aria-label="Pinned" />}
        {attachments > 0 && <Paperclip size={13} aria-label="With attachments" />}
        <span className="inbox-row-time">
          <Time at={receivedAt} isPlain />
        </span>
      </span>
      <span className="inbox-row-people cut">{peopleOf(message)}</span>
      <span className="inbox-row-line">
        <span className="inbox-row-snippet cut">
          {message.parseError === null ? snippet : "This message cannot be parsed."}
        </span>
        {tags.slice(0, 2).map((tag) => (
          <span key={tag} className="inbox-tag">
            {tag}
          </span>
        ))}
        {tags.length > 2 && <span className="inbox-tag">+{tags.length - 2}</span>}
      </span>
    </a>
  );
}

/** "Acme Shop → ada@example.com and 2 more". */
function peopleOf({ from, to, envelope }: Message): string {
  const sender = from === null ? envelope.from : from.name === "" ? from.address : from.name;
  const first = to[0]?.address ?? envelope.to[0] ?? "nobody";
  const more = Math.max(to.length, envelope.to.length) - 1;
  return `${sender === "" ? "No sender" : sender} → ${first}${more > 0 ? ` and ${more} more` : ""}`;
}

export function ListSkeleton() {
  const isSlow = useDelayed(true);
  if (!isSlow) return null;
  return (
    <div className="inbox-skeleton" aria-busy="true">
      {Array.from({ length: SKELETON_ROWS }, (_, i) => (
        <div key={i}>
          <Skeleton height={11} width={`${60 - (i % 3) * 12}%`} />
          <Skeleton height={9} width="75%" />
          <Skeleton height={9} width="45%" />
        </div>
      ))}
    </div>
  );
}
