/**
 * Finds the segments, workflows and campaigns that use a segment or its events. They keep it from
 * being deleted, and its condition must fit them.
 */

import type { FieldError } from "../../lib/errors.ts";
import type { CheckedUse, References } from "../../lib/references.ts";
import type { Definitions, SegmentRow } from "./definitions.ts";
import type { SegmentPatch, SegmentUsage } from "./model.ts";
import { MEMBERSHIP_CHANGES, membershipEventName } from "./slug.ts";

export type SegmentUsers = ReturnType<typeof createSegmentUsers>;

export function createSegmentUsers(deps: {
  definitions: Pick<Definitions, "errorsOfSegment" | "findDependants" | "findDirectUsers">;
  references: Pick<References, "checkUses" | "usesOf">;
}) {
  const { definitions, references } = deps;

  /** The workflows that an event of the segment starts or continues. */
  function usersOfEvents({ projectSeq, slug }: SegmentRow): SegmentUsage["users"] {
    const users = MEMBERSHIP_CHANGES.flatMap((change) =>
      references.usesOf("event", projectSeq, membershipEventName(slug, change)),
    );
    return once(users);
  }

  return {
    /** Each user once, even if it uses the segment in several ways. */
    usersOf(row: SegmentRow): SegmentUsage["users"] {
      const { projectSeq, id } = row;
      return once([
        ...definitions
          .findDirectUsers(projectSeq, id)
          .map((user) => ({ kind: "segment" as const, id: user.id, name: user.name })),
        ...references.usesOf("segment", projectSeq, id),
        ...usersOfEvents(row),
      ]);
    },

    /** The workflows that use the events of a segment would not start or go on without them. */
    trackingErrors(row: SegmentRow, { trackMembership }: SegmentPatch): FieldError[] {
      if (!row.trackMembership || trackMembership !== false) return [];
      const names = usersOfEvents(row).map(({ kind, name }) => `${kind} "${name}"`);
      if (names.length === 0) return [];
      const message = `cannot be false: the events of this segment are used by ${names.join(", ")}`;
      return [{ field: "trackMembership", message, code: "invalid_value" }];
    },

    /**
     * Part of the change that stored the condition of a segment: one error for each user that
     * exceeds a limit together with this condition. A change of a condition causes no other errors
     * of its users. Users of segments that use this segment are users of it as well.
     */
    limitErrors({ projectSeq, id }: SegmentRow): FieldError[] {
      const dependants = definitions.findDependants(projectSeq, id);
      const ids = new Set([id, ...dependants.map((dependant) => dependant.id)]);
      return [
        ...dependants.map((dependant) => ({
          kind: "segment" as const,
          name: dependant.name,
          errors: definitions.errorsOfSegment(projectSeq, dependant),
        })),
        ...references.checkUses("segment", projectSeq, ids),
      ].flatMap(limitErrorsOf);
    },
  };
}

function once(users: SegmentUsage["users"]): SegmentUsage["users"] {
  return [...new Map(users.map((user) => [user.id, user])).values()];
}

type CheckedUser = Pick<SegmentUsage["users"][number], "kind" | "name"> &
  Pick<CheckedUse, "errors">;

function limitErrorsOf({ kind, name, errors }: CheckedUser): FieldError[] {
  const error = errors.find(({ code }) => code === "too_big");
  if (error === undefined) return [];
  const message =
    `does not fit the ${kind} "${name}", which uses this segment: ` +
    `one of its filters ${error.message}`;
  return [{ field: "condition", message, code: error.code }];
}
