/** The queries of one message, and of what is derived from it. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Static } from "@sinclair/typebox";
import type { MessageChecks } from "../../../modules/inboxes/checks/model.ts";
import type { MessageCodes, MessageLink } from "../../../modules/inboxes/extract/model.ts";
import type { Message, MessageDetail, MessagePatch } from "../../../modules/inboxes/model.ts";
import type { SessionDetail } from "../../../modules/inboxes/sessions/model.ts";
import { api, projectUrl } from "../../api.ts";
import { useProject } from "../../state.ts";
import { readMessageSource } from "../../ui/message/source-view.tsx";
import { inboxPath, messagePath } from "./use-messages.ts";

export type Codes = Static<typeof MessageCodes>;
export type Link = Static<typeof MessageLink>;
export type MessagePlace = { inbox: string; id: string };

/** The contents of a message never change. Only its state does, which live events tell. */
const FIXED = { staleTime: Infinity, gcTime: 60_000, refetchOnWindowFocus: false } as const;

export function useMessage({ inbox, id }: MessagePlace) {
  const project = useProject()?.id ?? null;
  return useQuery({
    ...FIXED,
    queryKey: ["inbox-message", project, inbox, id],
    queryFn: ({ signal }) => api.get<MessageDetail>(messagePath(inbox, id), { signal }),
  });
}

/** Something that the server derives from a message, such as its links. */
function usePart<T>(place: MessagePlace, part: string, query: Record<string, boolean> = {}) {
  const project = useProject()?.id ?? null;
  const { inbox, id } = place;
  return useQuery({
    ...FIXED,
    queryKey: ["inbox-message-part", project, inbox, id, part, query],
    queryFn: ({ signal }) => api.get<T>(`${messagePath(inbox, id)}/${part}`, { query, signal }),
  });
}

export const useCodes = (place: MessagePlace) => usePart<Codes>(place, "codes");
export const useLinks = (place: MessagePlace) => usePart<Link[]>(place, "links");
/** The checks that ask no other server. */
export const useMessageChecks = (place: MessagePlace) =>
  usePart<MessageChecks>(place, "checks", { authentication: false });
/** The same with the authentication of the sender, for which the DNS is asked. */
export const useAuthentication = (place: MessagePlace) => usePart<MessageChecks>(place, "checks");
export const useLinkAnswers = (place: MessagePlace) =>
  usePart<MessageChecks>(place, "checks", { authentication: false, links: true });

export function useSession(inbox: string, id: string) {
  const project = useProject()?.id ?? null;
  return useQuery({
    queryKey: ["inbox-session", project, inbox, id],
    queryFn: ({ signal }) =>
      api.get<SessionDetail>(`${inboxPath(inbox)}/sessions/${id}`, { signal }),
    retry: false,
  });
}

export function useMessageSource({ inbox, id }: MessagePlace) {
  const project = useProject()?.id ?? null;
  return useQuery({
    ...FIXED,
    gcTime: 0,
    queryKey: ["inbox-source", project, inbox, id],
    queryFn: ({ signal }) => readMessageSource(projectUrl(`${messagePath(inbox, id)}/raw`), signal),
  });
}

/** Changes a message. Its live event updates the list and the open message. */
export function usePatchMessage(inbox: string) {
  const project = useProject()?.id ?? null;
  const client = useQueryClient();
  return async (id: string, patch: MessagePatch): Promise<void> => {
    const changed = await api.patch<Message>(messagePath(inbox, id), patch);
    client.setQueryData<Message>(["inbox-message", project, inbox, id], (message) =>
      message === undefined ? undefined : { ...message, ...changed },
    );
  };
}
