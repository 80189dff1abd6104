/** The listeners of `--tls`: HTTPS, and HTTP that is redirected to it. Without TLS there are none. */

import { networkInterfaces } from "node:os";
import type { App } from "../core/app.ts";
import { hostedNames } from "../core/hosted-names.ts";
import { isInRanges } from "../lib/address-ranges.ts";
import { perApp } from "../lib/per-app.ts";
import { isLoopback } from "../protocols/smtp/relay-url.ts";
import { hostCertificates } from "./host-certificates.ts";
import { createHttpsListener, type HttpsListener, type KeepPeer } from "./https.ts";
import { servePlainHttp } from "./plain-http.ts";
import { serverCertificate } from "./server-certificate.ts";

/** More than a large office needs behind one address; browsers open six each. */
const MAX_PER_NETWORK = 1_000;

/** The port of HTTPS; null until it listens. */
export const httpsPort = perApp((_app: App): { value: number | null } => ({ value: null }));

export function createTlsListeners(app: App, keepPeer: KeepPeer) {
  const { clock, config } = app;
  let https: HttpsListener | null = null;
  let plain: ReturnType<typeof servePlainHttp> | null = null;

  const isShared = (address: string) =>
    isLoopback(address) || isInRanges(address, config.trustedProxies);

  return {
    /** `port` is that of the HTTP listener, which has been opened. Throws ConfigError. */
    async open(port: number): Promise<void> {
      const shared = serverCertificate(app);
      const certificate = await shared.load();
      const { url, trackingUrl } = config;
      if (certificate === null || url === null) return;
      const hosts = hostCertificates(app);
      const target = { host: reachable(config.host), port };
      const listener = createHttpsListener({
        certificate,
        contextOf: hosts.contextOf,
        target,
        keepPeer,
        clock,
        isShared,
        maxPerNetwork: MAX_PER_NETWORK,
      });
      shared.onChange(listener.useCertificate);
      httpsPort(app).value = await listener.listen(config.https ?? everyAddress(443));
      https = listener;
      const address = config.plainHttp ?? everyAddress(80);
      plain = servePlainHttp({
        address,
        url,
        trackingUrl,
        keyAuthorization: (token) =>
          shared.keyAuthorization(token) ?? hosts.keyAuthorization(token),
        hosted: hostedNames(app),
      });
    },

    async stop(): Promise<void> {
      https?.stop();
      await plain?.stop();
    },
  };
}

/** `::` accepts IPv4 as well, but only where the system has IPv6. */
function everyAddress(port: number): { host: string; port: number } {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const hasIpv6 = addresses.some(({ family }) => family === "IPv6");
  return { host: hasIpv6 ? "::" : "0.0.0.0", port };
}

/** An address to connect to, for one to listen on. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}
