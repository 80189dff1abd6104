/** The frame of the settings of a project: a tab for each part. Only admins have more than one. */

import type { ReactNode } from "react";
import { useMay } from "../../state.ts";
import { Page, PathTabs } from "../../ui/page.tsx";

const TABS = [
  { to: "/p/$project/settings/general", label: "General" },
  { to: "/p/$project/settings/branding", label: "Branding" },
  { to: "/p/$project/settings/delivery", label: "Delivery" },
  { to: "/p/$project/settings/privacy", label: "Privacy" },
  { to: "/p/$project/settings/team", label: "Team" },
  { to: "/p/$project/settings/audit", label: "Audit" },
] as const;

export function SettingsFrame(props: {
  actions?: ReactNode;
  isFixed?: boolean;
  children: ReactNode;
}) {
  const { actions, isFixed = false, children } = props;
  const mayManage = useMay("ADMIN");
  return (
    <Page
      title="Settings"
      isFixed={isFixed}
      actions={actions}
      tabs={mayManage && <PathTabs label="Settings" tabs={TABS} />}
    >
      {children}
    </Page>
  );
}
