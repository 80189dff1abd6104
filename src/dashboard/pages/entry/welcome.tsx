/**
 * After the set-up of the owner, in four steps: a project, how mail leaves, the domain, and a first
 * mail.
 */

import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Navigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Domain } from "../../../modules/domains/model.ts";
import { stateQuery, useAppState } from "../../state.ts";
import { EntryCard } from "./frame.tsx";
import { FirstDomain } from "./first-domain.tsx";
import { FirstMail } from "./first-mail.tsx";
import { HowMailLeaves } from "./how-mail-leaves.tsx";
import { NewProject } from "./new-project.tsx";

const STEPS = 4;

export function WelcomePage() {
  const { user, projects } = useAppState();
  const client = useQueryClient();
  const [isDeliveryKnown, setIsDeliveryKnown] = useState(false);
  const [domain, setDomain] = useState<Domain | null>(null);
  const [isDomainKnown, setIsDomainKnown] = useState(false);
  const [project] = projects;
  if (user === null) return <Navigate to="/login" />;
  if (project === undefined) {
    return (
      <EntryCard title="Name your project" text="A project has its own contacts, keys and domains.">
        <NewProject onDone={() => client.invalidateQueries({ queryKey: stateQuery.queryKey })} />
        <Progress step={1} />
      </EntryCard>
    );
  }
  if (!isDeliveryKnown) {
    return (
      <EntryCard title="How mail leaves">
        <HowMailLeaves />
        <Button fullWidth mt="lg" onClick={() => setIsDeliveryKnown(true)}>
          Continue
        </Button>
        <Progress step={2} />
      </EntryCard>
    );
  }
  if (!isDomainKnown) {
    return (
      <EntryCard
        title="Your domain"
        text="Mail is signed with a key. Receivers find its public part in the DNS of your domain."
      >
        <FirstDomain
          project={project.id}
          domain={domain}
          email={user.email}
          onAdded={setDomain}
          onDone={() => setIsDomainKnown(true)}
        />
        <Progress step={3} />
      </EntryCard>
    );
  }
  return (
    <EntryCard title="Send yourself a mail">
      <FirstMail project={project.id} to={user.email} />
      <Progress step={4} />
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
