/** The error for an address on which the server cannot listen. */

import { ConfigError } from "./read.ts";

/** Listening on a port below needs a capability on Linux (capabilities(7)). */
const FIRST_UNPRIVILEGED_PORT = 1024;

/** `flag` is that of the setting, with the form of its value. */
export function cannotListen(
  { host, port }: { host: string; port: number },
  flag: string,
  error: unknown,
): ConfigError {
  const why = error instanceof Error ? error.message : String(error);
  const isDenied = error instanceof Error && "code" in error && error.code === "EACCES";
  const capability =
    isDenied && port < FIRST_UNPRIVILEGED_PORT
      ? `give the process the capability CAP_NET_BIND_SERVICE, which ports below ${FIRST_UNPRIVILEGED_PORT} need, or `
      : "";
  return new ConfigError(
    `cannot listen on ${host}:${port} (${why}); ${capability}choose another address with ${flag}`,
  );
}
