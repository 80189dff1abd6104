/**
 * The page that the address of the server opens. It is the dashboard; in `mailstead dev` on a loopback
 * address, a browser of this machine that is not signed in gets a link that signs the developer in,
 * as the terminal shows one. The link is made only for requests that may use inboxes without a key
 * (local-access.ts), so it is never made for a page or a name of another site.
 */

import { AppError } from "../lib/errors.ts";

const DASHBOARD = "/app";

export type HomePath = (request: Request, peer: string | null) => Promise<string> | string;

export function createHomePath(deps: {
  /** Makes a link that signs the developer in; null if the server signs nobody in without a password. */
  makeLink: (() => Promise<string>) | null;
  localAccess: { isOpen(request: Request, peer: string | null): boolean } | null;
  isSignedIn: (request: Request, peer: string | null) => boolean;
}): HomePath {
  const { makeLink, localAccess, isSignedIn } = deps;
  if (makeLink === null || localAccess === null) return () => DASHBOARD;

  function isOpen(request: Request, peer: string | null): boolean {
    try {
      return localAccess?.isOpen(request, peer) ?? false;
    } catch (error) {
      if (error instanceof AppError) return false;
      throw error;
    }
  }

  return (request, peer) => {
    // Programs that ask whether the server answers need no link.
    const isPage = request.headers.get("accept")?.includes("text/html") ?? false;
    const needsLink = isPage && isOpen(request, peer) && !isSignedIn(request, peer);
    return needsLink ? makeLink() : DASHBOARD;
  };
}
