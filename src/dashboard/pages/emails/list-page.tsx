/** The list of emails. An email opens in a drawer beside it; all of its state is in the URL. */

import { Button } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useState } from "react";
import type { Email } from "../../../modules/emails/record-model.ts";
import { DataTable } from "../../ui/data-table.tsx";
import { SendYourself } from "../../ui/send-yourself.tsx";
import { ExportButton, ExportProgress, saveRows, useExport } from "../../ui/export-button.tsx";
import { FilterBar, type FilterField } from "../../ui/filter-bar.tsx";
import { NewPill } from "../../ui/new-pill.tsx";
import { Page } from "../../ui/page.tsx";
import { statusWord } from "../../ui/status.tsx";
import { useCreateDialog } from "../../ui/use-create-dialog.ts";
import { useMay } from "../../state.ts";
import { SavedViews } from "../../ui/views/saved-views.tsx";
import { emailColumns, phoneLines } from "./columns.tsx";
import { EMAIL_CSV } from "./csv.ts";
import { EmailDrawer } from "./email-drawer.tsx";
import { NoEmails } from "./no-emails.tsx";
import { RangePicker } from "./range-picker.tsx";
import {
  type EmailSearch,
  filtersOf,
  isFiltered,
  queryOf,
  readSearch,
  withFilters,
  withoutFilters,
} from "./search.ts";
import { useEmailList } from "./use-email-list.ts";
import { type EmailNames, useNames } from "./use-names.ts";

const route = getRouteApi("/user/p/$project/emails");

const STATUSES = [
  "QUEUED",
  "DEFERRED",
  "SENDING",
  "SENT",
  "DELIVERED",
  "OPENED",
  "CLICKED",
  "BOUNCED",
  "COMPLAINED",
  "FAILED",
  "SUPPRESSED",
  "CANCELLED",
];
const SOURCES = ["TRANSACTIONAL", "CAMPAIGN", "WORKFLOW", "TEST"];
const EXPORT = { columns: EMAIL_CSV, noun: "emails" };
const number = new Intl.NumberFormat();

export function EmailsPage() {
  const search = route.useSearch();
  const { project } = route.useParams();
  const navigate = route.useNavigate();
  const names = useNames();
  const query = useQueryOf(search);
  const list = useEmailList(query);
  const run = useExport({ ...EXPORT, path: "/emails", query });
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const columns = useMemo(() => emailColumns(names), [names.campaigns, names.templates]);
  const fields = useMemo(() => filterFields(names), [names.campaigns, names.templates]);

  const change = useCallback(
    (next: Readonly<Record<string, unknown>>, isReplaced = false) =>
      void navigate({ search: readSearch(next), replace: isReplaced }),
    [navigate],
  );
  const open = (id: string, isReplaced = false) => change({ ...search, email: id }, isReplaced);
  const filters = filtersOf(search);
  const hasRows = list.rows.length > 0 || list.isLoading || list.error !== null;
  const isEmpty = !hasRows && !isFiltered(search);
  useEffect(() => setSelected(new Set()), [query]);
  const mayEdit = useMay("EDITOR");
  const [isSending, sending] = useCreateDialog(mayEdit);

  return (
    <Page
      title="Emails"
      isFixed
      actions={!isEmpty && <ExportButton run={run} isDisabled={list.rows.length === 0} />}
    >
      {!isEmpty && (
        <FilterBar
          label="Search: to, subject, status…"
          fields={fields}
          filters={filters}
          onChange={(next) => change(withFilters(search, next))}
        >
          {list.total !== null && (
            <span className="figures">
              {number.format(list.total)} {list.total === 1 ? "email" : "emails"}
            </span>
          )}
          <SavedViews page="emails" search={search} onChoose={(view) => change(view)} />
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
      <div className="email-table">
        <NewPill count={list.newCount} onShow={list.showNew} />
        {list.isSearching && (
          <p className="muted small email-searching" role="status">
            Searching older emails…
          </p>
        )}
        <DataTable
          label="Emails"
          list={list}
          columns={columns}
          rowKey={({ id }) => id}
          href={({ id }) => `/app/p/${project}/emails/${id}`}
          onOpen={({ id }) => open(id)}
          openKey={search.email}
          phone={phoneLines}
          selection={{ keys: selected, onChange: setSelected }}
          empty={<NoEmails onSend={mayEdit ? sending.open : undefined} />}
          isFiltered={isFiltered(search)}
          onClearFilters={() => change(withoutFilters(search))}
        />
        {selected.size > 0 && (
          <SelectionBar
            emails={list.rows.filter(({ id }) => selected.has(id))}
            onClear={() => setSelected(new Set())}
          />
        )}
      </div>
      <EmailDrawer
        id={search.email}
        tab={search.tab}
        list={list}
        names={names}
        onOpen={(id) => open(id, true)}
        onClose={() => change({ ...search, email: undefined, tab: undefined })}
      />
      <SendYourself isOpen={isSending} onClose={sending.close} project={project} />
    </Page>
  );
}

/** A range that ends now begins at the time at which it was chosen, so the query stays the same. */
function useQueryOf(search: EmailSearch) {
  const key = JSON.stringify({ ...search, email: undefined, tab: undefined });
  return useMemo(() => queryOf(readSearch(JSON.parse(key)), Date.now()), [key]);
}

function filterFields({ campaigns, templates }: EmailNames): FilterField[] {
  const named = (names: ReadonlyMap<string, string>) =>
    [...names].map(([value, label]) => ({ value, label }));
  const words = (values: readonly string[]) =>
    values.map((value) => ({ value: value.toLowerCase(), label: statusWord(value) }));
  return [
    { key: "to", hint: "Recipient: an address, or @ and a domain" },
    { key: "from", hint: "Sender: an address, or @ and a domain" },
    { key: "subject", hint: "Any part of the subject" },
    { key: "status", hint: "Such as delivered or bounced", values: words(STATUSES) },
    { key: "source", hint: "What sent it", values: words(SOURCES) },
    { key: "campaign", hint: "Of one campaign", values: named(campaigns) },
    { key: "template", hint: "Made from one template", values: named(templates) },
  ];
}

function SelectionBar({ emails, onClear }: { emails: readonly Email[]; onClear: () => void }) {
  return (
    <div className="selection" role="region" aria-label="Selected emails">
      <span>{number.format(emails.length)} selected</span>
      <Button size="compact-sm" variant="default" onClick={() => saveRows(emails, EXPORT)}>
        Export as CSV
      </Button>
      <Button size="compact-sm" variant="subtle" color="gray" onClick={onClear}>
        Clear
      </Button>
    </div>
  );
}
