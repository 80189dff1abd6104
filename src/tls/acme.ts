/**
 * The certificate that a CA gives over ACME (`--tls acme`). `check` runs every half minute, and makes
 * at most one order:
 *
 * 1. A failed try is followed by pauses of 1, 10 and 60 minutes, and then of 6 hours; longer if the CA
 *    says so. They are stored, so that a restart does not shorten them.
 * 2. Every 6 hours the CA is asked when it wants the certificate to be renewed (RFC 9773), and a moment
 *    within its window is chosen. Without an answer it is renewed when a third of its life is left.
 * 3. A certificate is ordered if there is none, if the names have changed, or if it is to be renewed, and
 *    if nothing speaks against it (order-check.ts). The old one stays in use until then.
 */

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Config } from "../config/settings.ts";
import type { App } from "../core/app.ts";
import { isoTime } from "../lib/clock.ts";
import {
  AcmeError,
  createAcmeClient,
  generateAccountKey,
  type Publish,
} from "../protocols/acme/client.ts";
import { renewalId } from "../protocols/acme/certificate-request.ts";
import { reasonAgainstOrder, whatAnswersElsewhere } from "./order-check.ts";
import { type AcmeState, readAcmeState, storeAcmeState } from "./acme-state.ts";
import { type Certificate, requirePair } from "./certificate.ts";

export const LETS_ENCRYPT = "https://acme-v02.api.letsencrypt.org/directory";
const MINUTE_MS = 60_000;
const PAUSES_MS = [MINUTE_MS, 10 * MINUTE_MS, 60 * MINUTE_MS] as const;
const LONGEST_PAUSE_MS = 360 * MINUTE_MS;
const RENEWAL_INFO_MS = 360 * MINUTE_MS;

/** The names for which a certificate is ordered. */
export function certificateNames(
  config: Pick<
    Config,
    "url" | "trackingUrl" | "hostname" | "inbound" | "submission" | "submissions"
  >,
): string[] {
  const { url, trackingUrl, hostname, inbound, submission, submissions } = config;
  const urls = [url, trackingUrl].flatMap((each) => (each === null ? [] : new URL(each).hostname));
  // A CA would refuse the whole order because of a name such as “server”, which systems have by default.
  const isPublic = hostname.includes(".");
  const hasSmtp = inbound !== null || submission !== null || submissions !== null;
  return [...new Set([...urls, ...(hasSmtp && isPublic ? [hostname] : [])])];
}

/** The names of one order, and where its state is stored. */
type AcmeOrder = {
  names: readonly string[];
  /** Private key of the account, if there is one already. */
  accountKey?: string | undefined;
  stored: AcmeState | null;
  /** Part of a change. */
  store: (state: AcmeState) => void;
};

function installationOrder({ config, db, secret }: App): AcmeOrder {
  return {
    names: certificateNames(config),
    stored: readAcmeState(db, secret),
    store: (state) => storeAcmeState(db, secret, state),
  };
}

/** Without an `order`, the certificate is that of the installation. */
export function createAcme(
  app: App,
  use: (certificate: Certificate) => void,
  { names, accountKey, stored, store }: AcmeOrder = installationOrder(app),
) {
  const { clock, config, log, random, writer } = app;
  const directory = config.acmeDirectory ?? LETS_ENCRYPT;
  const keyAuthorizations = new Map<string, string>();
  const ending = new AbortController();
  let state: AcmeState =
    stored !== null && stored.directory === directory
      ? stored
      : {
          directory,
          accountKey: accountKey ?? generateAccountKey(),
          certificate: null,
          renewal: null,
          failure: null,
        };

  async function change(changes: Partial<AcmeState>): Promise<void> {
    const changed = { ...state, ...changes };
    await writer.write(() => store(changed));
    state = changed;
  }

  const publish: Publish = (token, keyAuthorization) => {
    keyAuthorizations.set(token, keyAuthorization);
    return () => void keyAuthorizations.delete(token);
  };

  function openClient() {
    const ca = config.acmeCa === null ? null : readFileSync(config.acmeCa, "utf8");
    const { accountKey } = state;
    return createAcmeClient({
      directoryUrl: directory,
      accountKey,
      ca,
      binding: config.acmeEab,
      signal: ending.signal,
      clock,
    });
  }

  /** Asks the CA when to renew, if that was not asked for a while. */
  async function askForWindow({ cert }: Certificate): Promise<void> {
    const askedAt = clock.now();
    const { renewal } = state;
    if (renewal !== null && askedAt - renewal.askedAt < RENEWAL_INFO_MS) return;
    const id = renewalId(new X509Certificate(cert));
    const window =
      id === null
        ? null
        : await openClient()
            .renewalWindow(id)
            .catch((error: unknown) => {
              log.info("the CA did not say when to renew the certificate", {
                error: textOf(error),
              });
              return null;
            });
    if (window === null) {
      const { startMs, renewAt } = renewal ?? { startMs: null, renewAt: null };
      return change({ renewal: { askedAt, startMs, renewAt } });
    }
    const { startMs, endMs } = window;
    const isSame = renewal?.startMs === startMs && renewal.renewAt !== null;
    const renewAt = isSame ? renewal.renewAt : Math.round(startMs + random() * (endMs - startMs));
    await change({ renewal: { askedAt, startMs, renewAt } });
  }

  function isDue(): boolean {
    const { certificate, renewal } = state;
    if (certificate === null) return true;
    if (certificate.names.join() !== names.join()) return true;
    return clock.now() >= Math.min(renewal?.renewAt ?? Infinity, lastThirdOf(certificate.cert));
  }

  async function order(): Promise<void> {
    const { certificate } = state;
    // The key of the account is stored before it is used, so that there are not many accounts.
    await change({});
    const replaces = certificate === null ? null : renewalId(new X509Certificate(certificate.cert));
    const client = openClient();
    const caaIdentities = await client.caaIdentities();
    const reason = await reasonAgainstOrder(app, { names, caaIdentities });
    if (reason !== null) throw new Error(reason);
    const elsewhere = await whatAnswersElsewhere(app, names, publish);
    const issued = await client
      .issue(names, { publish, replaces })
      .catch((error: unknown) => Promise.reject(withHint(error, elsewhere)));
    requirePair(issued);
    await change({ certificate: { ...issued, names: [...names] }, renewal: null, failure: null });
    use(issued);
    const until = isoTime(new X509Certificate(issued.cert).validToDate.getTime());
    log.info("the CA has given a certificate", { names, until });
  }

  async function recordFailure(error: unknown): Promise<void> {
    const count = (state.failure?.count ?? 0) + 1;
    const pauseMs = PAUSES_MS[count - 1] ?? LONGEST_PAUSE_MS;
    const wantedMs = error instanceof AcmeError ? (error.retryAfterMs ?? 0) : 0;
    const retryAt = clock.now() + Math.max(pauseMs, wantedMs);
    const message = textOf(error);
    log.warn("the CA gave no certificate", { names, error: message, retryAt: isoTime(retryAt) });
    await change({ failure: { count, retryAt, message } });
  }

  return {
    /** The certificate of an earlier run; null if there is none. */
    stored: (): Certificate | null => state.certificate,

    /** The tries that have failed since the last certificate; null if there are none. */
    failure: () => state.failure,

    /** Returns the key authorization of a token (RFC 8555 §8.1); null for an unknown token. */
    keyAuthorization: (token: string): string | null => keyAuthorizations.get(token) ?? null,

    async check(): Promise<void> {
      const { certificate, failure } = state;
      if (failure !== null && clock.now() < failure.retryAt) return;
      if (certificate !== null) await askForWindow(certificate);
      if (!isDue() || ending.signal.aborted) return;
      try {
        await order();
      } catch (error) {
        // An order that a stop ends is no failure of the CA.
        if (!ending.signal.aborted) await recordFailure(error);
      }
    },

    stop(): void {
      ending.abort();
    },
  };
}

/** Adds what was seen here to the words of the CA, if it has refused a name after it has looked at it. */
function withHint(error: unknown, hint: string | null): unknown {
  if (hint === null || !(error instanceof AcmeError) || error.type !== "") return error;
  const { message, type, retryAfterMs } = error;
  return new AcmeError(`${message.slice(0, 800)}; ${hint}`, type, retryAfterMs);
}

/** The time from which a third of the life of a certificate is left. */
function lastThirdOf(cert: string): number {
  const { validFromDate, validToDate } = new X509Certificate(cert);
  const lifeMs = validToDate.getTime() - validFromDate.getTime();
  return validToDate.getTime() - lifeMs / 3;
}

function textOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 1_000);
}
