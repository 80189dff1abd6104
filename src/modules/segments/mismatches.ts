/**
 * Values that the condition of a segment cannot compare: a text such as `15.06.2030` where it has a
 * date, or `99,50` where it has a number. They never match, so the segment says how many there are.
 */

import { joinPath } from "../../lib/key-path.ts";
import type { ComparedType } from "./condition/field-test.ts";
import type { ResolvedTest } from "./condition/references.ts";
import type { Definitions } from "./definitions.ts";
import type { Mismatch } from "./model.ts";
import type { Audience } from "./sql/plan.ts";

/** Each field is counted by a scan of the contacts. */
const MOST_FIELDS = 5;

export function createFindMismatches(deps: {
  definitions: Pick<Definitions, "conditionAudience">;
  count: (audience: Audience) => Promise<number>;
}) {
  const { definitions, count } = deps;

  async function countUnlike(projectSeq: number, { type, path, unlike }: ComparedType) {
    const test: ResolvedTest = {
      kind: "field",
      target: { kind: "data", path },
      takes: "nothing",
      where: () => unlike,
      source: () => null,
    };
    const contacts = await count(definitions.conditionAudience(projectSeq, null, [test]));
    return { field: `data.${joinPath(path)}`, expected: type, contacts };
  }

  /** The fields of the condition of an audience that have such values. */
  return async ({ projectSeq, tests }: Audience): Promise<Mismatch[]> => {
    const distinct = new Map(
      tests
        .flatMap(expectationsOf)
        .map((expectation) => [JSON.stringify([expectation.type, expectation.path]), expectation]),
    );
    const found: Mismatch[] = [];
    for (const expectation of [...distinct.values()].slice(0, MOST_FIELDS)) {
      found.push(await countUnlike(projectSeq, expectation));
    }
    return found.filter(({ contacts }) => contacts > 0);
  };
}

function expectationsOf(test: ResolvedTest): ComparedType[] {
  if (test.kind === "field") return test.expects === undefined ? [] : [test.expects];
  if (test.kind === "members") return [];
  return expectationsIn(test.condition);
}

function expectationsIn({
  groups,
}: Extract<ResolvedTest, { kind: "condition" }>["condition"]): ComparedType[] {
  return groups.flatMap(({ filters, conditions }) => [
    ...filters.flatMap(expectationsOf),
    ...(conditions === null ? [] : expectationsIn(conditions)),
  ]);
}
