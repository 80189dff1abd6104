import { Button, Checkbox, Skeleton, Table } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp } from "lucide-react";
import { type MouseEvent, type ReactNode, useEffect, useRef } from "react";
import { useKeptPosition } from "./history-position.ts";
import { Problem } from "./problem.tsx";
import { useDelayed } from "./use-delayed.ts";
import type { List } from "./use-list.ts";
import { type Selection, useRowKeys } from "./use-row-keys.ts";

export type Column<T> = {
  key: string;
  title: string;
  render: (row: T) => ReactNode;
  /** CSS width such as "120px"; columns without one share the rest. */
  width?: string;
  /** Figures are at the right. */
  isFigure?: boolean;
  /** The name by which the server sorts the list; without it, the column is not sorted. */
  sortKey?: string;
};

/** The order of a list: the `sortKey` of a column, or null for the order of the list itself. */
export type Sorting = {
  by: string | null;
  isDescending: boolean;
  /** The head of a column was chosen. */
  onSort: (sortKey: string) => void;
};

type Props<T> = {
  /** Names the table for screen readers. */
  label: string;
  list: List<T>;
  columns: readonly Column<T>[];
  rowKey: (row: T) => string;
  /** Makes the first column a link to this address. */
  href?: (row: T) => string;
  /** Opens the row in place, such as in a drawer; otherwise the link is followed. */
  onOpen?: (row: T) => void;
  /** The row that is open. */
  openKey?: string | undefined;
  selection?: Selection;
  sorting?: Sorting;
  /** The two lines of a row on phones; by default the first two columns. */
  phone?: (row: T) => { first: ReactNode; second: ReactNode };
  /** Shown when there are no rows and no filter. */
  empty: ReactNode;
  /** Whether filters are set, and how to remove them. */
  isFiltered?: boolean;
  onClearFilters?: () => void;
};

const ROW_PX = 40;
const PHONE_ROW_PX = 60;
/** Rows outside the visible part that are in the document. */
const OVERSCAN = 8;
/** The next page is requested when so many rows are left. */
const AHEAD = 20;
const SKELETON_ROWS = 8;

/**
 * A list of any length. The server sorts, filters and pages; only the visible rows are in the
 * document. Keys: `j` and `k` move, Enter opens, `x` selects; a click with Shift selects a range.
 * It fills the height of a `Page` with `isFixed`.
 */
export function DataTable<T>(props: Props<T>) {
  const { list, empty, isFiltered = false, onClearFilters } = props;
  const isSlow = useDelayed(list.isLoading);
  if (list.error !== null && list.rows.length === 0) {
    return <Problem error={list.error} onRetry={list.retry} />;
  }
  if (list.isLoading) return isSlow ? <TableSkeleton {...props} /> : null;
  if (list.rows.length === 0) {
    return isFiltered ? <NoMatches onClear={onClearFilters} /> : empty;
  }
  return (
    <>
      {list.error !== null && <Problem error={list.error} onRetry={list.retry} />}
      <Rows {...props} />
    </>
  );
}

function Rows<T>(props: Props<T>) {
  const { label, list, columns, rowKey, selection, openKey, sorting } = props;
  const { rows, total, hasMore, isLoadingMore, loadMore } = list;
  const isPhone = useMediaQuery("(max-width: 767px)", false, { getInitialValueInEffect: false });
  const scroller = useRef<HTMLDivElement>(null);
  const initialOffset = useKeptPosition(scroller);
  const rowPx = isPhone ? PHONE_ROW_PX : ROW_PX;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: OVERSCAN,
    initialOffset,
    useFlushSync: false,
  });
  useEffect(() => virtual.measure(), [virtual, rowPx]);
  const items = virtual.getVirtualItems();
  const first = items[0];
  const last = items.at(-1);
  const lastIndex = last?.index ?? 0;
  useEffect(() => {
    if (hasMore && !isLoadingMore && lastIndex >= rows.length - AHEAD) loadMore();
  }, [hasMore, isLoadingMore, lastIndex, rows.length, loadMore]);

  const keys = rows.map(rowKey);
  const { selectRow } = useRowKeys({ scroller, keys, scrollTo: virtual.scrollToIndex, selection });
  const shown = isPhone ? phoneColumns(props) : columns;
  const before = first?.start ?? 0;
  const after = virtual.getTotalSize() - (last?.end ?? 0);

  return (
    <div className="table-scroll" ref={scroller} tabIndex={0} role="region" aria-label={label}>
      <Table
        className="table"
        aria-rowcount={(total ?? rows.length) + 1}
        data-phone={isPhone || undefined}
        layout="fixed"
      >
        {/* Rows alone would give the columns equal widths where the head is hidden. */}
        <colgroup>
          {selection !== undefined && <col style={{ width: isPhone ? 40 : 60 }} />}
          {shown.map(({ key, width }) => (
            <col key={key} style={width === undefined ? {} : { width }} />
          ))}
        </colgroup>
        <Table.Thead className={isPhone ? "visually-hidden" : undefined}>
          <Table.Tr aria-rowindex={1}>
            {selection !== undefined && (
              <Table.Th className="table-select">
                <Checkbox
                  size="xs"
                  aria-label="Select all loaded rows"
                  checked={keys.every((key) => selection.keys.has(key))}
                  indeterminate={
                    keys.some((key) => selection.keys.has(key)) &&
                    !keys.every((key) => selection.keys.has(key))
                  }
                  onChange={({ currentTarget }) =>
                    selection.onChange(new Set(currentTarget.checked ? keys : []))
                  }
                />
              </Table.Th>
            )}
            {shown.map((column) => (
              <Head key={column.key} column={column} sorting={sorting} />
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          <Spacer height={before} />
          {items.map(({ index }) => {
            const row = rows[index];
            if (row === undefined) return null;
            const key = rowKey(row);
            return (
              <Table.Tr
                key={key}
                data-row={index}
                aria-rowindex={index + 2}
                aria-selected={selection?.keys.has(key)}
                data-open={key === openKey || undefined}
                h={rowPx}
              >
                {selection !== undefined && (
                  <Table.Td className="table-select">
                    <Checkbox
                      size="xs"
                      aria-label={`Select row ${index + 1}`}
                      checked={selection.keys.has(key)}
                      onChange={({ nativeEvent }) => selectRow(index, isWithShift(nativeEvent))}
                    />
                  </Table.Td>
                )}
                {shown.map(({ key: name, render, isFigure }, i) => (
                  <Table.Td key={name} data-figure={isFigure || undefined}>
                    {i === 0 ? <Primary {...props} row={row} content={render(row)} /> : render(row)}
                  </Table.Td>
                ))}
              </Table.Tr>
            );
          })}
          <Spacer height={after} />
        </Table.Tbody>
      </Table>
      {isLoadingMore && <p className="table-more muted small">Loading more…</p>}
    </div>
  );
}

function Head<T>({ column, sorting }: { column: Column<T>; sorting: Sorting | undefined }) {
  const { title, isFigure, sortKey } = column;
  if (sorting === undefined || sortKey === undefined) {
    return <Table.Th data-figure={isFigure || undefined}>{title}</Table.Th>;
  }
  const isSorted = sorting.by === sortKey;
  const direction = sorting.isDescending ? "descending" : "ascending";
  const Arrow = sorting.isDescending ? ArrowDown : ArrowUp;
  return (
    <Table.Th
      data-figure={isFigure || undefined}
      aria-sort={isSorted ? direction : undefined}
      data-sorted={isSorted || undefined}
    >
      <button type="button" className="table-sort" onClick={() => sorting.onSort(sortKey)}>
        <span className="cut">{title}</span>
        <Arrow size={12} aria-hidden className="table-sort-arrow" />
      </button>
    </Table.Th>
  );
}

const isWithShift = (event: Event) => "shiftKey" in event && event.shiftKey === true;

/** On phones a row is one cell with two lines. */
function phoneColumns<T>({ columns, phone }: Props<T>): Column<T>[] {
  const [one, two] = columns;
  const render = (row: T) => {
    const lines = phone?.(row) ?? { first: one?.render(row), second: two?.render(row) };
    return (
      <span className="table-lines">
        <span className="cut">{lines.first}</span>
        <span className="cut muted small">{lines.second}</span>
      </span>
    );
  };
  return [{ key: "row", title: one?.title ?? "", render }];
}

/** The content of the first column: a link whose clickable area is the row. */
function Primary<T>(props: Props<T> & { row: T; content: ReactNode }) {
  const { row, content, href, onOpen } = props;
  function open(event: MouseEvent): void {
    if (onOpen === undefined || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    onOpen(row);
  }
  if (href !== undefined) {
    return (
      <a className="table-primary" data-primary href={href(row)} onClick={open}>
        {content}
      </a>
    );
  }
  if (onOpen === undefined) return content;
  return (
    <button type="button" className="table-primary" data-primary onClick={open}>
      {content}
    </button>
  );
}

/** Stands for the rows above or below the visible part. */
function Spacer({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden className="table-spacer">
      <td style={{ height }} />
    </tr>
  );
}

function TableSkeleton<T>({ label, columns }: Props<T>) {
  return (
    <div className="table-scroll" aria-busy="true" role="region" aria-label={label}>
      <div className="table-skeleton">
        {Array.from({ length: SKELETON_ROWS }, (_, row) => (
          <div key={row} className="table-skeleton-row">
            {columns.map(({ key }, i) => (
              <Skeleton key={key} height={10} width={i === 0 ? "70%" : "45%"} />
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}

/** A list without matches is not an empty list. */
export function NoMatches({ onClear }: { onClear?: (() => void) | undefined }) {
  return (
    <div className="no-matches">
      <p>No rows match these filters.</p>
      {onClear !== undefined && (
        <Button size="xs" variant="default" onClick={onClear}>
          Clear filters
        </Button>
      )}
    </div>
  );
}
