/** A request in the form in which the framework passes it to the hooks of a route. */

export type Incoming = {
  request: Request;
  path: string;
  /** The pattern of the matched route. */
  route: string;
  params?: Readonly<Record<string, string | undefined>>;
  body?: unknown;
  set: { headers: Record<string, string | number | undefined>; status?: number | string };
  server: RequestServer | null;
};

/** The part of the platform's server that tells the other end of a socket. */
export type RequestServer = {
  requestIP(request: Request): { address: string; port: number } | null;
};

/** The address of the client's socket; null if it is closed. */
export function peerOf({ request, server }: Pick<Incoming, "request" | "server">): string | null {
  const known = inherited.get(request);
  if (known !== undefined) return known;
  const end = server?.requestIP(request) ?? null;
  return end === null ? null : (relayed.get(keyOf(end)) ?? end.address);
}

/** Peers of requests that the server makes to itself for a client (own-requests.ts). */
const inherited = new WeakMap<Request, string>();

/** Gives a request the peer of the client for whom it is made. */
export function inheritPeer(request: Request, client: Pick<Incoming, "request" | "server">): void {
  const peer = peerOf(client);
  if (peer !== null) inherited.set(request, peer);
}

/**
 * The clients of connections that this process makes to its own HTTP listener, by its end of them: HTTPS is
 * decrypted by one listener and passed on to the other (tls/https.ts).
 */
const relayed = new Map<string, string>();

type SocketEnd = { address: string; port: number };

/** A socket that accepts both writes an IPv4 address as an IPv6 address. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=[\d.]+$)/, "");

const keyOf = ({ address, port }: SocketEnd): string => `${plainAddress(address)} ${port}`;

/** Keeps the client of such a connection until the returned function is called. */
export function keepRelayedPeer(end: SocketEnd, client: string): () => void {
  const key = keyOf(end);
  relayed.set(key, plainAddress(client));
  return () => void relayed.delete(key);
}
