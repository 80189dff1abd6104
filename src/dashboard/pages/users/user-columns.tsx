/** The columns of the list of users. */

import type { Column } from "../../ui/data-table.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { roleWord } from "../settings/roles.ts";
import type { InstallationUser } from "./user-search.ts";

export const shownUser = ({ name, email }: InstallationUser): string =>
  name === "" ? email : name;

export const USER_COLUMNS: readonly Column<InstallationUser>[] = [
  { key: "name", title: "Name", width: "18%", render: (user) => shownUser(user) },
  { key: "email", title: "Email address", width: "24%", render: ({ email }) => email },
  { key: "roles", title: "Roles", render: (user) => <Roles user={user} /> },
  {
    key: "factor",
    title: "Second factor",
    width: "124px",
    render: ({ hasSecondFactor }) =>
      hasSecondFactor ? <Status tone="good">On</Status> : <span className="muted">Off</span>,
  },
  {
    key: "last",
    title: "Last sign-in",
    width: "130px",
    render: ({ lastSignInAt }) =>
      lastSignInAt === null ? (
        <span className="muted">Never</span>
      ) : (
        <Time at={lastSignInAt} isPlain />
      ),
  },
  { key: "state", title: "State", width: "156px", render: (user) => <UserState user={user} /> },
];

/** The two lines of a row on phones. */
export const userLines = (user: InstallationUser) => ({
  first: (
    <span className="line">
      <span className="cut">{shownUser(user)}</span>
      <UserState user={user} />
    </span>
  ),
  second: [user.email, rolesText(user)].join(" · "),
});

function Roles({ user }: { user: InstallationUser }) {
  const text = rolesText(user);
  return <span title={text}>{text}</span>;
}

export function rolesText({ isOwner, projects }: InstallationUser): string {
  const roles = projects.map(({ name, role }) => `${roleWord(role)} of ${name}`);
  return [...(isOwner ? ["Owner"] : []), ...roles].join(", ") || "No role";
}

export function UserState({ user }: { user: InstallationUser }) {
  if (user.isDisabled) return <Status value="DISABLED" />;
  if (!user.isProven) return <Status tone="held">Not proven</Status>;
  return <Status tone="good">Enabled</Status>;
}
