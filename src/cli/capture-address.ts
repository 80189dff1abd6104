/** The address of the listener that catches mail, for commands that send to it. */

import type { Config } from "../config/settings.ts";

type Address = { host: string; port: number };

const DEFAULT: Address = { host: "127.0.0.1", port: 1025 };

/** The address that `--capture-smtp` names, or that of `mailstead dev`. */
export function captureAddress({ captureSmtp }: Pick<Config, "captureSmtp">): Address {
  const address = captureSmtp ?? DEFAULT;
  return { host: reachable(address.host), port: address.port };
}

/** A server that listens on all addresses of a machine is reached on loopback. */
export function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}

export function addressText({ host, port }: Address): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
