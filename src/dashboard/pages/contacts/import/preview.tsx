/** The first rows of the file, as they will be stored. */

import { Table } from "@mantine/core";
import type { ImportProgress } from "../../../../modules/contacts/import/model.ts";
import { valueText } from "../data-values.ts";
import { PageSection } from "../../../ui/page-section.tsx";

type Row = ImportProgress["preview"][number];

/** Fields that are shown; a file may have thousands. */
const MOST_KEYS = 50;

export function Preview({ job }: { job: ImportProgress }) {
  const { preview } = job;
  if (preview.length === 0) return null;
  const keys = [...new Set(preview.flatMap(({ data }) => Object.keys(data)))];
  const shown = keys.slice(0, MOST_KEYS);
  return (
    <PageSection id="import-preview" title="The first rows, as they will be stored">
      <div className="import-preview" tabIndex={0} role="region" aria-labelledby="import-preview">
        <Table className="table">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Line</Table.Th>
              <Table.Th>Email</Table.Th>
              <Table.Th>Subscribed</Table.Th>
              {shown.map((key) => (
                <Table.Th key={key}>
                  <bdi>{key}</bdi>
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {preview.map((row) => (
              <PreviewRow key={row.line} row={row} keys={shown} />
            ))}
          </Table.Tbody>
        </Table>
      </div>
      {keys.length > shown.length && (
        <p className="muted small">and {keys.length - shown.length} more fields</p>
      )}
    </PageSection>
  );
}

function PreviewRow({ row, keys }: { row: Row; keys: readonly string[] }) {
  const { line, cells, email, subscribed, data, error } = row;
  if (error !== null) {
    return (
      <Table.Tr data-tone="failed" className="import-fault">
        <Table.Td>{line}</Table.Td>
        <Table.Td colSpan={keys.length + 2}>
          {error} <span className="muted">{cells.slice(0, 8).join(", ")}</span>
        </Table.Td>
      </Table.Tr>
    );
  }
  return (
    <Table.Tr>
      <Table.Td>{line}</Table.Td>
      <Table.Td>{email}</Table.Td>
      <Table.Td>{subscribed === true ? "Yes" : "No"}</Table.Td>
      {keys.map((key) => (
        <Table.Td key={key}>
          <bdi className="import-value">{key in data ? shownValue(data[key]) : ""}</bdi>
        </Table.Td>
      ))}
    </Table.Tr>
  );
}

const shownValue = (value: unknown): string =>
  typeof value === "string" ? valueText(value) : JSON.stringify(value);
