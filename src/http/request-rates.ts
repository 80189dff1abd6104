/**
 * Limits the requests per minute of API keys and of users with a session. The secret keys of a project
 * share one limit. Every visitor of a site can read its public key, so requests with public keys are
 * counted separately: one limit per project, and one per client address of the project. A user has one
 * limit for all sessions and projects.
 */

import { type Decision, slidingWindow, type SlidingWindow } from "./rate-limit.ts";

/** A limit as the RateLimit headers show it. */
export type Budget = Decision & { limit: number };

type RequestRates = {
  /** Counts a request unless the limit is reached. Returns null if there is no limit. */
  takeSecret(projectSeq: number): Budget | null;
  /** The same. If two limits apply, it returns the one that refuses or has fewer requests left. */
  takePublic(projectSeq: number, client: string): Budget | null;
  /** The same as `takeSecret` for a request of a user with a session. */
  takeUser(userSeq: number): Budget | null;
};

const WINDOW_MS = 60_000;
const MAX_TRACKED_PROJECTS = 10_000;
const MAX_TRACKED_CLIENTS = 20_000;
const MAX_TRACKED_USERS = 10_000;

export function createRequestRates(options: {
  /** Requests per minute; 0 means no limit. The same holds for the next three. */
  secretPerProject: number;
  publicPerProject: number;
  publicPerClient: number;
  perUser: number;
  /** Monotonic milliseconds (`Clock.elapsed`). */
  now: () => number;
}): RequestRates {
  const secret = windowOf(options.secretPerProject, MAX_TRACKED_PROJECTS);
  const projects = windowOf(options.publicPerProject, MAX_TRACKED_PROJECTS);
  const clients = windowOf(options.publicPerClient, MAX_TRACKED_CLIENTS);
  const users = windowOf(options.perUser, MAX_TRACKED_USERS);

  function windowOf(limit: number, maxKeys: number): SlidingWindow | null {
    const { now } = options;
    return limit === 0 ? null : slidingWindow({ limit, windowMs: WINDOW_MS, now, maxKeys });
  }

  function budget(limit: number, decision: Decision | undefined): Budget | null {
    return decision === undefined ? null : { ...decision, limit };
  }

  return {
    takeSecret: (projectSeq) => budget(options.secretPerProject, secret?.take(projectSeq)),

    takeUser: (userSeq) => budget(options.perUser, users?.take(userSeq)),

    takePublic(projectSeq, client) {
      const { publicPerProject, publicPerClient } = options;
      const clientKey = `${projectSeq} ${client}`;
      // Both limits are checked before a request is counted, so a refused request uses up neither.
      const refusal = clients?.refusal(clientKey) ?? null;
      if (refusal !== null) return { ...refusal, limit: publicPerClient };
      const projectBudget = budget(publicPerProject, projects?.take(projectSeq));
      if (projectBudget?.isAllowed === false) return projectBudget;
      return tighter(projectBudget, budget(publicPerClient, clients?.take(clientKey)));
    },
  };
}

function tighter(one: Budget | null, other: Budget | null): Budget | null {
  if (one === null || other === null) return one ?? other;
  return one.remaining <= other.remaining ? one : other;
}
