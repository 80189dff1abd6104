/** The list of an audit log with its search, its export and the drawer of one change. */

import { Button, Menu } from "@mantine/core";
import { Download, ScrollText } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import type { AuditRecord } from "../../../modules/accounts/audit-model.ts";
import { api } from "../../api.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { FilterBar, type FilterField } from "../../ui/filter-bar.tsx";
import { Problem } from "../../ui/problem.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { useList } from "../../ui/use-list.ts";
import { RangePicker } from "../emails/range-picker.tsx";
import { auditLines } from "./audit-columns.tsx";
import { AuditDrawer } from "./audit-drawer.tsx";
import {
  auditFiltersOf,
  auditQuery,
  type AuditSearch,
  auditSearchOf,
  readAuditSearch,
} from "./audit-search.ts";
import {
  actionWords,
  actorWords,
  SUGGESTED_ACTIONS,
  SUGGESTED_TYPES,
  typeWords,
} from "./audit-words.ts";
import "./styles.ts";

const number = new Intl.NumberFormat();

const KINDS = [
  { value: "user", label: "Users" },
  { value: "key", label: "API keys" },
  { value: "cli", label: "Command line" },
  { value: "system", label: "Mailstead itself" },
] as const;

export function AuditTable(props: {
  /** The list of the interface, and the file with the same changes. */
  path: string;
  exportPath: string;
  /** The path of the page below /app. */
  page: string;
  columns: readonly Column<AuditRecord>[];
  search: AuditSearch;
  onSearch: (search: AuditSearch, isReplaced?: boolean) => void;
  /** The known users and keys, by id; those of the loaded rows are added. */
  actors: ReadonlyMap<string, string>;
  emptyText: string;
  /** At the right of the search field. */
  children?: ReactNode;
}) {
  const { path, exportPath, page, columns, search, onSearch, actors, emptyText } = props;
  const { change, ...filters } = search;
  const query = useQueryOf(filters);
  const list = useList<AuditRecord>("audit", path, query);
  const open = (id: string | undefined, isReplaced = false) =>
    onSearch(readAuditSearch({ ...search, change: id }), isReplaced);
  return (
    <>
      <FilterBar
        label="Search: actor, action, object…"
        fields={fieldsOf(list.rows, actors)}
        filters={auditFiltersOf(search)}
        onChange={(next) => onSearch(auditSearchOf(search, next))}
      >
        {list.total !== null && (
          <span className="figures">
            {number.format(list.total)} {list.total === 1 ? "change" : "changes"}
          </span>
        )}
        {props.children}
        <RangePicker
          key={`${search.since} ${search.until}`}
          value={search}
          onChange={(range) => onSearch(readAuditSearch({ ...auditFiltersOf(search), ...range }))}
        />
        <ExportMenu path={exportPath} query={query} isDisabled={list.rows.length === 0} />
      </FilterBar>
      <DataTable
        label="Audit log"
        list={list}
        columns={columns}
        rowKey={({ id }) => id}
        href={({ id }) => `/app${page}?change=${id}`}
        onOpen={({ id }) => open(id)}
        openKey={change}
        phone={auditLines}
        empty={<Empty icon={ScrollText} title="No changes yet" text={emptyText} />}
        isFiltered={Object.keys(filters).length > 0}
        onClearFilters={() => onSearch({})}
      />
      <AuditDrawer
        id={change}
        rows={list.rows}
        onOpen={(id) => open(id, true)}
        onClose={() => open(undefined)}
      />
    </>
  );
}

/** A range that ends now begins at the time at which it was chosen, so the query stays the same. */
function useQueryOf(search: AuditSearch) {
  const key = JSON.stringify(search);
  return useMemo(() => auditQuery(readAuditSearch(JSON.parse(key)), Date.now()), [key]);
}

function fieldsOf(rows: readonly AuditRecord[], known: ReadonlyMap<string, string>): FilterField[] {
  const actors = new Map(known);
  // Owners are in no team, and former members in no list.
  for (const { actor } of rows) {
    if (actor.id !== null && !actors.has(actor.id)) actors.set(actor.id, actorWords(actor));
  }
  return [
    {
      key: "actor",
      hint: "Who made the change",
      values: [...actors].map(([value, label]) => ({ value, label })),
    },
    { key: "by", hint: "Users, keys, commands or the server itself", values: KINDS },
    {
      key: "action",
      hint: "What was done",
      values: SUGGESTED_ACTIONS.map((value) => ({ value, label: actionWords(value) ?? value })),
    },
    {
      key: "type",
      hint: "The type of what was changed",
      values: SUGGESTED_TYPES.map((value) => ({ value, label: typeWords(value) })),
    },
    { key: "object", hint: "The id of what was changed" },
  ];
}

const FORMATS = [
  { format: "csv", label: "CSV, for spreadsheets", type: "text/csv" },
  { format: "ndjson", label: "NDJSON, for programs", type: "application/x-ndjson" },
] as const;

/** Saves the changes that the search finds. */
function ExportMenu(props: {
  path: string;
  query: ReturnType<typeof auditQuery>;
  isDisabled: boolean;
}) {
  const { path, query, isDisabled } = props;
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  async function save({ format, type }: (typeof FORMATS)[number]): Promise<void> {
    setIsBusy(true);
    setError(null);
    try {
      const file = await api.file(path, { query: { ...query, format } });
      saveFile(
        [await file.blob()],
        `audit-${new Date().toISOString().slice(0, 10)}.${format}`,
        type,
      );
    } catch (caught) {
      setError(caught);
    } finally {
      setIsBusy(false);
    }
  }
  return (
    <>
      <Menu position="bottom-end" width={220}>
        <Menu.Target>
          <Button
            variant="default"
            leftSection={<Download size={15} aria-hidden />}
            loading={isBusy}
            disabled={isDisabled}
          >
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {FORMATS.map((format) => (
            <Menu.Item key={format.format} onClick={() => void save(format)}>
              {format.label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {error !== null && <Problem error={error} />}
    </>
  );
}
