/**
 * The interface of Mailpit, so that its clients work without a change. Its answers have no other
 * members than those of Mailpit; our own interface has more (../routes.ts).
 *
 * 1. access.ts admits a request and chooses its inbox.
 * 2. lists.ts, changes.ts, one-message.ts, send.ts, chaos.ts, link-check.ts, html-check.ts and
 *    info.ts answer; shapes.ts has the forms of the answers, answers.ts those of refusals.
 * 3. events.ts sends changes over a WebSocket.
 * 4. mailhog.ts has the few routes of MailHog.
 */

import { peerOf, type RequestServer } from "../../../http/incoming.ts";
import { type AnyElysia, Elysia } from "elysia";
import type { App } from "../../../core/app.ts";
import { undocumented } from "../../../http/documented.ts";
import { createFetchGuarded } from "../../../protocols/fetch-guarded/fetch-guarded.ts";
import { createMailpitAccess, type MailpitAccess } from "./access.ts";
import { MailpitRefusal, pageNotFound, refusalAnswer } from "./answers.ts";
import { createReadBody } from "./body.ts";
import { mailpitChaosRoutes } from "./chaos.ts";
import { createMailpitMessages, type MailpitHandler, type MailpitRoute } from "./context.ts";
import { createMailpitEdits } from "./edits.ts";
import { createMailpitEvents } from "./events.ts";
import { mailpitChangeRoutes } from "./changes.ts";
import { mailpitHtmlCheckRoute } from "./html-check.ts";
import { mailpitInfoRoutes } from "./info.ts";
import { mailpitLinkCheckRoute } from "./link-check.ts";
import { mailpitListRoutes } from "./lists.ts";
import { mailhogRoutes } from "./mailhog.ts";
import { mailpitMessageRoutes } from "./one-message.ts";
import { mailpitSendRoute, SEND_PATH } from "./send.ts";
import { mailpitSocket } from "./socket.ts";
import { mailpitChaos } from "./chaos.ts";
import { mailpitCounters } from "./counters.ts";
import { messageReleases } from "../release/service.ts";
import { inboxChanges } from "../changes.ts";
import { inboxService } from "../service.ts";
import { messageIntake } from "../messages/intake.ts";
import { localAccessOf } from "../../../http/local-access.ts";
import { inboxReading } from "../reading.ts";
import { messageStore } from "../messages/store.ts";
import { bodiesOf } from "../../../http/body.ts";
import { createLiveConnections } from "../../../http/live-connections.ts";
import { LIVE_LIMITS } from "../live/stream.ts";
import { perApp } from "../../../lib/per-app.ts";

const METHODS = ["GET", "POST", "PUT", "DELETE"] as const;
/** Clients such as cypress-mailpit join an address and a path with one slash too many. */
const DOUBLE_SLASH_PATHS = ["//api/*", "//view/*"];

/** Paths below the webroot that lead to routes of the server. */
const SHARED_PATHS = [
  ["", "/"],
  ["/livez", "/livez"],
  ["/readyz", "/readyz"],
] as const;

/** The open WebSockets. */
export const mailpitSockets = perApp(({ clock }: App) =>
  createLiveConnections({ clock, limits: LIVE_LIMITS }),
);

export function mailpitRoutes(app: App): AnyElysia {
  const { config, clock, db, dns, fetchGuarded, writer } = app;
  const { allowPrivateAddresses } = config;
  const [chaos, counters] = [mailpitChaos(app), mailpitCounters(app)];
  const { findReleaseToAll: findRelease } = messageReleases(app);
  const deps = {
    app,
    config,
    clock,
    db,
    fetchGuarded,
    writer,
    counters,
    changes: inboxChanges(app),
    inboxes: inboxService(app),
    intake: messageIntake(app),
    localAccess: localAccessOf(app),
    reading: inboxReading(app),
    store: messageStore(app),
  };
  const access = createMailpitAccess(deps);
  const messages = createMailpitMessages({ ...deps, readBody: createReadBody(bodiesOf(app)) });
  const edits = createMailpitEdits({ ...deps, onDeleted: counters.deleted });
  const fetchOnce = createFetchGuarded({ dns, allowPrivateAddresses, followsRedirects: false });
  const routes: MailpitRoute[] = [
    ...mailpitListRoutes(messages),
    ...mailpitChangeRoutes(messages, edits),
    ...mailpitMessageRoutes({ messages, edits, findRelease }),
    mailpitSendRoute({ ...deps, hostname: config.hostname, messages }),
    ...mailpitChaosRoutes(chaos, messages),
    mailpitLinkCheckRoute({ ...deps, fetchOnce, messages }),
    mailpitHtmlCheckRoute(app, messages),
    ["GET", "/api/v1/message/:id/sa-check", refuseUnknown],
    ...mailpitInfoRoutes({
      ...deps,
      databaseFile: db.sqlite.filename,
      isReleaseEnabled: () => findRelease() !== null,
      messages,
    }),
    ...mailhogRoutes({
      messages,
      edits,
      findRelease,
      findRelayHost: () => app.config.relayUrl?.host ?? null,
    }),
    ...unknownPaths(),
  ];

  /** Answers a refusal in the form of Mailpit. */
  function answer(handler: MailpitHandler, admit: MailpitAccess["inboxOf"]) {
    return async ({ request, params, server }: Incoming): Promise<Response> => {
      try {
        const peer = peerOf({ request, server });
        const inbox = await admit(request, peer);
        const query = new URL(request.url).searchParams;
        return await handler({ request, query, params, inbox });
      } catch (error) {
        if (error instanceof MailpitRefusal) return refusalAnswer(error);
        throw error;
      }
    };
  }

  const server = new Elysia({ name: "mailpit-routes" });
  const options = { parse: "none", detail: undocumented("EDITOR", "KEY") } as const;
  const open = { parse: "none", detail: undocumented("ANYONE") } as const;
  const roots = config.mailpitWebroot === null ? [""] : ["", config.mailpitWebroot];
  for (const root of roots) {
    for (const [method, path, handler] of routes) {
      const admit = path === SEND_PATH ? access.inboxOfSender : access.inboxOf;
      server.route(method, `${root}${path}`, answer(handler, admit), options);
    }
    for (const path of new Set(routes.map(([, each]) => each))) {
      server.route("OPTIONS", `${root}${path}`, () => new Response(null), open);
    }
  }
  for (const [path, target] of SHARED_PATHS) {
    if (config.mailpitWebroot === null) break;
    server.route("GET", `${config.mailpitWebroot}${path}`, () => redirectTo(target), open);
  }
  for (const path of DOUBLE_SLASH_PATHS) {
    for (const method of METHODS) server.route(method, path, redirectToSingleSlash, open);
  }
  const events = createMailpitEvents(deps);
  for (const root of roots) {
    server.use(mailpitSocket({ access, events, connections: mailpitSockets(app), root }));
  }
  return server;
}

type Incoming = {
  request: Request;
  params: Record<string, string>;
  server: RequestServer | null;
};

/** The path in `Location` begins with a single slash, because two would name another server. */
function redirectToSingleSlash({ request }: Pick<Incoming, "request">): Response {
  const { pathname, search } = new URL(request.url);
  const Location = pathname.replace(/^\/+/, "/") + search;
  return new Response(null, { status: 308, headers: { Location } });
}

function redirectTo(Location: string): Response {
  return new Response(null, { status: 302, headers: { Location } });
}

function refuseUnknown(): never {
  throw pageNotFound();
}

/** Other paths below those of Mailpit get its 404. */
function unknownPaths(): MailpitRoute[] {
  return ["/api/v1/*", "/api/v2/*", "/view/*"].flatMap((path) =>
    METHODS.map((method): MailpitRoute => [method, path, refuseUnknown]),
  );
}
