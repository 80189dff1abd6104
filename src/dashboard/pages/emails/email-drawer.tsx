/** One email of the list, in the drawer beside it. */

import { ActionIcon, Tooltip } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import { Maximize2 } from "lucide-react";
import { useEffect, useRef } from "react";
import { SideDrawer } from "../../ui/side-drawer.tsx";
import { EmailTitle, EmailView } from "./email-view.tsx";
import type { EmailNames } from "./use-names.ts";

export function EmailDrawer(props: {
  /** Undefined while it is closed. */
  id: string | undefined;
  tab: string | undefined;
  /** The emails of the list, in its order. */
  ids: readonly string[];
  names: EmailNames;
  onOpen: (id: string) => void;
  onClose: () => void;
}) {
  const { id, tab, ids, names, onOpen, onClose } = props;
  const { project = "" } = useParams({ strict: false });
  // The content stays while the drawer closes, and the focus then returns to its row.
  const last = useRef(id);
  useEffect(() => {
    if (id === undefined && last.current !== undefined) focusRow(last.current);
    last.current = id;
  }, [id]);
  const shown = id ?? last.current;
  const index = shown === undefined ? -1 : ids.indexOf(shown);
  const next = index === -1 ? undefined : ids[index + 1];
  const previous = ids[index - 1];
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
      {shown !== undefined && <EmailView key={shown} id={shown} tab={tab} names={names} />}
    </SideDrawer>
  );
}

/** After the drawer has released the focus. */
function focusRow(id: string): void {
  setTimeout(() => {
    const rows = document.querySelectorAll<HTMLElement>(".email-table [data-primary]");
    const row = [...rows].find((link) => link.getAttribute("href")?.endsWith(`/emails/${id}`));
    row?.focus({ preventScroll: true });
  }, FOCUS_DELAY_MS);
}

/** Longer than the drawer takes to return the focus to the element that had it before. */
const FOCUS_DELAY_MS = 40;
