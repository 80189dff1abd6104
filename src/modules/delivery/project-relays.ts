/**
 * The relay of a project, by which all its mail leaves. The outbox keeps the connections and the limits
 * (outbox/transports/project-relays.ts).
 *
 * The people of a project may be strangers to the operator, so a relay is dialled at public addresses
 * only, at the ports of mail and those of users, and the stored password is sent only where it was meant
 * for.
 */

import { eq } from "drizzle-orm";
import { isIP } from "node:net";
import type { App } from "../../core/app.ts";
import { projectRelays } from "../../db/schema/projects.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, ListEnvelope, NoContent } from "../../http/envelope.ts";
import { operations, read, write } from "../../http/operations.ts";
import { PageQuery, smallPage } from "../../http/pagination.ts";
import { isoTime } from "../../lib/clock.ts";
import { AppError, fieldError, notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { perApp } from "../../lib/per-app.ts";
import { addressCheck, transportOf } from "../../outbox/transports/create-transport.ts";
import { testRelay } from "../../outbox/transports/relay-test.ts";
import {
  findProjectRelay,
  sealRelayPassword,
  storedRelays,
} from "../../outbox/transports/stored-relays.ts";
import { isSignedThere } from "../../protocols/smtp/known-relays.ts";
import { findCleartextPassword, type Relay } from "../../protocols/smtp/relay-url.ts";
import type { Noun } from "../module.ts";
import {
  ProjectRelay,
  ProjectRelayChange,
  ProjectRelayInput,
  ProjectRelayTest,
} from "./relay-model.ts";

type RelayRow = typeof projectRelays.$inferSelect;
type Security = RelayRow["security"];

/** Tests that run at once, in all projects. */
const MAX_TESTS = 5;

const relayOperations = operations("Delivery", { parameters: { id: "Id of the relay" } }, [
  read("GET /relays", {
    id: "listRelays",
    role: "ADMIN",
    summary: "Get the relay of the project",
    description: "A list with one relay, or empty: then mail leaves as that of the installation.",
    query: PageQuery,
    answer: ListEnvelope(ProjectRelay),
    run: (app, { project, query }) =>
      smallPage(app, project, {
        name: "relays",
        query,
        table: projectRelays,
        filter: eq(projectRelays.projectSeq, project.seq),
        present: (row) => present(app, row),
      }),
  }),
  write("POST /relays", {
    id: "createRelay",
    role: "ADMIN",
    summary: "Send the mail of the project by a relay of its own",
    description:
      "All its mail leaves by this relay from now on, also the mail that waits. A project has one relay, so a " +
      "second one is refused with 409. The DNS records of its domains follow the relay: check them again.",
    needsConfirmation: true,
    isIdempotent: true,
    links: { testRelay: { id: "/data/id" }, deleteRelay: { id: "/data/id" } },
    body: limited(ProjectRelayInput, BODY_LIMITS.settings),
    answer: Envelope(ProjectRelay),
    status: 201,
    run(app, { project, body }) {
      const values = valuesOf(app, body, null);
      if (findRow(app, project.seq) !== null) throw alreadyThere();
      return present(app, addRelay(app, project.seq, values));
    },
  }),
  write("PATCH /relays/:id", {
    id: "updateRelay",
    role: "ADMIN",
    summary: "Change the relay of the project",
    description: "Mail that is under way ends at the old one.",
    needsConfirmation: true,
    isWithinQuota: false,
    body: limited(ProjectRelayChange, BODY_LIMITS.settings),
    answer: Envelope(ProjectRelay),
    run(app, { project, params, body }) {
      const found = getRelay(app, project.seq, params.id);
      const host = body.host ?? found.host;
      return present(app, changeRelay(app, found, valuesOf(app, { ...body, host }, found)));
    },
  }),
  read("POST /relays/test", {
    id: "tryRelay",
    role: "ADMIN",
    summary: "Try a relay before it is stored",
    description:
      "Opens a session with TLS and the login, sends no mail, and says what was said. It takes at most " +
      "35 seconds.",
    body: limited(ProjectRelayInput, BODY_LIMITS.settings),
    answer: Envelope(ProjectRelayTest),
    run: (app, { body }, storeWithoutQuota) =>
      runRecordedTest(app, relayOf(valuesOf(app, body, null)), storeWithoutQuota),
  }),
  read("POST /relays/:id/test", {
    id: "testRelay",
    role: "ADMIN",
    summary: "Try the relay of the project",
    description: "The same with the stored relay and its password.",
    answer: Envelope(ProjectRelayTest),
    run(app, { project, params }, storeWithoutQuota) {
      const { projectSeq } = getRelay(app, project.seq, params.id);
      const relay = findProjectRelay(app, projectSeq);
      if (relay === null) throw notFound("RELAY");
      if (relay === "unreadable") throw unreadable();
      return runRecordedTest(app, relay, storeWithoutQuota);
    },
  }),
  write("DELETE /relays/:id", {
    id: "deleteRelay",
    role: "ADMIN",
    summary: "Send the mail of the project as that of the installation",
    description:
      "Mail that is under way ends at the old relay. The DNS records of its domains change again.",
    isWithinQuota: false,
    answer: NoContent,
    run: (app, { project, params }) => removeRelay(app, getRelay(app, project.seq, params.id)),
  }),
]);

export const projectRelayNoun: Noun = { name: "project relays", operations: relayOperations };

function findRow({ db }: Pick<App, "db">, projectSeq: number): RelayRow | null {
  return (
    db.select().from(projectRelays).where(eq(projectRelays.projectSeq, projectSeq)).get() ?? null
  );
}

function getRelay(app: App, projectSeq: number, id: string): RelayRow {
  const row = findRow(app, projectSeq);
  if (row === null || row.id !== id) throw notFound("RELAY");
  return row;
}

/** The columns of a relay, with its password in the clear. */
type RelayValues = {
  host: string;
  port: number;
  security: Security;
  username: string | null;
  /** "stored" keeps the stored one. */
  password: { text: string } | "stored" | null;
  signedBy: RelayRow["signedBy"];
};

const MAIL_PORTS: readonly number[] = [25, 465, 587];
/** Other ports below 1024 belong to other protocols. */
const MIN_USER_PORT = 1024;
const DEFAULT_PORTS = { STARTTLS: 587, TLS: 465, NONE: 587 } as const;

/** Checks the fields of a relay; those that are missing stay as in `before`. Throws 422. */
function valuesOf(
  app: Pick<App, "config">,
  input: ProjectRelayInput,
  before: RelayRow | null,
): RelayValues {
  const security = input.security ?? before?.security ?? "STARTTLS";
  const port = input.port ?? before?.port ?? DEFAULT_PORTS[security];
  const host = input.host.toLowerCase();
  const username = input.username === undefined ? (before?.username ?? null) : input.username;
  const signedBy = input.signedBy ?? before?.signedBy ?? "AUTO";
  if (port < MIN_USER_PORT && !MAIL_PORTS.includes(port)) {
    const message = `must be one of ${MAIL_PORTS.join(", ")} or at least ${MIN_USER_PORT}`;
    throw fieldError("port", "invalid_value", message);
  }
  const forbidden = isIP(host) === 0 ? null : addressCheck(app.config)(host);
  if (forbidden !== null || isThisMachine(app, host)) {
    throw fieldError("host", "invalid_value", "must have a public address");
  }
  const target = { host, port, security, username };
  const password = passwordOf(input, target, before);
  const values = { ...target, password, signedBy };
  if (findCleartextPassword(relayOf(values)) !== null) {
    const message = "must not be NONE with a user, because the password could be read on the way";
    throw fieldError("security", "invalid_value", message);
  }
  return values;
}

function isThisMachine({ config }: Pick<App, "config">, host: string): boolean {
  return !config.allowPrivateAddresses && /(^|\.)localhost$/.test(host);
}

type Target = Pick<RelayValues, "host" | "port" | "security" | "username">;

function passwordOf(
  { password }: ProjectRelayInput,
  target: Target,
  before: RelayRow | null,
): RelayValues["password"] {
  if (target.username === null) {
    if (password === undefined || password === null) return null;
    throw fieldError("username", "required", "must be given with a password");
  }
  if (typeof password === "string") return { text: password };
  const isSame =
    before !== null &&
    before.password !== null &&
    (["host", "port", "security", "username"] as const).every(
      (name) => before[name] === target[name],
    );
  if (isSame && password === undefined) return "stored";
  const message =
    before === null
      ? "must be given with a user"
      : "must be given again when the host, the port, the security or the user changes";
  throw fieldError("password", "required", message);
}

function relayOf({ host, port, security, username, password, signedBy }: RelayValues): Relay {
  const text = password === null || password === "stored" ? "" : password.text;
  return {
    host,
    port,
    tls: ({ STARTTLS: "starttls", TLS: "implicit", NONE: "none" } as const)[security],
    ...(username !== null && { user: username, password: text }),
    ...(signedBy !== "AUTO" && { sign: signedBy === "SERVER" }),
  };
}

/** A command has a database, a clock and the secret, but no App. */
type Store = Pick<App, "db" | "clock" | "secret">;

/** Part of a change. */
function addRelay(app: App, projectSeq: number, values: RelayValues): RelayRow {
  const row = insertRelay(app, projectSeq, values);
  useLater(app);
  return row;
}

function insertRelay(store: Store, projectSeq: number, values: RelayValues): RelayRow {
  const now = store.clock.now();
  return store.db
    .insert(projectRelays)
    .values({
      id: newId(now),
      projectSeq,
      createdAt: now,
      changedAt: now,
      ...values,
      password: sealed(store, values.password) ?? null,
    })
    .returning()
    .get();
}

/**
 * Part of a change of a command: the relay of a project; null removes it. A running server notices it
 * within seconds. Its address is checked when it is dialled.
 */
export function putRelay(store: Store, projectSeq: number, relay: Relay | null): void {
  store.db.delete(projectRelays).where(eq(projectRelays.projectSeq, projectSeq)).run();
  if (relay === null) return;
  const { host, port, user, password = "", tls, sign } = relay;
  insertRelay(store, projectSeq, {
    host,
    port,
    security: ({ starttls: "STARTTLS", implicit: "TLS", none: "NONE" } as const)[tls],
    username: user ?? null,
    password: user === undefined ? null : { text: password },
    signedBy: sign === undefined ? "AUTO" : sign ? "SERVER" : "RELAY",
  });
}

/** Part of a change. */
function changeRelay(app: App, { projectSeq }: RelayRow, values: RelayValues): RelayRow {
  const row = app.db
    .update(projectRelays)
    .set({ ...values, password: sealed(app, values.password), changedAt: app.clock.now() })
    .where(eq(projectRelays.projectSeq, projectSeq))
    .returning()
    .get();
  if (row === undefined) throw notFound("RELAY");
  useLater(app);
  return row;
}

/** Part of a change. */
function removeRelay(app: App, { projectSeq }: RelayRow): void {
  app.db.delete(projectRelays).where(eq(projectRelays.projectSeq, projectSeq)).run();
  useLater(app);
}

/** Undefined if the stored password stays. */
function sealed(
  { secret }: Pick<App, "secret">,
  password: RelayValues["password"],
): Buffer | null | undefined {
  if (password === "stored") return undefined;
  return password === null ? null : sealRelayPassword(secret, password.text);
}

/** The relay is used when the change is stored; mail that waited for the old one may leave then. */
function useLater(app: App): void {
  app.writer.afterCommit(() => relayChanged(app).raise());
}

/** Told of a changed relay. */
export const relayChanged = perApp((app: App) => {
  const handlers: (() => void)[] = [];
  return {
    onRaised: (handler: () => void) => void handlers.push(handler),
    raise(): void {
      storedRelays(app).refresh();
      for (const handle of handlers) handle();
    },
  };
});

const tests = perApp(() => ({ underWay: 0 }));

/** With an entry in the audit log, because this server has connected to a host that a user chose. */
async function runRecordedTest(
  app: App,
  relay: Relay,
  storeWithoutQuota: App["writer"]["write"],
): Promise<ProjectRelayTest> {
  const tested = await runTest(app, relay);
  await storeWithoutQuota(() => {});
  return tested;
}

async function runTest(app: App, relay: Relay): Promise<ProjectRelayTest> {
  const count = tests(app);
  if (count.underWay >= MAX_TESTS) throw tooManyTests();
  count.underWay++;
  try {
    const { hostname } = app.config;
    const checkAddress = addressCheck(app.config);
    const tested = await testRelay({ relay, hostname, checkAddress });
    const { problem, conversation, failedStep, isAuthenticated } = tested;
    return {
      isWorking: problem === null,
      reason: problem?.reason ?? null,
      fix: problem?.fix ?? null,
      failedStep,
      isAuthenticated,
      conversation,
    };
  } finally {
    count.underWay--;
  }
}

function present(app: App, row: RelayRow): ProjectRelay {
  const { id, projectSeq, host, port, security, username, signedBy } = row;
  const hold = transportOf(app).holdOf?.("", projectSeq) ?? null;
  return {
    id,
    host,
    port,
    security,
    username,
    signedBy,
    isSigning: isSignedThere(relayOf({ ...row, password: null })),
    problem: hold?.reason ?? null,
    createdAt: isoTime(row.createdAt),
    changedAt: isoTime(row.changedAt),
  };
}

function alreadyThere(): AppError {
  return new AppError(409, "CONFLICT", "The project has a relay already.", {
    suggestion: "Change it with PATCH /relays/{id}, or delete it first.",
  });
}

function unreadable(): AppError {
  const message =
    "The password of the relay cannot be read: the secret of this server has changed.";
  return new AppError(409, "CONFLICT", message, {
    suggestion: "Set the password again with PATCH /relays/{id}.",
  });
}

function tooManyTests(): AppError {
  return new AppError(429, "RATE_LIMIT_EXCEEDED", "Too many relays are being tested.", {
    headers: { "Retry-After": "10" },
    suggestion: "Send the request again when an earlier test has ended.",
  });
}
