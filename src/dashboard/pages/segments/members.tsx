/** The members of a segment, as the list of contacts shows them. */

import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Plus, UsersRound } from "lucide-react";
import { useMemo, useState } from "react";
import type { Contact } from "../../../modules/contacts/model.ts";
import type { Segment } from "../../../modules/segments/model.ts";
import { api } from "../../api.ts";
import { useMay } from "../../state.ts";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ExportButton, ExportProgress } from "../../ui/export-button.tsx";
import { showFailure, showUndo } from "../../ui/undo.tsx";
import { useList } from "../../ui/use-list.ts";
import { contactColumns, contactLines } from "../contacts/columns.tsx";
import { useColumns } from "../contacts/use-columns.ts";
import { useContactExport } from "../contacts/use-contact-export.ts";
import { AddMembers } from "./add-members.tsx";
import { partsOf } from "./addresses.ts";

export function SegmentMembers({ segment, project }: { segment: Segment; project: string }) {
  const { id, memberCount, type } = segment;
  const navigate = useNavigate();
  // The key is not "segments": all pages of the list would be read again after each change.
  const list = useList<Contact>("segment-members", `/segments/${id}/contacts`);
  const run = useContactExport({ segmentId: id }, list.total ?? memberCount);
  const { choice } = useColumns(project, list.rows);
  const columns = useMemo(() => contactColumns(choice, false), [choice]);
  const lines = useMemo(() => contactLines(choice), [choice]);
  const mayEdit = useMay("EDITOR");
  const mayChange = mayEdit && type === "STATIC";
  const [isAdding, adding] = useDisclosure(false);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  return (
    <>
      {mayEdit && (
        <div className="segment-tools">
          {list.rows.length > 0 && <ExportButton run={run} isDisabled={false} />}
          {mayChange && (
            <Button leftSection={<Plus size={16} aria-hidden />} onClick={adding.open}>
              Add contacts
            </Button>
          )}
        </div>
      )}
      <ExportProgress run={run} />
      <AddMembers isOpen={isAdding} onClose={adding.close} segment={segment} />
      <DataTable
        label="Members"
        list={list}
        columns={columns}
        rowKey={(contact) => contact.id}
        href={(contact) => `/app/p/${project}/contacts/${contact.id}`}
        onOpen={(contact) =>
          void navigate({
            to: "/p/$project/contacts/$contact",
            params: { project, contact: contact.id },
          })
        }
        phone={lines}
        {...(mayChange ? { selection: { keys: selected, onChange: setSelected } } : {})}
        empty={
          <Empty
            icon={UsersRound}
            title="No members"
            text={
              type === "DYNAMIC"
                ? "No contact meets the condition now. A contact is a member as soon as it does."
                : "No contact was added to this list yet."
            }
          />
        }
      />
      {selected.size > 0 && (
        <RemoveBar
          segment={segment}
          emails={list.rows.filter((row) => selected.has(row.id)).map(({ email }) => email)}
          onDone={() => setSelected(new Set())}
        />
      )}
    </>
  );
}

/** Removes the selected contacts from the list; the message that says so can undo it. */
function RemoveBar(props: { segment: Segment; emails: readonly string[]; onDone: () => void }) {
  const { segment, emails, onDone } = props;
  const client = useQueryClient();
  const [isBusy, setIsBusy] = useState(false);
  const path = `/segments/${segment.id}/members`;
  const refresh = async () => {
    await client.invalidateQueries({ queryKey: ["segments"] });
    await client.invalidateQueries({ queryKey: ["segment-members"] });
  };

  async function addAgain(): Promise<void> {
    for (const part of partsOf(emails)) await api.post(path, { emails: part });
    await refresh();
  }

  async function remove(): Promise<void> {
    setIsBusy(true);
    try {
      for (const part of partsOf(emails)) await api.delete(path, { body: { emails: part } });
      showUndo({
        text: emails.length === 1 ? "Removed 1 contact." : `Removed ${emails.length} contacts.`,
        onUndo: () =>
          void addAgain().catch((error: unknown) => showFailure("It was not undone", error)),
      });
      onDone();
      await refresh();
    } catch (error) {
      showFailure("The contacts were not removed", error);
    } finally {
      setIsBusy(false);
    }
  }

  return (
    <div className="selection" role="region" aria-label="Selected contacts">
      <span>{emails.length.toLocaleString("en-US")} selected</span>
      <Button size="compact-sm" variant="default" loading={isBusy} onClick={() => void remove()}>
        Remove from the list
      </Button>
      <Button size="compact-sm" variant="subtle" color="gray" onClick={onDone}>
        Clear
      </Button>
    </div>
  );
}
