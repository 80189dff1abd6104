import { Link } from "@tanstack/react-router";
import { EntryCard } from "./frame.tsx";

/** The page for an address outside of every project. In a project the side bar stays (ui/not-found.tsx). */
export function LostPage() {
  return (
    <main className="entry">
      <EntryCard
        title="This page does not exist"
        text="The address may be incomplete, or the object was deleted."
      >
        <Link to="/">Go to the start page</Link>
      </EntryCard>
    </main>
  );
}
