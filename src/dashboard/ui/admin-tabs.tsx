/** The tabs of the pages for owners of the installation. */

import { Link } from "@tanstack/react-router";
import { PageTabs } from "./page.tsx";

const TABS = [
  { to: "/admin/system", label: "System" },
  { to: "/admin/settings", label: "Settings" },
  { to: "/admin/users", label: "Users" },
  { to: "/admin/audit", label: "Audit" },
] as const;

export function AdminTabs() {
  return (
    <PageTabs label="Installation">
      {TABS.map(({ to, label }) => (
        <Link
          key={to}
          to={to}
          className="page-tab"
          activeOptions={{ exact: true, includeSearch: false }}
        >
          {label}
        </Link>
      ))}
    </PageTabs>
  );
}
