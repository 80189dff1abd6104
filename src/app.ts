/** The composition root: makes every part once; start and stop are mirror images. */

import { Cron } from "croner";
import { Elysia } from "elysia";
import type { Config } from "./config.ts";
import { freeBytes } from "./db/folder.ts";
import type { Db } from "./db/open.ts";
import { createWriter } from "./db/writer.ts";
import { createAttempt } from "./delivery/attempt.ts";
import { createDispatcher } from "./delivery/dispatcher.ts";
import { createLoader } from "./delivery/load.ts";
import type { Transport } from "./delivery/outcome.ts";
import { createPace } from "./delivery/pace.ts";
import { createQueue } from "./delivery/queue.ts";
import { createSettle } from "./delivery/settle.ts";
import { captureTransport } from "./delivery/transports/capture.ts";
import { relayTransport } from "./delivery/transports/relay.ts";
import { createAdmission } from "./http/admission.ts";
import { defineFormats } from "./http/formats.ts";
import { healthRoutes, type Readiness } from "./http/health.ts";
import { createIdempotency } from "./http/idempotency.ts";
import { openApiRoutes } from "./http/openapi.ts";
import { createCursors } from "./http/pagination.ts";
import { createRoot } from "./http/server.ts";
import type { Clock } from "./lib/clock.ts";
import { deriveKey } from "./lib/crypto.ts";
import { describeError, type Log } from "./lib/log.ts";
import { templateCache as createTemplateCache } from "./mail/template-cache.ts";
import { contactRoutes } from "./modules/contacts/routes.ts";
import { createContacts } from "./modules/contacts/service.ts";
import { createDomains } from "./modules/domains/service.ts";
import { createAccept } from "./modules/emails/accept.ts";
import { emailRoutes } from "./modules/emails/routes.ts";
import { createEmails } from "./modules/emails/service.ts";
import { createEmailStore } from "./modules/emails/store.ts";
import { eventRoutes } from "./modules/events/routes.ts";
import { createEvents } from "./modules/events/service.ts";
import { createKeys } from "./modules/keys/service.ts";
import { createProjects } from "./modules/projects/service.ts";
import { createSuppressions } from "./modules/suppressions/service.ts";
import { templateRoutes } from "./modules/templates/routes.ts";
import { createTemplates } from "./modules/templates/service.ts";
import { trackRoutes } from "./modules/track/routes.ts";

export type AppOptions = {
  config: Config;
  db: Db;
  /** Folder of the database; null where it lives in memory. */
  folder: string | null;
  secret: string;
  clock: Clock;
  log: Log;
  /** For tests; otherwise made as the configuration says. */
  transport?: Transport;
};

export type App = ReturnType<typeof createApp>;

const STOP_GRACE_MS = 10_000;
/** Below this, writes are about to fail: say so before they do. */
const LEAST_FREE_BYTES = 16 * 1024 * 1024;
const TEMPLATE_CACHE = { maxEntries: 500, maxBytes: 32 * 1024 * 1024 };
const IDLE_TIMEOUT_SECONDS = 60;
/** None: Bun would refuse with a bare 413. `http/body` bounds what is read; the rest is discarded. */
const TRANSPORT_BODY_CAP_BYTES = Number.MAX_SAFE_INTEGER;

export function createApp(options: AppOptions) {
  const { config, db, folder, secret, clock, log } = options;
  defineFormats();
  const url = config.url ?? `http://${config.host}:${config.port}`;
  const linkKey = deriveKey(secret, "recipient-links");
  const trackingUrl = config.trackingUrl ?? url;
  const trackingKey = deriveKey(secret, "tracking-links");
  const templateCache = createTemplateCache(TEMPLATE_CACHE);
  const writer = createWriter(db, log);
  const cursors = createCursors(deriveKey(secret, "cursors"));

  const events = createEvents({ db, cursors });
  const suppressions = createSuppressions({ db });
  const projects = createProjects({ db, clock });
  const keys = createKeys({ db, clock });
  const domains = createDomains({ db, clock });
  const templates = createTemplates({ db, clock, cursors });
  const contacts = createContacts({ db, clock, events, cursors });
  const emails = createEmails({ db, cursors });
  const accept = createAccept({
    clock,
    contacts,
    domains,
    events,
    store: createEmailStore({ db }),
    suppressions,
    templateCache,
    templates,
    requireVerifiedDomain: config.requireVerifiedDomain,
    url,
    linkKey,
  });

  const transport = options.transport ?? createTransport(config);
  const dispatcher = createDispatcher({
    queue: createQueue(db),
    pace: createPace({ ratePerSecond: config.sendRate, concurrency: transport.concurrency }),
    load: createLoader(db),
    attempt: createAttempt({
      transport,
      templateCache,
      clock,
      suppressionOf: suppressions.reasonFor,
      isSenderVerified: (projectSeq, domain) =>
        !config.requireVerifiedDomain || domains.isVerified(projectSeq, domain),
      url,
      linkKey,
      trackingUrl,
      trackingKey,
    }),
    settle: createSettle({
      db,
      random: Math.random,
      recordFact: events.record,
      suppress: (projectSeq, address, at) =>
        suppressions.add(projectSeq, address, { reason: "HARD_BOUNCE", at }),
    }),
    writer,
    clock,
    log,
    concurrency: transport.concurrency,
  });

  const idempotency = createIdempotency({ db, writer, clock });
  const admission = createAdmission({
    findKey: keys.findByDigest,
    idempotency,
    apiRate: config.apiRate,
    now: clock.now,
  });
  const { root, learnRoutes } = createRoot({ log, now: clock.now });
  const api = new Elysia({ name: "api" })
    .use(healthRoutes(readiness))
    .use(emailRoutes({ admission, accept, emails, writer, wake: dispatcher.wake }))
    .use(contactRoutes({ admission, contacts, writer }))
    .use(templateRoutes({ admission, templates, writer }))
    .use(trackRoutes({ admission, clock, contacts, events }))
    .use(eventRoutes({ admission, events }));
  const http = new Elysia({
    // Normalising rebuilds bodies before they are checked, and makes objects of what is none.
    normalize: false,
    serve: {
      maxRequestBodySize: TRANSPORT_BODY_CAP_BYTES,
      idleTimeout: IDLE_TIMEOUT_SECONDS,
      reusePort: false,
    },
  })
    .use(root)
    .use(api)
    .use(openApiRoutes(api));
  learnRoutes(
    (method, path) =>
      http.router.static[path]?.[method] !== undefined ||
      http.router.http.find(method, path) !== null,
  );

  /** Recurring work: name, pattern (croner), what it does. */
  const recurring = [
    { name: "key uses", pattern: "*/30 * * * * *", run: () => keys.flushUses(writer) },
    { name: "idempotency purge", pattern: "17 * * * * *", run: idempotency.purge },
  ];
  let timers: Cron[] = [];

  async function readiness(): Promise<Readiness> {
    if (!dispatcher.isRunning()) return { isReady: false, reason: "The queue does not run." };
    if (folder !== null && freeBytes(folder) < LEAST_FREE_BYTES) {
      return { isReady: false, reason: "The storage is full." };
    }
    // A real write: what was wrong a minute ago may be mended, and the other way round.
    return writer.write(probe).then(
      () => ({ isReady: true as const }),
      () => ({ isReady: false as const, reason: "The database does not take writes." }),
    );
  }

  function probe(): void {
    db.sqlite.run(
      "INSERT INTO readiness (id, at) VALUES (1, ?) ON CONFLICT DO UPDATE SET at = excluded.at",
      [clock.now()],
    );
  }

  return {
    http,
    url,
    writer,
    projects,
    keys,
    domains,
    transport,

    /** Answers a request as the server would; for tests. */
    handle: (request: Request): Promise<Response> => http.handle(request),

    async start(): Promise<void> {
      await dispatcher.start();
      timers = recurring.map(
        ({ name, pattern, run }) =>
          new Cron(pattern, { name: `${name} ${crypto.randomUUID()}`, protect: true }, async () => {
            await run().catch((error: unknown) =>
              log.error("recurring work failed", { name, error: describeError(error) }),
            );
          }),
      );
    },

    listen(): Promise<number> {
      return new Promise((resolve, reject) => {
        try {
          http.listen({ hostname: config.host, port: config.port }, (server) =>
            resolve(server.port ?? config.port),
          );
        } catch (error) {
          reject(error);
        }
      });
    },

    /** Timers → HTTP → leasing → attempts under way (10 s) → leases returned. */
    async stop(): Promise<void> {
      for (const timer of timers) timer.stop();
      if (http.server !== null) await http.stop();
      const allEnded = await dispatcher.stop(STOP_GRACE_MS);
      if (!allEnded) log.warn("some mails were still under way; they wait for their next time");
      await transport.close();
      await keys.flushUses(writer);
      await dispatcher.returnLeases();
      await writer.drain();
    },
  };
}

function createTransport(config: Config): Transport {
  if (config.transport === "capture" || config.relayUrl === null) return captureTransport();
  return relayTransport({ relay: config.relayUrl, hostname: config.hostname });
}
