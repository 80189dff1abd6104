/**
 * The form in which the files of this folder declare the routes of Resend: the method and the path
 * below /resend, the role, the audit entry, the schemas, and the function that answers. A body that
 * has a field which the schema does not name is refused.
 */

import { type Static, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { type AnyElysia, Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import type { Admission, Project } from "../../http/admission.ts";
import type { createAdmittedWrites, RequestActor } from "../../http/admitted-writes.ts";
import { type BodyLimit, limited } from "../../http/body-limits.ts";
import { imitated, undocumented } from "../../http/documented.ts";
import { RESEND_PREFIX } from "../../http/resend-errors.ts";
import type { Role } from "../../http/roles.ts";
import type { DeclaredScope } from "../../http/scopes.ts";
import { AppError, fieldError, type FieldError, validationError } from "../../lib/errors.ts";

/** The parts of a request that the function of a route gets. The schemas have checked them. */
export type ResendCall<Body = unknown, Query = unknown> = {
  project: Project;
  /** The domains to which the key is bound; empty if it is bound to none. */
  senderDomains: readonly string[];
  actor: () => RequestActor;
  params: Readonly<Record<string, string>>;
  query: Query;
  body: Body;
  request: Request;
} & ReturnType<ReturnType<typeof createAdmittedWrites>>;

type Options<Body extends TSchema, Query extends TSchema> = {
  role: Role;
  /** The scopes of keys that may call a route that is not audited, beside EVERYTHING. */
  scopes?: readonly DeclaredScope[];
  /**
   * Our operation, whose scopes the route has and by whose name its change is audited, and the type of
   * the object; absent if it is not audited.
   */
  audit?: readonly [id: string, objectType: string];
  body?: Body;
  limit?: BodyLimit;
  query?: Query;
};

export type ResendRoute = {
  method: string;
  path: string;
  detail: ReturnType<typeof imitated> | ReturnType<typeof undocumented>;
  hooks: { body?: TSchema; query?: TSchema };
  handle: (app: App, context: Context) => unknown;
};

/** The request as the plugin of admission.ts passes it; a route without parameters has no `params`. */
type Context = Omit<ResendCall, "params"> & Partial<Pick<ResendCall, "params">>;

/** The scopes of contacts and segments. */
export const CONTACTS = ["CONTACTS"] as const;

type Method = "GET" | "POST" | "PATCH" | "DELETE";

export function resendRoute<
  const Body extends TSchema = TSchema,
  const Query extends TSchema = TSchema,
>(
  name: `${Method} /${string}`,
  { role, scopes = [], audit, body, limit, query }: Options<Body, Query>,
  run: (app: App, call: ResendCall<Static<Body>, Static<Query>>) => unknown,
): ResendRoute {
  const [method = "", path = ""] = name.split(" ");
  const [operationId, objectType = null] = audit ?? [];
  return {
    method,
    path: `${RESEND_PREFIX}${path}`,
    detail:
      operationId === undefined
        ? undocumented(role, "KEY", scopes)
        : imitated(operationId, role, { access: "KEY", objectType }),
    hooks: {
      ...(body === undefined ? {} : { body: limit === undefined ? body : limited(body, limit) }),
      ...(query === undefined ? {} : { query }),
    },
    handle: (app, context) => {
      // The schemas have checked both, so they have their types.
      const body: Static<Body> = Reflect.get(context, "body");
      const query: Static<Query> = Reflect.get(context, "query");
      return run(app, { ...context, body, query, params: context.params ?? {} });
    },
  };
}

export function resendPlugin(
  app: App,
  admission: Pick<Admission, "secretKey">,
  list: readonly ResendRoute[],
): AnyElysia {
  const routes: AnyElysia = new Elysia({ name: "resend-routes" }).use(admission.secretKey);
  // The types of Elysia are those of a chain of literal routes, so it is called without them.
  const { route: add } = Object(routes);
  for (const { method, path, detail, hooks, handle } of list) {
    const names = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => [name, Type.String()]);
    const params = names.length === 0 ? undefined : Type.Object(Object.fromEntries(names));
    const hook = { ...hooks, params, detail };
    add.call(routes, method, path, (context: Context) => handle(app, context), hook);
  }
  return routes;
}

/** The body of a request, or an object in it. A field without a schema is refused. */
export const Fields = <T extends TProperties>(properties: T) =>
  Type.Object(properties, { additionalProperties: false });

/** A field that may be absent. Clients of some languages send null for such a field. */
export const Maybe = <T extends TSchema>(type: T) => Type.Optional(Type.Union([type, Type.Null()]));

/** The text; undefined if it is null, or the empty text that clients in Go send. */
export const textOr = (value: string | null | undefined): string | undefined =>
  value === null || value === "" ? undefined : value;

/** Whether a field was given. Clients in Go send an empty value for one that was not. */
export const hasValue = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  value !== "" &&
  value !== false &&
  !(Array.isArray(value) && value.length === 0);

/** Throws 422 if a request has one of the fields, with the message of each. */
export function refuseGiven(
  body: Readonly<Record<string, unknown>>,
  messages: Readonly<Record<string, string>>,
): void {
  const errors = Object.entries(messages)
    .filter(([field]) => hasValue(body[field]))
    .map(([field, message]): FieldError => ({ field, code: "unknown_field", message }));
  if (errors.length > 0) throw validationError(errors);
}

/** Throws 422 if a request names another object than its path. */
export function refuseOther(
  body: Readonly<Record<string, unknown>>,
  ids: Readonly<Record<string, string>>,
): void {
  for (const [field, id] of Object.entries(ids)) {
    const given = body[field];
    if (!hasValue(given) || given === id) continue;
    throw fieldError(field, "invalid_value", "must be the same as in the path");
  }
}

/** Runs `check`, whose errors name our fields, and renames these to those of the request. */
export async function withNames<T>(
  names: Readonly<Record<string, string>>,
  check: () => T | Promise<T>,
): Promise<T> {
  return withFields((field) => renamedField(field, names), check);
}

/** Runs `check`, and renames the fields in its errors. */
export async function withFields<T>(
  rename: (field: string) => string,
  check: () => T | Promise<T>,
): Promise<T> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof AppError) || error.errors === undefined) throw error;
    throw validationError(error.errors.map((each) => ({ ...each, field: rename(each.field) })));
  }
}

/** Names below a field are the caller's own, except in attachments. */
export function renamedField(field: string, names: Readonly<Record<string, string>>): string {
  const [first = "", ...rest] = field.split(".");
  const inner = first === "attachments" ? rest.map((part) => names[part] ?? part) : rest;
  return [names[first] ?? first, ...inner].join(".");
}
