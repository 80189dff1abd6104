/** The way by which the mail of a project leaves, and the host of its links, for its admins. */

import { Skeleton } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ProjectRelay } from "../../../modules/delivery/relay-model.ts";
import { api, type ListPage } from "../../api.ts";
import { useAppState, useProject } from "../../state.ts";
import { Problem } from "../../ui/problem.tsx";
import { RoleNeeded } from "../../ui/role-needed.tsx";
import { sentence } from "../../ui/sentence.ts";
import { useDelayed } from "../../ui/use-delayed.ts";
import { RelayForm, RELAYS_KEY } from "./relay-form.tsx";
import { SettingsFrame } from "./settings-frame.tsx";
import { TrackingSection } from "./tracking-host.tsx";

export function DeliveryPage() {
  return (
    <SettingsFrame>
      <RoleNeeded role="ADMIN">
        <div className="narrow">
          <RelaySection />
          <TrackingSection />
        </div>
      </RoleNeeded>
    </SettingsFrame>
  );
}

function RelaySection() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: RELAYS_KEY,
    queryFn: ({ signal }) => api.get<ListPage<ProjectRelay>>("/relays", { signal }),
  });
  const [isSaved, setIsSaved] = useState(false);
  const isSlow = useDelayed(isPending);
  const relay = data?.items[0] ?? null;
  return (
    <section className="section">
      <h2>Relay</h2>
      {error !== null && data === undefined && (
        <Problem error={error} onRetry={() => void refetch()} />
      )}
      {data === undefined ? (
        isSlow && <Skeleton height={160} aria-busy="true" />
      ) : (
        <>
          <RelayNote relay={relay} />
          <RelayForm key={relay?.id ?? "new"} {...{ relay, isSaved, setIsSaved }} />
        </>
      )}
    </section>
  );
}

const COMMON_WAYS: Readonly<Record<string, string>> = {
  direct: "straight to the servers of the recipients",
  relay: "by the relay of the installation",
};

function RelayNote({ relay }: { relay: ProjectRelay | null }) {
  const { transport } = useAppState();
  const project = useProject();
  if (transport === "capture") {
    return (
      <p className="muted settings-note">
        This server captures mail. A relay is used once its operator lets mail leave.
      </p>
    );
  }
  if (relay === null) {
    return (
      <p className="muted settings-note">
        Mail of this project leaves {COMMON_WAYS[transport]}. It may use a relay of its own, such as
        an account at a provider.
      </p>
    );
  }
  return (
    <>
      <p className="muted settings-note">
        All mail of this project leaves by this relay. It changes the DNS records of its{" "}
        {project === null ? (
          "domains"
        ) : (
          <Link to="/p/$project/domains" params={{ project: project.id }}>
            domains
          </Link>
        )}
        .
      </p>
      {relay.problem !== null && (
        <p className="relay-problem" data-tone="failed" role="status">
          Mail waits. {sentence(relay.problem)}
        </p>
      )}
    </>
  );
}
