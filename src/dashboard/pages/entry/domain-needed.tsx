import { Button, Stack } from "@mantine/core";
import type { Domain } from "../../../modules/domains/model.ts";
import { Problem } from "../../ui/problem.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { verdictOf } from "../domains/record-texts.ts";
import { neededRecords, useDomainWatch } from "../domains/use-domains.ts";

/** The last step of the set-up while no domain is verified: why no mail can leave, and how to go on. */
export function DomainNeeded({ project, domain }: { project: string; domain: Domain | null }) {
  return (
    <Stack gap="md" mt="md">
      {domain === null ? (
        <>
          <p role="status">
            Mail leaves this server only from a verified domain, and this project has no domain yet.
          </p>
          <GoOn project={project} />
          <Button component="a" href={`/app/p/${project}/domains`} variant="default" fullWidth>
            Add a domain
          </Button>
        </>
      ) : (
        <WaitingDomain project={project} domain={domain} />
      )}
    </Stack>
  );
}

function GoOn({ project }: { project: string }) {
  return (
    <Button component="a" href={`/app/p/${project}`} fullWidth>
      Go to the dashboard
    </Button>
  );
}

function WaitingDomain({ project, domain }: { project: string; domain: Domain }) {
  const watch = useDomainWatch(project, domain.id, domain);
  return (
    <>
      <p role="status">
        You can send from {domain.domain} as soon as this record is found in its DNS. That can take
        some minutes after you added it.
      </p>
      <ul className="rows entry-records">
        {neededRecords(domain).map((record) => {
          const { tone, word } = verdictOf(record);
          return (
            <li key={`${record.type} ${record.name}`}>
              <div className="rows-text">
                <strong>{record.type} record</strong>
                <code>{record.name}</code>
              </div>
              <Status tone={tone}>{word}</Status>
            </li>
          );
        })}
      </ul>
      <p className="muted small">
        {domain.lastCheckedAt !== null && (
          <>
            Last check: <Time at={domain.lastCheckedAt} />.{" "}
          </>
        )}
        <a href={`/app/p/${project}/domains/${domain.id}`}>Open the page of {domain.domain}</a>
      </p>
      {watch.isWatching && (
        <p className="muted small" role="status">
          The records are checked every 5 seconds until all are found.
        </p>
      )}
      {watch.error !== null && <Problem error={watch.error} />}
      <GoOn project={project} />
      <Button variant="default" fullWidth loading={watch.isStarting} onClick={watch.start}>
        Check again
      </Button>
    </>
  );
}
