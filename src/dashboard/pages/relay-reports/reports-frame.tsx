/** The frame of relay reports: a tab for the webhooks of providers and one for mailboxes. */

import "./styles.ts";
import type { ReactNode } from "react";
import { useMay } from "../../state.ts";
import { Page, PathTabs } from "../../ui/page.tsx";
import { RoleNeeded } from "../../ui/role-needed.tsx";

const TABS = [
  { to: "/p/$project/relay-reports", label: "Webhooks" },
  { to: "/p/$project/relay-reports/mailboxes", label: "Mailboxes" },
] as const;

export function ReportsFrame({ actions, children }: { actions?: ReactNode; children: ReactNode }) {
  const mayManage = useMay("ADMIN");
  return (
    <Page
      title="Relay reports"
      isFixed
      description="Deliveries, bounces and complaints that providers and other servers report."
      actions={actions}
      tabs={mayManage && <PathTabs label="Relay reports" tabs={TABS} />}
    >
      <RoleNeeded role="ADMIN">{children}</RoleNeeded>
    </Page>
  );
}
