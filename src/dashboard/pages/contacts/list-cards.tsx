/** The segments and the workflow executions of a contact. */

import type { ReactNode } from "react";
import type { ListPage } from "../../api.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { sentence } from "../../ui/sentence.ts";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { UnenteredWorkflows } from "./unentered-workflows.tsx";
import { useContactExecutions, useContactSegments } from "./use-contact.ts";

type Place = { id: string; project: string };

const number = new Intl.NumberFormat();

export function SegmentsCard({ id, project }: Place) {
  return (
    <ListCard
      title="Segments"
      empty="The contact is in no segment."
      query={useContactSegments(id)}
      render={(segment) => (
        <li key={segment.id}>
          <PathLink path={`/p/${project}/segments/${segment.id}`}>{segment.name}</PathLink>
          <span className="muted small">{segment.type === "STATIC" ? "List" : "Condition"}</span>
        </li>
      )}
    />
  );
}

export function ExecutionsCard({ id, email, project }: Place & { email: string }) {
  return (
    <ListCard
      title="Workflows"
      empty="The contact was in no workflow."
      query={useContactExecutions(id)}
      footer={<UnenteredWorkflows id={id} email={email} project={project} />}
      render={({ id: execution, workflowId, workflowName, status, startedAt, ...end }) => (
        <li key={execution}>
          <PathLink path={`/p/${project}/workflows/${workflowId}?execution=${execution}`}>
            {workflowName}
          </PathLink>
          <span className="contact-execution">
            <Status value={status} />
            <span className="muted small">
              <Time at={startedAt} />
            </span>
          </span>
          {(end.exitReason ?? end.error) !== null && (
            <p className="muted small contact-reason">
              {sentence(end.exitReason ?? end.error ?? "")}
            </p>
          )}
        </li>
      )}
    />
  );
}

function ListCard<T>(props: {
  title: string;
  empty: string;
  query: { data: ListPage<T> | undefined; error: Error | null; refetch: () => unknown };
  render: (item: T) => ReactNode;
  footer?: ReactNode;
}) {
  const { title, empty, query, render, footer } = props;
  const headingId = `contact-${title.toLowerCase()}`;
  return (
    <section className="card contact-card" aria-labelledby={headingId}>
      <div className="contact-card-head">
        <h2 id={headingId}>{title}</h2>
      </div>
      <Loaded query={query} height={60}>
        {({ items, total }) => (
          <>
            {total === 0 ? (
              <p className="muted small">{empty}</p>
            ) : (
              <ul className="contact-list">{items.map(render)}</ul>
            )}
            {total > items.length && (
              <p className="muted small">And {number.format(total - items.length)} more.</p>
            )}
          </>
        )}
      </Loaded>
      {footer}
    </section>
  );
}
