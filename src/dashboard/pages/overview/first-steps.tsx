/** Shows the steps to the first mail of a project: a domain and a key, each with its state. */

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Domain } from "../../../modules/domains/model.ts";
import type { ApiKey } from "../../../modules/keys.ts";
import { useAppState, useMay, useProject } from "../../state.ts";
import { Status } from "../../ui/status.tsx";
import { useNow } from "../../ui/time.tsx";
import { senderDomain, useDomains } from "../domains/use-domains.ts";
import { keyState } from "../keys/columns.tsx";
import { useKeys } from "./use-overview.ts";

/** Shows the steps in their order; `children` is how to send. */
export function FirstSteps({ children }: { children: ReactNode }) {
  const project = useProject()?.id ?? "";
  const { data: domains } = useDomains(project);
  return (
    <ol className="first-steps">
      {domains !== undefined && <DomainStep project={project} domain={senderDomain(domains)} />}
      {domains !== undefined && <KeyStep project={project} />}
      <Step title="Send a mail" state={<Status tone="waiting">No mail yet</Status>}>
        {children}
      </Step>
    </ol>
  );
}

function Step(props: { title: string; state?: ReactNode; children: ReactNode }) {
  const { title, state, children } = props;
  return (
    <li>
      <div className="first-steps-head">
        <h2>{title}</h2>
        {state}
      </div>
      {children}
    </li>
  );
}

function DomainStep({ project, domain }: { project: string; domain: Domain | null }) {
  const { requiresVerifiedDomain } = useAppState();
  if (domain === null) {
    const state = requiresVerifiedDomain ? "Not added" : "Not required here";
    return (
      <Step title="Verify a domain" state={<Status tone="waiting">{state}</Status>}>
        <p className="muted">
          {requiresVerifiedDomain
            ? "You send from addresses of a domain of yours. "
            : "This server accepts mail from every domain. "}
          <Link to="/p/$project/domains" params={{ project }}>
            Add a domain
          </Link>
        </p>
      </Step>
    );
  }
  return (
    <Step title="Verify a domain" state={<Status value={domain.status} />}>
      <p className="muted">
        {domainText(domain, requiresVerifiedDomain)}{" "}
        <Link to="/p/$project/domains/$domain" params={{ project, domain: domain.id }}>
          Open the domain
        </Link>
      </p>
    </Step>
  );
}

function domainText({ domain, status }: Domain, isRequired: boolean): string {
  if (status === "VERIFIED") return `You can send from addresses of ${domain}.`;
  return isRequired
    ? `You can send from ${domain} as soon as its DKIM record is found in the DNS.`
    : `The DKIM record of ${domain} was not found in the DNS yet.`;
}

const maySend = ({ scope }: ApiKey): boolean => scope === "SEND" || scope === "EVERYTHING";

function KeyStep({ project }: { project: string }) {
  const mayManage = useMay("ADMIN");
  const keys = useKeys(mayManage);
  const nowMs = useNow();
  const hasKey = keys?.some((key) => maySend(key) && keyState(key, nowMs) === "ACTIVE");
  return (
    <Step
      title="Create an API key"
      state={
        hasKey !== undefined && (
          <Status tone={hasKey ? "good" : "waiting"}>{hasKey ? "Created" : "Not created"}</Status>
        )
      }
    >
      <p className="muted">
        Your application sends the key with each request.{" "}
        {mayManage ? (
          <Link to="/p/$project/keys" params={{ project }}>
            {hasKey === true ? "Open the keys" : "Create a key"}
          </Link>
        ) : (
          "An admin of the project creates it."
        )}
      </p>
    </Step>
  );
}
