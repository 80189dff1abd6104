/** The card shows how many contacts a condition selects now, and the newest of them. */

import "./styles.ts";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Problem } from "../../../ui/problem.tsx";
import type { usePreview } from "./use-preview.ts";

const number = new Intl.NumberFormat();

export function PreviewCard(props: {
  project: string;
  preview: ReturnType<typeof usePreview>;
  isComplete: boolean;
  children?: ReactNode;
}) {
  const { project, preview, isComplete, children } = props;
  const { data, error, isStale } = preview;
  return (
    <section className="card builder-preview" aria-labelledby="builder-preview">
      <h2 id="builder-preview">Who is in it now</h2>
      {error !== null && <Problem error={error} />}
      {!isComplete && <p className="muted">Complete the conditions to see their number.</p>}
      {isComplete && error === null && data !== undefined && (
        <div aria-busy={isStale}>
          <p className="builder-count" role="status">
            {data.isExact ? "" : "about "}
            <strong className="figures">{number.format(data.count)}</strong>{" "}
            {data.count === 1 ? "contact" : "contacts"}
          </p>
          {data.members !== null && data.members.length > 0 && (
            <ul className="builder-members" aria-label="The newest of them">
              {data.members.map(({ id, email }) => (
                <li key={id}>
                  <Link to="/p/$project/contacts/$contact" params={{ project, contact: id }}>
                    {email}
                  </Link>
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
      {children}
    </section>
  );
}
