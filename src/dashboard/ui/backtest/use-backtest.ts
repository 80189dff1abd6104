/** The last backtest of a workflow or a segment, which is read again while it runs. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Backtest } from "../../../modules/workflows/simulation/backtest-model.ts";

/** The part that backtests of workflows and of segments share. */
export type AnyBacktest = Omit<Backtest, "workflowId" | "result">;

/** The requests of the backtest of one workflow or segment. */
export type BacktestRequests<B> = {
  read: (signal: AbortSignal) => Promise<{ backtest: B | null }>;
  start: (body: object) => Promise<B>;
  cancel: () => Promise<B>;
};

const POLL_MS = 1_000;

/** `subject` is the id of the workflow or the segment. */
export function useBacktest<B extends AnyBacktest>(
  project: string,
  subject: string,
  requests: BacktestRequests<B>,
) {
  const client = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  const queryKey = ["backtest", project, subject];
  const last = useQuery({
    queryKey,
    queryFn: ({ signal }) => requests.read(signal),
    refetchInterval: ({ state }) => (state.data?.backtest?.status === "RUNNING" ? POLL_MS : false),
  });
  async function show(request: Promise<B>): Promise<B | null> {
    try {
      const backtest = await request;
      setError(null);
      client.setQueryData(queryKey, { backtest });
      return backtest;
    } catch (problem) {
      setError(problem);
      return null;
    }
  }
  return {
    last,
    error,
    start: (body: object) => show(requests.start(body)),
    cancel: () => show(requests.cancel()),
  };
}
