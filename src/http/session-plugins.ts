/** The plugins for routes that accept users who are signed in, and no API keys. */

import { Elysia } from "elysia";
import { sessionRequired } from "./admission-errors.ts";
import type { createAdmittedWrites, RequestActor } from "./admitted-writes.ts";
import type { ReadJson } from "./body.ts";
import { type Incoming, peerOf } from "./incoming.ts";
import type { RouteRules } from "./route-rules.ts";
import type { SessionAccess, SignedInMember, SignedInUser } from "./session-access.ts";
import type { UnknownFields } from "./unknown-fields.ts";

/** The request names the project, and a disabled project cannot be changed. */
export const MEMBER = { projectId: null, allowsDisabled: false } as const;

type Rules = { routeRules: Pick<RouteRules, "ruleOf"> };

export function createSessionPlugins(
  deps: Rules & {
    sessions: SessionAccess;
    readJson: ReadJson;
    unknownFields: UnknownFields;
    writesOf: ReturnType<typeof createAdmittedWrites>;
    /** The address of the client. */
    clientOf: (incoming: Incoming) => string;
    /** Counts a request of a user. Throws 429. */
    enforceUserRate: (incoming: Incoming, user: { seq: number }) => void;
  },
) {
  const { sessions, readJson, unknownFields, writesOf, clientOf, enforceUserRate } = deps;

  /** `admit` finds the user, and the project if the route belongs to one. */
  function plugin<Project extends SignedInMember["project"] | null, Role>(
    name: string,
    admit: (incoming: Incoming) => { user: SignedInUser["user"]; project: Project; role: Role },
  ) {
    const admitted = new WeakMap<Request, ReturnType<typeof admit>>();

    function admitOnce(incoming: Incoming): ReturnType<typeof admit> {
      const known = admitted.get(incoming.request);
      if (known !== undefined) return known;
      if (incoming.request.headers.has("authorization")) throw sessionRequired();
      const found = admit(incoming);
      enforceUserRate(incoming, found.user);
      admitted.set(incoming.request, found);
      return found;
    }

    return new Elysia({ name })
      .onParse({ as: "scoped" }, async (incoming) => {
        const { project } = admitOnce(incoming);
        const { request, route } = incoming;
        const holder = { projectSeq: project?.seq ?? 0, isPublic: project === null };
        // If this returned undefined, Elysia would read the body again.
        const body = (await readJson(request, { method: request.method, route, holder })) ?? null;
        unknownFields.checkBody(incoming, body, null);
        return body;
      })
      .derive({ as: "scoped" }, (incoming) => {
        const { user, project, role } = admitOnce(incoming);
        unknownFields.checkQuery(incoming, null);
        const actor = () => userActor(user);
        const writes = writesOf(incoming, {
          projectSeq: project?.seq ?? null,
          userId: project === null ? user.id : null,
          isPublic: false,
          actor,
          address: () => clientOf(incoming),
        });
        return { user, project, role, actor, ...writes };
      });
  }

  return {
    /** For routes that belong to no project. */
    session: plugin("session", (incoming) => sessions.admitUser(sessionRequest(deps, incoming))),
    /** For routes of members of a project. */
    projectSession: plugin("project-session", (incoming) =>
      sessions.admitMember(sessionRequest(deps, incoming), MEMBER),
    ),
    /** The same, for a route whose path parameter `id` names the project, which may be disabled. */
    projectInPath: plugin("project-in-path", (incoming) =>
      sessions.admitMember(sessionRequest(deps, incoming), {
        projectId: incoming.params?.["id"] ?? null,
        allowsDisabled: true,
      }),
    ),
  };
}

export function sessionRequest({ routeRules }: Rules, incoming: Incoming) {
  const { request, route } = incoming;
  const rule = routeRules.ruleOf(request.method, route);
  return { request, peer: peerOf(incoming), rule };
}

export function userActor({ id, email }: SignedInUser["user"]): RequestActor {
  return { kind: "USER", id, label: email };
}
