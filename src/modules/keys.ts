/**
 * API keys. In order: a key is created, and its text is shown once while only a digest is stored;
 * each request is authenticated by the digest of its key; the times of last use are collected and
 * stored together; a revoked key is refused from the next request on.
 */

import { type Static, Type } from "@sinclair/typebox";
import { and, desc, eq, isNull } from "drizzle-orm";
import type { App } from "../core/app.ts";
import { apiKeys } from "../db/schema/projects.ts";
import { statement } from "../db/statement.ts";
import type { KeyKind, KnownKey } from "../http/admission.ts";
import { BODY_LIMITS, limited } from "../http/body-limits.ts";
import { described, named } from "../http/documented.ts";
import { Envelope, ListEnvelope, NoContent, Nullable } from "../http/envelope.ts";
import { EXAMPLE } from "../http/example-values.ts";
import { operations, read, write } from "../http/operations.ts";
import { smallPage, PageQuery } from "../http/pagination.ts";
import { Input, OneOf } from "../http/validation.ts";
import { isoTime, isoTimeOrNull } from "../lib/clock.ts";
import { randomBase62, sha256 } from "../lib/crypto.ts";
import { fieldError, notFound } from "../lib/errors.ts";
import { newId } from "../lib/id.ts";
import { cachePerIteration } from "../lib/iteration-cache.ts";
import { perApp } from "../lib/per-app.ts";
import { parseWebOrigin } from "../lib/web-origin.ts";
import type { Noun } from "./module.ts";

const Time = Type.String({ format: "date-time" });
const Kind = OneOf(["SECRET", "PUBLIC"] as const);

const FIELDS = {
  id: Type.String(),
  kind: Kind,
  name: Type.String(),
  last4: Type.String(),
  origins: Type.Array(Type.String()),
  createdAt: Time,
  lastUsedAt: Nullable(Time),
  expiresAt: Nullable(Time),
  revokedAt: Nullable(Time),
};
const TEXTS = {
  id: "Id of the key",
  kind: "SECRET: for servers, may do everything in the project; PUBLIC: only for /v1/track",
  name: "Its name",
  last4: "The last four characters of the key",
  origins: "Web origins that may use a public key; empty if all may",
  createdAt: "When the key was created",
  lastUsedAt: "When the key was last used; null if it never was",
  expiresAt: "From when on the key is refused; null if it does not expire",
  revokedAt: "When the key was revoked; null if it was not",
};
const KEY_EXAMPLE = {
  id: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e10",
  kind: "SECRET",
  name: "shop",
  last4: "x7Qa",
  origins: [],
  createdAt: EXAMPLE.createdAt,
  lastUsedAt: null,
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
      origins: Type.Optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: 20 })),
      expiresAt: Type.Optional(Nullable(Time)),
    }),
    {
      name: "A name by which people recognise the key",
      kind: "Kind of the key; default SECRET",
      origins: "Web origins such as https://shop.example, for a public key only; default: all",
      expiresAt: "From when on the key is refused; default: never",
    },
  ),
  { description: "An API key to create", example: { name: "shop" } },
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
            present,
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
          const origins = originsIn(body);
          const expiresAt = momentIn(body, app.clock.now());
          const { key, text } = createKey(app, project.seq, { name, kind, origins, expiresAt });
          return { ...present(key), text };
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
const PREFIXES = { SECRET: "sk_", PUBLIC: "pk_" } as const satisfies Record<KeyKind, string>;

type NewKey = {
  kind: KeyKind;
  name: string;
  expiresAt: number | null;
  /** Origins in the form of `parseWebOrigin`; if empty, pages of any origin may use the key. */
  origins?: readonly string[];
};

/** Creates a key. Its text is only in the result and is not stored. */
export function createKey(
  { db, clock }: Pick<App, "db" | "clock">,
  projectSeq: number,
  { origins = [], ...fields }: NewKey,
): { key: KeyRow; text: string } {
  const now = clock.now();
  const text = PREFIXES[fields.kind] + randomBase62(RANDOM_CHARACTERS);
  const row = {
    ...fields,
    origins: origins.join(" "),
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
  keyId: string;
  keyName: string;
  last4: string;
  origins: string;
  expiresAt: number | null;
  revokedAt: number | null;
  isProjectEnabled: number;
  seq: number;
  id: string;
  name: string;
  fromAddress: string | null;
  fromName: string | null;
};

// Runs for every request.
const findByDigest = statement<FoundKey, [string]>(`
  SELECT k.kind, k.id AS keyId, k.name AS keyName, k.last4, k.origins, k.expires_at AS expiresAt,
         k.revoked_at AS revokedAt, p.is_enabled AS isProjectEnabled, p.seq, p.id, p.name,
         p.from_address AS fromAddress, p.from_name AS fromName
  FROM api_keys k JOIN projects p ON p.seq = k.project_seq
  WHERE k.digest = +?`);

const findOnce = perApp((app: App) => cachePerIteration((digest) => findByDigest(app).get(digest)));

/** Time of last use by digest, until `storeUses` stores it. */
const uses = perApp(() => new Map<string, number>());

/**
 * Reads the key from the database, so that a revocation takes effect with the next request. `isUse` is
 * false for a look that is no use of the key.
 */
export function findKey(app: App, digest: string, { isUse = true } = {}): KnownKey | null {
  const row = findOnce(app)(digest);
  if (row === null) return null;
  const { kind, expiresAt, revokedAt, isProjectEnabled, seq, id, name } = row;
  const { fromAddress, fromName, keyId, keyName, last4 } = row;
  const now = app.clock.now();
  const isUsable = revokedAt === null && (expiresAt === null || expiresAt > now);
  if (isUsable && isUse) uses(app).set(digest, now);
  const sender = fromAddress === null ? null : { address: fromAddress, name: fromName };
  return {
    kind,
    shown: { id: keyId, name: keyName, last4 },
    origins: originsOf(row),
    project: { seq, id, name, sender },
    isProjectEnabled: isProjectEnabled === 1,
    isUsable,
  };
}

/** Stores the times of last use since the previous call. */
async function storeUses(app: App): Promise<void> {
  const stored = [...uses(app)];
  if (stored.length === 0) return;
  uses(app).clear();
  await app.writer.write(() => {
    for (const [digest, lastUsedAt] of stored) {
      app.db.update(apiKeys).set({ lastUsedAt }).where(eq(apiKeys.digest, digest)).run();
    }
  });
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

const ANY_ORIGIN: readonly string[] = [];

/** Web origins that may use a key; empty if any may. */
export function originsOf({ origins }: Pick<KeyRow, "origins">): readonly string[] {
  return origins === "" ? ANY_ORIGIN : origins.split(" ");
}

function present(key: KeyRow): ApiKey {
  const { id, kind, name, last4 } = key;
  return {
    id,
    kind,
    name,
    last4,
    origins: [...originsOf(key)],
    createdAt: isoTime(key.createdAt),
    lastUsedAt: isoTimeOrNull(key.lastUsedAt),
    expiresAt: isoTimeOrNull(key.expiresAt),
    revokedAt: isoTimeOrNull(key.revokedAt),
  };
}

function originsIn({ kind, origins = [] }: ApiKeyInput): string[] {
  if (origins.length > 0 && kind !== "PUBLIC") {
    throw fieldError("origins", "invalid_value", "is for public keys only");
  }
  return origins.map((text, index) => {
    const origin = parseWebOrigin(text);
    if (origin !== null) return origin;
    const message = "must be a web origin such as https://shop.example";
    throw fieldError(`origins.${index}`, "invalid_format", message);
  });
}

function momentIn({ expiresAt }: ApiKeyInput, nowMs: number): number | null {
  if (expiresAt === undefined || expiresAt === null) return null;
  const moment = Date.parse(expiresAt);
  if (moment > nowMs) return moment;
  throw fieldError("expiresAt", "invalid_value", "must be in the future");
}
