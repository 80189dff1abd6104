/** Users of the dashboard with their roles, an open invitation and an audit log. */

import type { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import type { MemberRole } from "../../../src/db/schema/accounts.ts";
import { type Random, uuidAt } from "../random.ts";
import { DAY_MS } from "./people.ts";

/** The password of all users of the demonstration. */
export const DEMO_PASSWORD = "harbour-books-demo";

export type DemoUser = {
  email: string;
  name: string;
  /** Null for the owner, who needs no membership. */
  role: MemberRole | null;
  isDisabled: boolean;
};

export const DEMO_USERS: readonly DemoUser[] = [
  { email: "olivia@harbourbooks.example", name: "Olivia Owner", role: null, isDisabled: false },
  { email: "adam@harbourbooks.example", name: "Adam Köhler", role: "ADMIN", isDisabled: false },
  {
    email: "edith@harbourbooks.example",
    name: "Edith Fontaine",
    role: "EDITOR",
    isDisabled: false,
  },
  { email: "victor@harbourbooks.example", name: "Víctor Núñez", role: "VIEWER", isDisabled: false },
  { email: "dora@harbourbooks.example", name: "Dora Nowak", role: "EDITOR", isDisabled: true },
];

type Value = readonly [field: string, before: string | null, after: string | null];
type Made = readonly [
  action: string,
  object: string,
  name: string | null,
  values: readonly Value[],
  fields?: readonly string[],
];

const CHANGES: readonly Made[] = [
  [
    "template.update",
    "template",
    "Order confirmation",
    [["subject", "Your order", "Order {{ number }}"]],
  ],
  ["campaign.create", "campaign", "Books for the beach", []],
  ["campaign.send", "campaign", "Books for the beach", [["status", "DRAFT", "SENDING"]]],
  ["segment.update", "segment", "Readers of crime novels", [["trackMembership", "false", "true"]]],
  ["contact.update", "contact", null, [["subscribed", "false", "true"]], ["data"]],
  ["workflow.update", "workflow", "Welcome", [], ["steps", "transitions"]],
  ["suppression.delete", "suppression", null, []],
  ["key.create", "key", "shop server", []],
  ["webhook.update", "webhook", "https://shop.example/hooks", [["enabled", "false", "true"]]],
  ["project.update", "project", "Harbour Books", [["tracking", "ENABLED", "MARKETING_ONLY"]]],
];
const AUDIT_ROWS = 160;

export async function insertTeam(
  sqlite: Database,
  { projectSeq, random, untilMs }: { projectSeq: number; random: Random; untilMs: number },
): Promise<void> {
  const digest = await Bun.password.hash(DEMO_PASSWORD);
  const insertUser = sqlite.prepare(`
    INSERT INTO users (id, email, name, password_digest, is_owner, disabled_at, last_sign_in_at,
      created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const insertMembership = sqlite.prepare(
    "INSERT INTO memberships (project_seq, user_seq, role, created_at) VALUES (?, ?, ?, ?)",
  );
  sqlite.transaction(() => {
    const ids = DEMO_USERS.map(({ email, name, role, isDisabled }, i) => {
      const at = untilMs - (365 - i * 40) * DAY_MS;
      const id = uuidAt(at, random);
      const disabledAt = isDisabled ? untilMs - 30 * DAY_MS : null;
      const isOwner = role === null ? 1 : 0;
      const signedInAt = untilMs - (isDisabled ? 40 : i) * DAY_MS;
      const row = insertUser.run(id, email, name, digest, isOwner, disabledAt, signedInAt, at);
      if (role !== null) insertMembership.run(projectSeq, row.lastInsertRowid, role, at);
      return id;
    });
    insertInvitation(sqlite, { projectSeq, random, untilMs });
    insertAudit(sqlite, { projectSeq, random, untilMs, ids });
  })();
}

type Given = { projectSeq: number; random: Random; untilMs: number };

function insertInvitation(sqlite: Database, { projectSeq, random, untilMs }: Given): void {
  const at = untilMs - 2 * DAY_MS;
  const digest = createHash("sha256").update(`${random.bits()} ${untilMs}`).digest("hex");
  sqlite
    .query(
      `INSERT INTO user_tokens (id, digest, kind, email, project_seq, role, created_at, expires_at)
       VALUES (?, ?, 'INVITATION', 'nina@harbourbooks.example', ?, 'VIEWER', ?, ?)`,
    )
    .run(uuidAt(at, random), digest, projectSeq, at, at + 7 * DAY_MS);
}

function insertAudit(
  sqlite: Database,
  { projectSeq, random, untilMs, ids }: Given & { ids: readonly string[] },
): void {
  const insert = sqlite.prepare(`
    INSERT INTO audit (id, at, actor_kind, actor_id, actor_label, actor_name, project_seq, action,
      object_type, object_id, object_name, fields, changes, address)
    VALUES (?, ?, 'USER', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  for (let i = AUDIT_ROWS; i > 0; i--) {
    const at = untilMs - i * 2 * DAY_MS + random.integer(DAY_MS);
    const [action, object, name, values, more = []] = random.pick(CHANGES);
    const actor = random.integer(3);
    insert.run(
      uuidAt(at, random),
      at,
      ids[actor] ?? null,
      DEMO_USERS[actor]?.email ?? "",
      DEMO_USERS[actor]?.name ?? "",
      projectSeq,
      action,
      object,
      uuidAt(at - DAY_MS, random),
      name,
      JSON.stringify([...values.map(([field]) => field), ...more]),
      JSON.stringify(values.map(([field, before, after]) => ({ field, before, after }))),
      `203.0.113.${10 + actor}`,
    );
  }
}
