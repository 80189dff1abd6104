/** The frame of relay reports: a tab for the webhooks of providers and one for mailboxes. */

import "./styles.ts";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useMay, useProject } from "../../state.ts";
import { Page, PageTabs } from "../../ui/page.tsx";
import { RoleNeeded } from "../../ui/role-needed.tsx";

const TABS = [
  { to: "/p/$project/relay-reports", label: "Webhooks" },
  { to: "/p/$project/relay-reports/mailboxes", label: "Mailboxes" },
] as const;

export function ReportsFrame({ actions, children }: { actions?: ReactNode; children: ReactNode }) {
  const project = useProject();
  const mayManage = useMay("ADMIN");
  if (project === null) return null;
  return (
    <Page
      title="Relay reports"
      isFixed
      description="Deliveries, bounces and complaints that providers and other servers report."
      actions={actions}
      tabs={
        mayManage && (
          <PageTabs label="Relay reports">
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
        )
      }
    >
      <RoleNeeded role="ADMIN">{children}</RoleNeeded>
    </Page>
  );
}
