/**
 * Requests that the server makes to itself for a client, such as those of a tool of MCP. Each has the
 * credentials and the address of the client, so it may do what the client may do, and is limited
 * like a request of the client.
 */

import type { App } from "../core/app.ts";
import { perApp } from "../lib/per-app.ts";
import { type Incoming, inheritPeer } from "./incoming.ts";
import { PROXY_HEADERS } from "./local-access.ts";

type Handle = (request: Request) => Promise<Response>;

/** The headers that tell who the client is. Cookies are left out: only keys are passed on. */
const FORWARDED = ["authorization", "host", "user-agent", ...PROXY_HEADERS];

export const ownRequests = perApp((_app: App) => {
  let handle: Handle | null = null;
  return {
    /** Called once, when the routes are known. */
    setHandler(handler: Handle): void {
      handle = handler;
    },

    /** Sends a request to a path of this server for a client. */
    send(client: Incoming, path: string, init: RequestInit): Promise<Response> {
      if (handle === null) throw new Error("the routes of the server are not known yet");
      const headers = new Headers(init.headers);
      for (const name of FORWARDED) {
        const value = client.request.headers.get(name);
        if (value !== null) headers.set(name, value);
      }
      const request = new Request(`http://localhost${path}`, { ...init, headers });
      inheritPeer(request, client);
      return handle(request);
    },
  };
});
