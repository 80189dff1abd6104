/**
 * How many requests per minute a key may make. Secret keys share one limit per project. Every
 * visitor of a site can read its public key, so public keys have limits of their own, which never
 * use up that of the secret keys: one per project, and within it one per client address.
 */

import { type Decision, slidingWindow, type SlidingWindow } from "./rate-limit.ts";

/** A limit as the RateLimit headers show it. */
export type Budget = Decision & { limit: number };

export type RequestRates = {
  /** Counts a request unless a limit is reached; null: no limit applies. */
  takeSecret(projectSeq: number): Budget | null;
  /** The same. Of two limits that apply the answer is the one that refuses, or is nearer to it. */
  takePublic(projectSeq: number, client: string): Budget | null;
};

const WINDOW_MS = 60_000;
const MOST_PROJECTS_TRACKED = 10_000;
const MOST_CLIENTS_TRACKED = 20_000;

export function createRequestRates(options: {
  /** Requests per minute; 0: no limit. */
  secretPerProject: number;
  publicPerProject: number;
  publicPerClient: number;
  /** Monotonic milliseconds (`Clock.elapsed`). */
  now: () => number;
}): RequestRates {
  const secret = windowOf(options.secretPerProject, MOST_PROJECTS_TRACKED);
  const projects = windowOf(options.publicPerProject, MOST_PROJECTS_TRACKED);
  const clients = windowOf(options.publicPerClient, MOST_CLIENTS_TRACKED);

  function windowOf(limit: number, maxKeys: number): SlidingWindow | null {
    const { now } = options;
    return limit === 0 ? null : slidingWindow({ limit, windowMs: WINDOW_MS, now, maxKeys });
  }

  function budget(limit: number, decision: Decision | undefined): Budget | null {
    return decision === undefined ? null : { ...decision, limit };
  }

  return {
    takeSecret: (projectSeq) => budget(options.secretPerProject, secret?.take(projectSeq)),

    takePublic(projectSeq, client) {
      const { publicPerProject, publicPerClient } = options;
      const clientKey = `${projectSeq} ${client}`;
      // Both limits are asked before either counts: what one refuses costs nothing of the other.
      const refusal = clients?.refusal(clientKey) ?? null;
      if (refusal !== null) return { ...refusal, limit: publicPerClient };
      const ofProject = budget(publicPerProject, projects?.take(projectSeq));
      if (ofProject?.isAllowed === false) return ofProject;
      return nearest(ofProject, budget(publicPerClient, clients?.take(clientKey)));
    },
  };
}

function nearest(one: Budget | null, other: Budget | null): Budget | null {
  if (one === null || other === null) return one ?? other;
  return one.remaining <= other.remaining ? one : other;
}
