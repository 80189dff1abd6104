/** Two texts with their differences: beside each other, and below each other on phones. */

import "./styles.ts";
import { useMediaQuery } from "@mantine/hooks";
import { Fragment, type ReactNode, useMemo } from "react";
import { type DiffLine, diffLines, type DiffPart, pairLines, shortenRows } from "./line-diff.ts";

type Props = {
  before: string;
  after: string;
  /** The names of both texts, such as "Version 3" and "Now". */
  titles: readonly [string, string];
};

const NARROW = "(max-width: 767px)";

export function DiffView({ before, after, titles }: Props) {
  const lines = useMemo(() => diffLines(before, after), [before, after]);
  const isNarrow = useMediaQuery(NARROW) ?? false;
  if (lines.every(({ kind }) => kind === "SAME")) {
    return <p className="muted">Both are the same.</p>;
  }
  return isNarrow ? (
    <Unified lines={lines} titles={titles} />
  ) : (
    <SideBySide lines={lines} titles={titles} />
  );
}

type LinesProps = { lines: readonly DiffLine[]; titles: readonly [string, string] };

function SideBySide({ lines, titles }: LinesProps) {
  const parts = shortenRows(pairLines(lines), ({ left }) => left?.kind === "SAME");
  return (
    <DiffTable label={`${titles[0]} and ${titles[1]}`} sides={2}>
      <thead>
        <tr>
          {titles.map((title) => (
            <th key={title} scope="col" colSpan={2}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <Parts parts={parts} columns={4}>
        {({ left, right }, key) => (
          <tr key={key}>
            <Cells line={left} number={left?.before ?? null} />
            <Cells line={right} number={right?.after ?? null} />
          </tr>
        )}
      </Parts>
    </DiffTable>
  );
}

function Unified({ lines, titles }: LinesProps) {
  const parts = shortenRows(lines, ({ kind }) => kind === "SAME");
  return (
    <DiffTable label={`${titles[0]} and ${titles[1]}`} sides={1}>
      <thead>
        <tr>
          <th scope="col" colSpan={2}>
            − {titles[0]}, + {titles[1]}
          </th>
        </tr>
      </thead>
      <Parts parts={parts} columns={2}>
        {(line, key) => (
          <tr key={key}>
            <Cells line={line} number={line.after ?? line.before} />
          </tr>
        )}
      </Parts>
    </DiffTable>
  );
}

function DiffTable(props: { label: string; sides: 1 | 2; children: ReactNode }) {
  const { label, sides, children } = props;
  const columns = (
    <>
      <col className="diff-numbers" />
      <col />
    </>
  );
  return (
    <div className="diff" tabIndex={0} role="region" aria-label={label}>
      <table>
        <colgroup>
          {columns}
          {sides === 2 && columns}
        </colgroup>
        {children}
      </table>
    </div>
  );
}

function Parts<T>(props: {
  parts: readonly DiffPart<T>[];
  columns: number;
  children: (row: T, key: number) => ReactNode;
}) {
  const { parts, columns, children } = props;
  return (
    <tbody>
      {parts.map((part, i) => (
        <Fragment key={i}>
          {"hidden" in part ? (
            <tr className="diff-hidden">
              <td colSpan={columns}>
                {part.hidden === 1 ? "1 equal line" : `${part.hidden} equal lines`}
              </td>
            </tr>
          ) : (
            part.rows.map((row, j) => children(row, j))
          )}
        </Fragment>
      ))}
    </tbody>
  );
}

const SIGNS = { SAME: "", REMOVED: "−", ADDED: "+" } as const;
const WORDS = { SAME: "", REMOVED: "Removed: ", ADDED: "Added: " } as const;

function Cells({ line, number }: { line: DiffLine | null; number: number | null }) {
  if (line === null) return <td colSpan={2} className="diff-none" />;
  const { kind, text } = line;
  return (
    <>
      <td className="diff-number" data-kind={kind}>
        {number}
      </td>
      <td className="diff-line" data-kind={kind}>
        <span className="diff-sign" aria-hidden>
          {SIGNS[kind]}
        </span>
        {kind !== "SAME" && <span className="diff-word">{WORDS[kind]}</span>}
        {text}
      </td>
    </>
  );
}
