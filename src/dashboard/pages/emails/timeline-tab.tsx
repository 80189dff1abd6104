import { useQuery } from "@tanstack/react-query";
import type { Email } from "../../../modules/emails/record-model.ts";
import { api, type ListPage } from "../../api.ts";
import { useAppState, useProject } from "../../state.ts";
import { Timeline } from "../../ui/timeline.tsx";
import { type AddressSuppression, timelineOf } from "./timeline-items.ts";

/** Shows the events of the email, and whether its address is suppressed now. */
export function TimelineTab({ email }: { email: Email }) {
  const project = useProject()?.id ?? null;
  const { data } = useQuery({
    queryKey: ["suppressions", project, "of", email.to],
    queryFn: ({ signal }) =>
      api.get<ListPage<AddressSuppression>>("/suppressions", {
        query: { email: email.to, limit: 1 },
        signal,
      }),
    enabled: email.to !== null,
  });
  const { transport } = useAppState();
  const items = timelineOf(email, data?.items[0] ?? null, transport !== "relay");
  return <Timeline label="Timeline" items={items} />;
}
