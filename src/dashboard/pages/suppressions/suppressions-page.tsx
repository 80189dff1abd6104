/** The addresses that get no mail. An entry opens in a drawer; all of the page's state is in the URL. */

import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { FileUp, Plus, ShieldBan } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import type { Suppression } from "../../../modules/suppressions.ts";
import { api } from "../../api.ts";
import { useShortcuts } from "../../shortcuts.ts";
import { useAppState, useMay } from "../../state.ts";
import { Code } from "../../ui/code.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ExportButton, ExportProgress, useExport } from "../../ui/export-button.tsx";
import { FilterBar, type FilterField } from "../../ui/filter-bar.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { Page } from "../../ui/page.tsx";
import { useCreateDialog, useNamedDialog } from "../../ui/use-create-dialog.ts";
import { SavedViews } from "../../ui/views/saved-views.tsx";
import { SideDrawer } from "../../ui/side-drawer.tsx";
import { showFailure, showUndo } from "../../ui/undo.tsx";
import { AddSuppression } from "./add-dialog.tsx";
import { suppressionColumns, suppressionLines } from "./columns.tsx";
import { SUPPRESSION_CSV } from "./csv.ts";
import { SuppressionDetails } from "./details.tsx";
import { ImportSuppressions } from "./import-dialog.tsx";
import { REASON_CHOICES, REASONS } from "./reasons.ts";
import { suppressionSamples } from "./samples.ts";
import { filtersOfSuppressions, readSuppressionSearch, suppressionQuery } from "./search.ts";
import { useSuppression, useSuppressionList } from "./use-suppressions.ts";

const route = getRouteApi("/user/p/$project/suppressions");
const number = new Intl.NumberFormat();
const FIELDS: readonly FilterField[] = [
  { key: "reason", hint: "Why the address gets no mail", values: REASON_CHOICES },
];

export function SuppressionsPage() {
  const search = route.useSearch();
  const { project } = route.useParams();
  const navigate = route.useNavigate();
  const list = useSuppressionList(search);
  const run = useExport({
    path: "/suppressions",
    query: suppressionQuery(search),
    columns: SUPPRESSION_CSV,
    noun: "suppressions",
  });
  const refresh = useSuppressionRefresh();
  const mayEdit = useMay("EDITOR");
  const [isAdding, adding] = useCreateDialog(mayEdit);
  const [isImporting, importing] = useNamedDialog("import", mayEdit);
  const columns = useMemo(() => suppressionColumns(project), [project]);
  useShortcuts({ c: adding.open }, mayEdit);

  const change = (next: Readonly<Record<string, unknown>>, isReplaced = false) =>
    void navigate({ search: readSuppressionSearch(next), replace: isReplaced });
  const filters = filtersOfSuppressions(search);
  const isFiltered = Object.keys(filters).length > 0;
  const isEmpty = list.rows.length === 0 && !list.isLoading && list.error === null && !isFiltered;

  const { url } = useAppState();
  const button = mayEdit && (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={adding.open}>
      Suppress an address
    </Button>
  );

  function added({ suppression, isNew }: { suppression: Suppression; isNew: boolean }): void {
    adding.close();
    void refresh();
    const { email } = suppression;
    // An entry that existed keeps its reason, so it is shown instead.
    if (!isNew) return change({ ...search, address: email });
    const undo = async () => {
      await api.delete(`/suppressions/${encodeURIComponent(email)}`);
      await refresh();
    };
    showUndo({
      text: `${email} gets no more mail.`,
      onUndo: () => void undo().catch((error: unknown) => showFailure("It was not undone", error)),
    });
  }

  return (
    <Page
      title="Suppressions"
      isFixed
      description="Addresses to which the project sends no mail."
      actions={
        <>
          {!isEmpty && <ExportButton run={run} isDisabled={list.rows.length === 0} />}
          {mayEdit && (
            <Button
              variant="default"
              leftSection={<FileUp size={15} aria-hidden />}
              onClick={importing.open}
            >
              Import
            </Button>
          )}
          {!isEmpty && button}
        </>
      }
    >
      {!isEmpty && (
        <FilterBar
          label="Search: part of an address, reason"
          fields={FIELDS}
          filters={filters}
          onChange={(next) => change({ ...search, ...next })}
        >
          {list.total !== null && (
            <span className="figures">
              {number.format(list.total)} {list.total === 1 ? "address" : "addresses"}
            </span>
          )}
          <SavedViews page="suppressions" search={search} onChoose={change} />
        </FilterBar>
      )}
      <ExportProgress run={run} />
      <DataTable
        label="Suppressions"
        list={list}
        columns={columns}
        rowKey={({ email }) => email}
        href={({ email }) => `/app/p/${project}/suppressions?address=${encodeURIComponent(email)}`}
        onOpen={({ email }) => change({ ...search, address: email })}
        openKey={search.address}
        phone={suppressionLines}
        isFiltered={isFiltered}
        onClearFilters={() => change({ address: search.address })}
        empty={
          <Empty
            icon={ShieldBan}
            title="No address is suppressed"
            text="An address is added here when its mail bounces for good, or when its owner reports spam. It then gets no mail."
            action={button}
          >
            <Code
              label="Suppressing an address"
              samples={suppressionSamples(url === "" ? window.location.origin : url)}
            />
          </Empty>
        }
      />
      <SuppressionDrawer
        email={search.address}
        rows={list.rows}
        project={project}
        onOpen={(address) => change({ ...search, address }, true)}
        onClose={() => change({ ...search, address: undefined })}
      />
      <AddSuppression isOpen={isAdding} onClose={adding.close} onAdded={added} />
      <ImportSuppressions
        isOpen={isImporting}
        onClose={importing.close}
        onImported={() => void refresh()}
      />
    </Page>
  );
}

/** Reads all lists of suppressions again. */
function useSuppressionRefresh() {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: ["suppressions"] });
}

function SuppressionDrawer(props: {
  email: string | undefined;
  rows: readonly Suppression[];
  project: string;
  onOpen: (email: string) => void;
  onClose: () => void;
}) {
  const { email, rows, project, onOpen, onClose } = props;
  const refresh = useSuppressionRefresh();
  const [isAsking, asking] = useDisclosure(false);
  // The content stays while the drawer closes.
  const last = useRef(email);
  if (email !== undefined) last.current = email;
  const shown = email ?? last.current;
  const entry = useSuppression(shown, rows);
  const [asked, setAsked] = useState<Suppression | null>(null);
  const index = rows.findIndex((row) => row.email === shown);
  const next = index === -1 ? undefined : rows[index + 1]?.email;
  const previous = rows[index - 1]?.email;

  async function remove(): Promise<void> {
    if (asked === null) return;
    await api.delete(`/suppressions/${encodeURIComponent(asked.email)}`);
    onClose();
    await refresh();
  }

  return (
    <>
      <SideDrawer
        isOpen={email !== undefined}
        onClose={onClose}
        size={560}
        label="Suppression"
        title={<h2 className="cut">{shown}</h2>}
        onNext={next === undefined ? undefined : () => onOpen(next)}
        onPrevious={previous === undefined ? undefined : () => onOpen(previous)}
      >
        <Loaded query={entry}>
          {(suppression) =>
            suppression === null ? (
              <p className="muted">This address is not suppressed: the project may send it mail.</p>
            ) : (
              <SuppressionDetails
                suppression={suppression}
                project={project}
                onRemove={() => {
                  setAsked(suppression);
                  asking.open();
                }}
              />
            )
          }
        </Loaded>
      </SideDrawer>
      <Confirm
        isOpen={isAsking}
        onClose={asking.close}
        title="Send mail to this address again?"
        text={
          asked !== null && (
            <>
              <p>
                <strong className="suppression-address">{asked.email}</strong>
              </p>
              <p>{REASONS[asked.reason].warning}</p>
            </>
          )
        }
        action="Remove the suppression"
        onConfirm={remove}
      />
    </>
  );
}
