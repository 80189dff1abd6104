import { Button, Skeleton } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api.ts";
import { Problem } from "../../ui/problem.tsx";
import { Time } from "../../ui/time.tsx";
import { useDelayed } from "../../ui/use-delayed.ts";

type Session = {
  id: string;
  createdAt: string;
  lastSeenAt: string;
  address: string | null;
  userAgent: string | null;
  isCurrent: boolean;
};

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
        {data.items.map(({ id, address, userAgent, lastSeenAt, isCurrent }) => (
          <li key={id}>
            <div className="rows-text">
              <div className="cut">{browserOf(userAgent)}</div>
              <div className="muted small">
                {isCurrent ? "This browser" : <Time at={lastSeenAt} />}
                {address !== null && ` · ${address}`}
              </div>
            </div>
            {!isCurrent && (
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

const BROWSERS = ["Edg", "OPR", "Firefox", "Chrome", "Safari", "curl"] as const;
const SYSTEMS = ["Windows", "Android", "iPhone", "iPad", "Mac OS", "Linux"] as const;
const NAMES: Readonly<Record<string, string>> = { Edg: "Edge", OPR: "Opera", "Mac OS": "macOS" };

/** "Firefox on Linux", as far as the header User-Agent tells. */
function browserOf(userAgent: string | null): string {
  const text = userAgent ?? "";
  const nameOf = (found: string | undefined) => NAMES[found ?? ""] ?? found;
  const browser = nameOf(BROWSERS.find((name) => text.includes(`${name}/`)));
  const system = nameOf(SYSTEMS.find((name) => text.includes(name)));
  if (browser === undefined) return text === "" ? "Unknown browser" : text;
  return system === undefined ? browser : `${browser} on ${system}`;
}
