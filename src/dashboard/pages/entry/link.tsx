/** A one-time sign-in link, such as that of `mailstead user link`. It signs in at once. */

import { Button, Loader } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { api } from "../../api.ts";
import { Problem } from "../../ui/problem.tsx";
import { useEnter } from "./enter.ts";
import { EntryCard, tokenOfLink } from "./frame.tsx";

const route = getRouteApi("/entry/link");

export function LinkPage() {
  const { next } = route.useSearch();
  const enter = useEnter();
  // A query, because it runs once although components mount twice in development.
  const { isSuccess, error } = useQuery({
    queryKey: ["sign-in-link", tokenOfLink()],
    queryFn: () => api.post("/app/api/link", { token: tokenOfLink() }, { project: null }),
    retry: false,
    refetchOnWindowFocus: false,
    staleTime: Infinity,
  });
  useEffect(() => {
    if (isSuccess) void enter(next);
    // The link is used once, so the function of the first render is enough.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [isSuccess]);
  if (error === null) {
    return (
      <EntryCard title="Signing in">
        <Loader size="sm" mt="md" />
      </EntryCard>
    );
  }
  return (
    <EntryCard title="This link does not work" text="A link works once and for a limited time.">
      <Problem error={error} />
      <Button component={Link} to="/login" fullWidth>
        Sign in with a password
      </Button>
    </EntryCard>
  );
}
