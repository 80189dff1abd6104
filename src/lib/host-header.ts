/**
 * True for a request with two Host headers, which must be refused (RFC 9112 §3.2). They arrive
 * joined by a comma, which no host name contains.
 */
export function hasTwoHosts(request: Request): boolean {
  return request.headers.get("host")?.includes(",") === true;
}
