/** Ends every way to sign in: it loads the new state and opens the second step, or the next page. */

import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { stateQuery } from "../../state.ts";

/**
 * Reads who is signed in and opens a page: the path below /app that the user wanted, or the start
 * page. Addresses of other sites are not followed.
 */
export function useEnter(): (next?: string) => Promise<void> {
  const client = useQueryClient();
  const router = useRouter();
  return async (next) => {
    client.clear();
    const { pending } = await client.fetchQuery({ ...stateQuery, staleTime: 0 });
    const target = next !== undefined && /^\/(?![/\\])/.test(next) ? next : "/";
    if (pending === null) router.history.replace(`/app${target}`);
    else await router.navigate({ to: "/second-step", search: { next: target }, replace: true });
  };
}
