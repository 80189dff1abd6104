import { Skeleton } from "@mantine/core";
import type { ReactNode } from "react";
import { Problem } from "./problem.tsx";
import { useDelayed } from "./use-delayed.ts";

/** Shows the result of a query, its error with a button to try again, or a skeleton while it is slow. */
export function Loaded<T>(props: {
  query: { data: T | undefined; error: Error | null; refetch: () => unknown };
  /** Height of the skeleton in pixels. */
  height?: number;
  children: (data: T) => ReactNode;
}) {
  const { query, height = 240, children } = props;
  const { data, error, refetch } = query;
  const isSlow = useDelayed(data === undefined && error === null);
  if (data !== undefined) return children(data);
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />;
  return isSlow ? <Skeleton height={height} aria-busy="true" /> : null;
}
