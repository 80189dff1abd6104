/** The frame of received mail: a tab for the mails and one for the routes. */

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useProject } from "../../state.ts";
import { Page, PageTabs } from "../../ui/page.tsx";
import { RoleNeeded } from "../../ui/role-needed.tsx";
import "./styles.ts";

const TABS = [
  { to: "/p/$project/received", label: "Mails" },
  { to: "/p/$project/received/routes", label: "Routes" },
] as const;

export function ReceivedFrame({ actions, children }: { actions?: ReactNode; children: ReactNode }) {
  const project = useProject();
  if (project === null) return null;
  return (
    <Page
      title="Received"
      isFixed
      description="Mail that arrived for addresses of your domains."
      actions={actions}
      tabs={
        <PageTabs label="Received">
          {TABS.map(({ to, label }) => (
            <Link
              key={to}
              to={to}
              params={{ project: project.id }}
              className="page-tab"
              activeOptions={{ exact: true, includeSearch: false }}
            >
              {label}
            </Link>
          ))}
        </PageTabs>
      }
    >
      <RoleNeeded role="EDITOR">{children}</RoleNeeded>
    </Page>
  );
}
