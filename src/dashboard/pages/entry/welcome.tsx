/**
 * After the set-up of the owner, in four steps: a project, how mail leaves, the domain, and a first
 * mail.
 */

import { Button, Skeleton } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Navigate } from "@tanstack/react-router";
import { type AppState, stateQuery, useAppState } from "../../state.ts";
import { Problem } from "../../ui/problem.tsx";
import { useDomains } from "../domains/use-domains.ts";
import { EntryCard } from "./frame.tsx";
import { FirstDomain } from "./first-domain.tsx";
import { FirstMail } from "./first-mail.tsx";
import { HowMailLeaves } from "./how-mail-leaves.tsx";
import { NewProject } from "./new-project.tsx";

const STEPS = 4;

const route = getRouteApi("/entry/welcome");

export function WelcomePage() {
  const { user, projects } = useAppState();
  const { step } = route.useSearch();
  const [project] = projects;
  if (user === null) return <Navigate to="/login" />;
  if (project === undefined) return <ProjectStep />;
  if (step === undefined) return <DeliveryStep />;
  if (step === "domain") return <DomainStep project={project.id} user={user} />;
  return (
    <EntryCard title="Send yourself a mail">
      <FirstMail project={project.id} to={user.email} />
      <Progress step={4} />
    </EntryCard>
  );
}

function ProjectStep() {
  const client = useQueryClient();
  return (
    <EntryCard title="Name your project" text="A project has its own contacts, keys and domains.">
      <NewProject onDone={() => client.invalidateQueries({ queryKey: stateQuery.queryKey })} />
      <Progress step={1} />
    </EntryCard>
  );
}

function DeliveryStep() {
  const navigate = route.useNavigate();
  return (
    <EntryCard title="How mail leaves">
      <HowMailLeaves />
      <Button fullWidth mt="lg" onClick={() => void navigate({ search: { step: "domain" } })}>
        Continue
      </Button>
      <Progress step={2} />
    </EntryCard>
  );
}

function DomainStep({ project, user }: { project: string; user: NonNullable<AppState["user"]> }) {
  const navigate = route.useNavigate();
  const { data: domains, error, refetch } = useDomains(project);
  return (
    <EntryCard
      title="Your domain"
      text="Mail is signed with a key. Receivers find its public part in the DNS of your domain."
    >
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {domains === undefined && error === null && <Skeleton height={180} mt="md" />}
      {domains !== undefined && (
        <FirstDomain
          project={project}
          domain={domains[0] ?? null}
          email={user.email}
          onAdded={refetch}
          onDone={() => void navigate({ search: { step: "mail" } })}
        />
      )}
      <Progress step={3} />
    </EntryCard>
  );
}

function Progress({ step }: { step: number }) {
  return (
    <p className="muted small entry-progress">
      Step {step} of {STEPS}
    </p>
  );
}
