/**
 * The HTTP client for untrusted URLs: webhooks, WEBHOOK steps of workflows, attachments at a URL, and
 * MTA-STS policies.
 *
 * 1. `target.ts` checks scheme, port and credentials of the URL, resolves its addresses with our
 *    own DNS client, and removes addresses that are not public.
 * 2. `request.ts` checks method and headers.
 * 3. `exchange.ts` connects to one of these addresses and reads the beginning of the body.
 * 4. A redirect repeats the steps, at most five times.
 *
 * The client connects to exactly the addresses that were checked. A DNS answer that changes in
 * between (DNS rebinding), /etc/hosts and the proxy variables of the environment have no effect.
 */

import { type Clock, systemClock } from "../../lib/clock.ts";
import { exchangeHttp, explain, isUnconnected, type GuardedResponse } from "./exchange.ts";
import { FetchRefused } from "./refusal.ts";
import { checkRequest, followRedirect, locationOf, type CheckedRequest } from "./request.ts";
import { parseUrl } from "../../lib/url.ts";
import { addressesOf, readTarget, type TargetRules } from "./target.ts";

export type GuardedRequest = {
  method: string;
  headers?: Record<string, string>;
  /** Not sent with GET and HEAD. */
  body?: string;
  /** Most bytes of the body of the response that are read; 64 KiB if absent. */
  maxBodyBytes?: number;
  signal?: AbortSignal;
};

/** Resolves with any HTTP status. Rejects only with FetchRefused. */
export type FetchGuarded = (url: string, request: GuardedRequest) => Promise<GuardedResponse>;

export type FetchGuardedOptions = TargetRules & {
  /** Timeout of the whole request, with look-ups, redirects and the body. */
  timeoutMs?: number | undefined;
  /** Measures that time; by default the clock of the system. */
  clock?: Clock | undefined;
  /** If false, a redirect is returned as the response. */
  followsRedirects?: boolean;
  /** PEM; trusted instead of the built-in authorities. */
  ca?: string | undefined;
};

const TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 5;

export function createFetchGuarded(options: FetchGuardedOptions): FetchGuarded {
  const { timeoutMs = TIMEOUT_MS, clock = systemClock, followsRedirects = true, ca } = options;

  return async (url, request) => {
    const deadline = new Deadline(clock, timeoutMs, request.signal);
    try {
      return await deadline.race(follow(checkRequest(readTarget(url), request), deadline.signal));
    } finally {
      deadline.end();
    }
  };

  async function follow(first: CheckedRequest, signal: AbortSignal): Promise<GuardedResponse> {
    let request = first;
    for (let redirects = 0; ; redirects++) {
      const response = await askHost(request, signal);
      const location = followsRedirects ? locationOf(request.method, response) : null;
      if (location === null) return response;
      if (redirects === MAX_REDIRECTS) {
        throw new FetchRefused("too_many_redirects", `More than ${MAX_REDIRECTS} redirects.`);
      }
      const next = readTarget(parseUrl(location, request.url.href)?.href ?? "");
      request = followRedirect(request, next);
    }
  }

  /** Tries one address after another until one accepts the connection. */
  async function askHost(request: CheckedRequest, signal: AbortSignal): Promise<GuardedResponse> {
    const addresses = await addressesOf(request.url, options);
    for (const [index, address] of addresses.entries()) {
      signal.throwIfAborted();
      try {
        return await exchangeHttp(request, address, { signal, ca });
      } catch (error) {
        const isLast = index === addresses.length - 1;
        if (isLast || !isUnconnected(error)) throw explain(error, request.url.hostname);
      }
    }
    throw new FetchRefused("unresolvable", `${request.url.hostname} has no address`);
  }
}

/** Aborts the request when its time is over or the caller aborts it. */
class Deadline {
  readonly #ender = new AbortController();
  readonly #cancelTimer: () => void;
  readonly #caller: AbortSignal | undefined;

  constructor(clock: Clock, timeoutMs: number, caller: AbortSignal | undefined) {
    const seconds = timeoutMs / 1_000;
    this.#cancelTimer = clock.after(timeoutMs, () =>
      this.#end(new FetchRefused("timeout", `Timed out: no answer within ${seconds} s.`)),
    );
    this.#caller = caller;
    if (caller?.aborted === true) this.#abort();
    else caller?.addEventListener("abort", this.#abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#ender.signal;
  }

  /** Like the promise, but rejects at once at the deadline, because a look-up cannot be aborted. */
  async race<T>(underWay: Promise<T>): Promise<T> {
    const { signal } = this;
    const { promise, reject } = Promise.withResolvers<never>();
    const refuse = () => reject(signal.reason);
    if (signal.aborted) refuse();
    else signal.addEventListener("abort", refuse, { once: true });
    return Promise.race([underWay, promise]);
  }

  end(): void {
    this.#cancelTimer();
    this.#caller?.removeEventListener("abort", this.#abort);
  }

  readonly #abort = (): void => {
    this.#end(new FetchRefused("aborted", "The request was aborted."));
  };

  #end(reason: FetchRefused): void {
    this.#ender.abort(reason);
  }
}
