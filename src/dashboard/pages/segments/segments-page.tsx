/** The segments of the project, with the numbers of their members. */

import { Button } from "@mantine/core";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Plus, UsersRound } from "lucide-react";
import { useShortcuts } from "../../shortcuts.ts";
import { useAppState, useMay } from "../../state.ts";
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
  const mayEdit = useMay("EDITOR");
  const create = () => void navigate({ to: "/p/$project/segments/new", params: { project } });
  useShortcuts({ c: create }, mayEdit);
  return (
    <Page
      title="Segments"
      isFixed
      description="Groups of contacts for campaigns and workflows: those that meet a condition, or a list."
      actions={
        list.rows.length > 0 && (
          <>
            <ExportButton run={run} isDisabled={false} />
            {mayEdit && <CreateSegment project={project} />}
          </>
        )
      }
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
            text="A segment selects contacts by their data, events or mails, for campaigns and workflows."
            action={mayEdit && <CreateSegment project={project} />}
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

function CreateSegment({ project }: { project: string }) {
  return (
    <Button
      component={Link}
      to={`/p/${project}/segments/new`}
      leftSection={<Plus size={16} aria-hidden />}
    >
      Create a segment
    </Button>
  );
}
