/**
 * The rules of all routes: who may call each, and whether its changes are audited. Each route
 * declares its rule in its `detail` (`describeOperations`, `imitated` or `undocumented` of
 * documented.ts). The rules are read once, at the start, and a route without a role makes the start
 * fail. A route that imitates an operation accepts the scopes of this operation.
 */

import { perApp } from "../lib/per-app.ts";
import { extrasOf } from "./documented.ts";
import { ROLE, ROLES, type RouteAccess, type RouteRole } from "./roles.ts";
import type { DeclaredScope } from "./scopes.ts";

export type RouteRule = {
  role: RouteRole;
  /** Whether changes are written to the audit log. */
  isAudited: boolean;
  access: RouteAccess;
  /** The scopes of keys that it accepts, beside EVERYTHING. */
  scopes: readonly DeclaredScope[];
  /** Whether a session must have been confirmed by the password in the last minutes. */
  needsConfirmation: boolean;
  /** Null for a route that is not documented. */
  operationId: string | null;
  /** The noun of the object in the audit log; null if the path names it. */
  objectType: string | null;
};

type DeclaredRoute = { method: string; path: string; hooks: unknown };

export type RouteRules = {
  /** Reads the rules of all routes; throws an error that names a route without a role. */
  registerRoutes(routes: readonly DeclaredRoute[]): void;
  /** The rule of a route by method and pattern. */
  ruleOf(method: string, pattern: string): RouteRule;
};

export const routeRulesOf = perApp(createRouteRules);

export function createRouteRules(): RouteRules {
  const rules = new Map<string, RouteRule>();
  return {
    registerRoutes(routes) {
      const scopes = new Map<string, readonly DeclaredScope[]>();
      for (const { method, path, hooks } of routes) {
        const rule = readRule({ method, path, hooks });
        rules.set(`${method} ${path}`, rule);
        if (rule.operationId !== null && !isHidden(hooks)) {
          scopes.set(rule.operationId, rule.scopes);
        }
      }
      for (const { method, path, hooks } of routes) {
        const rule = rules.get(`${method} ${path}`);
        if (rule === undefined || rule.operationId === null || !isHidden(hooks)) continue;
        const own = scopes.get(rule.operationId);
        if (own === undefined) {
          throw new Error(`${method} ${path} imitates ${rule.operationId}, which is no operation`);
        }
        rules.set(`${method} ${path}`, { ...rule, scopes: own });
      }
    },
    ruleOf(method, pattern) {
      // A route that answers GET also answers HEAD.
      const rule = rules.get(`${method === "HEAD" ? "GET" : method} ${pattern}`);
      if (rule === undefined) throw new Error(`the route ${method} ${pattern} is not registered`);
      return rule;
    },
  };
}

function readRule({ method, path, hooks }: DeclaredRoute): RouteRule {
  const detail = memberOf(hooks, "detail");
  const role = memberOf(detail, ROLE);
  if (!isRouteRole(role) || typeof detail !== "object" || detail === null) {
    throw new Error(
      `the route ${method} ${path} declares no role: ` +
        "its detail must come from describeOperations or undocumented (src/http/documented.ts)",
    );
  }
  const operationId = memberOf(detail, "operationId");
  const { isAudited, access, scopes, needsConfirmation } = extrasOf(detail);
  return {
    role,
    isAudited: isAudited && method !== "GET",
    access,
    scopes,
    needsConfirmation,
    operationId: typeof operationId === "string" ? operationId : null,
    objectType: extrasOf(detail).objectType,
  };
}

const isHidden = (hooks: unknown): boolean => memberOf(memberOf(hooks, "detail"), "hide") === true;

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function isRouteRole(value: unknown): value is RouteRole {
  return value === "ANYONE" || value === "USER" || ROLES.some((role) => role === value);
}
