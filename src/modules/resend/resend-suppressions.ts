/**
 * POST   /suppressions                  suppress an address; one that is suppressed keeps its origin
 * GET    /suppressions
 * GET    /suppressions/{suppression}    the id of a suppression is its address
 * DELETE /suppressions/{suppression}
 * POST   /suppressions/batch/add        up to 100 addresses
 * POST   /suppressions/batch/remove
 */

import { type Static, Type } from "@sinclair/typebox";
import { and, eq, inArray } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { type SUPPRESSION_REASONS, suppressions } from "../../db/schema/contacts.ts";
import { BODY_LIMITS } from "../../http/body-limits.ts";
import { EmailAddress, normalizedAddress } from "../../http/formats.ts";
import { OneOf } from "../../http/validation.ts";
import { fieldError, notFound } from "../../lib/errors.ts";
import { parseAddress } from "../../protocols/mime/address.ts";
import {
  findSuppression,
  presentSuppression,
  removeSuppression,
  suppressAddress,
  suppressionReason,
} from "../suppressions.ts";
import {
  CONTACTS,
  Fields,
  hasValue,
  Maybe,
  type ResendCall,
  resendRoute,
  type ResendRoute,
} from "./call.ts";
import { resendPage, ResendPageQuery } from "./pages.ts";

type Reason = (typeof SUPPRESSION_REASONS)[number];

const ORIGINS = {
  HARD_BOUNCE: "bounce",
  SOFT_BOUNCE: "bounce",
  COMPLAINT: "complaint",
  MANUAL: "manual",
} as const satisfies Record<Reason, string>;

const REASONS: Readonly<Record<(typeof ORIGINS)[Reason], readonly Reason[]>> = {
  bounce: ["HARD_BOUNCE", "SOFT_BOUNCE"],
  complaint: ["COMPLAINT"],
  manual: ["MANUAL"],
};

const ListQuery = Type.Object(
  {
    ...ResendPageQuery.properties,
    origin: Type.Optional(OneOf(["bounce", "complaint", "manual"])),
  },
  { additionalProperties: false },
);

const MAX_BATCH = 100;
const Addresses = Type.Array(EmailAddress, { minItems: 1, maxItems: MAX_BATCH });
const Addition = Fields({ email: EmailAddress });
const Additions = Fields({ emails: Addresses });
const Removals = Fields({
  emails: Maybe(Type.Array(EmailAddress, { maxItems: MAX_BATCH })),
  ids: Maybe(Type.Array(Type.String(), { maxItems: MAX_BATCH })),
});
type Removals = Static<typeof Removals>;

const adding = {
  role: "EDITOR",
  scopes: CONTACTS,
  audit: ["suppressAddress", "suppression"],
  limit: BODY_LIMITS.members,
} as const;
const removing = { ...adding, audit: ["unsuppressAddress", "suppression"] } as const;

export const resendSuppressionRoutes: readonly ResendRoute[] = [
  resendRoute("POST /suppressions", { ...adding, body: Addition }, (app, call) =>
    call.onceWithoutQuota(() => () => ({
      status: 200,
      body: suppressed(app, call, call.body.email),
    })),
  ),
  resendRoute("POST /suppressions/batch/add", { ...adding, body: Additions }, (app, call) =>
    call.onceWithoutQuota(() => () => {
      const addresses = new Set(call.body.emails.map(normalizedAddress));
      const data = [...addresses].map((email) => suppressed(app, call, email));
      return { status: 200, body: { data } };
    }),
  ),
  resendRoute("POST /suppressions/batch/remove", { ...removing, body: Removals }, (app, call) =>
    call.onceWithoutQuota(() => {
      const addresses = addressesIn(call.body);
      return () => {
        const data = addresses.map((email) => ({
          object: "suppression",
          id: email,
          deleted: removed(app, call, email),
        }));
        return { status: 200, body: { data } };
      };
    }),
  ),
  resendRoute(
    "GET /suppressions",
    { role: "VIEWER", scopes: CONTACTS, query: ListQuery },
    (app, { project, query: { origin, ...query } }) =>
      resendPage(app, query, {
        table: suppressions,
        filter: and(
          eq(suppressions.projectSeq, project.seq),
          origin === undefined ? undefined : inArray(suppressions.reason, [...REASONS[origin]]),
        ),
        present: (row) => shown(app, row),
      }),
  ),
  resendRoute(
    "GET /suppressions/:suppression",
    { role: "VIEWER", scopes: CONTACTS },
    (app, call) => {
      const row = findSuppression(app, call.project.seq, addressOf(call));
      return { object: "suppression", ...shown(app, row) };
    },
  ),
  resendRoute(
    "DELETE /suppressions/:suppression",
    { role: "EDITOR", scopes: CONTACTS, audit: removing.audit },
    async (app, call) => {
      const email = addressOf(call);
      await call.storeWithoutQuota(() => removeSuppression(app, call.project.seq, email));
      return { object: "suppression", id: email, deleted: true };
    },
  ),
];

type Asked = Pick<ResendCall, "project">;

/** Part of a change. */
function suppressed(app: App, { project }: Asked, given: string) {
  const email = normalizedAddress(given);
  suppressAddress(app, project.seq, email, "MANUAL");
  return { object: "suppression", id: email };
}

/** Part of a change. Returns false if the address was not suppressed. */
function removed(app: App, { project }: Asked, email: string): boolean {
  if (suppressionReason(app, project.seq, email) === null) return false;
  removeSuppression(app, project.seq, email);
  return true;
}

/** The addresses of a request, each once. Throws 422 unless it has them, or their ids. */
function addressesIn({ emails, ids }: Removals): string[] {
  if (hasValue(emails) === hasValue(ids)) {
    throw fieldError("emails", "invalid_value", "must be given, or ids, but not both");
  }
  return [...new Set((emails ?? []).map(normalizedAddress).concat(ids ?? []))];
}

function addressOf({ params }: Pick<ResendCall, "params">): string {
  const parsed = parseAddress(params["suppression"] ?? "");
  if (!parsed.ok) throw notFound("SUPPRESSION");
  return parsed.address;
}

function shown(app: App, row: Parameters<typeof presentSuppression>[1]) {
  const { email, reason, createdAt, cause } = presentSuppression(app, row);
  return {
    id: email,
    email,
    origin: ORIGINS[reason],
    source_id: cause?.emailId ?? null,
    created_at: createdAt,
  };
}
