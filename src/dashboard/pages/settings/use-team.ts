import type { Static } from "@sinclair/typebox";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type {
  Team as TeamSchema,
  TeamInvitation,
  TeamMember,
} from "../../../modules/accounts/team-model.ts";
import { api } from "../../api.ts";
import { useMay, useProject } from "../../state.ts";

export type Team = Static<typeof TeamSchema>;
export type Member = TeamMember;
export type Invitation = TeamInvitation;

/** The members and open invitations of the project of the page. Only admins may read them. */
export function useTeam() {
  const project = useProject()?.id ?? null;
  return useQuery({
    queryKey: ["team", project],
    queryFn: ({ signal }) => api.get<Team>("/team", { signal }),
    enabled: useMay("ADMIN"),
  });
}

/** Reads the team again after a change. */
export function useTeamRefresh(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: ["team"] });
}
