/**
 * The HTTP client for URLs that strangers name: webhooks, workflow steps, policies of domains.
 *
 *   URL → scheme, port, credentials → addresses by our own DNS client → only public ones
 *   → dial that very address → redirect? the same again, at most five times → the first 64 KiB
 *
 * What was checked is what is dialled, so an answer of the DNS that changes in between (rebinding)
 * changes nothing, and neither do /etc/hosts and the proxy variables of the environment.
 */

import { exchange, explain, isUnconnected, type GuardedResponse } from "./exchange.ts";
import { FetchRefused } from "./refusal.ts";
import { checkRequest, followRedirect, locationOf, type CheckedRequest } from "./request.ts";
import { parseUrl } from "../../lib/url.ts";
import { addressesOf, readTarget, type TargetRules } from "./target.ts";

export type GuardedRequest = {
  method: string;
  headers?: Record<string, string>;
  /** Not sent with GET and HEAD. */
  body?: string;
  signal?: AbortSignal;
};

/** Rejects with FetchRefused, and with nothing else. Every status is an answer. */
export type FetchGuarded = (url: string, request: GuardedRequest) => Promise<GuardedResponse>;

export type FetchGuardedOptions = TargetRules & {
  /** Of the whole exchange: look-ups, redirects and the body included. */
  timeoutMs?: number | undefined;
  /** False: a redirect is the answer. */
  followsRedirects?: boolean;
  /** PEM; trusted instead of the built-in authorities. */
  ca?: string | undefined;
};

const TIMEOUT_MS = 10_000;
const MOST_REDIRECTS = 5;

export function createFetchGuarded(options: FetchGuardedOptions): FetchGuarded {
  const { timeoutMs = TIMEOUT_MS, followsRedirects = true, ca } = options;

  return async (url, request) => {
    const deadline = new Deadline(timeoutMs, request.signal);
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
      if (redirects === MOST_REDIRECTS) {
        throw new FetchRefused("too_many_redirects", `More than ${MOST_REDIRECTS} redirects.`);
      }
      const next = readTarget(parseUrl(location, request.url.href)?.href ?? "");
      request = followRedirect(request, next);
    }
  }

  /** Address after address until one takes the connection. */
  async function askHost(request: CheckedRequest, signal: AbortSignal): Promise<GuardedResponse> {
    const addresses = await addressesOf(request.url, options);
    for (const [index, address] of addresses.entries()) {
      signal.throwIfAborted();
      try {
        return await exchange(request, address, { signal, ca });
      } catch (error) {
        const isLast = index === addresses.length - 1;
        if (isLast || !isUnconnected(error)) throw explain(error, request.url.hostname);
      }
    }
    throw new FetchRefused("unresolvable", `${request.url.hostname} has no address`);
  }
}

/** Ends what is under way when its time is over, or when the caller wants it to. */
class Deadline {
  readonly #ender = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #caller: AbortSignal | undefined;

  constructor(timeoutMs: number, caller: AbortSignal | undefined) {
    const seconds = timeoutMs / 1_000;
    this.#timer = setTimeout(
      () => this.#end(new FetchRefused("timeout", `Timed out: no answer within ${seconds} s.`)),
      timeoutMs,
    );
    this.#caller = caller;
    if (caller?.aborted === true) this.#abort();
    else caller?.addEventListener("abort", this.#abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#ender.signal;
  }

  /** As the promise, but rejects at once when the end comes; a look-up cannot be aborted. */
  async race<T>(underWay: Promise<T>): Promise<T> {
    const { signal } = this;
    const { promise, reject } = Promise.withResolvers<never>();
    const refuse = () => reject(signal.reason);
    if (signal.aborted) refuse();
    else signal.addEventListener("abort", refuse, { once: true });
    return Promise.race([underWay, promise]);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#abort);
  }

  readonly #abort = (): void => {
    this.#end(new FetchRefused("aborted", "The request was given up."));
  };

  #end(reason: FetchRefused): void {
    this.#ender.abort(reason);
  }
}
