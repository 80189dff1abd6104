import { Link } from "@tanstack/react-router";
import { useTitle } from "./page.tsx";

/** The page for an address that no route has. */
export function NotFound() {
  useTitle("Not found");
  return (
    <div className="page">
      <h1>This page does not exist</h1>
      <p className="muted">The address may be incomplete, or the object was deleted.</p>
      <p>
        <Link to="/">Go to the start page</Link>
      </p>
    </div>
  );
}
