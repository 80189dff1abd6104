/**
 * Compiles a condition to one SQL expression with bound values, which is true for the contacts that
 * meet the condition. Pure. The expression belongs in a query of the table `contacts` of one
 * project: `SELECT … FROM contacts WHERE project_seq = ? AND <expression>`.
 *
 * The table of operators defines each test (condition/operators.ts). A negated condition uses IS NOT
 * TRUE, because NOT NULL would be NULL, and matches nothing if a comparison in it cannot be made.
 */

import type { Condition, Group } from "../condition/condition.ts";
import type { Context } from "../condition/field-test.ts";
import { problemsIn } from "../condition/problems.ts";
import type { MembersTest, ResolvedTest } from "../condition/references.ts";
import { allOf, anyOf, bind, type Fragment } from "./bind.ts";

function compileCondition(condition: Condition<ResolvedTest>, context: Context): Fragment {
  const groups = condition.groups.map((group) => compileGroup(group, context));
  return condition.logic === "AND" ? allOf(groups) : anyOf(groups);
}

function compileGroup({ filters, conditions }: Group<ResolvedTest>, context: Context): Fragment {
  const parts = filters.map((test) => compileTest(test, context));
  const nested = conditions === null ? [] : [compileCondition(conditions, context)];
  return allOf([...parts, ...nested]);
}

export function compileTest(test: ResolvedTest, context: Context): Fragment {
  switch (test.kind) {
    case "field":
      return test.where(context);
    case "members":
      return compileMembers(test);
    case "condition": {
      const inner = compileCondition(test.condition, context);
      if (test.isMember) return inner;
      return problemsIn(test.condition).length > 0 ? bind`0` : bind`(${inner} IS NOT TRUE)`;
    }
  }
}

function compileMembers({ segmentSeq, isMember }: MembersTest): Fragment {
  const belongs = bind`EXISTS (
    SELECT 1 FROM segment_members AS member
    WHERE member.segment_seq = ${segmentSeq} AND member.contact_seq = contacts.seq)`;
  return isMember ? belongs : bind`NOT ${belongs}`;
}
