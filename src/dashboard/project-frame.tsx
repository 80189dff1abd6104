import { Link, Outlet } from "@tanstack/react-router";
import { useProject } from "./state.ts";
import { useTitle } from "./ui/page.tsx";

/** The pages of a project; in their place, for users who are no members of it, what to do. */
export function ProjectFrame() {
  return useProject() === null ? <NoMember /> : <Outlet />;
}

function NoMember() {
  useTitle("No access");
  return (
    <div className="page">
      <h1>You are not a member of this project</h1>
      <p className="muted">
        It does not exist, or you were removed from it. Ask an admin of the project for an
        invitation.
      </p>
      <p>
        <Link to="/">Go to the start page</Link>
      </p>
    </div>
  );
}
