/** Finds the segments, workflows and campaigns that use a segment, which therefore cannot be deleted. */

import type { References } from "../../lib/references.ts";
import type { Definitions } from "./definitions.ts";
import type { SegmentUsage } from "./model.ts";

export type SegmentUsers = (projectSeq: number, id: string) => SegmentUsage["users"];

export function createSegmentUsers(deps: {
  definitions: Pick<Definitions, "findDirectUsers">;
  references: Pick<References, "usesOf">;
}): SegmentUsers {
  const { definitions, references } = deps;
  return (projectSeq, id) => [
    ...definitions
      .findDirectUsers(projectSeq, id)
      .map((user) => ({ kind: "segment" as const, id: user.id, name: user.name })),
    ...references.usesOf("segment", projectSeq, id),
  ];
}
