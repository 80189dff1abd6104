/** The settings of the installation, for its owners: the relay, and all settings with their sources. */

import "./styles.ts";
import { SegmentedControl, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Search, ServerOff } from "lucide-react";
import type { InstallationSettings } from "../../../modules/settings/model.ts";
import { api } from "../../api.ts";
import { stateQuery, useAppState } from "../../state.ts";
import { AdminTabs } from "../../ui/admin-tabs.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { Page } from "../../ui/page.tsx";
import { RelayCard } from "./relay-card.tsx";
import { readServerSettingsSearch } from "./search.ts";
import { SettingRow } from "./setting-row.tsx";
import { countShown, groupsOf, readShown, type Shown } from "./setting-words.ts";

const route = getRouteApi("/user/admin/settings");
const TITLE = "Server settings";
const KEY = ["server-settings"];

export function ServerSettingsPage() {
  const { user } = useAppState();
  if (user?.isOwner !== true) {
    return (
      <Page title={TITLE}>
        <Empty
          icon={ServerOff}
          title="This page is for owners of the installation"
          text="It shows how mail leaves, and all settings of the server."
        />
      </Page>
    );
  }
  return <SettingsForOwner />;
}

function SettingsForOwner() {
  const client = useQueryClient();
  const query = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) =>
      api.get<InstallationSettings>("/system/settings", { project: null, signal }),
  });
  async function onChanged(): Promise<void> {
    await client.invalidateQueries({ queryKey: KEY });
    // Other pages show how mail leaves.
    await client.invalidateQueries({ queryKey: stateQuery.queryKey });
  }
  return (
    <Page
      title={TITLE}
      description="How this server works, for its owners. A flag, a variable or a file wins over what is set here."
      tabs={<AdminTabs />}
    >
      <Loaded query={query} height={480}>
        {(data) => (
          <div className="server-settings">
            <RelayCard data={data} onChanged={onChanged} />
            <SettingList settings={data.settings} onChanged={onChanged} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

const LABELS: Readonly<Record<Shown, string>> = {
  editable: "Can be set here",
  changed: "Not default",
  all: "All",
};

function SettingList(props: {
  settings: InstallationSettings["settings"];
  onChanged: () => Promise<void>;
}) {
  const { settings, onChanged } = props;
  const { q = "", show } = route.useSearch();
  const navigate = route.useNavigate();
  const shown = readShown(show);
  const set = (next: { q?: string; show?: string }) =>
    void navigate({
      search: readServerSettingsSearch({ q, ...(show === undefined ? {} : { show }), ...next }),
      replace: true,
    });
  const groups = groupsOf(settings, { q, shown });
  return (
    <section>
      <h2 className="server-settings-title">All settings</h2>
      <div className="server-settings-bar">
        <TextInput
          className="grow"
          aria-label="Search settings"
          placeholder="Search: name, meaning, value…"
          leftSection={<Search size={15} aria-hidden />}
          value={q}
          onChange={({ currentTarget }) => set({ q: currentTarget.value })}
          type="search"
        />
        <SegmentedControl
          aria-label="Which settings"
          disabled={q !== ""}
          value={shown}
          onChange={(next) => set({ show: next })}
          data={(["editable", "changed", "all"] as const).map((value) => ({
            value,
            label: `${LABELS[value]} ${countShown(settings, value)}`,
          }))}
        />
      </div>
      {groups.length === 0 && (
        <p className="muted">
          {q === "" ? "All settings have their defaults." : "No setting has these words."}
        </p>
      )}
      {groups.map(([subject, inGroup]) => (
        <section key={subject} className="setting-group" aria-label={subject}>
          <h3>{subject}</h3>
          <ul>
            {inGroup.map((setting) => (
              <SettingRow key={setting.name} setting={setting} onChanged={onChanged} />
            ))}
          </ul>
        </section>
      ))}
    </section>
  );
}
