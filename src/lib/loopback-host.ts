/** Addresses to listen on that only this machine can reach. */

const LOOPBACK_HOSTS = ["127.0.0.1", "localhost", "::1"];

/** Whether only this machine can reach a server that listens on this host. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK_HOSTS.includes(host);
}
