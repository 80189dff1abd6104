/** The contacts of the project, with the columns that the user chose. The search is in the URL. */

import { ActionIcon, Button, Tooltip } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import { FileUp, MailCheck, Plus, Users } from "lucide-react";
import { useMemo, useState } from "react";
import type { Contact } from "../../../modules/contacts/model.ts";
import type { Topic } from "../../../modules/topics/topic-model.ts";
import type { LiveMessage } from "../../live.ts";
import { useShortcuts } from "../../shortcuts.ts";
import { useAppState, useMay } from "../../state.ts";
import { Code } from "../../ui/code.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ExportButton, ExportProgress } from "../../ui/export-button.tsx";
import { FilterBar, type FilterField } from "../../ui/filter-bar.tsx";
import { NewPill } from "../../ui/new-pill.tsx";
import { Page } from "../../ui/page.tsx";
import { useCreateDialog, useNamedDialog } from "../../ui/use-create-dialog.ts";
import { useLiveList } from "../../ui/use-live-list.ts";
import { SavedViews } from "../../ui/views/saved-views.tsx";
import { useTopics } from "../topics/use-topics.ts";
import { AddContact } from "./add-dialog.tsx";
import { BulkBar } from "./bulk-bar.tsx";
import { CheckAddress } from "./check-address.tsx";
import { ColumnPicker } from "./column-picker.tsx";
import { contactColumns, contactLines } from "./columns.tsx";
import { RunningImport } from "./import/running-import.tsx";
import { contactSamples } from "./samples.ts";
import {
  contactQuery,
  contactTerms,
  filterQuery,
  filtersOfContacts,
  nextSort,
  readContactSearch,
  searchOfFilters,
  sortOf,
} from "./search.ts";
import { useColumns } from "./use-columns.ts";
import { useContactExport } from "./use-contact-export.ts";
import { useDataKeys } from "./use-data-keys.ts";

const route = getRouteApi("/user/p/$project/contacts");
/** Keys that the search field suggests. */
const SUGGESTED = 20;
const number = new Intl.NumberFormat();
const isAbout = ({ type }: LiveMessage) => type.startsWith("contact.");
const SUBSCRIBED: readonly FilterField[] = [
  {
    key: "subscribed",
    hint: "Whether they get marketing mail",
    values: [
      { value: "yes", label: "Yes" },
      { value: "no", label: "No" },
    ],
  },
];

/** The filter by topic, if the project has any, or the address of the page names one. */
function topicField(topics: readonly Topic[], chosen: string | undefined): FilterField[] {
  if (topics.length === 0 && chosen === undefined) return [];
  const values = topics.map(({ key, name }) => ({ value: key, label: name }));
  return [{ key: "topic", hint: "Contacts who are in the topic", values }];
}

export function ContactsPage() {
  const search = route.useSearch();
  const { project } = route.useParams();
  const navigate = route.useNavigate();
  const { q, subscribed, topic, data, sort } = search;
  const query = useMemo(() => contactQuery(search), [q, subscribed, topic, data, sort]);
  const list = useLiveList<Contact>({ path: "/contacts", query, isAbout });
  const exported = useMemo(() => filterQuery(search), [q, subscribed, topic, data]);
  const run = useContactExport(exported, list.total);
  const { choice, choose } = useColumns(project, list.rows);
  const mayEdit = useMay("EDITOR");
  const columns = useMemo(() => contactColumns(choice, mayEdit), [choice, mayEdit]);
  const lines = useMemo(() => contactLines(choice), [choice]);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [isAdding, adding] = useCreateDialog(mayEdit);
  const [isChecking, checking] = useNamedDialog("check");
  useShortcuts({ c: adding.open }, mayEdit);

  const change = (next: Readonly<Record<string, unknown>>) =>
    void navigate({ search: readContactSearch(next) });
  const open = ({ id }: Contact) =>
    void navigate({ to: "/p/$project/contacts/$contact", params: { project, contact: id } });
  const filters = filtersOfContacts(search);
  const keys = useDataKeys(project, mayEdit);
  const fields = [
    ...SUBSCRIBED,
    ...topicField(useTopics(project).data ?? [], topic),
    ...[...new Set([...Object.keys(filters), ...keys.slice(0, SUGGESTED)])]
      .filter((key) => key !== "q" && key !== "subscribed" && key !== "topic")
      .map((key) => ({ key, hint: "Part of a value of the data" })),
  ];
  const sorting = sort === undefined ? { by: null, isDescending: false } : sortOf(sort);
  const isFiltered = Object.keys(filters).length > 0;
  const isEmpty = list.rows.length === 0 && !list.isLoading && list.error === null && !isFiltered;

  return (
    <Page
      title="Contacts"
      isFixed
      actions={
        <>
          {!isEmpty && mayEdit && <ExportButton run={run} isDisabled={list.rows.length === 0} />}
          <Tooltip label="Check an address">
            <ActionIcon aria-label="Check an address" size="lg" onClick={checking.open}>
              <MailCheck size={17} />
            </ActionIcon>
          </Tooltip>
          {mayEdit && !isEmpty && <ImportLink project={project} />}
          {mayEdit && !isEmpty && (
            <Button leftSection={<Plus size={16} aria-hidden />} onClick={adding.open}>
              Add a contact
            </Button>
          )}
        </>
      }
    >
      {!isEmpty && (
        <FilterBar
          label={
            mayEdit ? "Search: address, name, or data such as city:Berlin" : "Search: address, name"
          }
          fields={fields}
          filters={filters}
          parse={(text) => contactTerms(text, mayEdit, keys)}
          onChange={(next) => change(searchOfFilters(next, search))}
        >
          {list.total !== null && (
            <span className="figures">
              {number.format(list.total)} {list.total === 1 ? "contact" : "contacts"}
            </span>
          )}
          <SavedViews page="contacts" search={search} onChoose={change} />
          <ColumnPicker choice={choice} onChange={choose} />
        </FilterBar>
      )}
      <ExportProgress run={run} />
      <RunningImport project={project} />
      <div className="live-table">
        <NewPill count={list.newCount} onShow={list.showNew} />
        <DataTable
          label="Contacts"
          list={list}
          columns={columns}
          rowKey={({ id }) => id}
          href={({ id }) => `/app/p/${project}/contacts/${id}`}
          onOpen={open}
          phone={lines}
          sorting={{
            ...sorting,
            onSort: (by) => change({ ...search, sort: nextSort(sort, by) }),
          }}
          {...(mayEdit ? { selection: { keys: selected, onChange: setSelected } } : {})}
          isFiltered={isFiltered}
          onClearFilters={() => change({ sort })}
          empty={<NoContacts project={project} onAdd={mayEdit ? adding.open : undefined} />}
        />
        {selected.size > 0 && (
          <BulkBar
            ids={[...selected]}
            search={search}
            total={list.total}
            run={run}
            onDone={() => setSelected(new Set())}
            onChanged={list.showNew}
          />
        )}
      </div>
      <CheckAddress isOpen={isChecking} onClose={checking.close} />
      <AddContact
        isOpen={isAdding}
        known={keys}
        onClose={adding.close}
        onAdded={(contact) => {
          adding.close();
          open(contact);
        }}
      />
    </Page>
  );
}

function ImportLink({ project }: { project: string }) {
  return (
    <Button
      component={Link}
      to={`/p/${project}/contacts/import`}
      variant="default"
      leftSection={<FileUp size={15} aria-hidden />}
    >
      Import
    </Button>
  );
}

function NoContacts(props: { project: string; onAdd: (() => void) | undefined }) {
  const { project, onAdd } = props;
  const { url } = useAppState();
  return (
    <Empty
      icon={Users}
      title="No contacts yet"
      text="Contacts are the people whom you send mail. Sending a mail or recording an event adds its contact."
      action={
        onAdd !== undefined && (
          <>
            <Button
              component={Link}
              to={`/p/${project}/contacts/import`}
              leftSection={<FileUp size={16} aria-hidden />}
            >
              Import contacts
            </Button>
            <Button variant="default" leftSection={<Plus size={16} aria-hidden />} onClick={onAdd}>
              Add a contact
            </Button>
          </>
        )
      }
    >
      <Code
        label="Adding a contact"
        samples={contactSamples(url === "" ? window.location.origin : url)}
      />
    </Empty>
  );
}
