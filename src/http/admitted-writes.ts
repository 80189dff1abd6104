/**
 * The functions with which the handler of an admitted request writes: within the storage quota of
 * the project or without it, and once per Idempotency-Key. A change of an audited route and its row
 * in the audit log are stored in the same transaction.
 */

import type { Change, Sync, Writer } from "../db/writer.ts";
import type { Answer, Idempotency } from "./idempotency.ts";
import type { Incoming } from "./incoming.ts";
import type { RouteRule, RouteRules } from "./route-rules.ts";
import { withoutImitation } from "./route-path.ts";
import { isRecord } from "./validation.ts";

/**
 * Runs a part of a change. It is undone, with 409, if it exceeds the storage quota of the project.
 */
type WithinQuota = <T>(projectSeq: number, change: () => T, isPublic?: boolean) => T;

/** The user or key that makes a change. `label` is the address of a user, or the name and the end of a key. */
export type RequestActor = { kind: "USER" | "KEY"; id: string | null; label: string };

/** Part of a change: adds an entry to the audit log. */
type RecordAudit = (entry: {
  actor: RequestActor;
  projectSeq: number | null;
  action: string;
  objectType: string;
  objectId: string | null;
  fields: readonly string[];
  before: AuditedRow | null;
  address: string;
}) => void;

/** The fields of an object that the audit log may keep. */
type AuditedRow = Readonly<Record<string, string | number | null>> & { label: string | null };
type Audited = { objectType: string; objectId: string | null; projectSeq: number | null };

/** The admitted request, as far as its writes need it. */
type Writing = {
  projectSeq: number | null;
  /** The id of the user if the request belongs to no project. */
  userId: string | null;
  isPublic: boolean;
  actor: () => RequestActor;
  address: () => string;
};

/**
 * Commits a prepared change, once per Idempotency-Key. Two requests are the same if their bodies
 * are equal. A route that reads its body itself passes a value to compare instead.
 */
type Once = <T>(
  prepare: () => Promise<Change<Sync<Answer<T>>>> | Change<Sync<Answer<T>>>,
  body?: unknown,
) => Promise<T>;

export function createAdmittedWrites(deps: {
  idempotency: Idempotency;
  writer: Pick<Writer, "write" | "afterCommit">;
  storing: WithinQuota;
  routeRules: Pick<RouteRules, "ruleOf">;
  record: RecordAudit;
  /** Part of a change, before it: the object that it changes, as far as the audit log keeps it. */
  readAudited: (object: Audited) => AuditedRow | null;
}) {
  const { idempotency, writer, storing, routeRules, record, readAudited } = deps;

  return (incoming: Incoming, writing: Writing) => {
    const { projectSeq, userId, isPublic } = writing;
    let isRecorded = false;

    function run<T>(change: Change<T>, isWithinQuota: boolean): T {
      const rule = routeRules.ruleOf(incoming.request.method, incoming.route);
      // One entry for each request, also if it writes several changes.
      const isAudited = rule.isAudited && !isRecorded && !isEmptyPatch(incoming);
      const before = isAudited ? readAudited({ ...objectOf(incoming, rule), projectSeq }) : null;
      const result =
        isWithinQuota && projectSeq !== null ? storing(projectSeq, change, isPublic) : change();
      if (!isAudited) return result;
      record(entryOf(incoming, { rule, writing, result, before }));
      writer.afterCommit(() => (isRecorded = true));
      return result;
    }

    const once =
      (isWithinQuota: boolean): Once =>
      async <T>(
        prepare: () => Promise<Change<Sync<Answer<T>>>> | Change<Sync<Answer<T>>>,
        body: unknown = incoming.body,
      ): Promise<T> => {
        const { request, path, set } = incoming;
        const key = request.headers.get("idempotency-key");
        if (key === null) {
          const change = await prepare();
          const answer = await writer.write<Answer<T>>(() => run(change, isWithinQuota));
          set.status = answer.status;
          return answer.body;
        }
        const keyed = {
          projectSeq,
          userId,
          isPublic,
          method: request.method,
          path,
          body,
          run: <R>(change: Change<R>): R => run(change, isWithinQuota),
        };
        const { answer, isReplay } = await idempotency.once(key, keyed, prepare);
        set.status = answer.status;
        if (isReplay) set.headers["idempotency-replayed"] = "true";
        return answer.body;
      };

    return {
      once: once(true),
      /** For requests that must be possible when the storage quota is used up. */
      onceWithoutQuota: once(false),
      store: <T>(change: Change<Sync<T>>): Promise<T> => writer.write<T>(() => run(change, true)),
      /** The same as `store` without the storage quota. */
      storeWithoutQuota: <T>(change: Change<Sync<T>>): Promise<T> =>
        writer.write<T>(() => run(change, false)),
      /** Adds the audit entry of a request that has done something, but changes no row. */
      recordOnly: (): Promise<void> => writer.write<void>(() => run(() => {}, false)),
    };
  };
}

/** A PATCH without fields changes nothing. */
function isEmptyPatch({ request, body }: Incoming): boolean {
  return request.method === "PATCH" && isRecord(body) && Object.keys(body).length === 0;
}

function entryOf(
  incoming: Incoming,
  {
    rule,
    writing,
    result,
    before,
  }: { rule: RouteRule; writing: Writing; result: unknown; before: AuditedRow | null },
): Parameters<RecordAudit>[0] {
  const { request, route, body } = incoming;
  const { objectType, objectId } = objectOf(incoming, rule);
  return {
    actor: writing.actor(),
    projectSeq: writing.projectSeq,
    action: rule.operationId ?? `${request.method} ${route}`,
    objectType,
    objectId: rule.objectType === null ? (objectId ?? idIn(result)) : (idIn(result) ?? objectId),
    fields: isRecord(body) ? Object.keys(body) : [],
    before,
    address: writing.address(),
  };
}

/** The noun of a path: `template` for `/templates/:id` and `/plunk/templates/:id`. */
export function objectTypeOf(route: string): string {
  const [, noun = ""] = withoutImitation(route)
    .replace(/^\/v1(?=\/)/, "")
    .split("/");
  return noun.replace(/(?:(?<=x)es|s)$/, "");
}

/**
 * The noun of the path, and the first id in it; null where the change creates the object. A route that
 * names its noun has the id last; an address there is personal data, so it is no id. The result of
 * its change may name the object.
 */
function objectOf(
  { route, params }: Incoming,
  { objectType }: Pick<RouteRule, "objectType">,
): Pick<Audited, "objectType" | "objectId"> {
  const ids = Object.values(params ?? {});
  if (objectType === null) return { objectType: objectTypeOf(route), objectId: ids[0] ?? null };
  const last = ids.at(-1) ?? null;
  return { objectType, objectId: last?.includes("@") === true ? null : last };
}

/** The id of the object in the result of a change: a row, or a response with or without envelope. */
function idIn(result: unknown): string | null {
  for (const holder of [result, memberOf(result, "body"), dataOf(result)]) {
    const id = memberOf(holder, "id") ?? memberOf(holder, "jobId");
    if (typeof id === "string") return id;
  }
  return null;
}

const dataOf = (result: unknown): unknown => memberOf(memberOf(result, "body"), "data");

function memberOf(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}
