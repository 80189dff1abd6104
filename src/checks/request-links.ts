/** Requests the links of a message by the guarded client, which refuses private addresses. */

import PQueue from "p-queue";
import type { FetchGuarded } from "../protocols/fetch-guarded/fetch-guarded.ts";
import { FetchRefused } from "../protocols/fetch-guarded/refusal.ts";

/** Links of one message that are requested. */
const MAX_LINKS = 50;
/** Requests at the same time, of all messages together. */
const CONCURRENCY = 5;
/** Some servers answer only GET. */
const NEEDS_GET: readonly number[] = [403, 404, 405, 501];

/** The response to the request of a link: its status, or the reason why there is none. */
type RequestedLink = { url: string; status: number | null; error: string | null };

export function createLinkCheck(fetchGuarded: FetchGuarded) {
  const queue = new PQueue({ concurrency: CONCURRENCY });

  async function check(url: string, signal: AbortSignal): Promise<RequestedLink> {
    try {
      const first = await fetchGuarded(url, { method: "HEAD", signal });
      if (!NEEDS_GET.includes(first.status)) return { url, status: first.status, error: null };
      const { status } = await fetchGuarded(url, { method: "GET", signal });
      return { url, status, error: null };
    } catch (error) {
      if (error instanceof FetchRefused) return { url, status: null, error: error.message };
      throw error;
    }
  }

  return (urls: readonly string[], signal: AbortSignal): Promise<RequestedLink[]> =>
    Promise.all(urls.slice(0, MAX_LINKS).map((url) => queue.add(() => check(url, signal))));
}
