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

import { type AnyElysia, Elysia } from "elysia";
import type { App } from "../../../core/app.ts";
import type { Config } from "../../../config/settings.ts";
import type { Db } from "../../../db/open.ts";
import type { Writer } from "../../../db/writer.ts";
import type { Bodies } from "../../../http/body.ts";
import { undocumented } from "../../../http/documented.ts";
import type { LiveConnections } from "../../../http/live-connections.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Dns } from "../../../protocols/dns/client.ts";
import {
  createFetchGuarded,
  type FetchGuarded,
} from "../../../protocols/fetch-guarded/fetch-guarded.ts";
import type { InboxChanges } from "../changes.ts";
import type { Indexer } from "../indexing/indexer.ts";
import type { Intake } from "../messages/intake.ts";
import type { MessageStore } from "../messages/store.ts";
import type { InboxReading } from "../reading.ts";
import type { Inboxes } from "../service.ts";
import { createMailpitAccess, type LocalAccess, type MailpitAccess } from "./access.ts";
import { MailpitRefusal, pageNotFound, refusalAnswer } from "./answers.ts";
import { createReadBody } from "./body.ts";
import { type Chaos, mailpitChaosRoutes } from "./chaos.ts";
import { createMailpitMessages, type MailpitHandler, type MailpitRoute } from "./context.ts";
import type { MailpitCounters } from "./counters.ts";
import { createMailpitEdits } from "./edits.ts";
import { createMailpitEvents } from "./events.ts";
import { mailpitChangeRoutes } from "./changes.ts";
import { mailpitHtmlCheckRoute } from "./html-check.ts";
import { mailpitInfoRoutes } from "./info.ts";
import { mailpitLinkCheckRoute } from "./link-check.ts";
import { mailpitListRoutes } from "./lists.ts";
import { mailhogRoutes } from "./mailhog.ts";
import { mailpitMessageRoutes, type ReleaseToAll } from "./one-message.ts";
import { mailpitSendRoute, SEND_PATH } from "./send.ts";
import { mailpitSocket } from "./socket.ts";

const METHODS = ["GET", "POST", "PUT", "DELETE"] as const;
/** Clients such as cypress-mailpit join an address and a path with one slash too many. */
const DOUBLE_SLASH_PATHS = ["//api/*", "//view/*"];

/** Paths below the webroot that lead to routes of the server. */
const SHARED_PATHS = [
  ["", "/"],
  ["/livez", "/livez"],
  ["/readyz", "/readyz"],
] as const;

export function mailpitRoutes(deps: {
  app: App;
  bodies: Bodies;
  changes: InboxChanges;
  chaos: Chaos;
  clock: Clock;
  config: Config;
  counters: MailpitCounters;
  db: Db;
  dns: Dns;
  fetchGuarded: FetchGuarded;
  inboxes: Inboxes;
  indexer: Indexer;
  intake: Intake;
  localAccess: LocalAccess | null;
  reading: InboxReading;
  release: ReleaseToAll | null;
  /** The open WebSockets. */
  sockets: LiveConnections;
  store: MessageStore;
  writer: Writer;
}): AnyElysia {
  const { chaos, config, counters, dns, release } = deps;
  const { allowPrivateAddresses } = config;
  const access = createMailpitAccess(deps);
  const messages = createMailpitMessages({ ...deps, readBody: createReadBody(deps.bodies) });
  const edits = createMailpitEdits({ ...deps, onDeleted: counters.deleted });
  const fetchOnce = createFetchGuarded({ dns, allowPrivateAddresses, followsRedirects: false });
  const routes: MailpitRoute[] = [
    ...mailpitListRoutes(messages),
    ...mailpitChangeRoutes(messages, edits),
    ...mailpitMessageRoutes({ messages, edits, release }),
    mailpitSendRoute({ ...deps, hostname: config.hostname, messages }),
    ...mailpitChaosRoutes(chaos, messages),
    mailpitLinkCheckRoute({ ...deps, fetchOnce, messages }),
    mailpitHtmlCheckRoute(deps.app, messages),
    ["GET", "/api/v1/message/:id/sa-check", refuseUnknown],
    ...mailpitInfoRoutes({
      ...deps,
      databaseFile: deps.db.sqlite.filename,
      isReleaseEnabled: release !== null,
      messages,
    }),
    ...mailhogRoutes({ messages, edits, release, relayHost: config.relayUrl?.host ?? null }),
    ...unknownPaths(),
  ];

  /** Answers a refusal in the form of Mailpit. */
  function answer(handler: MailpitHandler, admit: MailpitAccess["inboxOf"]) {
    return async ({ request, params, server }: Incoming): Promise<Response> => {
      try {
        const peer = server?.requestIP(request)?.address ?? null;
        const inbox = await admit(request, peer);
        const query = new URL(request.url).searchParams;
        return await handler({ request, query, params, inbox });
      } catch (error) {
        if (error instanceof MailpitRefusal) return refusalAnswer(error);
        throw error;
      }
    };
  }

  const app = new Elysia({ name: "mailpit-routes" });
  const options = { parse: "none", detail: undocumented("EDITOR", "KEY") } as const;
  const open = { parse: "none", detail: undocumented("ANYONE") } as const;
  const roots = config.mailpitWebroot === null ? [""] : ["", config.mailpitWebroot];
  for (const root of roots) {
    for (const [method, path, handler] of routes) {
      const admit = path === SEND_PATH ? access.inboxOfSender : access.inboxOf;
      app.route(method, `${root}${path}`, answer(handler, admit), options);
    }
    for (const path of new Set(routes.map(([, each]) => each))) {
      app.route("OPTIONS", `${root}${path}`, () => new Response(null), open);
    }
  }
  for (const [path, target] of SHARED_PATHS) {
    if (config.mailpitWebroot === null) break;
    app.route("GET", `${config.mailpitWebroot}${path}`, () => redirectTo(target), open);
  }
  for (const path of DOUBLE_SLASH_PATHS) {
    for (const method of METHODS) app.route(method, path, redirectToSingleSlash, open);
  }
  const events = createMailpitEvents(deps);
  for (const root of roots) {
    app.use(mailpitSocket({ access, events, connections: deps.sockets, root }));
  }
  return app;
}

type Incoming = {
  request: Request;
  params: Record<string, string>;
  server: { requestIP(request: Request): { address: string } | null } | null;
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
