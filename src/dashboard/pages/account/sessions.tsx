import { Button, Skeleton } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api.ts";
import { Problem } from "../../ui/problem.tsx";
import { Time } from "../../ui/time.tsx";
import { useDelayed } from "../../ui/use-delayed.ts";
import { browserOf } from "./browser-of.ts";

type Session = {
  id: string;
  createdAt: string;
  lastSeenAt: string;
  address: string | null;
  userAgent: string | null;
  signedInBy: "PASSWORD" | "LINK" | "PASSKEY";
  isCurrent: boolean;
};

const WAYS = { PASSWORD: "a password", LINK: "a link", PASSKEY: "a passkey" } as const;

const KEY = ["account", "sessions"];

/** The list of the user's sessions. Each can be ended, except the one of this browser. */
export function Sessions() {
  const client = useQueryClient();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) =>
      api.get<{ items: Session[] }>("/app/api/account/sessions", { project: null, signal }),
  });
  const end = useMutation({
    mutationFn: (id: string) => api.delete(`/app/api/account/sessions/${id}`, { project: null }),
    onSettled: () => client.invalidateQueries({ queryKey: KEY }),
  });
  const isSlow = useDelayed(isPending);
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return isSlow ? <Skeleton height={56} /> : null;
  return (
    <>
      {end.error !== null && <Problem error={end.error} />}
      <ul className="rows">
        {data.items.map(({ id, address, userAgent, createdAt, lastSeenAt, ...row }) => (
          <li key={id}>
            <div className="rows-text">
              <div className="cut">{browserOf(userAgent)}</div>
              <div className="muted small">
                {row.isCurrent ? "This browser" : <Time at={lastSeenAt} />}
                {address !== null && ` · ${address}`} · signed in with {WAYS[row.signedInBy]}{" "}
                <Time at={createdAt} />
              </div>
            </div>
            {!row.isCurrent && (
              <Button
                size="xs"
                variant="default"
                loading={end.isPending && end.variables === id}
                onClick={() => end.mutate(id)}
              >
                End
              </Button>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
