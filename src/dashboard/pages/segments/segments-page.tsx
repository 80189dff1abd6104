/** The segments of the project, with the numbers of their members. */

import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { UsersRound } from "lucide-react";
import { useAppState } from "../../state.ts";
import { Code } from "../../ui/code.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ExportButton, ExportProgress, useExport } from "../../ui/export-button.tsx";
import { Page } from "../../ui/page.tsx";
import { SEGMENT_COLUMNS, SEGMENT_CSV, segmentLines } from "./columns.tsx";
import { segmentSamples } from "./samples.ts";
import { useSegmentList } from "./use-segments.ts";

const route = getRouteApi("/user/p/$project/segments");

export function SegmentsPage() {
  const { project } = route.useParams();
  const navigate = useNavigate();
  const list = useSegmentList();
  const run = useExport({ path: "/segments", columns: SEGMENT_CSV, noun: "segments" });
  const { url } = useAppState();
  return (
    <Page
      title="Segments"
      isFixed
      description="Groups of contacts for campaigns and workflows: those that meet a condition, or a list."
      actions={list.rows.length > 0 && <ExportButton run={run} isDisabled={false} />}
    >
      <ExportProgress run={run} />
      <DataTable
        label="Segments"
        list={list}
        columns={SEGMENT_COLUMNS}
        rowKey={({ id }) => id}
        href={({ id }) => `/app/p/${project}/segments/${id}`}
        onOpen={({ id }) =>
          void navigate({ to: "/p/$project/segments/$segment", params: { project, segment: id } })
        }
        phone={segmentLines}
        empty={
          <Empty
            icon={UsersRound}
            title="No segments yet"
            text="A segment selects contacts by their data, events or mails. Create the first one from your code."
          >
            <Code
              label="Creating a segment"
              samples={segmentSamples(url === "" ? window.location.origin : url)}
            />
          </Empty>
        }
      />
    </Page>
  );
}
