/** The audit log of a project: who changed what. Its filters are in the URL. */

import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { ApiKey } from "../../../modules/keys.ts";
import { api, type ListPage } from "../../api.ts";
import { useProject } from "../../state.ts";
import { RoleNeeded } from "../../ui/role-needed.tsx";
import { SavedViews } from "../../ui/views/saved-views.tsx";
import { AUDIT_COLUMNS } from "../audit/audit-columns.tsx";
import { readAuditSearch } from "../audit/audit-search.ts";
import { AuditTable } from "../audit/audit-table.tsx";
import { SettingsFrame } from "./settings-frame.tsx";
import { useTeam } from "./use-team.ts";

const route = getRouteApi("/user/p/$project/settings/audit");

export function AuditPage() {
  return (
    <SettingsFrame isFixed>
      <RoleNeeded role="ADMIN">
        <ProjectAudit />
      </RoleNeeded>
    </SettingsFrame>
  );
}

function ProjectAudit() {
  const search = route.useSearch();
  const { project } = route.useParams();
  const navigate = route.useNavigate();
  const actors = useActors();
  return (
    <AuditTable
      path="/audit"
      exportPath="/audit/export"
      page={`/p/${project}/settings/audit`}
      columns={AUDIT_COLUMNS}
      search={search}
      onSearch={(next, isReplaced = false) => void navigate({ search: next, replace: isReplaced })}
      actors={actors}
      emptyText="Each change of this project appears here, with who made it. Rows are kept for a year."
    >
      <SavedViews
        page="audit"
        search={search}
        onChoose={(view) => void navigate({ search: readAuditSearch(view) })}
      />
    </AuditTable>
  );
}

/** The members and keys that may have made changes, by id. */
function useActors(): ReadonlyMap<string, string> {
  const project = useProject()?.id ?? null;
  const { data: team } = useTeam();
  const { data: keys } = useQuery({
    queryKey: ["keys", project, "names"],
    queryFn: ({ signal }) => api.get<ListPage<ApiKey>>("/keys", { query: { limit: 100 }, signal }),
  });
  const actors = new Map<string, string>();
  for (const { id, name, email } of team?.members ?? []) actors.set(id, name === "" ? email : name);
  for (const { id, name, last4 } of keys?.items ?? []) actors.set(id, `Key ${name} (…${last4})`);
  return actors;
}
