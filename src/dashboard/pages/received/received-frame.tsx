/** The frame of received mail: a tab for the mails and one for the routes. */

import type { ReactNode } from "react";
import { Page, PathTabs } from "../../ui/page.tsx";
import { RoleNeeded } from "../../ui/role-needed.tsx";
import "./styles.ts";

const TABS = [
  { to: "/p/$project/received", label: "Mails" },
  { to: "/p/$project/received/routes", label: "Routes" },
] as const;

export function ReceivedFrame({ actions, children }: { actions?: ReactNode; children: ReactNode }) {
  return (
    <Page
      title="Received"
      isFixed
      description="Mail that arrived for addresses of your domains."
      actions={actions}
      tabs={<PathTabs label="Received" tabs={TABS} />}
    >
      <RoleNeeded role="EDITOR">{children}</RoleNeeded>
    </Page>
  );
}
