/** One email of the list, in the drawer beside it. */

import { ActionIcon, Tooltip } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import { Maximize2 } from "lucide-react";
import { useEffect, useRef } from "react";
import type { Email } from "../../../modules/emails/record-model.ts";
import { SideDrawer } from "../../ui/side-drawer.tsx";
import type { List } from "../../ui/use-list.ts";
import { EmailTitle, EmailView } from "./email-view.tsx";
import type { EmailNames } from "./use-names.ts";

export function EmailDrawer(props: {
  /** Undefined while it is closed. */
  id: string | undefined;
  tab: string | undefined;
  list: List<Email>;
  names: EmailNames;
  onOpen: (id: string) => void;
  onClose: () => void;
}) {
  const { id, tab, list, names, onOpen, onClose } = props;
  const { project = "" } = useParams({ strict: false });
  // The content stays while the drawer closes, and the focus then returns to its row.
  const last = useRef(id);
  const wasOpen = useRef(false);
  const shown = id ?? last.current;
  const index = list.rows.findIndex((email) => email.id === shown);
  useEffect(() => {
    if (id !== undefined) last.current = id;
    else if (wasOpen.current && last.current !== undefined) focusRow(last.current, index);
    wasOpen.current = id !== undefined;
  }, [id, index]);
  const isNearEnd = id !== undefined && index !== -1 && index >= list.rows.length - AHEAD;
  useEffect(() => {
    if (isNearEnd && list.hasMore && !list.isLoadingMore) list.loadMore();
  }, [isNearEnd, list]);
  const next = index === -1 ? undefined : list.rows[index + 1]?.id;
  const previous = list.rows[index - 1]?.id;
  const isInList = index !== -1;

  return (
    <SideDrawer
      isOpen={id !== undefined}
      onClose={onClose}
      size={760}
      label="Email"
      title={shown === undefined ? null : <EmailTitle id={shown} />}
      actions={
        shown !== undefined && (
          <Tooltip label="Open as a page">
            <ActionIcon
              aria-label="Open as a page"
              renderRoot={(rest) => (
                <Link
                  {...rest}
                  to="/p/$project/emails/$email"
                  params={{ project, email: shown }}
                  search={tab === undefined ? {} : { tab }}
                />
              )}
            >
              <Maximize2 size={16} />
            </ActionIcon>
          </Tooltip>
        )
      }
      onNext={isInList && next !== undefined ? () => onOpen(next) : undefined}
      onPrevious={isInList && previous !== undefined ? () => onOpen(previous) : undefined}
    >
      {shown !== undefined && (
        <EmailView key={shown} id={shown} tab={tab} names={names} onOpen={onOpen} />
      )}
    </SideDrawer>
  );
}

/** The next page of the list is read when so many emails are left. */
const AHEAD = 5;
/** Longer than the drawer takes to return the focus to the element that had it before. */
const FOCUS_DELAY_MS = 40;

/** Frames until a row is drawn to which the list was scrolled, on a busy machine. */
const MAX_FRAMES = 60;

/** After the drawer has released the focus. A row that is not in the document is scrolled to first. */
function focusRow(id: string, index: number): void {
  setTimeout(() => {
    if (findRow(id) === undefined && index !== -1) {
      const height = document.querySelector(".email-table [data-row]")?.clientHeight ?? 0;
      document.querySelector(".email-table .table-scroll")?.scrollTo({ top: index * height });
    }
    focusWhenDrawn(id, MAX_FRAMES);
  }, FOCUS_DELAY_MS);
}

function focusWhenDrawn(id: string, frames: number): void {
  const row = findRow(id);
  if (row !== undefined) row.focus({ preventScroll: true });
  else if (frames > 0) requestAnimationFrame(() => focusWhenDrawn(id, frames - 1));
}

function findRow(id: string): HTMLElement | undefined {
  const rows = document.querySelectorAll<HTMLElement>(".email-table [data-primary]");
  return [...rows].find((link) => link.getAttribute("href")?.endsWith(`/emails/${id}`));
}
