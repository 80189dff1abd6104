/** All users of the installation, for its owners. Filters and the open user are in the URL. */

import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Plus, Users } from "lucide-react";
import { useShortcuts } from "../../shortcuts.ts";
import { useAppState } from "../../state.ts";
import { AdminTabs } from "../../ui/admin-tabs.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { FilterBar, type FilterField } from "../../ui/filter-bar.tsx";
import { Page } from "../../ui/page.tsx";
import { useCreateDialog } from "../../ui/use-create-dialog.ts";
import { useList } from "../../ui/use-list.ts";
import { AddUser } from "./add-user.tsx";
import { USER_COLUMNS, userLines } from "./user-columns.tsx";
import { UserDrawer } from "./user-drawer.tsx";
import { type InstallationUser, readUserSearch } from "./user-search.ts";

const route = getRouteApi("/user/admin/users");
const number = new Intl.NumberFormat();

const FIELDS: readonly FilterField[] = [
  {
    key: "role",
    hint: "Owners, or all others",
    values: [
      { value: "owner", label: "Owner" },
      { value: "member", label: "No owner" },
    ],
  },
  {
    key: "factor",
    hint: "Whether the second factor is on",
    values: [
      { value: "on", label: "On" },
      { value: "off", label: "Off" },
    ],
  },
  {
    key: "state",
    hint: "Whether the user may sign in",
    values: [
      { value: "enabled", label: "Enabled" },
      { value: "disabled", label: "Disabled" },
    ],
  },
];

export function UsersPage() {
  const { user } = useAppState();
  if (user?.isOwner !== true) {
    return (
      <Page title="Users">
        <Empty
          icon={Users}
          title="This page is for owners of the installation"
          text="It shows all users of the whole server."
        />
      </Page>
    );
  }
  return <AllUsers />;
}

function AllUsers() {
  const { user: openId, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const list = useList<InstallationUser>("users", "/app/api/users", search);
  const [isAdding, adding] = useCreateDialog(true);
  useShortcuts({ c: adding.open });
  const refresh = () => client.invalidateQueries({ queryKey: ["users"] });
  const open = (id: string | undefined, isReplaced = false) =>
    void navigate({ search: readUserSearch({ ...search, user: id }), replace: isReplaced });
  return (
    <Page
      title="Users"
      description="Everybody who may sign in to this dashboard. An owner may do everything in all projects."
      isFixed
      tabs={<AdminTabs />}
      actions={
        <Button leftSection={<Plus size={15} aria-hidden />} onClick={adding.open}>
          Add a user
        </Button>
      }
    >
      <FilterBar
        label="Search: name, address, role…"
        fields={FIELDS}
        filters={search}
        onChange={(next) => void navigate({ search: readUserSearch(next) })}
      >
        {list.total !== null && (
          <span className="figures">
            {number.format(list.total)} {list.total === 1 ? "user" : "users"}
          </span>
        )}
      </FilterBar>
      <DataTable
        label="Users"
        list={list}
        columns={USER_COLUMNS}
        rowKey={({ id }) => id}
        href={({ id }) => `/app/admin/users?user=${id}`}
        onOpen={({ id }) => open(id)}
        openKey={openId}
        phone={userLines}
        empty={<Empty icon={Users} title="No users" text="Add the first one." />}
        isFiltered={Object.keys(search).length > 0}
        onClearFilters={() => void navigate({ search: {} })}
      />
      <UserDrawer
        id={openId}
        rows={list.rows}
        onOpen={(id) => open(id, true)}
        onClose={() => open(undefined)}
        onChanged={refresh}
      />
      <AddUser isOpen={isAdding} onClose={adding.close} onAdded={refresh} />
    </Page>
  );
}
