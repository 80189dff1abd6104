/**
 * Operations of the API. A noun declares each of its operations once: the route, who may call it, its
 * texts, its schemas, and the function that answers. The routes, the OpenAPI document and the rules
 * of access are made of it.
 *
 * - `read`: the function reads. It may be asynchronous. One that makes several changes, or writes after
 *   it has waited, gets `storeWithoutQuota` for them.
 * - `write`: the function runs inside a change. Its writes, its answer (for an Idempotency-Key) and the
 *   entry in the audit log are stored together, and then the request is answered. `prepare` runs before
 *   the change and may be asynchronous. `finish` runs after it, and the answer waits for it.
 *
 * The function gets the application and the request, and returns the `data` of the answer. An operation
 * that does not fit is a route of Elysia, as in modules/emails/routes.ts.
 */

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { type AnyElysia, Elysia, status } from "elysia";
import type { App } from "../core/app.ts";
import type { Writer } from "../db/writer.ts";
import type { Admission, Project } from "./admission.ts";
import type { createAdmittedWrites, RequestActor } from "./admitted-writes.ts";
import { describeOperations } from "./documented.ts";
import { CONDITIONAL_ERRORS, envelope, withErrors } from "./envelope.ts";
import { allowIdle } from "./long-requests.ts";
import type { Role } from "./roles.ts";
import type { SignedInUser } from "./session-access.ts";
import { ensureChecks, isLenient } from "./validation.ts";

/** The texts of an operation; `id` is the operationId. */
type About = { id: string } & Omit<OperationTexts, "access" | "security">;
type OperationTexts = Parameters<typeof describeOperations>[1][string];

const READ_METHODS = ["GET", "POST"] as const;
const WRITE_METHODS = ["POST", "PUT", "PATCH", "DELETE"] as const;
type ReadRoute = `${(typeof READ_METHODS)[number]} /${string}`;
type WriteRoute = `${(typeof WRITE_METHODS)[number]} /${string}`;

/** The parts of the request that the function of an operation gets, checked by the schemas. */
type Call<Path extends string, Query extends TSchema, Body extends TSchema> = {
  project: Project;
  /** Null for a request with a key. */
  user: SignedInUser["user"] | null;
  role: Role | null;
  /** The user or the key of the request. */
  actor: () => RequestActor;
  params: { readonly [Name in ParamsOf<Path>]: string };
  query: Static<Query>;
  body: Static<Body>;
  request: Request;
  /** Lets the connection be idle without a limit, for an answer that takes long. */
  allowIdle: () => void;
};

/** The names in a path such as `GET /templates/:id/usage`. */
type ParamsOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamsOf<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** The `data` of an envelope; a Response for a document. */
type Data<Answer extends TSchema> = Static<Answer> extends { data: infer D } ? D : Static<Answer>;

/**
 * Data that is no promise, because a change is committed at its first `await`. A promise would
 * otherwise be a value of the types `{}` and `unknown`.
 */
type SyncData<D> =
  PromiseLike<unknown> extends D
    ? D & (string | number | boolean | null | { readonly then?: never })
    : D;

type Read<
  Path extends string,
  Query extends TSchema,
  Body extends TSchema,
  A extends TSchema,
> = Omit<About, "isIdempotent"> & {
  query?: Query;
  body?: Body;
  answer: A;
  /** The entity tag of the answer, which a change may name in If-Match (if-match.ts). */
  etag?: (data: Data<A>) => number;
  run: (
    app: App,
    call: Call<Path, Query, Body>,
    storeWithoutQuota: Writer["write"],
  ) => Data<A> | Promise<Data<A>>;
};

type Write<Path extends string, Body extends TSchema, A extends TSchema, Prepared> = About & {
  /** Parameters that the checks of the body read (`LenientQuery`). */
  query?: TSchema;
  body?: Body;
  answer: A;
  /** 200 without it. 202 for work that goes on after the answer. With both, `created` chooses 201. */
  status?: 201 | 202 | readonly [200, 201];
  /** False for a request that must be possible when the storage quota is used up. */
  isWithinQuota?: boolean;
  /** True if the answer contains a secret: it is then stored sealed. */
  isSecret?: boolean;
  /** The entity tag of the answer, which a change may name in If-Match (if-match.ts). */
  etag?: (data: Data<A>) => number;
  prepare?: (app: App, call: Call<Path, TSchema, Body>) => Prepared | Promise<Prepared>;
  run: (
    app: App,
    call: Call<Path, TSchema, Body>,
    prepared: Prepared,
  ) => SyncData<Data<A>> | Created<SyncData<Data<A>>>;
  /**
   * Work that the change has ordered and that goes on after a crash. A repeated request with the same
   * Idempotency-Key waits for it, too.
   */
  finish?: (app: App, data: Data<A>) => Promise<void>;
};

class Created<T> {
  readonly data: T;
  constructor(data: T) {
    this.data = data;
  }
}

/** The data of an answer with the status 201, for an operation that may also answer 200. */
export const created = <T>(data: T): Created<T> => new Created(data);

/** The request as the plugins of admission.ts and Elysia pass it. */
type Context = Pick<
  Call<string, TSchema, TSchema>,
  "project" | "user" | "role" | "actor" | "request"
> & {
  set: { status?: number | string; headers: Record<string, string | number> };
} & ReturnType<ReturnType<typeof createAdmittedWrites>>;

type Operation = {
  route: string;
  about: About;
  hooks: { query?: TSchema | undefined; body?: TSchema | undefined };
  statuses: readonly number[];
  answer: TSchema;
  handle: (app: App, context: Context) => unknown;
};

export function read<
  const Path extends ReadRoute,
  A extends TSchema,
  Query extends TSchema = TSchema,
  Body extends TSchema = TSchema,
>(route: Path, operation: Read<Path, Query, Body, A>): Operation {
  const { query, body, answer, etag, run, ...about } = operation;
  ensureDeclaration(route, {
    "only GET and POST read": !hasMethod(route, READ_METHODS),
    "a read answers with data": isEmpty(answer),
  });
  return {
    route,
    about: { ...about, ...headersOf(etag) },
    hooks: { query, body },
    statuses: [200],
    answer,
    async handle(app, context) {
      const call = callOf<Path, Query, Body>(context);
      if (body !== undefined) ensureChecks(body, call.body);
      const data = await run(app, call, context.storeWithoutQuota);
      setEtag(context, etag?.(data));
      return data instanceof Response ? data : envelope(data);
    },
  };
}

export function write<
  const Path extends WriteRoute,
  A extends TSchema,
  Body extends TSchema = TSchema,
  Prepared = undefined,
>(route: Path, operation: Write<Path, Body, A, Prepared>): Operation {
  const { query, body, answer, etag, run, prepare, finish, ...rest } = operation;
  const { status: declared, isWithinQuota = true, isSecret = false, ...about } = rest;
  const hasNoContent = isEmpty(answer);
  const isIdempotent = about.isIdempotent === true;
  ensureDeclaration(route, {
    "only POST, PUT, PATCH and DELETE write": !hasMethod(route, WRITE_METHODS),
    "an answer without content has the status 204": hasNoContent && declared !== undefined,
    "an answer without content is not stored for an Idempotency-Key": hasNoContent && isIdempotent,
    "only an answer that is stored for an Idempotency-Key is sealed": isSecret && !isIdempotent,
  });
  const statuses = hasNoContent ? [204] : [declared ?? 200].flat();

  function answerOf(result: unknown) {
    const isNew = declared === 201 || result instanceof Created;
    const code = hasNoContent ? 204 : isNew ? 201 : declared === 202 ? 202 : 200;
    if (!statuses.includes(code)) throw new Error(`${route} does not declare the status ${code}`);
    const data: unknown = result instanceof Created ? result.data : result;
    return { status: code, body: envelope(data), isSecret };
  }

  async function finished(app: App, context: Context, stored: object) {
    const data: Data<A> = Reflect.get(stored, "data");
    setEtag(context, etag?.(data));
    await finish?.(app, data);
    return stored;
  }

  return {
    route,
    about: { ...about, ...headersOf(etag) },
    hooks: { query, body },
    statuses,
    answer,
    async handle(app, context) {
      const call = callOf<Path, TSchema, Body>(context);
      const { once, onceWithoutQuota, store, storeWithoutQuota } = context;
      async function prepared() {
        if (body !== undefined) ensureChecks(body, call.body, isLenient(call.request));
        const value: Prepared = await Reflect.apply(prepare ?? nothing, undefined, [app, call]);
        return () => answerOf(run(app, call, value));
      }
      if (isIdempotent) {
        return finished(app, context, await (isWithinQuota ? once : onceWithoutQuota)(prepared));
      }
      const change = await prepared();
      const stored = await (isWithinQuota ? store : storeWithoutQuota)(change);
      if (hasNoContent) return status(204, undefined);
      context.set.status = stored.status;
      return finished(app, context, stored.body);
    },
  };
}

function nothing(): void {}

const headersOf = (etag: unknown) => (etag === undefined ? {} : { headers: ["ETag"] as const });

function setEtag({ set }: Context, revision: number | undefined): void {
  if (revision !== undefined) set.headers["etag"] = `"${revision}"`;
}

const isEmpty = (answer: TSchema): boolean => answer.type === "void";

const hasMethod = (route: string, methods: readonly string[]): boolean =>
  methods.some((method) => route.startsWith(`${method} /`));

/** A declaration that would be answered wrongly throws when its file is imported. */
function ensureDeclaration(route: string, isBroken: Readonly<Record<string, boolean>>): void {
  const rule = Object.keys(isBroken).find((name) => isBroken[name]);
  if (rule !== undefined) throw new Error(`${route}: ${rule}`);
}

/** The validation of Elysia has checked the members, so they have the types of their schemas. */
function callOf<Path extends string, Query extends TSchema, Body extends TSchema>(
  context: Context,
): Call<Path, Query, Body> {
  const { project, user, role, actor, request } = context;
  const query: Static<Query> = Reflect.get(context, "query");
  const body: Static<Body> = Reflect.get(context, "body");
  const params: Call<Path, Query, Body>["params"] = Reflect.get(context, "params");
  const server: Parameters<typeof allowIdle>[0]["server"] = Reflect.get(context, "server") ?? null;
  return {
    project,
    user,
    role,
    actor,
    request,
    query,
    body,
    params,
    allowIdle: () => allowIdle({ request, server }, 0),
  };
}

export type Operations = {
  tag: string;
  access: "ANY" | "SESSION";
  parameters: Readonly<Record<string, string>>;
  list: readonly Operation[];
};

/** `parameters` describes the names in the paths. SESSION: the operations accept no keys. */
export function operations(
  tag: string,
  { parameters = {}, access = "ANY" }: Partial<Pick<Operations, "parameters" | "access">>,
  list: readonly Operation[],
): Operations {
  return { tag, access, parameters, list };
}

/** The routes of the operations for one application. */
export function operationRoutes(
  app: App,
  admission: Pick<Admission, "secretKey" | "projectSession">,
  { tag, access, parameters, list }: Operations,
): AnyElysia {
  const plugin = access === "SESSION" ? admission.projectSession : admission.secretKey;
  // Elysia adds plugins of one name once, and several tables may have the same tag.
  const name = `operations: ${tag} ${list[0]?.route ?? ""}`;
  const routes: AnyElysia = new Elysia({ name }).use(plugin);
  // The types of Elysia are those of a chain of literal routes, so it is called without them.
  const { route: add } = Object(routes);
  for (const { route, about, hooks, statuses, answer, handle } of list) {
    const { id, ...texts } = about;
    const [method = "", path = ""] = route.split(" ");
    const names = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => [name, Type.String()]);
    const params = names.length === 0 ? undefined : Type.Object(Object.fromEntries(names));
    const detail = describeOperations({ tag }, { [id]: { ...texts, access, parameters } })[id];
    const hook = {
      ...hooks,
      params,
      response: {
        ...withErrors(Object.fromEntries(statuses.map((code) => [code, answer]))),
        ...(about.isConditional === true ? CONDITIONAL_ERRORS : {}),
      },
      detail,
    };
    add.call(routes, method, path, (context: Context) => handle(app, context), hook);
  }
  return routes;
}
