/** Requests that last longer than the server lets a connection be idle. */

/** The part of the platform's server that this file needs; `server` is null in tests. */
type Incoming = {
  request: Request;
  server: { timeout(request: Request, seconds: number): void } | null;
};

/** Lets a request be idle for this time; 0 for no limit. */
export function allowIdle({ request, server }: Incoming, seconds: number): void {
  server?.timeout(request, seconds);
}
