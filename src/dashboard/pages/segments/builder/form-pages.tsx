/** The pages that create a segment and change one. */

import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Segment } from "../../../../modules/segments/model.ts";
import { Loaded } from "../../../ui/loaded.tsx";
import { BackLabel, Page } from "../../../ui/page.tsx";
import { RoleNeeded } from "../../../ui/role-needed.tsx";
import { useSegment } from "../use-segments.ts";
import { SegmentForm } from "./segment-form.tsx";

const newRoute = getRouteApi("/user/p/$project/segments/new");
const editRoute = getRouteApi("/user/p/$project/segments/$segment/edit");

export function NewSegmentPage() {
  const { project } = newRoute.useParams();
  const navigate = newRoute.useNavigate();
  const show = useShow(project);
  return (
    <Page
      title="New segment"
      back={
        <Link to="/p/$project/segments" params={{ project }} className="page-back">
          <BackLabel>Segments</BackLabel>
        </Link>
      }
    >
      <RoleNeeded role="EDITOR">
        <SegmentForm
          project={project}
          onSaved={show}
          onCancel={() => void navigate({ to: "/p/$project/segments", params: { project } })}
        />
      </RoleNeeded>
    </Page>
  );
}

export function EditSegmentPage() {
  const { project, segment: id } = editRoute.useParams();
  const query = useSegment(id);
  const navigate = editRoute.useNavigate();
  const show = useShow(project);
  return (
    <Page
      title={query.data === undefined ? "Edit the segment" : `Edit ${query.data.name}`}
      back={
        <Link
          to="/p/$project/segments/$segment"
          params={{ project, segment: id }}
          className="page-back"
        >
          <BackLabel>{query.data?.name ?? "Segment"}</BackLabel>
        </Link>
      }
    >
      <RoleNeeded role="EDITOR">
        <Loaded query={query}>
          {(segment) => (
            <SegmentForm
              key={segment.id}
              project={project}
              segment={segment}
              onSaved={show}
              onCancel={() =>
                void navigate({
                  to: "/p/$project/segments/$segment",
                  params: { project, segment: id },
                })
              }
            />
          )}
        </Loaded>
      </RoleNeeded>
    </Page>
  );
}

/** Shows a segment that was just saved. */
function useShow(project: string) {
  const client = useQueryClient();
  const navigate = newRoute.useNavigate();
  return async ({ id }: Segment) => {
    await client.invalidateQueries({ queryKey: ["segments"] });
    void navigate({ to: "/p/$project/segments/$segment", params: { project, segment: id } });
  };
}
