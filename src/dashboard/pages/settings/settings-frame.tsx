/** The frame of the settings of a project: a tab for each part. Only admins have more than one. */

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useMay, useProject } from "../../state.ts";
import { Page, PageTabs } from "../../ui/page.tsx";

const TABS = [
  { to: "/p/$project/settings/general", label: "General" },
  { to: "/p/$project/settings/team", label: "Team" },
  { to: "/p/$project/settings/audit", label: "Audit" },
] as const;

export function SettingsFrame(props: {
  actions?: ReactNode;
  isFixed?: boolean;
  children: ReactNode;
}) {
  const { actions, isFixed = false, children } = props;
  const project = useProject();
  const mayManage = useMay("ADMIN");
  if (project === null) return null;
  return (
    <Page
      title="Settings"
      isFixed={isFixed}
      actions={actions}
      tabs={
        mayManage && (
          <PageTabs label="Settings">
            {TABS.map(({ to, label }) => (
              <Link
                key={to}
                to={to}
                params={{ project: project.id }}
                className="page-tab"
                activeOptions={{ includeSearch: false }}
              >
                {label}
              </Link>
            ))}
          </PageTabs>
        )
      }
    >
      {children}
    </Page>
  );
}
