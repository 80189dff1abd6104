/** A one-time sign-in link, such as the one that `mailstead dev` prints. It signs in at once. */

import { Button, Loader } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { api } from "../../api.ts";
import { Problem } from "../../ui/problem.tsx";
import { useEnter } from "./enter.ts";
import { EntryCard, tokenOfLink } from "./frame.tsx";

export function LinkPage() {
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
    if (isSuccess) void enter();
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
