/**
 * How long a project keeps each kind of data. Null is the period of the installation. A longer one is
 * refused. If that of the installation is shortened later, the longer one has no effect, because the
 * purges of the installation remove the data of all projects.
 */

import { Type } from "@sinclair/typebox";
import type { Config } from "../config/settings.ts";
import type { App } from "../core/app.ts";
import { statement } from "../db/statement.ts";
import { described, named } from "../http/documented.ts";
import { Nullable } from "../http/envelope.ts";
import { validationError } from "../lib/errors.ts";

export const RETENTION_FIELDS = [
  "retainBodies",
  "retainRaw",
  "retainEvents",
  "retainReceived",
] as const;
export type RetentionField = (typeof RETENTION_FIELDS)[number];
export type Retention = Record<RetentionField, number | null>;

/** Mails that a project received are kept for 30 days. */
export const RECEIVED_DAYS = 30;
export const MAX_RETENTION_DAYS = 36_500;

const Days = Nullable(Type.Integer({ minimum: 1, maximum: MAX_RETENTION_DAYS }));
const EXAMPLE_LIMITS = { retainBodies: 90, retainRaw: 30, retainEvents: null, retainReceived: 30 };

/** The fields of a project, and with `Type.Optional` those of a change. */
export const RETENTION_TYPES = {
  retainBodies: Days,
  retainRaw: Days,
  retainEvents: Days,
  retainReceived: Days,
};
export const RETENTION_PATCH_TYPES = {
  retainBodies: Type.Optional(Days),
  retainRaw: Type.Optional(Days),
  retainEvents: Type.Optional(Days),
  retainReceived: Type.Optional(Days),
};
export const RETENTION_TEXTS = {
  retainBodies:
    "Days until the bodies, variables and attachments of mails are deleted; null as the installation",
  retainRaw: "Days until captured messages are deleted; null as the installation",
  retainEvents:
    "Days until events and ended workflow executions are deleted; null as the installation",
  retainReceived: "Days until received mails are deleted; null as the installation",
};
export const RETENTION_EXAMPLE = {
  retainBodies: 30,
  retainRaw: null,
  retainEvents: 365,
  retainReceived: null,
  retentionLimits: EXAMPLE_LIMITS,
};

export const RetentionLimits = named(
  "RetentionLimits",
  described(Type.Object(RETENTION_TYPES), {
    retainBodies: "Days of the bodies, variables and attachments of mails; null for good",
    retainRaw: "Days of captured messages; null for good",
    retainEvents: "Days of events and ended workflow executions; null for good",
    retainReceived: "Days of received mails",
  }),
  {
    description: "The periods of the installation, which no project exceeds",
    example: EXAMPLE_LIMITS,
  },
);

/** The settings of the server; 0 for good. */
type ServerPeriods = Pick<Config, "retainBodies" | "retainRaw" | "retainEvents">;

/** The periods of the installation; null for good. */
const limitsIn = ({ retainBodies, retainRaw, retainEvents }: ServerPeriods): Retention => ({
  retainBodies: retainBodies || null,
  retainRaw: retainRaw || null,
  retainEvents: retainEvents || null,
  retainReceived: RECEIVED_DAYS,
});

export function presentRetention({ config }: Pick<App, "config">, row: Retention) {
  const { retainBodies, retainRaw, retainEvents, retainReceived } = row;
  const retentionLimits = limitsIn(config);
  return { retainBodies, retainRaw, retainEvents, retainReceived, retentionLimits };
}

type GivenPeriods = { readonly [Name in RetentionField]?: number | null | undefined };

/** The periods that are longer than those of the installation. */
export function findLongPeriods(server: ServerPeriods, given: GivenPeriods) {
  const limits = limitsIn(server);
  return RETENTION_FIELDS.flatMap((field) => {
    const limit = limits[field];
    if (limit === null || (given[field] ?? 0) <= limit) return [];
    const message = `must be at most ${limit}, because the server keeps the data no longer`;
    return [{ field, code: "too_big" as const, message }];
  });
}

/** Throws 422 if a period is longer than that of the installation. */
export function ensureWithinLimits(server: ServerPeriods, given: GivenPeriods): void {
  const faults = findLongPeriods(server, given);
  if (faults.length > 0) throw validationError(faults);
}

/** One of the fields is not null. */
const findShorter = statement<Retention & { projectSeq: number }, []>(`
  SELECT seq AS projectSeq, retain_bodies AS retainBodies, retain_raw AS retainRaw,
         retain_events AS retainEvents, retain_received AS retainReceived
  FROM projects
  WHERE coalesce(retain_bodies, retain_raw, retain_events, retain_received) IS NOT NULL
  ORDER BY seq`);

/** The projects with a period of their own for one kind of data. */
export function projectPeriods(
  app: Pick<App, "db">,
  field: RetentionField,
): { projectSeq: number; days: number }[] {
  return findShorter(app)
    .all()
    .flatMap(({ projectSeq, [field]: days }) => (days === null ? [] : [{ projectSeq, days }]));
}
