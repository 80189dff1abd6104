/** The contacts who get the campaign, or who do not for one reason, in a drawer. */

import { useNavigate } from "@tanstack/react-router";
import type { Contact } from "../../../../modules/contacts/model.ts";
import { DataTable, type Column } from "../../../ui/data-table.tsx";
import { SideDrawer } from "../../../ui/side-drawer.tsx";
import { Time } from "../../../ui/time.tsx";
import { useList } from "../../../ui/use-list.ts";
import { REASON_LABELS, RECIPIENTS } from "./audience-funnel.tsx";
import { type CampaignEditing, campaignPath } from "./campaign-source.ts";

const COLUMNS: readonly Column<Contact>[] = [
  { key: "email", title: "Address", render: ({ email }) => <bdi title={email}>{email}</bdi> },
  {
    key: "created",
    title: "Created",
    width: "148px",
    isFigure: true,
    render: ({ createdAt }) => <Time at={createdAt} isPlain />,
  },
];

export function AudienceDrawer(props: {
  id: string;
  project: string;
  editor: CampaignEditing;
  /** The search parameter `who`. */
  who: string | undefined;
  onClose: () => void;
}) {
  const { id, project, editor, who, onClose } = props;
  const [reason, label] = Object.entries(REASON_LABELS).find(([each]) => each === who) ?? [];
  const title = label ?? "Will get it";
  const isOpen = reason !== undefined || who === RECIPIENTS;
  return (
    <SideDrawer isOpen={isOpen} onClose={onClose} title={title} label={title} size={560}>
      {isOpen && editor.status === "SAVED" && (
        <Contacts id={id} project={project} reason={reason} />
      )}
      {isOpen && editor.status !== "SAVED" && (
        <p className="muted audience-unsaved">The list is shown when the campaign is saved.</p>
      )}
    </SideDrawer>
  );
}

function Contacts(props: { id: string; project: string; reason: string | undefined }) {
  const { id, project, reason } = props;
  const navigate = useNavigate();
  const list = useList<Contact>("campaign-audience", `${campaignPath(id)}/audience/contacts`, {
    reason,
  });
  return (
    <div className="audience-list">
      <DataTable
        label="Contacts"
        list={list}
        columns={COLUMNS}
        rowKey={(contact) => contact.id}
        href={(contact) => `/app/p/${project}/contacts/${contact.id}`}
        onOpen={(contact) =>
          void navigate({
            to: "/p/$project/contacts/$contact",
            params: { project, contact: contact.id },
          })
        }
        empty={<p className="muted">There is nobody now.</p>}
      />
    </div>
  );
}
