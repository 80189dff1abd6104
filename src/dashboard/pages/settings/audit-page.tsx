/** The audit log of a project: who changed what. Its filters are in the URL. */

import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ScrollText } from "lucide-react";
import type { AuditRecord } from "../../../modules/accounts/team-model.ts";
import type { ApiKey } from "../../../modules/keys.ts";
import { api, type ListPage } from "../../api.ts";
import { useProject } from "../../state.ts";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { FilterBar, type FilterField } from "../../ui/filter-bar.tsx";
import { RoleNeeded } from "../../ui/role-needed.tsx";
import { useList } from "../../ui/use-list.ts";
import { SavedViews } from "../../ui/views/saved-views.tsx";
import { AUDIT_COLUMNS, auditLines } from "./audit-columns.tsx";
import { AuditDrawer } from "./audit-drawer.tsx";
import { auditSearchOf, readAuditSearch } from "./audit-search.ts";
import { actionWords, SUGGESTED_ACTIONS } from "./audit-words.ts";
import { SettingsFrame } from "./settings-frame.tsx";
import { useTeam } from "./use-team.ts";

const route = getRouteApi("/user/p/$project/settings/audit");
const number = new Intl.NumberFormat();

export function AuditPage() {
  return (
    <SettingsFrame isFixed>
      <RoleNeeded role="ADMIN">
        <AuditTable />
      </RoleNeeded>
    </SettingsFrame>
  );
}

function AuditTable() {
  const { change, ...search } = route.useSearch();
  const { project } = route.useParams();
  const navigate = route.useNavigate();
  const open = (id: string | undefined, isReplaced = false) =>
    void navigate({ search: readAuditSearch({ ...search, change: id }), replace: isReplaced });
  const list = useList<AuditRecord>("audit", "/audit", search);
  const fields = useAuditFields(list.rows);
  return (
    <>
      <FilterBar
        label="Search: actor, action, object…"
        fields={fields}
        filters={search}
        onChange={(next) => void navigate({ search: auditSearchOf(next) })}
      >
        {list.total !== null && (
          <span className="figures">
            {number.format(list.total)} {list.total === 1 ? "change" : "changes"}
          </span>
        )}
        <SavedViews
          page="audit"
          search={search}
          onChoose={(view) => void navigate({ search: auditSearchOf(view) })}
        />
      </FilterBar>
      <DataTable
        label="Audit log"
        list={list}
        columns={AUDIT_COLUMNS}
        rowKey={({ id }) => id}
        href={({ id }) => `/app/p/${project}/settings/audit?change=${id}`}
        onOpen={({ id }) => open(id)}
        openKey={change}
        phone={auditLines}
        empty={
          <Empty
            icon={ScrollText}
            title="No changes yet"
            text="Each change of this project appears here, with who made it. Rows are kept for a year."
          />
        }
        isFiltered={Object.keys(search).length > 0}
        onClearFilters={() => void navigate({ search: {} })}
      />
      <AuditDrawer
        id={change}
        rows={list.rows}
        onOpen={(id) => open(id, true)}
        onClose={() => open(undefined)}
      />
    </>
  );
}

/** The fields of the search, with the members and keys that may have made changes. */
function useAuditFields(rows: readonly AuditRecord[]): FilterField[] {
  const project = useProject()?.id ?? null;
  const { data: team } = useTeam();
  const { data: keys } = useQuery({
    queryKey: ["keys", project, "names"],
    queryFn: ({ signal }) => api.get<ListPage<ApiKey>>("/keys", { query: { limit: 100 }, signal }),
  });
  const actors = new Map<string, string>();
  for (const { id, name, email } of team?.members ?? []) actors.set(id, name === "" ? email : name);
  for (const { id, name, last4 } of keys?.items ?? []) actors.set(id, `Key ${name} (…${last4})`);
  // Owners are in no team, and former members in no list.
  for (const { actor } of rows) {
    if (actor.id !== null && !actors.has(actor.id)) actors.set(actor.id, actor.label);
  }
  return [
    {
      key: "actor",
      hint: "Who made the change",
      values: [...actors].map(([value, label]) => ({ value, label })),
    },
    {
      key: "action",
      hint: "What was done",
      values: SUGGESTED_ACTIONS.map((value) => ({ value, label: actionWords(value) ?? value })),
    },
    { key: "object", hint: "The id of what was changed" },
  ];
}
