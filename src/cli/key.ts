/** mailstead key create | list | revoke */

import { isoTime, isoTimeOrNull } from "../lib/clock.ts";
import type { KeyRow } from "../modules/keys/service.ts";
import { type Command, UsageError } from "./command.ts";
import { print, PROJECT_FLAG, STORE_SETTINGS, withStore } from "./store.ts";

export const keyCreate: Command = {
  name: "key create",
  summary: "Make an API key; it is shown once",
  positionals: [],
  flags: [
    PROJECT_FLAG,
    { name: "kind", placeholder: "SECRET|PUBLIC", help: "What it may do (default SECRET)" },
    { name: "name", placeholder: "TEXT", help: "What it is for" },
    { name: "expires", placeholder: "TIME", help: "ISO 8601 time after which it is refused" },
  ],
  settings: STORE_SETTINGS,
  run: async (input) => {
    const kind = readKind(input.flags["kind"] ?? "SECRET");
    const expiresAt = readExpiry(input.flags["expires"]);
    const name = input.flags["name"] ?? "";
    return withStore(input, async ({ writer, keys, project }) => {
      const { key, text } = await writer.write(
        keys.create(project().seq, { kind, name, expiresAt }),
      );
      return print(
        input,
        { key: { ...present(key), text } },
        `${text}\nKeep it now: it is not shown again. Id for revoking: ${key.id}`,
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
    withStore(input, async ({ keys, project }) => {
      const all = keys.list(project().seq);
      const human = all.map(line).join("\n") || "No key yet. Make one: mailstead key create";
      return print(input, { keys: all.map(present) }, human);
    }),
};

export const keyRevoke: Command = {
  name: "key revoke",
  summary: "Refuse a key from the next request on",
  positionals: [{ name: "KEY-ID", help: "Id from mailstead key list" }],
  flags: [],
  settings: STORE_SETTINGS,
  run: (input) =>
    withStore(input, async ({ writer, keys }) => {
      const key = await writer.write(keys.revoke(input.positionals[0] ?? ""));
      return print(input, { key: present(key) }, `Key …${key.last4} is revoked.`);
    }),
};

function readKind(text: string): "SECRET" | "PUBLIC" {
  const kind = text.toUpperCase();
  if (kind === "SECRET" || kind === "PUBLIC") return kind;
  throw new UsageError(`--kind: expected SECRET or PUBLIC, got "${text}"`);
}

function readExpiry(text: string | undefined): number | null {
  if (text === undefined) return null;
  const moment = Date.parse(text);
  if (/^\d{4}-\d{2}-\d{2}/.test(text) && moment > Date.now()) return moment;
  throw new UsageError(
    `--expires: expected a future time such as 2030-01-31T12:00:00Z, got "${text}"`,
  );
}

function present(key: KeyRow) {
  const { id, kind, name, last4 } = key;
  return {
    id,
    kind,
    name,
    last4,
    createdAt: isoTime(key.createdAt),
    lastUsedAt: isoTimeOrNull(key.lastUsedAt),
    expiresAt: isoTimeOrNull(key.expiresAt),
    revokedAt: isoTimeOrNull(key.revokedAt),
  };
}

function line(key: KeyRow): string {
  const prefix = key.kind === "SECRET" ? "sk" : "pk";
  const state = key.revokedAt !== null ? "revoked" : "valid  ";
  const used = key.lastUsedAt === null ? "never used" : `last used ${isoTime(key.lastUsedAt)}`;
  return `${key.id}  ${prefix}_…${key.last4}  ${state}  ${used}  ${key.name}`;
}
