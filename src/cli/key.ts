/** The commands `mailstead key create`, `list` and `revoke`. */

import { recordCommand } from "./audit.ts";
import { isoTime, isoTimeOrNull, systemClock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { parseWebOrigin } from "../lib/web-origin.ts";
import { KEY_KINDS, KEY_SCOPES } from "../db/schema/projects.ts";
import { checkKeyLimits } from "../modules/key-limits.ts";
import {
  createKey,
  keyPrefix,
  type KeyRow,
  listKeys,
  listsOf,
  revokeKey,
  scopeOf,
  usageOf,
} from "../modules/keys.ts";
import type { KeyKind } from "../http/admission.ts";
import type { KeyScope } from "../http/scopes.ts";
import { type Command, UsageError } from "./command.ts";
import { print, PROJECT_FLAG, type Store, STORE_SETTINGS, withStore } from "./store.ts";

export const keyCreate: Command = {
  name: "key create",
  summary: "Create an API key; it is shown once",
  positionals: [],
  flags: [
    PROJECT_FLAG,
    { name: "kind", placeholder: KEY_KINDS.join("|"), help: "Kind of key (default SECRET)" },
    { name: "public", help: "The same as --kind PUBLIC" },
    {
      name: "scope",
      placeholder: KEY_SCOPES.join("|"),
      help: "What a secret key may do (default EVERYTHING); an SMTP password can only send",
    },
    {
      name: "domain",
      placeholder: "DOMAIN,…",
      isList: true,
      help: "The key sends only from these domains; for --scope SEND and --kind SMTP",
    },
    {
      name: "ip-range",
      placeholder: "RANGE,…",
      isList: true,
      help: "Only clients of these addresses, such as 203.0.113.0/24, may use the key",
    },
    {
      name: "origin",
      placeholder: "ORIGIN,…",
      isList: true,
      help: "Only pages of these origins, such as https://shop.example, may use the public key",
    },
    { name: "name", placeholder: "TEXT", help: "Name that describes its use" },
    { name: "expires", placeholder: "TIME", help: "ISO 8601 time after which the key is refused" },
  ],
  settings: STORE_SETTINGS,
  run: async (input) => {
    const kind = readKind(input.flags);
    const origins = readOrigins(input.flags["origin"], kind);
    const scope = readScope(input.flags["scope"]);
    const domains = readLimits(input.flags, "domain");
    const ipRanges = readLimits(input.flags, "ip-range");
    const expiresAt = readExpiry(input.flags["expires"]);
    const name = input.flags["name"] ?? "";
    return withStore(input, async (store) => {
      const { writer, project } = store;
      const { key, text } = await writer.write(() => {
        const { seq } = project();
        const limits = withFlagNames(() =>
          checkKeyLimits(store, seq, { kind, scope, origins, domains, ipRanges }),
        );
        const created = createKey(store, seq, { kind, name, expiresAt, ...limits });
        recordCommand(store, "key create", recordOf(created.key));
        return created;
      });
      return print(
        input,
        { key: { ...present(key), text } },
        `${text}\nStore the key now: it is not shown again. Its id for key revoke: ${key.id}`,
      );
    });
  },
};

export const keyList: Command = {
  name: "key list",
  summary: "List the keys of a project",
  positionals: [],
  flags: [PROJECT_FLAG],
  settings: STORE_SETTINGS,
  run: (input) =>
    withStore(input, async (store) => {
      const all = listKeys(store, store.project().seq);
      const now = store.clock.now();
      const human =
        all.map((key) => lineFor(key, now)).join("\n") ||
        "There is no key yet. Create one: mailstead key create";
      return print(
        input,
        { keys: all.map((key) => ({ ...present(key), state: keyState(key, now) })) },
        human,
      );
    }),
};

export const keyRevoke: Command = {
  name: "key revoke",
  summary: "Revoke a key: it is refused from the next request on",
  positionals: [{ name: "KEY-ID", help: "Id from mailstead key list" }],
  flags: [],
  settings: STORE_SETTINGS,
  run: (input) =>
    withStore(input, async (store) => {
      const key = await store.writer.write(() => {
        const revoked = revokeNamed(store, input.positionals[0] ?? "");
        recordCommand(store, "key revoke", recordOf(revoked));
        return revoked;
      });
      return print(input, { key: present(key) }, `Key …${key.last4} is revoked.`);
    }),
};

function revokeNamed(store: Store, id: string): KeyRow {
  try {
    return revokeKey(store, id);
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== NOT_FOUND) throw error;
    const suggestion = "Ids are shown by mailstead key list.";
    throw new AppError(error.status, error.code, `There is no key "${id}".`, { suggestion });
  }
}

const NOT_FOUND = 404;

/** The flags of limits, by their fields in the HTTP interface. */
const LIMIT_FLAGS: Readonly<Record<string, string>> = {
  ipRanges: "--ip-range",
  domains: "--domain",
  origins: "--origin",
  scope: "--scope",
};

/** Refusals of limits name the flag in place of the field. */
function withFlagNames<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const [first] = error.errors ?? [];
    const flag = LIMIT_FLAGS[first?.field.split(".")[0] ?? ""];
    if (first === undefined || flag === undefined) throw error;
    throw new AppError(error.status, error.code, `${flag}: ${first.message}`);
  }
}

const recordOf = ({ projectSeq, id }: KeyRow) => ({ projectSeq, objectId: id });

function readKind(flags: Readonly<Record<string, string>>): KeyKind {
  const isPublic = flags["public"] !== undefined;
  const text = flags["kind"] ?? (isPublic ? "PUBLIC" : "SECRET");
  const kind = text.toUpperCase();
  const known = KEY_KINDS.find((each) => each === kind);
  if (known === undefined) {
    throw new UsageError(`--kind: expected ${KEY_KINDS.join(", ")}, got "${text}"`);
  }
  if (isPublic && known !== "PUBLIC") {
    throw new UsageError(`--public and --kind ${known} exclude each other`);
  }
  return known;
}

function readScope(text: string | undefined): KeyScope | undefined {
  if (text === undefined) return undefined;
  const known = KEY_SCOPES.find((each) => each === text.toUpperCase());
  if (known !== undefined) return known;
  throw new UsageError(`--scope: expected ${KEY_SCOPES.join(", ")}, got "${text}"`);
}

const wordsIn = (list = ""): string[] => list.split(/[\s,]+/).filter((word) => word !== "");

/** An empty list would allow everything, although a person who gives the flag wants a limit. */
function readLimits(
  flags: Readonly<Record<string, string>>,
  name: "domain" | "ip-range",
): string[] {
  const text = flags[name];
  if (text === undefined) return [];
  const words = wordsIn(text);
  if (words.length > 0) return words;
  throw new UsageError(`--${name}: expected at least one value, got "${text}"`);
}

const MAX_ORIGINS = 50;

function readOrigins(list: string | undefined, kind: KeyKind): string[] {
  if (list === undefined) return [];
  if (kind !== "PUBLIC") throw new UsageError("--origin is for public keys: add --public");
  const words = wordsIn(list);
  if (words.length === 0) throw invalidOrigin("");
  const origins = words.map((word) => {
    const origin = parseWebOrigin(word);
    if (origin === null) throw invalidOrigin(word);
    return origin;
  });
  const distinct = [...new Set(origins)];
  if (distinct.length <= MAX_ORIGINS) return distinct;
  throw new UsageError(`--origin: expected at most ${MAX_ORIGINS} origins`);
}

function invalidOrigin(text: string): UsageError {
  return new UsageError(
    `--origin: expected an origin such as https://shop.example, without a path, got "${text}"`,
  );
}

function readExpiry(text: string | undefined): number | null {
  if (text === undefined) return null;
  const moment = Date.parse(text);
  if (/^\d{4}-\d{2}-\d{2}/.test(text) && moment > systemClock.now()) return moment;
  throw new UsageError(
    `--expires: expected a future time such as 2030-01-31T12:00:00Z, got "${text}"`,
  );
}

function present(key: KeyRow) {
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
    usage: usageOf(key, systemClock.now()),
    expiresAt: isoTimeOrNull(key.expiresAt),
    revokedAt: isoTimeOrNull(key.revokedAt),
  };
}

/** The state of a key. Only a valid one is accepted. */
function keyState({ revokedAt, expiresAt }: KeyRow, now: number): "VALID" | "EXPIRED" | "REVOKED" {
  if (revokedAt !== null) return "REVOKED";
  return expiresAt !== null && expiresAt <= now ? "EXPIRED" : "VALID";
}

function lineFor(key: KeyRow, now: number): string {
  const prefix = keyPrefix(key.kind);
  const state = keyState(key, now).toLowerCase().padEnd(7);
  const used = key.lastUsedAt === null ? "never used" : `last used ${isoTime(key.lastUsedAt)}`;
  const { origins, domains, ipRanges } = listsOf(key);
  const from = [...origins, ...ipRanges];
  const limit = from.length === 0 ? "" : `  only from ${from.join(", ")}`;
  const may = key.scope === "EVERYTHING" ? "" : `  may ${key.scope}`;
  const senders = domains.length === 0 ? "" : `  as ${domains.join(", ")}`;
  const end = key.expiresAt === null ? "" : `  until ${isoTime(key.expiresAt)}`;
  return `${key.id}  ${prefix}…${key.last4}  ${state}  ${used}  ${key.name}${end}${may}${senders}${limit}`;
}
