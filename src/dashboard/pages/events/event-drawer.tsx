/** One event: what it is about, and its data. */

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import type { Email } from "../../../modules/emails/record-model.ts";
import type { Event } from "../../../modules/events/model.ts";
import { api } from "../../api.ts";
import { useProject } from "../../state.ts";
import { CopyText } from "../../ui/copy.tsx";
import { Field, Fields } from "../../ui/fields.tsx";
import { JsonTree } from "../../ui/json-tree.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { SideDrawer } from "../../ui/side-drawer.tsx";
import { exactTime } from "../../ui/time.tsx";

type OnFilter = (filters: { name?: string | undefined; contact?: string }) => void;

export function EventDrawer(props: {
  id: string | undefined;
  rows: readonly Event[];
  project: string;
  onOpen: (id: string) => void;
  onClose: () => void;
  onFilter: OnFilter;
}) {
  const { id, rows, project, onOpen, onClose, onFilter } = props;
  // The content stays while the drawer closes.
  const last = useRef(id);
  useEffect(() => {
    if (id !== undefined) last.current = id;
  }, [id]);
  const shown = id ?? last.current;
  const query = useEvent(shown, rows);
  const index = rows.findIndex((row) => row.id === shown);
  const next = index === -1 ? undefined : rows[index + 1]?.id;
  const previous = rows[index - 1]?.id;
  return (
    <SideDrawer
      isOpen={id !== undefined}
      onClose={onClose}
      label="Event"
      size={600}
      title={<h2 className="drawer-heading">{query.data?.name ?? "Event"}</h2>}
      onNext={next === undefined ? undefined : () => onOpen(next)}
      onPrevious={previous === undefined ? undefined : () => onOpen(previous)}
    >
      {shown !== undefined && (
        <Loaded query={query}>
          {(event) => <EventView event={event} project={project} onFilter={onFilter} />}
        </Loaded>
      )}
    </SideDrawer>
  );
}

/** An event never changes, so a loaded row is used at once. */
function useEvent(id: string | undefined, rows: readonly Event[]) {
  const project = useProject()?.id ?? null;
  const loaded = rows.find((row) => row.id === id);
  const found = useQuery({
    queryKey: ["event", project, id],
    queryFn: ({ signal }) => api.get<Event>(`/events/${encodeURIComponent(id ?? "")}`, { signal }),
    enabled: id !== undefined && loaded === undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return { data: loaded ?? found.data, error: found.error, refetch: found.refetch };
}

/** The email of an event, and the campaign of the email as soon as it is known. */
function EmailLinks({ project, id }: { project: string; id: string }) {
  const { data } = useQuery({
    queryKey: ["emails", project, id],
    queryFn: ({ signal }) => api.get<Email>(`/emails/${encodeURIComponent(id)}`, { signal }),
  });
  const campaign = data?.campaignId ?? null;
  return (
    <>
      <Field label="Email">
        <Link to="/p/$project/emails/$email" params={{ project, email: id }}>
          {data?.subject ?? "Open the email"}
        </Link>
      </Field>
      {campaign !== null && (
        <Field label="Campaign">
          <Link to="/p/$project/campaigns/$campaign" params={{ project, campaign }}>
            Open the campaign
          </Link>
        </Field>
      )}
    </>
  );
}

function EventView(props: { event: Event; project: string; onFilter: OnFilter }) {
  const { event, project, onFilter } = props;
  const { id, name, data, contactEmail, contactId, emailId, createdAt } = event;
  return (
    <>
      <section className="section">
        <Fields>
          <Field label="Time">{exactTime(new Date(createdAt))}</Field>
          <Field label="Contact">
            {contactEmail === null || contactId === null ? (
              "None, or it was deleted"
            ) : (
              <Link to="/p/$project/contacts/$contact" params={{ project, contact: contactId }}>
                {contactEmail}
              </Link>
            )}
          </Field>
          {emailId !== null && <EmailLinks project={project} id={emailId} />}
          <Field label="Id">
            <CopyText value={id} label="Copy the id" />
          </Field>
        </Fields>
        <div className="event-actions">
          <Button size="xs" variant="default" onClick={() => onFilter({ name })}>
            All “{name.length > 40 ? `${name.slice(0, 40)}…` : name}”
          </Button>
          {contactEmail !== null && (
            <Button
              size="xs"
              variant="default"
              onClick={() => onFilter({ name: undefined, contact: contactEmail })}
            >
              All of this contact
            </Button>
          )}
        </div>
      </section>
      <section className="section">
        <h3 className="event-data-title">Data</h3>
        {data === null || Object.keys(data).length === 0 ? (
          <p className="muted">The event has no data.</p>
        ) : (
          <JsonTree value={data} label="Data of the event" />
        )}
      </section>
    </>
  );
}
