/** Imports contacts: choose a file, see what it would do, import it. The job is in the URL. */

import "./styles.ts";
import { Skeleton } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import { BackLabel, Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { RoleNeeded } from "../../../ui/role-needed.tsx";
import { useDelayed } from "../../../ui/use-delayed.ts";
import { ProgressStep } from "./progress-step.tsx";
import { ReviewStep } from "./review-step.tsx";
import { UploadStep } from "./upload-step.tsx";
import { useImport } from "./use-import.ts";

const route = getRouteApi("/user/p/$project/contacts/import");

export function ImportPage() {
  const { project } = route.useParams();
  const { job } = route.useSearch();
  const navigate = route.useNavigate();
  const open = (next: string) => void navigate({ search: { job: next } });
  return (
    <Page
      title="Import contacts"
      back={
        <Link to="/p/$project/contacts" params={{ project }} className="page-back">
          <BackLabel>Contacts</BackLabel>
        </Link>
      }
    >
      <RoleNeeded role="EDITOR">
        {job === undefined ? <UploadStep onUploaded={open} /> : <Job project={project} id={job} />}
      </RoleNeeded>
    </Page>
  );
}

function Job({ project, id }: { project: string; id: string }) {
  const { data, error, refetch } = useImport(project, id);
  const navigate = route.useNavigate();
  const isSlow = useDelayed(data === undefined && error === null);
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return isSlow ? <Skeleton height={320} aria-busy="true" /> : null;
  const restart = () => void navigate({ search: {} });
  if (!data.dryRun) return <ProgressStep job={data} project={project} onRestart={restart} />;
  return (
    <ReviewStep
      job={data}
      // The options belong to the page, so the Back button leads to the page before.
      onTried={(job) => void navigate({ search: { job }, replace: true })}
      onStarted={(job) => void navigate({ search: { job } })}
      onRestart={restart}
    />
  );
}
