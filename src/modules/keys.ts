/**
 * API keys. In order: a key is created, and its text is shown once while only a digest is stored; each
 * request is authenticated by the digest of its key; the requests and the times of last use are
 * collected and stored together; a revoked key is refused from the next request on. The rights of a key
 * are checked in http/admission.ts, smtp/submission.ts and emails/accept.ts.
 */

import { type Static, Type } from "@sinclair/typebox";
import { and, desc, eq, isNull } from "drizzle-orm";
import type { App } from "../core/app.ts";
import { apiKeys, KEY_KINDS, KEY_SCOPES } from "../db/schema/projects.ts";
import { statement } from "../db/statement.ts";
import type { KeyKind, KnownKey } from "../http/admission.ts";
import { BODY_LIMITS, limited } from "../http/body-limits.ts";
import { described, named } from "../http/documented.ts";
import { Envelope, ListEnvelope, NoContent, Nullable } from "../http/envelope.ts";
import { EXAMPLE } from "../http/example-values.ts";
import { operations, read, write } from "../http/operations.ts";
import { smallPage, PageQuery } from "../http/pagination.ts";
import { Input, OneOf } from "../http/validation.ts";
import type { KeyScope } from "../http/scopes.ts";
import { isoTime, isoTimeOrNull } from "../lib/clock.ts";
import { randomBase62, sha256 } from "../lib/crypto.ts";
import { fieldError, notFound } from "../lib/errors.ts";
import { newId } from "../lib/id.ts";
import { cachePerIteration } from "../lib/iteration-cache.ts";
import { perApp } from "../lib/per-app.ts";
import { checkKeyLimits, type KeyLimits } from "./key-limits.ts";
import type { Noun } from "./module.ts";

const Time = Type.String({ format: "date-time" });
const Kind = OneOf(KEY_KINDS);
const Scope = OneOf(KEY_SCOPES);

const UseOfDay = Type.Object({ date: Type.String(), requests: Type.Integer() });

const FIELDS = {
  id: Type.String(),
  kind: Kind,
  scope: Nullable(Scope),
  name: Type.String(),
  last4: Type.String(),
  origins: Type.Array(Type.String()),
  domains: Type.Array(Type.String()),
  ipRanges: Type.Array(Type.String()),
  createdAt: Time,
  lastUsedAt: Nullable(Time),
  usage: Type.Array(
    described(UseOfDay, {
      date: "The day in UTC, such as 2026-11-27",
      requests: "Requests and submitted messages that were admitted",
    }),
  ),
  expiresAt: Nullable(Time),
  revokedAt: Nullable(Time),
};
const TEXTS = {
  id: "Id of the key",
  kind:
    "SECRET: for servers, may do what its scope says; PUBLIC: only for /v1/track; " +
    "SMTP: a password that only sends over SMTP",
  scope:
    "EVERYTHING: all that keys may do; SEND: only send; READ: read what a viewer sees, and inboxes; " +
    "CONTACTS: contacts, segments and suppressions; null for a public key",
  name: "Its name",
  last4: "The last four characters of the key",
  origins: "Web origins that may use a public key; empty if all may",
  domains: "Domains from which the key may send; empty if from all of the project",
  ipRanges: "IP addresses and ranges that may use the key; empty if all may",
  createdAt: "When the key was created",
  lastUsedAt: "When the key was last used; null if it never was",
  usage: "The latest 30 days with requests, newest first; stored every 30 seconds",
  expiresAt: "From when on the key is refused; null if it does not expire",
  revokedAt: "When the key was revoked; null if it was not",
};
const KEY_EXAMPLE = {
  id: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e10",
  kind: "SECRET",
  scope: "SEND" as const,
  name: "shop",
  last4: "x7Qa",
  origins: [],
  domains: ["shop.example"],
  ipRanges: ["203.0.113.0/24"],
  createdAt: EXAMPLE.createdAt,
  lastUsedAt: null,
  usage: [],
  expiresAt: null,
  revokedAt: null,
};

const ApiKey = named("ApiKey", described(Type.Object(FIELDS), TEXTS), {
  description: "An API key, without its text",
  example: KEY_EXAMPLE,
});
export type ApiKey = Static<typeof ApiKey>;

const CreatedApiKey = named(
  "CreatedApiKey",
  described(Type.Object({ ...FIELDS, text: Type.String() }), {
    ...TEXTS,
    text: "The key itself, which is shown only in this response",
  }),
  {
    description: "A new API key with its text",
    example: { ...KEY_EXAMPLE, text: "sk_EXAMPLE" },
  },
);

export type CreatedApiKey = Static<typeof CreatedApiKey>;

const ApiKeyInput = named(
  "ApiKeyInput",
  described(
    Input({
      name: Type.String({ minLength: 1, maxLength: 100 }),
      kind: Type.Optional(Kind),
      scope: Type.Optional(Scope),
      origins: Type.Optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: 20 })),
      domains: Type.Optional(Type.Array(Type.String({ maxLength: 253 }), { maxItems: 20 })),
      ipRanges: Type.Optional(Type.Array(Type.String({ maxLength: 60 }), { maxItems: 20 })),
      expiresAt: Type.Optional(Nullable(Time)),
    }),
    {
      name: "A name by which people recognise the key",
      kind: "Kind of the key; default SECRET",
      scope: "What a secret key may do; default EVERYTHING",
      origins: "Web origins such as https://shop.example, for a public key only; default: all",
      domains: "Domains of the project, for a key that only sends; default: all of the project",
      ipRanges: "IP addresses and ranges (CIDR) that may use the key; default: all",
      expiresAt: "From when on the key is refused; default: never",
    },
  ),
  { description: "An API key to create", example: { name: "shop", scope: "SEND" } },
);
type ApiKeyInput = Static<typeof ApiKeyInput>;

export const keyNoun: Noun = {
  name: "keys",
  operations: operations(
    "API keys",
    { parameters: { id: "Id of the API key" }, access: "SESSION" },
    [
      read("GET /keys", {
        id: "listKeys",
        role: "ADMIN",
        summary: "List API keys",
        description: "All keys of the project without their texts, newest first.",
        query: PageQuery,
        answer: ListEnvelope(ApiKey),
        run: (app, { project, query }) =>
          smallPage(app, project, {
            name: "keys",
            query,
            table: apiKeys,
            filter: eq(apiKeys.projectSeq, project.seq),
            present: (key) => present(key, app.clock.now()),
          }),
      }),
      write("POST /keys", {
        id: "createKey",
        role: "ADMIN",
        needsConfirmation: true,
        summary: "Create an API key; it is shown once",
        description:
          "403 with the code CONFIRMATION_REQUIRED if the password was not entered lately.",
        isIdempotent: true,
        links: { revokeKey: { id: "/data/id" } },
        body: limited(ApiKeyInput, BODY_LIMITS.settings),
        answer: Envelope(CreatedApiKey),
        status: 201,
        isSecret: true,
        run(app, { project, body }) {
          const { name, kind = "SECRET" } = body;
          const limits = checkKeyLimits(app, project.seq, { ...body, kind });
          const now = app.clock.now();
          const expiresAt = momentIn(body, now);
          const { key, text } = createKey(app, project.seq, { name, kind, expiresAt, ...limits });
          return { ...present(key, now), text };
        },
      }),
      write("DELETE /keys/:id", {
        id: "revokeKey",
        role: "ADMIN",
        summary: "Revoke an API key",
        description: "The key is refused from the next request on. It stays in the list.",
        isWithinQuota: false,
        answer: NoContent,
        run(app, { project, params }) {
          const isKnown = listKeys(app, project.seq).some(({ id }) => id === params.id);
          if (!isKnown) throw notFound("KEY");
          revokeKey(app, params.id);
        },
      }),
    ],
  ),
  recurring: [{ name: "key uses", pattern: "*/30 * * * * *", run: storeUses }],
  flush: storeUses,
};

export type KeyRow = typeof apiKeys.$inferSelect;

/** 43 base62 characters have 256 bits of entropy (docs/interface.md#requests). */
const RANDOM_CHARACTERS = 43;
const PREFIXES = {
  SECRET: "sk_",
  PUBLIC: "pk_",
  SMTP: "smtp_",
} as const satisfies Record<KeyKind, string>;

/** The beginning of the text of a key. */
export const keyPrefix = (kind: KeyKind): string => PREFIXES[kind];

type NewKey = {
  kind: KeyKind;
  name: string;
  expiresAt: number | null;
} & Partial<KeyLimits>;

/** Creates a key. Its text is only in the result and is not stored. */
export function createKey(
  { db, clock }: Pick<App, "db" | "clock">,
  projectSeq: number,
  { origins = [], domains = [], ipRanges = [], ...fields }: NewKey,
): { key: KeyRow; text: string } {
  const now = clock.now();
  const text = keyPrefix(fields.kind) + randomBase62(RANDOM_CHARACTERS);
  const row = {
    ...fields,
    origins: origins.join(" "),
    domains: domains.join(" "),
    ranges: ipRanges.join(" "),
    id: newId(now),
    projectSeq,
    digest: sha256(text),
    last4: text.slice(-4),
    createdAt: now,
  };
  return { key: db.insert(apiKeys).values(row).returning().get(), text };
}

type FoundKey = {
  kind: KeyKind;
  scope: KeyScope;
  keyId: string;
  keyName: string;
  last4: string;
  origins: string;
  domains: string;
  ranges: string;
  expiresAt: number | null;
  revokedAt: number | null;
  isProjectEnabled: number;
  seq: number;
  id: string;
  name: string;
  language: string;
  fromAddress: string | null;
  fromName: string | null;
};

// Runs for every request.
const findByDigest = statement<FoundKey, [string]>(`
  SELECT k.kind, k.scope, k.id AS keyId, k.name AS keyName, k.last4, k.origins, k.domains, k.ranges,
         k.expires_at AS expiresAt, k.revoked_at AS revokedAt, p.is_enabled AS isProjectEnabled, p.seq, p.id,
         p.name, p.language, p.from_address AS fromAddress, p.from_name AS fromName
  FROM api_keys k JOIN projects p ON p.seq = k.project_seq
  WHERE k.digest = +?`);

const findOnce = perApp((app: App) => cachePerIteration((digest) => findByDigest(app).get(digest)));

/** Reads the key from the database, so that a revocation takes effect with the next request. */
export function findKey(app: App, digest: string): KnownKey | null {
  const row = findOnce(app)(digest);
  if (row === null) return null;
  const { kind, scope, expiresAt, revokedAt, isProjectEnabled, seq, id, name, language } = row;
  const { fromAddress, fromName, keyId, keyName, last4 } = row;
  const sender = fromAddress === null ? null : { address: fromAddress, name: fromName };
  return {
    kind,
    scope,
    shown: { id: keyId, name: keyName, last4 },
    ...listsOf(row),
    project: { seq, id, name, language, sender },
    isProjectEnabled: isProjectEnabled === 1,
    isUsable: revokedAt === null && (expiresAt === null || expiresAt > app.clock.now()),
  };
}

const DAY_MS = 86_400_000;
const USAGE_DAYS = 30;

type Use = { lastUsedAt: number; byDay: Map<number, number> };
/** Requests since the last call of `storeUses`, by the id of their key. */
const uses = perApp(() => new Map<string, Use>());

/** Counts a request or a submitted message that a key admitted, in memory. */
export function countUse(app: App, keyId: string): void {
  const now = app.clock.now();
  addUse(app, keyId, { lastUsedAt: now, byDay: new Map([[Math.floor(now / DAY_MS), 1]]) });
}

function addUse(app: App, keyId: string, added: Use): void {
  const { lastUsedAt, byDay } = uses(app).get(keyId) ?? { lastUsedAt: 0, byDay: new Map() };
  for (const [day, count] of added.byDay) byDay.set(day, (byDay.get(day) ?? 0) + count);
  uses(app).set(keyId, { lastUsedAt: Math.max(lastUsedAt, added.lastUsedAt), byDay });
}

/** Stores the requests since the previous call. If that fails, the next call stores them. */
async function storeUses(app: App): Promise<void> {
  const collected = [...uses(app)];
  if (collected.length === 0) return;
  uses(app).clear();
  try {
    await app.writer.write(() => {
      for (const [keyId, use] of collected) storeUse(app, keyId, use);
    });
  } catch (error) {
    for (const [keyId, use] of collected) addUse(app, keyId, use);
    throw error;
  }
}

function storeUse({ db }: App, keyId: string, { lastUsedAt, byDay }: Use): void {
  const isKey = eq(apiKeys.id, keyId);
  const row = db.select({ uses: apiKeys.uses }).from(apiKeys).where(isKey).limit(1).get();
  if (row === undefined) return;
  const counts = new Map(Object.entries(row.uses));
  for (const [day, count] of byDay) counts.set(`${day}`, (counts.get(`${day}`) ?? 0) + count);
  const latest = Object.fromEntries(
    [...counts].filter(([day]) => isRecent(Number(day), lastUsedAt)),
  );
  db.update(apiKeys).set({ lastUsedAt, uses: latest }).where(isKey).run();
}

const isRecent = (day: number, nowMs: number): boolean =>
  day > Math.floor(nowMs / DAY_MS) - USAGE_DAYS;

/** Days with requests, newest first. */
export function usageOf(key: KeyRow, nowMs: number): ApiKey["usage"] {
  return Object.entries(key.uses)
    .map(([day, requests]) => ({ day: Number(day), requests }))
    .filter(({ day }) => isRecent(day, nowMs))
    .toSorted((a, b) => b.day - a.day)
    .map(({ day, requests }) => ({ date: isoTime(day * DAY_MS).slice(0, 10), requests }));
}

export function listKeys({ db }: Pick<App, "db">, projectSeq: number): KeyRow[] {
  const ofProject = eq(apiKeys.projectSeq, projectSeq);
  return db.select().from(apiKeys).where(ofProject).orderBy(desc(apiKeys.seq)).all();
}

/** Revokes a key. If it was revoked before, the time of the first revocation stays. */
export function revokeKey({ db, clock }: Pick<App, "db" | "clock">, id: string): KeyRow {
  db.update(apiKeys)
    .set({ revokedAt: clock.now() })
    .where(and(eq(apiKeys.id, id), isNull(apiKeys.revokedAt)))
    .run();
  const key = db.select().from(apiKeys).where(eq(apiKeys.id, id)).limit(1).get();
  if (key === undefined) throw notFound("KEY");
  return key;
}

type Lists = Pick<KeyRow, "origins" | "domains" | "ranges">;

/** The lists of a row; an empty one allows everything. */
export function listsOf({ origins, domains, ranges }: Lists) {
  return { origins: wordsIn(origins), domains: wordsIn(domains), ipRanges: wordsIn(ranges) };
}

const NO_WORDS: string[] = [];
const wordsIn = (text: string): string[] => (text === "" ? NO_WORDS : text.split(" "));

/** The scope of a key; null for a public key, which has none. */
export const scopeOf = ({ kind, scope }: Pick<KeyRow, "kind" | "scope">): KeyScope | null =>
  kind === "PUBLIC" ? null : scope;

function present(key: KeyRow, nowMs: number): ApiKey {
  const { id, kind, name, last4 } = key;
  return {
    id,
    kind,
    scope: scopeOf(key),
    name,
    last4,
    ...listsOf(key),
    createdAt: isoTime(key.createdAt),
    lastUsedAt: isoTimeOrNull(key.lastUsedAt),
    usage: usageOf(key, nowMs),
    expiresAt: isoTimeOrNull(key.expiresAt),
    revokedAt: isoTimeOrNull(key.revokedAt),
  };
}

function momentIn({ expiresAt }: ApiKeyInput, nowMs: number): number | null {
  if (expiresAt === undefined || expiresAt === null) return null;
  const moment = Date.parse(expiresAt);
  if (moment > nowMs) return moment;
  throw fieldError("expiresAt", "invalid_value", "must be in the future");
}
