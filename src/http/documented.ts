/**
 * Names, descriptions and examples for the OpenAPI document. They are keywords that validation
 * ignores; `openapi-schemas.ts` turns named schemas into components.
 */

import type { TObject, TSchema } from "@sinclair/typebox";
import { ROLE, type RouteAccess, type RouteRole } from "./roles.ts";
import { type DeclaredScope, SCOPES } from "./scopes.ts";

/** The keyword that holds the name of the component to which the document refers. */
export const NAME = "x-name";
/** The keyword that holds the description of one use of a named schema. */
export const USE = "x-use";
/** The keyword that holds the schema that the document shows instead. */
export const SHOWN = "x-shown";

/** The keyword of a file that holds its examples in other media types, by media type. */
export const ALSO = "x-also";

type Documentation = { description: string; example?: unknown };

/**
 * Makes a schema a named component of the document. All schemas of the same name must be equal,
 * except those that accept any value: they refer to the component that another schema defines.
 */
export function named<T extends TSchema>(name: string, schema: T, about?: Documentation): T {
  const { description, example } = about ?? {};
  if ("properties" in schema) DEFINITIONS.set(name, schema);
  return {
    ...schema,
    [NAME]: name,
    ...(description === undefined ? {} : { description }),
    ...(example === undefined ? {} : { examples: [example] }),
  };
}

const DEFINITIONS = new Map<string, TSchema>();

/** The schema of an object to which a schema with only this name refers; null if there is none. */
export const definitionOf = (name: string): TSchema | null => DEFINITIONS.get(name) ?? null;

/** Returns the name that `named` gave to a schema; null if it has none. */
export function nameOf(schema: TSchema): string | null {
  const name: unknown = schema[NAME];
  return typeof name === "string" ? name : null;
}

/** Refers to the component `name`, which another schema defines. It accepts any value. */
export function reference(name: string, description: string) {
  return { [NAME]: name, [USE]: description };
}

/** Lets the document show another schema than the one that checks the values. */
export function shownAs<T extends TSchema>(schema: T, shown: Readonly<Record<string, unknown>>): T {
  return { ...schema, [SHOWN]: shown };
}

/** Describes each property of an object schema. */
export function described<T extends TObject>(
  schema: T,
  texts: { readonly [Name in keyof T["properties"]]: string },
): T {
  const properties = Object.entries(schema.properties).map(([name, property]) => [
    name,
    describedUse(property, textOf(texts, name)),
  ]);
  return { ...schema, properties: Object.fromEntries(properties) };
}

function textOf(texts: object, name: string): string {
  const text: unknown = Reflect.get(texts, name);
  return typeof text === "string" ? text : "";
}

/** Describes one use of a schema, which may be a named one. */
export function describedUse<T extends TSchema>(schema: T, description: string): T {
  return NAME in schema ? { ...schema, [USE]: description } : { ...schema, description };
}

/** The part of an operation's texts from which the document derives parameters, headers and links. */
type OperationExtras = {
  /** True if the operation reads the header Idempotency-Key. */
  isIdempotent: boolean;
  /** True if the operation reads the header If-Match (if-match.ts). */
  isConditional: boolean;
  /** Headers of a success that only some operations send. */
  headers: readonly HeaderName[];
  /**
   * Operations that the response leads to: by operation id, the value of each path parameter as a
   * pointer into the response body (`{getContact: {id: "/id"}}`), or as a runtime expression of
   * OpenAPI that begins with `$`.
   */
  links: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Descriptions of path parameters. */
  parameters: Readonly<Record<string, string>>;
  /** False for an operation other than GET whose changes are not written to the audit log. */
  isAudited: boolean;
  access: RouteAccess;
  /** The scopes of keys that may call the operation, beside EVERYTHING. */
  scopes: readonly DeclaredScope[];
  /** True if a session must have been confirmed by the password in the last minutes. */
  needsConfirmation: boolean;
  /** The noun of the object in the audit log; null if the path names it. */
  objectType: string | null;
};

type HeaderName = "Content-Disposition" | "ETag" | "Location";

type OperationTexts = Partial<OperationExtras> & {
  /** The least role that may call the operation with a session. */
  role: RouteRole;
  summary: string;
  description: string;
  /** Requirements other than a secret key; empty if no key is needed. */
  security?: Record<string, string[]>[];
};

type OperationDetail = {
  [ROLE]: RouteRole;
  [SCOPES]?: readonly string[];
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security?: Record<string, string[]>[];
};

/** The keyword of an operation with the parts of its texts that are not OpenAPI. */
export const OPERATION = "x-operation";

/** Returns the extras that `describeOperations` added to the `detail` of a route. */
export function extrasOf(detail: object): OperationExtras {
  const extras: unknown = Reflect.get(detail, OPERATION);
  return hasExtras(extras) ? extras : NO_EXTRAS;
}

const NO_EXTRAS: OperationExtras = {
  isIdempotent: false,
  isConditional: false,
  headers: [],
  links: {},
  parameters: {},
  isAudited: false,
  access: "ANY",
  scopes: [],
  needsConfirmation: false,
  objectType: null,
};

function hasExtras(value: unknown): value is OperationExtras {
  return typeof value === "object" && value !== null && "isIdempotent" in value;
}

/**
 * Returns the `detail` of each route of a group, by operation id. `id` describes the path parameter
 * of this name.
 */
export function describeOperations<const T extends Readonly<Record<string, OperationTexts>>>(
  { tag, id }: { tag: string; id?: string },
  table: T,
): { readonly [Name in keyof T]: OperationDetail };
export function describeOperations(
  { tag, id }: { tag: string; id?: string },
  table: Readonly<Record<string, OperationTexts>>,
): Readonly<Record<string, OperationDetail>> {
  const details = Object.entries(table).map(([operationId, texts]) => {
    const { role, summary, description, security, ...given } = texts;
    const extras: OperationExtras = {
      ...NO_EXTRAS,
      isAudited: true,
      ...given,
      parameters: { ...(id === undefined ? {} : { id }), ...given.parameters },
    };
    const shown = security ?? (extras.access === "SESSION" ? [{ session: [] }] : undefined);
    return [
      operationId,
      {
        operationId,
        tags: [tag],
        summary,
        description,
        [ROLE]: role,
        ...(extras.scopes.length === 0 ? {} : { [SCOPES]: [...extras.scopes, "EVERYTHING"] }),
        ...(shown === undefined ? {} : { security: shown }),
        [OPERATION]: extras,
      },
    ];
  });
  return Object.fromEntries(details);
}

/**
 * The `detail` of a route that imitates an operation in the interface of another service. It is not in
 * the OpenAPI document. Its unknown fields are checked. Its changes are audited as those of
 * `operationId`, the operation of our own, whose scopes it has (route-rules.ts).
 */
export function imitated(
  operationId: string,
  role: RouteRole,
  given: Partial<Pick<OperationExtras, "isAudited" | "access" | "objectType">> = {},
) {
  const extras: OperationExtras = { ...NO_EXTRAS, isAudited: true, ...given };
  return { hide: true, operationId, [ROLE]: role, [OPERATION]: extras } as const;
}

/**
 * The `detail` of a route that is not in the OpenAPI document. Its changes are not audited. A route
 * that accepts no sessions has the access KEY.
 */
export function undocumented(
  role: RouteRole,
  access: RouteAccess = "ANY",
  scopes: readonly DeclaredScope[] = [],
) {
  const extras: OperationExtras = { ...NO_EXTRAS, access, scopes };
  return { hide: true, [ROLE]: role, [OPERATION]: extras } as const;
}
