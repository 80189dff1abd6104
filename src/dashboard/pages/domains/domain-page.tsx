/** The DNS records of a domain as a checklist, with the values that the latest check found. */

import "./styles.ts";
import { Button, Skeleton, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { RefreshCw } from "lucide-react";
import type { Domain } from "../../../modules/domains/model.ts";
import { api } from "../../api.ts";
import { useAppState, useMay } from "../../state.ts";
import { Code } from "../../ui/code.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Field, Fields } from "../../ui/fields.tsx";
import { BackLabel, Page } from "../../ui/page.tsx";
import { useDeletion } from "../../ui/deletion.ts";
import { Problem } from "../../ui/problem.tsx";
import { relayFacts } from "../../ui/relay.ts";
import { Time } from "../../ui/time.tsx";
import { useDelayed } from "../../ui/use-delayed.ts";
import { DomainStatus, recordsText } from "./columns.tsx";
import { RecordCard } from "./record-card.tsx";
import { PARTS } from "./record-texts.ts";
import { domainKey, useDomainWatch } from "./use-domains.ts";
import { zoneFile } from "./zone-file.ts";

const route = getRouteApi("/user/p/$project/domains/$domain");

export function DomainPage() {
  const { project, domain: id } = route.useParams();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: domainKey(project, id),
    queryFn: ({ signal }) => api.get<Domain>(`/domains/${encodeURIComponent(id)}`, { signal }),
  });
  const isSlow = useDelayed(isPending);
  const watch = useDomainWatch(project, id, data);
  const mayManage = useMay("ADMIN");
  return (
    <Page
      title={data?.domain ?? "Domain"}
      back={
        <Link to="/p/$project/domains" params={{ project }} className="page-back">
          <BackLabel>Domains</BackLabel>
        </Link>
      }
      actions={
        mayManage &&
        data !== undefined && (
          <Button
            leftSection={<RefreshCw size={15} aria-hidden />}
            loading={watch.isStarting}
            onClick={watch.start}
          >
            Check now
          </Button>
        )
      }
    >
      <div className="domain">
        {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
        {watch.error !== null && <Problem error={watch.error} />}
        {data === undefined ? (
          isSlow && <DomainSkeleton />
        ) : (
          <Checklist domain={data} watch={watch} />
        )}
        {mayManage && data !== undefined && <RemoveDomain domain={data} project={project} />}
      </div>
    </Page>
  );
}

const SIGNED_BY_RELAY =
  "Your relay signs the mail. With this record you prove that the domain is yours, and mail is signed here if you change the relay.";

type Watch = ReturnType<typeof useDomainWatch>;

function Checklist({ domain, watch }: { domain: Domain; watch: Watch }) {
  const { records } = domain;
  const { relay } = useAppState();
  const parts = PARTS.map((part) => ({
    ...part,
    records: records.filter(({ purpose }) => purpose === part.purpose),
  })).filter((part) => part.records.length > 0);
  return (
    <>
      <Summary domain={domain} />
      <div className="domain-checked">
        <DomainStatus {...domain} />
        <p className="muted small" role="status">
          <CheckText domain={domain} watch={watch} />
        </p>
        {watch.isWatching && !watch.isStarting && (
          <Button size="compact-xs" variant="default" onClick={watch.stop}>
            Stop checking
          </Button>
        )}
      </div>
      <ol className="domain-parts">
        {parts.map(({ purpose, title, text, records: ofPart }) => (
          <li key={purpose} className="card">
            <h2>{title}</h2>
            <p className="muted domain-purpose">
              {purpose === "DKIM" && relay?.isSigning === true ? SIGNED_BY_RELAY : text}
            </p>
            {ofPart.map((record) => (
              <RecordCard key={`${record.type} ${record.name}`} record={record} />
            ))}
          </li>
        ))}
      </ol>
      <RelayCard />
      <section className="section">
        <h2>All records as a zone file</h2>
        <p className="muted domain-purpose">
          Some DNS providers import this text, so that no record has to be typed.
        </p>
        <Code label="The DNS records" samples={{ "Zone file": zoneFile(records) }} />
      </section>
    </>
  );
}

/** The facts about the relay, and the page at which to set the domain up there. */
function RelayCard() {
  const { relay } = useAppState();
  if (relay === null) return null;
  return (
    <section className="section card" aria-labelledby="relay">
      <h2 id="relay">Your relay: {relay.name}</h2>
      <p className="muted domain-purpose">Mail from this domain leaves through it.</p>
      <Fields>
        {relayFacts(relay).map(([label, text]) => (
          <Field key={label} label={label}>
            {text}
          </Field>
        ))}
      </Fields>
    </section>
  );
}

/** The same words during all checks of a watch, so that a screen reader reads them once. */
function CheckText({ domain, watch }: { domain: Domain; watch: Watch }) {
  const { lastCheckedAt } = domain;
  if (watch.isStarting) return "Asking the name servers of the domain…";
  if (watch.isWatching) {
    return `${recordsText(domain)} records found. They are checked every 5 seconds until all are found.`;
  }
  if (lastCheckedAt === null) return "The first check has not finished yet.";
  return (
    <>
      {recordsText(domain)} records found. Last check: <Time at={lastCheckedAt} />
    </>
  );
}

/** Describes the next step of the reader in one or two sentences. */
function Summary({ domain }: { domain: Domain }) {
  const { status, failingSince, records } = domain;
  if (status === "VERIFIED" && failingSince !== null) {
    return (
      <p>
        The signing key has been missing from the DNS since <Time at={failingSince} as="since" />.
        Publish it again: after 72 hours mail from this domain is refused.
      </p>
    );
  }
  if (status === "VERIFIED") {
    const isComplete = records.every((record) => record.status === "OK");
    return (
      <p>
        {isComplete
          ? "You can send from this domain. All records are in place."
          : "You can send from this domain. The records that are left help your mail to arrive."}
      </p>
    );
  }
  if (records.find(({ required }) => required)?.status === "OK") {
    return (
      <p>
        The signing key is in the DNS, but another project of this server has verified the domain.
        Only one project can send from it: remove it there, then press “Check now”.
      </p>
    );
  }
  if (status === "FAILED") {
    return (
      <p>
        The signing key was missing from the DNS for too long, so mail from this domain is refused.
        Publish the first record again, then press “Check now”.
      </p>
    );
  }
  return (
    <p>
      Sign in where the domain was bought or is managed, open its DNS settings, and add each record
      below: copy its type, host and value. You can send as soon as the first one is found, mostly
      within minutes, at times hours; the others help your mail to arrive. Mailstead keeps checking
      by itself.
    </p>
  );
}

function RemoveDomain({ domain, project }: { domain: Domain; project: string }) {
  const [isAsking, question] = useDisclosure(false);
  const navigate = useNavigate();
  const remove = useDeletion({
    path: `/domains/${domain.id}`,
    queryKey: domainKey(project, domain.id),
    listKey: ["domains"],
    leave: () => navigate({ to: "/p/$project/domains", params: { project } }),
  });
  return (
    <section className="section card">
      <h3>Remove the domain</h3>
      <p className="muted domain-purpose">
        Its signing keys are deleted. If you add it again later, it gets new records.
      </p>
      <Button variant="default" onClick={question.open}>
        Remove the domain
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={question.close}
        title={`Remove ${domain.domain}?`}
        text="Mail from this domain is refused at once, and its signing keys are deleted."
        name={domain.domain}
        action="Remove the domain"
        onConfirm={remove}
      />
    </section>
  );
}

function DomainSkeleton() {
  return (
    <Stack gap="md" aria-busy="true">
      <Skeleton height={16} width="70%" />
      <Skeleton height={180} />
      <Skeleton height={180} />
      <Skeleton height={180} />
    </Stack>
  );
}
