/** The members of a segment, as the list of contacts shows them. */

import { useNavigate } from "@tanstack/react-router";
import { UsersRound } from "lucide-react";
import { useMemo } from "react";
import type { Contact } from "../../../modules/contacts/model.ts";
import type { Segment } from "../../../modules/segments/model.ts";
import { useMay } from "../../state.ts";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ExportButton, ExportProgress } from "../../ui/export-button.tsx";
import { useList } from "../../ui/use-list.ts";
import { contactColumns, contactLines } from "../contacts/columns.tsx";
import { useColumns } from "../contacts/use-columns.ts";
import { useContactExport } from "../contacts/use-contact-export.ts";

export function SegmentMembers({ segment, project }: { segment: Segment; project: string }) {
  const { id, memberCount, type } = segment;
  const navigate = useNavigate();
  // Not "segments", which is read again after changes: all pages would be.
  const list = useList<Contact>("segment-members", `/segments/${id}/contacts`);
  const run = useContactExport({ segmentId: id }, list.total ?? memberCount);
  const { choice } = useColumns(project, list.rows);
  const columns = useMemo(() => contactColumns(choice), [choice]);
  const lines = useMemo(() => contactLines(choice), [choice]);
  const mayExport = useMay("EDITOR");
  return (
    <>
      {mayExport && list.rows.length > 0 && (
        <div className="segment-tools">
          <ExportButton run={run} isDisabled={false} />
        </div>
      )}
      <ExportProgress run={run} />
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
    </>
  );
}
