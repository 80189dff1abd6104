/** The log of everything that happened. An event opens in a drawer; the page's state is in the URL. */

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Activity, Plus } from "lucide-react";
import { type ReactNode, useMemo } from "react";
import type { Event } from "../../../modules/events/model.ts";
import { api, type ListPage } from "../../api.ts";
import { useShortcuts } from "../../shortcuts.ts";
import { useAppState, useMay, useProject } from "../../state.ts";
import { Code } from "../../ui/code.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ExportButton, ExportProgress, useExport } from "../../ui/export-button.tsx";
import { FilterBar, type FilterField } from "../../ui/filter-bar.tsx";
import { NewPill } from "../../ui/new-pill.tsx";
import { Page } from "../../ui/page.tsx";
import { useCreateDialog } from "../../ui/use-create-dialog.ts";
import { useLiveList } from "../../ui/use-live-list.ts";
import { SavedViews } from "../../ui/views/saved-views.tsx";
import { RangePicker } from "../emails/range-picker.tsx";
import { EVENT_COLUMNS, EVENT_CSV, eventLines } from "./columns.tsx";
import { EventDrawer } from "./event-drawer.tsx";
import { RecordEvent } from "./record-event.tsx";
import { trackSamples } from "./samples.ts";
import {
  eventQuery,
  type EventSearch,
  filtersOfEvents,
  isAboutEvents,
  isEventsFiltered,
  readEventSearch,
  withEventFilters,
} from "./search.ts";

const route = getRouteApi("/user/p/$project/events");
const number = new Intl.NumberFormat();
/** Names that are suggested. */
const MAX_NAMES = 100;

export function EventsPage() {
  const search = route.useSearch();
  const { project } = route.useParams();
  const navigate = route.useNavigate();
  const query = useQueryOf(search);
  const list = useLiveList<Event>({
    path: "/events",
    query,
    isAbout: ({ type }) => isAboutEvents(search, type),
  });
  const run = useExport({ path: "/events", query, columns: EVENT_CSV, noun: "events" });
  const fields = useFields();
  const isFiltered = isEventsFiltered(search);
  const isEmpty = list.rows.length === 0 && !list.isLoading && list.error === null && !isFiltered;
  const change = (next: Readonly<Record<string, unknown>>, isReplaced = false) =>
    void navigate({ search: readEventSearch(next), replace: isReplaced });

  const mayRecord = useMay("EDITOR");
  const [isRecording, recording] = useCreateDialog(mayRecord);
  useShortcuts({ c: recording.open }, mayRecord);
  const recordButton = mayRecord && (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={recording.open}>
      Record an event
    </Button>
  );

  return (
    <Page
      title="Events"
      isFixed
      description="What happened to your mails, and what your applications recorded."
      actions={
        <>
          {!isEmpty && <ExportButton run={run} isDisabled={list.rows.length === 0} />}
          {recordButton}
        </>
      }
    >
      {!isEmpty && (
        <FilterBar
          label="Search: name, contact"
          fields={fields}
          filters={filtersOfEvents(search)}
          onChange={(next) => change(withEventFilters(search, next))}
        >
          {list.total !== null && (
            <span className="figures">
              {number.format(list.total)} {list.total === 1 ? "event" : "events"}
            </span>
          )}
          <SavedViews page="events" search={search} onChoose={(view) => change(view)} />
          <RangePicker
            key={`${search.since} ${search.until}`}
            value={search}
            onChange={(range) =>
              change({ ...search, range: undefined, since: undefined, until: undefined, ...range })
            }
          />
        </FilterBar>
      )}
      <ExportProgress run={run} />
      <div className="live-table">
        <NewPill count={list.newCount} onShow={list.showNew} />
        <DataTable
          label="Events"
          list={list}
          columns={EVENT_COLUMNS}
          rowKey={({ id }) => id}
          href={({ id }) => `/app/p/${project}/events?event=${id}`}
          onOpen={({ id }) => change({ ...search, event: id })}
          openKey={search.event}
          phone={eventLines}
          empty={<NoEvents action={recordButton} />}
          isFiltered={isFiltered}
          onClearFilters={() => change({ event: search.event })}
        />
      </div>
      <EventDrawer
        id={search.event}
        rows={list.rows}
        project={project}
        onOpen={(id) => change({ ...search, event: id }, true)}
        onClose={() => change({ ...search, event: undefined })}
        onFilter={(filters) => change({ ...search, event: undefined, ...filters })}
      />
      <RecordEvent
        isOpen={isRecording}
        onClose={recording.close}
        onRecorded={({ event }) => {
          recording.close();
          list.showNew();
          change({ ...search, event });
        }}
      />
    </Page>
  );
}

/** A range that ends now begins at the time at which it was chosen, so the query stays the same. */
function useQueryOf(search: EventSearch) {
  const key = JSON.stringify({ ...search, event: undefined });
  return useMemo(() => eventQuery(readEventSearch(JSON.parse(key)), Date.now()), [key]);
}

function useFields(): readonly FilterField[] {
  const project = useProject()?.id ?? null;
  const { data } = useQuery({
    queryKey: ["event-names", project],
    queryFn: ({ signal }) =>
      api.get<ListPage<string>>("/events/names", { query: { limit: MAX_NAMES }, signal }),
  });
  const values = (data?.items ?? []).map((name) => ({ value: name, label: name }));
  return [
    { key: "name", hint: "The whole name of an event", values },
    { key: "contact", hint: "The address of a contact" },
  ];
}

function NoEvents({ action }: { action: ReactNode }) {
  const { url } = useAppState();
  const base = url === "" ? window.location.origin : url;
  return (
    <Empty
      icon={Activity}
      title="No events yet"
      text="Mails record events by themselves. Your applications record their own, which start workflows and make segments."
      action={action}
    >
      <Code label="An event of your own" samples={trackSamples(base)} />
    </Empty>
  );
}
