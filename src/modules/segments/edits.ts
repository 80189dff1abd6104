/** Creates, changes and deletes segments; each method returns a change. */

import { and, eq, inArray } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { segments } from "../../db/schema/segments.ts";
import type { Change, Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { AppError, type FieldError, validationError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { type Condition, parseCondition, wireCondition } from "./condition/condition.ts";
import type { Definitions, SegmentRow } from "./definitions.ts";
import type { Filter } from "./condition/filter.ts";
import type { SegmentInput, SegmentPatch } from "./model.ts";
import type { MemberRows } from "./membership/member-rows.ts";
import { chooseSlug } from "./slug.ts";
import type { SegmentUsers } from "./usage.ts";
import type { Tracking } from "./membership/tracking.ts";

/** Largest number of members deleted with their segment; cleanup.ts deletes more in steps. */
const MAX_DELETED_AT_ONCE = 1000;

export function createEdits(deps: {
  db: Db;
  writer: Writer;
  clock: Clock;
  definitions: Definitions;
  memberRows: MemberRows;
  tracking: Tracking;
  users: SegmentUsers;
}) {
  const { db, writer, clock, definitions, memberRows, tracking, users } = deps;

  /** Starts to record the members of tracked segments again, without events. */
  function restartBaselines(id: string, segmentSeqs: readonly number[]): void {
    const rows = db
      .update(segments)
      .set({ baselineAt: null })
      .where(and(inArray(segments.seq, [...segmentSeqs]), eq(segments.trackMembership, true)))
      .returning()
      .all();
    if (rows.length > 0) writer.afterCommit(() => tracking.recordFirstMembers(id, rows));
  }

  function update(row: SegmentRow, patch: SegmentPatch): SegmentRow {
    const { name = row.name, description = row.description } = patch;
    const { trackMembership = row.trackMembership } = patch;
    const condition = newCondition(patch) ?? row.condition;
    const isConditionChanged = condition !== row.condition;
    const memberCount = isConditionChanged ? null : row.memberCount;
    const updated = db
      .update(segments)
      .set({ name, description, trackMembership, condition, memberCount, updatedAt: clock.now() })
      .where(eq(segments.seq, row.seq))
      .returning()
      .get();
    if (isConditionChanged) ensureFits(updated);
    const isTrackingChanged = trackMembership !== row.trackMembership;
    if (updated.type === "DYNAMIC" && (isConditionChanged || isTrackingChanged)) {
      tracking.noteDefinition(row.projectSeq);
      const dependants = isConditionChanged
        ? definitions.findDependants(row.projectSeq, row.id)
        : [];
      restartBaselines(row.id, [row.seq, ...dependants.map(({ seq }) => seq)]);
    }
    return updated;
  }

  /** Refuses the stored condition of a segment with 422 if a user exceeds a limit with it. */
  function ensureFits(row: SegmentRow): void {
    const errors = users.limitErrors(row);
    if (errors.length > 0) throw validationError(errors);
  }

  function ensureUnused(row: SegmentRow): void {
    const names = users.usersOf(row).map(({ kind, name }) => `${kind} "${name}"`);
    if (names.length === 0) return;
    throw new AppError(409, "CONFLICT", `This segment is used by ${names.join(", ")}.`, {
      suggestion:
        "Remove it from there first. If a workflow used it, wait until the executions that " +
        "started before have ended, or cancel them.",
    });
  }

  return {
    create(projectSeq: number, input: SegmentInput): Change<SegmentRow> {
      return () => {
        const { name, description = null, type = "DYNAMIC", trackMembership = false } = input;
        const condition = input.condition ? parseCondition(input.condition, "condition") : null;
        if (condition !== null) definitions.ensureResolvable(projectSeq, condition);
        const now = clock.now();
        const row = db
          .insert(segments)
          .values({
            id: newId(now),
            projectSeq,
            name,
            slug: chooseSlug(db, projectSeq, name),
            description,
            type,
            condition: condition === null ? null : storedForm(condition),
            trackMembership,
            createdAt: now,
            updatedAt: now,
          })
          .returning()
          .get();
        if (type === "DYNAMIC") restartBaselines(row.id, [row.seq]);
        return row;
      };
    },

    patch(projectSeq: number, id: string, patch: SegmentPatch): Change<SegmentRow> {
      return () => {
        const row = definitions.get(projectSeq, id);
        const errors = [...patchErrors(row, patch), ...users.trackingErrors(row, patch)];
        if (errors.length > 0) throw validationError(errors);
        if (patch.condition) {
          definitions.ensureResolvable(
            projectSeq,
            parseCondition(patch.condition, "condition"),
            row,
          );
        }
        return update(row, patch);
      };
    },

    remove(projectSeq: number, id: string): Change<void> {
      return () => {
        const row = definitions.get(projectSeq, id);
        ensureUnused(row);
        tracking.noteDefinition(projectSeq);
        const isEmpty = memberRows.deleteSome(row.seq, MAX_DELETED_AT_ONCE) < MAX_DELETED_AT_ONCE;
        const isSegment = eq(segments.seq, row.seq);
        if (isEmpty) db.delete(segments).where(isSegment).run();
        else db.update(segments).set({ deletedAt: clock.now(), slug: id }).where(isSegment).run();
      };
    },
  };
}

/** The stored form of the condition of a patch; null if it has none. */
function newCondition({ condition }: SegmentPatch): string | null {
  return condition ? storedForm(parseCondition(condition, "condition")) : null;
}

function storedForm(condition: Condition<Filter>): string {
  return JSON.stringify(wireCondition(condition));
}

function patchErrors(row: SegmentRow, { type, condition }: SegmentPatch): FieldError[] {
  const errors: FieldError[] = [];
  if (type !== undefined && type !== row.type) {
    const message = `cannot be changed: this segment is ${row.type}`;
    errors.push({ field: "type", message, code: "invalid_value" });
  }
  if (row.type === "STATIC" && condition !== undefined && condition !== null) {
    const message = "must be absent for a STATIC segment, whose members are added by email";
    errors.push({ field: "condition", message, code: "invalid_value" });
  }
  if (row.type === "DYNAMIC" && condition === null) {
    errors.push({
      field: "condition",
      message: "is required for a DYNAMIC segment",
      code: "required",
    });
  }
  return errors;
}
