/** A received mail in the drawer beside the list. */

import { ActionIcon, Tooltip } from "@mantine/core";
import { Download, Trash2 } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { ReceivedMail } from "../../../modules/inbound-routes/model.ts";
import { ApiError, NOT_FOUND, projectUrl } from "../../api.ts";
import { useShortcuts } from "../../shortcuts.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { SideDrawer } from "../../ui/side-drawer.tsx";
import { subjectText } from "./columns.tsx";
import { ReceivedView } from "./received-view.tsx";
import { receivedPath, useReceivedMail, useRemoveReceived } from "./use-received.ts";

export function ReceivedDrawer(props: {
  /** Undefined while it is closed. */
  id: string | undefined;
  tab: string | undefined;
  rows: readonly ReceivedMail[];
  onOpen: (id: string) => void;
  onClose: () => void;
}) {
  const { id, tab, rows, onOpen, onClose } = props;
  /** A mail that is being deleted is not read again. */
  const [removed, setRemoved] = useState<string | null>(null);
  const read = useReceivedMail(id === removed ? undefined : id, rows);
  // The content stays while the drawer closes.
  const last = useRef(read.data);
  useEffect(() => {
    if (read.data !== undefined) last.current = read.data;
  }, [read.data]);
  const isLeft = id === undefined || id === removed;
  const query = isLeft ? { ...read, data: last.current } : read;
  const shown = id ?? last.current?.id;
  const [asked, setAsked] = useState<ReceivedMail | null>(null);
  const [isAsking, setIsAsking] = useState(false);
  const remove = useRemoveReceived();
  const index = rows.findIndex((row) => row.id === shown);
  const next = index === -1 ? undefined : rows[index + 1]?.id;
  const previous = rows[index - 1]?.id;
  const mail = query.data;
  const isGone = query.error instanceof ApiError && query.error.status === NOT_FOUND;

  function ask(): void {
    if (mail === undefined) return;
    setAsked(mail);
    setIsAsking(true);
  }
  useShortcuts({ "#": ask, Delete: ask }, id !== undefined && !isAsking, true);

  async function removeAsked(): Promise<void> {
    if (asked === null) return;
    setRemoved(asked.id);
    try {
      await remove(asked.id);
      onClose();
    } catch (error) {
      setRemoved(null);
      throw error;
    }
  }

  return (
    <>
      <SideDrawer
        isOpen={id !== undefined}
        onClose={onClose}
        size={760}
        label="Received mail"
        title={
          <h2 className="cut received-title" tabIndex={-1} data-autofocus>
            {mail === undefined ? "Received mail" : subjectText(mail)}
          </h2>
        }
        actions={mail !== undefined && <MailActions id={mail.id} onDelete={ask} />}
        onNext={next === undefined ? undefined : () => onOpen(next)}
        onPrevious={previous === undefined ? undefined : () => onOpen(previous)}
      >
        {isGone ? (
          <p className="muted">
            This mail is gone: it was deleted, or it is older than 30 days. Its event stays.
          </p>
        ) : (
          shown !== undefined && (
            <Loaded query={query}>
              {(received) => <ReceivedView key={received.id} mail={received} tab={tab} />}
            </Loaded>
          )
        )}
      </SideDrawer>
      <Confirm
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title="Delete this mail?"
        text={
          asked !== null && (
            <p>
              “{subjectText(asked)}” is removed with its attachments, and its texts are removed from
              its event. Mails by which it was forwarded stay.
            </p>
          )
        }
        action="Delete the mail"
        onConfirm={removeAsked}
      />
    </>
  );
}

function MailActions({ id, onDelete }: { id: string; onDelete: () => void }) {
  return (
    <>
      <Tooltip label="Download the raw message">
        <ActionIcon
          component="a"
          aria-label="Download the raw message"
          href={projectUrl(`${receivedPath(id)}/raw`)}
          download={`${id}.eml`}
        >
          <Download size={16} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Delete">
        <ActionIcon aria-label="Delete" onClick={onDelete}>
          <Trash2 size={16} />
        </ActionIcon>
      </Tooltip>
    </>
  );
}
