/** A request in the form in which the framework passes it to the hooks of a route. */

export type Incoming = {
  request: Request;
  path: string;
  /** The pattern of the matched route. */
  route: string;
  params?: Readonly<Record<string, string | undefined>>;
  body?: unknown;
  set: { headers: Record<string, string | number | undefined>; status?: number | string };
  server: { requestIP(request: Request): { address: string } | null } | null;
};

/** The address of the socket; null if it is closed. */
export function peerOf({ request, server }: Pick<Incoming, "request" | "server">): string | null {
  return server?.requestIP(request)?.address ?? null;
}
