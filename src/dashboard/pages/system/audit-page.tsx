/** The audit log of the whole installation, for its owners. */

import { getRouteApi } from "@tanstack/react-router";
import { ScrollText } from "lucide-react";
import { useAppState } from "../../state.ts";
import { AdminTabs } from "../../ui/admin-tabs.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";
import { SYSTEM_AUDIT_COLUMNS } from "../audit/audit-columns.tsx";
import { AuditTable } from "../audit/audit-table.tsx";

const route = getRouteApi("/user/admin/audit");
const NO_ACTORS: ReadonlyMap<string, string> = new Map();

export function SystemAuditPage() {
  const { user } = useAppState();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  if (user?.isOwner !== true) {
    return (
      <Page title="Audit log">
        <Empty
          icon={ScrollText}
          title="This page is for owners of the installation"
          text="It shows the changes of all projects, of users and of the server."
        />
      </Page>
    );
  }
  return (
    <Page
      title="Audit log"
      description="The changes of all projects, of users and of the server. They are kept for a year."
      isFixed
      tabs={<AdminTabs />}
    >
      <AuditTable
        path="/app/api/audit"
        exportPath="/app/api/audit/export"
        page="/admin/audit"
        columns={SYSTEM_AUDIT_COLUMNS}
        search={search}
        onSearch={(next, isReplaced = false) =>
          void navigate({ search: next, replace: isReplaced })
        }
        actors={NO_ACTORS}
        emptyText="Each change appears here, with who made it. Rows are kept for a year."
      />
    </Page>
  );
}
