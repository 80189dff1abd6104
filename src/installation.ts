/** The public address of this installation, which its settings tell. */

import type { Config } from "./config/settings.ts";

/** An IPv6 address in a URL is in brackets. */
export function hostInUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** The public base of links, without a slash at the end. */
export function linkBase({ url, host, port }: Pick<Config, "url" | "host" | "port">): string {
  return url ?? `http://${hostInUrl(host)}:${port}`;
}
