import { Link } from "@tanstack/react-router";
import { BackLabel } from "../../ui/page.tsx";

/** The link above the heading of the pages below the list of templates. */
export function BackToTemplates({ project }: { project: string }) {
  return (
    <Link to="/p/$project/templates" params={{ project }} className="page-back">
      <BackLabel>Templates</BackLabel>
    </Link>
  );
}
