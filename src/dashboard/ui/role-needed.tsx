import { Lock } from "lucide-react";
import type { ReactNode } from "react";
import { type Role, useMay } from "../state.ts";
import { Empty } from "./empty.tsx";

const WHO: Readonly<Record<Role, string>> = {
  VIEWER: "members",
  EDITOR: "editors and admins",
  ADMIN: "admins",
  OWNER: "owners of the installation",
};

/** Shows its children to users with the role in the project of the page, and to others a sentence. */
export function RoleNeeded({ role, children }: { role: Role; children: ReactNode }) {
  if (useMay(role)) return children;
  return (
    <Empty
      icon={Lock}
      title={`This page is for ${WHO[role]}`}
      text="Ask an admin of the project for another role."
    />
  );
}
