/**
 * Suppressions: addresses to which a project sends no mail.
 *
 * A caller adds and removes them; a hard bounce, a complaint, or several soft bounces add one as well.
 * `suppressionReason` is asked when a mail is accepted and again just before it is sent. An entry that
 * soft bounces made is removed when it expires.
 */

import { searchedAddress } from "../protocols/mime/mailbox.ts";
import { type Static, Type } from "@sinclair/typebox";
import { and, eq, lte, or, sql } from "drizzle-orm";
import type { App } from "../core/app.ts";
import { SUPPRESSION_REASONS, suppressions } from "../db/schema/contacts.ts";
import { statement } from "../db/statement.ts";
import { BODY_LIMITS, limited } from "../http/body-limits.ts";
import { described, describedUse, named } from "../http/documented.ts";
import { Envelope, ListEnvelope, NoContent, Nullable, type Page } from "../http/envelope.ts";
import { EXAMPLE } from "../http/example-values.ts";
import { EmailAddress, normalizedAddress } from "../http/formats.ts";
import { created, operations, read, write } from "../http/operations.ts";
import { newestPage, PageQuery } from "../http/pagination.ts";
import { Input, OneOf, withChecks } from "../http/validation.ts";
import { isoTime, isoTimeOrNull } from "../lib/clock.ts";
import { AppError, REQUIRED } from "../lib/errors.ts";
import { parseAddress, storedSpellings } from "../protocols/mime/address.ts";
import type { Noun } from "./module.ts";
import { suppressionCause } from "./suppression-cause.ts";
import {
  endErasedStanding,
  type ErasedStanding,
  erasedStanding,
  suppressErased,
} from "./privacy/erased.ts";

/** Addresses of one request, which are stored in one change. */
const MAX_EMAILS = 1_000;

const Reason = named("SuppressionReason", OneOf(SUPPRESSION_REASONS), {
  description:
    "HARD_BOUNCE: the address does not exist; SOFT_BOUNCE: several mails bounced, for instance " +
    "because the mailbox is full, and the entry expires; COMPLAINT: the recipient reported spam; " +
    "MANUAL: a caller suppressed it",
});

const Cause = named(
  "SuppressionCause",
  described(
    Type.Object({
      emailId: Type.String(),
      reportedAt: Nullable(Type.String({ format: "date-time" })),
      reason: Nullable(Type.String()),
    }),
    {
      emailId: "Id of the mail that bounced or was reported as spam",
      reportedAt: "When the report arrived; null if the server refused the mail at once",
      reason: "The refusal or the report in words; null once the contact was deleted",
    },
  ),
  { description: "The mail, and the report about it, for which an address is suppressed" },
);

const Suppression = named(
  "Suppression",
  described(
    Type.Object({
      email: Type.String(),
      reason: Reason,
      createdAt: Type.String({ format: "date-time" }),
      expiresAt: Nullable(Type.String({ format: "date-time" })),
      cause: Nullable(Cause),
    }),
    {
      email: "The suppressed address",
      reason: "Why no mail is sent to the address",
      createdAt: "When the address was suppressed",
      expiresAt: "When mail is sent to it again; null for never",
      cause: "The mail and the report that are the cause; null if a caller suppressed the address",
    },
  ),
  {
    description: "An address that gets no mail",
    example: {
      email: "ada@example.com",
      reason: "MANUAL",
      createdAt: EXAMPLE.createdAt,
      expiresAt: null,
      cause: null,
    },
  },
);
export type Suppression = Static<typeof Suppression>;

const SuppressionInput = named(
  "SuppressionInput",
  withChecks(
    described(
      Input({
        email: Type.Optional(EmailAddress),
        emails: Type.Optional(Type.Array(EmailAddress, { minItems: 1, maxItems: MAX_EMAILS })),
        reason: Type.Optional(Reason),
      }),
      {
        email: "The address to suppress; required if there is no `emails`",
        emails: "Addresses to suppress, instead of `email`",
        reason: "Why no mail is to be sent to the address; default MANUAL",
      },
    ),
    ({ email, emails }) => {
      if (email === undefined && emails === undefined) {
        return [{ field: "email", message: REQUIRED, code: "required" }];
      }
      if (email === undefined || emails === undefined) return [];
      const message = "must be left out if email is given";
      return [{ field: "emails", message, code: "invalid_value" }];
    },
  ),
  { description: "Addresses to suppress", example: { email: "ada@example.com" } },
);

const SuppressedEmails = named(
  "SuppressedEmails",
  described(Type.Object({ created: Type.Integer(), existing: Type.Integer() }), {
    created: "Addresses that were not suppressed before",
    existing: "Addresses that were suppressed before; their reasons are not changed",
  }),
  {
    description: "How many of several addresses are newly suppressed",
    example: { created: 2, existing: 0 },
  },
);

const SuppressionListInput = named(
  "SuppressionListInput",
  described(
    Input({
      suppressions: Type.Array(
        described(
          Input({
            email: Type.String({ maxLength: 1_000 }),
            reason: Type.Optional(Reason),
          }),
          {
            email: "The address to suppress",
            reason: "Why no mail is to be sent to the address; default MANUAL",
          },
        ),
        { minItems: 1, maxItems: MAX_EMAILS },
      ),
      dryRun: Type.Optional(Type.Boolean()),
    }),
    {
      suppressions: "Up to 1,000 addresses, each with its own reason",
      dryRun: "Whether nothing is changed, and the answer only says what would be; default false",
    },
  ),
  {
    description: "A list of addresses to suppress, as another product exports it",
    example: { suppressions: [{ email: "ada@example.com", reason: "HARD_BOUNCE" }] },
  },
);

const SuppressionListResult = named(
  "SuppressionListResult",
  described(
    Type.Object({
      created: Type.Integer(),
      existing: Type.Integer(),
      repeated: Type.Integer(),
      refused: Type.Array(
        described(
          Type.Object({ index: Type.Integer(), email: Type.String(), message: Type.String() }),
          {
            index: "Position in the list, from 0",
            email: "The address as it was sent",
            message: "Why it is no address",
          },
        ),
      ),
    }),
    {
      created: "Addresses that were not suppressed before",
      existing: "Addresses that were suppressed before; their reasons are not changed",
      repeated: "Entries whose address stands earlier in the list; the first one counts",
      refused: "The entries that were left out, because they have no valid address",
    },
  ),
  {
    description: "What became of each entry of a list: the four numbers add up to its length",
    example: {
      created: 1,
      existing: 0,
      repeated: 0,
      refused: [{ index: 1, email: "ada@", message: "The domain after @ is missing." }],
    },
  },
);

const SuppressionQuery = Input({
  ...PageQuery.properties,
  email: Type.Optional(
    Type.String({ maxLength: 320, description: "Part of the address, case-insensitive" }),
  ),
  reason: Type.Optional(describedUse(Reason, "Only addresses suppressed for this reason")),
});

const suppressionOperations = operations(
  "Suppressions",
  { parameters: { email: "The suppressed address" } },
  [
    read("GET /suppressions", {
      id: "listSuppressions",
      role: "VIEWER",
      scopes: ["READ", "CONTACTS"],
      summary: "List suppressed addresses",
      description: "Addresses that match all given filters, newest first.",
      query: SuppressionQuery,
      answer: ListEnvelope(Suppression),
      run: (app, { project, query }) => listSuppressions(app, project, query),
    }),
    write("POST /suppressions", {
      id: "suppressAddress",
      role: "EDITOR",
      scopes: ["CONTACTS"],
      summary: "Suppress an address; an existing reason is not changed",
      description:
        "Answers 201 for a new entry and 200 if the address was suppressed before. Mails to the " +
        "address get the status SUPPRESSED and are not sent. `emails` instead of `email` suppresses " +
        "up to 1,000 addresses at once; the answer then counts them, with 201 if one is new. " +
        "POST /suppressions/import takes a CSV file.",
      isIdempotent: true,
      links: { unsuppressAddress: { email: "/data/email" } },
      isWithinQuota: false,
      body: limited(SuppressionInput, BODY_LIMITS.members),
      answer: Envelope(Type.Union([Suppression, SuppressedEmails])),
      status: [200, 201],
      run(app, { project, body: { email, emails, reason = "MANUAL" } }) {
        if (emails !== undefined) return suppressAll(app, project.seq, { emails, reason });
        const address = normalizedAddress(email ?? "");
        const isNew = suppressAddress(app, project.seq, address, reason);
        const shown = presentSuppression(app, findSuppression(app, project.seq, address));
        return isNew ? created(shown) : shown;
      },
    }),
    write("POST /suppressions/bulk", {
      id: "suppressList",
      role: "EDITOR",
      scopes: ["CONTACTS"],
      summary: "Suppress the addresses of a list, and name those that are refused",
      description:
        "Unlike POST /suppressions, an entry without a valid address does not refuse the others. " +
        "An existing suppression is never lifted, and keeps its reason unless it would expire. " +
        "POST /suppressions/import takes a CSV file of any length.",
      isIdempotent: true,
      isWithinQuota: false,
      body: limited(SuppressionListInput, BODY_LIMITS.suppressionList),
      answer: Envelope(SuppressionListResult),
      run: (app, { project, body }) => suppressList(app, project.seq, body),
    }),
    write("DELETE /suppressions/:email", {
      id: "unsuppressAddress",
      role: "EDITOR",
      scopes: ["CONTACTS"],
      summary: "Remove the suppression of an address",
      description: "Mail that is accepted afterwards is sent to the address again.",
      isWithinQuota: false,
      answer: NoContent,
      run: (app, { project, params }) => removeSuppression(app, project.seq, params.email),
    }),
  ],
);

export const suppressionNoun: Noun = {
  name: "suppressions",
  operations: suppressionOperations,
  recurring: [
    {
      name: "suppressions",
      pattern: "0 * * * * *",
      run: (app) => app.writer.write(() => removeExpiredSuppressions(app)),
    },
  ],
};

type Row = typeof suppressions.$inferSelect;

function listSuppressions(
  app: App,
  project: { seq: number },
  { email = "", reason, ...query }: Static<typeof SuppressionQuery>,
): Promise<Page<Suppression>> {
  const spellings = email === "" ? [] : storedSpellings(searchedAddress(email));
  return newestPage(app, project, {
    name: "suppressions",
    query,
    table: suppressions,
    filter: and(
      eq(suppressions.projectSeq, project.seq),
      reason === undefined ? undefined : eq(suppressions.reason, reason),
      or(...spellings.map((part) => sql`instr(${suppressions.email}, ${part}) > 0`)),
    ),
    present: (row) => presentSuppression(app, row),
  });
}

// Runs twice for every mail.
const findReason = statement<Pick<Row, "reason">, [number, string]>(
  "SELECT reason FROM suppressions WHERE project_seq = +? AND email = +?",
);

/** Returns null if the address is not suppressed. An erased address is known by its digest. */
export function suppressionReason(app: App, projectSeq: number, email: string) {
  const found = findReason(app).get(projectSeq, email);
  if (found !== null) return found.reason;
  const standing = standingOfErased(app, projectSeq, email);
  return standing === "UNSUBSCRIBED" ? null : standing;
}

// Most projects have no erasures, so for each mail only this query runs.
const findErasure = statement<{ found: number }, [number]>(
  "SELECT 1 AS found FROM erasures WHERE project_seq = +? LIMIT 1",
);
const hasErased = (app: App, projectSeq: number): boolean =>
  findErasure(app).get(projectSeq) !== null;

/**
 * The standing of an erased person: unsubscribed, or the reason why they get no mail; null for none.
 */
export function standingOfErased(
  app: App,
  projectSeq: number,
  email: string,
): ErasedStanding | null {
  return hasErased(app, projectSeq) ? erasedStanding(app, projectSeq, email) : null;
}

/** Part of a change: removes the standing of an erased person. Returns false if there was none. */
export function endStanding(app: App, projectSeq: number, email: string): boolean {
  return hasErased(app, projectSeq) && endErasedStanding(app, projectSeq, email);
}

type Entry = {
  reason: Row["reason"];
  at: number;
  /** The mail whose bounce or complaint is the cause. */
  emailSeq?: number;
  /** The time at which the entry is removed; never if absent or null. */
  expiresAt?: number | null;
};

const findContact = statement<{ seq: number }, [number, string]>(
  "SELECT seq FROM contacts WHERE project_seq = +? AND email = +?",
);

const insertOrReplace = statement<null, [Omit<Row, "seq">]>(`
  INSERT INTO suppressions (project_seq, email, reason, created_at, email_seq, expires_at)
  VALUES ($projectSeq, $email, $reason, $createdAt, $emailSeq, $expiresAt)
  ON CONFLICT (project_seq, email) DO UPDATE
  SET reason = excluded.reason, created_at = excluded.created_at,
      email_seq = excluded.email_seq, expires_at = excluded.expires_at
  WHERE expires_at IS NOT NULL`);

/** Replaces an entry that expires. If the address is suppressed for good, its reason is not changed. */
export function addSuppression(
  app: App,
  projectSeq: number,
  email: string,
  { reason, at, emailSeq, expiresAt }: Entry,
): void {
  // A late bounce or complaint does not bring back the address of an erased person.
  const isLate = emailSeq !== undefined && hasErased(app, projectSeq);
  if (isLate && findContact(app).get(projectSeq, email) === null) {
    if (
      suppressErased(
        app,
        projectSeq,
        email,
        expiresAt === undefined || expiresAt === null ? reason : null,
      )
    )
      return;
  }
  insertOrReplace(app).run({
    projectSeq,
    email,
    reason,
    createdAt: at,
    emailSeq: emailSeq ?? null,
    expiresAt: expiresAt ?? null,
  });
}

/** Suppresses an address for good; returns false if it was suppressed before. */
export function suppressAddress(
  app: App,
  projectSeq: number,
  email: string,
  reason: Row["reason"],
): boolean {
  const isNew = suppressionReason(app, projectSeq, email) === null;
  addSuppression(app, projectSeq, email, { reason, at: app.clock.now() });
  return isNew;
}

function suppressAll(
  app: App,
  projectSeq: number,
  { emails, reason }: { emails: readonly string[]; reason: Row["reason"] },
) {
  const addresses = [...new Set(emails.map(normalizedAddress))];
  const isNew = addresses.filter((email) => suppressAddress(app, projectSeq, email, reason));
  const counts = { created: isNew.length, existing: addresses.length - isNew.length };
  return counts.created > 0 ? created(counts) : counts;
}

function suppressList(
  app: App,
  projectSeq: number,
  { suppressions: list, dryRun = false }: Static<typeof SuppressionListInput>,
): Static<typeof SuppressionListResult> {
  const seen = new Set<string>();
  const refused: Static<typeof SuppressionListResult>["refused"] = [];
  let [created, existing, repeated] = [0, 0, 0];
  for (const [index, { email, reason = "MANUAL" }] of list.entries()) {
    const parsed = parseAddress(email);
    if (!parsed.ok) {
      refused.push({ index, email, message: parsed.reason });
      continue;
    }
    const { address } = parsed;
    if (seen.has(address)) {
      repeated++;
      continue;
    }
    seen.add(address);
    const isNew = dryRun
      ? suppressionReason(app, projectSeq, address) === null
      : suppressAddress(app, projectSeq, address, reason);
    if (isNew) created++;
    else existing++;
  }
  return { created, existing, repeated, refused };
}

export function removeSuppression(app: App, projectSeq: number, text: string): void {
  const parsed = parseAddress(text);
  if (!parsed.ok) throw notSuppressed();
  const isRemoved = removeSuppressionOf(app, projectSeq, parsed.address);
  // Also one that is kept for an erased address.
  const wasErased = endStanding(app, projectSeq, parsed.address);
  if (!isRemoved && !wasErased) throw notSuppressed();
}

/** Part of a change: removes the entry of an address; returns false if there is none. */
export function removeSuppressionOf({ db }: App, projectSeq: number, email: string): boolean {
  return db.delete(suppressions).where(isEntry(projectSeq, email)).returning().all().length > 0;
}

export function removeExpiredSuppressions({ db, clock }: App): void {
  db.delete(suppressions).where(lte(suppressions.expiresAt, clock.now())).run();
}

export function findSuppression({ db }: App, projectSeq: number, email: string): Row {
  const row = db.select().from(suppressions).where(isEntry(projectSeq, email)).get();
  if (row === undefined) throw notSuppressed();
  return row;
}

function isEntry(projectSeq: number, email: string) {
  return and(eq(suppressions.projectSeq, projectSeq), eq(suppressions.email, email));
}

export function presentSuppression(app: App, row: Row): Suppression {
  const { email, reason, createdAt, expiresAt } = row;
  return {
    email,
    reason,
    createdAt: isoTime(createdAt),
    expiresAt: isoTimeOrNull(expiresAt),
    cause: suppressionCause(app, row),
  };
}

function notSuppressed(): AppError {
  return new AppError(404, "SUPPRESSION_NOT_FOUND", "This address is not suppressed.", {
    suggestion: "GET /suppressions lists the addresses of the project.",
  });
}
