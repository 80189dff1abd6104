import { Anchor } from "@mantine/core";
import type { ImportProgress } from "../../../../modules/contacts/import/model.ts";
import { projectUrl } from "../../../api.ts";

/** The rows that cannot be imported, to be mended and imported again, and the first of them in words. */
export function FaultsLink({ job }: { job: ImportProgress }) {
  const { id, errors } = job;
  return (
    <details className="import-faults">
      <summary>Which and why</summary>
      <ul>
        {errors.slice(0, 10).map(({ line, message }) => (
          <li key={`${line} ${message}`}>
            {line === null ? "" : `Line ${line}: `}
            {message}
          </li>
        ))}
      </ul>
      <Anchor href={projectUrl(`/contacts/import/${id}/faults`)} download="faults.csv" size="sm">
        Download all of them as CSV
      </Anchor>
    </details>
  );
}
