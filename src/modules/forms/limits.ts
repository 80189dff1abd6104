/**
 * Rate limits of forms. Pages and submissions have the limits of public keys (--public-key-rate,
 * --public-client-rate). Submissions that would send a mail or create a contact have stricter limits,
 * for each network of clients and for each form, so that a form cannot be abused to send mail to
 * strangers. The limit for an address is in submissions.ts, because it must survive a restart.
 */

import { isIPv4 } from "node:net";
import type { App } from "../../core/app.ts";
import { type SlidingWindow, slidingWindow } from "../../http/rate-limit.ts";
import { createRequestRates } from "../../http/request-rates.ts";
import { clientNetwork } from "../../lib/client-network.ts";
import { perApp } from "../../lib/per-app.ts";

const HOUR_MS = 60 * 60_000;
/** Submissions in an hour from one network: a /24 of IPv4 or a /64 of IPv6. */
const MAX_OF_NETWORK = 30;
/** Submissions in an hour to one form. */
const MAX_OF_FORM = 3_000;
const MAX_TRACKED_NETWORKS = 20_000;
const MAX_TRACKED_FORMS = 1_000;

type Limits = {
  requests: ReturnType<typeof createRequestRates>;
  networks: SlidingWindow;
  forms: SlidingWindow;
};

const limits = perApp(({ clock, config }: App): Limits => {
  const now = clock.elapsed;
  const hourly = (limit: number, maxKeys: number) =>
    slidingWindow({ limit, windowMs: HOUR_MS, now, maxKeys });
  return {
    requests: createRequestRates({
      secretPerProject: 0,
      perUser: 0,
      publicPerProject: config.publicKeyRate,
      publicPerClient: config.publicClientRate,
      now,
    }),
    networks: hourly(MAX_OF_NETWORK, MAX_TRACKED_NETWORKS),
    forms: hourly(MAX_OF_FORM, MAX_TRACKED_FORMS),
  };
});

/** Counts a request for a page of a form. False if there were too many. */
export function mayRequest(app: App, projectSeq: number, client: string | null): boolean {
  const budget = limits(app).requests.takePublic(projectSeq, clientNetwork(client ?? ""));
  return budget?.isAllowed !== false;
}

/** Counts a submission that is about to be stored. False if there were too many. */
export function maySubmit(
  app: App,
  form: { seq: number; projectSeq: number },
  client: string | null,
): boolean {
  const { networks, forms } = limits(app);
  const network = `${form.projectSeq} ${networkOf(client ?? "")}`;
  if (networks.refusal(network) !== null || forms.refusal(form.seq) !== null) return false;
  return networks.take(network).isAllowed && forms.take(form.seq).isAllowed;
}

function networkOf(client: string): string {
  const network = clientNetwork(client);
  return isIPv4(network) ? `${network.slice(0, network.lastIndexOf("."))}.0/24` : network;
}
