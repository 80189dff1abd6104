/**
 * Signs a browser of this machine in when it opens a page: only in `mailstead dev` on a loopback
 * address, whose owner has no password. The page then leads to a link that signs the developer in
 * and returns. A link is made only for requests that may use inboxes without a key (local-access.ts),
 * so it is never made for a page or a name of another site.
 */

import { AppError } from "../lib/errors.ts";

/**
 * The path to which a request for a page is sent first; null if it gets the page. `next` is the page
 * below /app, with its query.
 */
export type SignInPath = (
  request: Request,
  peer: string | null,
  next: string,
) => Promise<string | null>;

export function createSignInPath(deps: {
  /** Makes a token that signs the developer in; null if every sign-in needs a password. */
  makeToken: (() => Promise<string>) | null;
  localAccess: { isOpen(request: Request, peer: string | null): boolean } | null;
  isSigningIn: (request: Request, peer: string | null) => boolean;
}): SignInPath {
  const { makeToken, localAccess, isSigningIn } = deps;
  if (makeToken === null || localAccess === null) return async () => null;

  function isOpen(request: Request, peer: string | null): boolean {
    try {
      return localAccess?.isOpen(request, peer) ?? false;
    } catch (error) {
      if (error instanceof AppError) return false;
      throw error;
    }
  }

  return async (request, peer, next) => {
    // Programs that ask whether the server answers need no link.
    const isPage = request.headers.get("accept")?.includes("text/html") ?? false;
    if (!isPage || !isOpen(request, peer) || isSigningIn(request, peer)) return null;
    const search = next === "/" ? "" : `?next=${encodeURIComponent(next)}`;
    return `/app/link${search}#${await makeToken()}`;
  };
}
