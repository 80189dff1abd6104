/** One change of the audit log: who made it, and the old and new values in full. */

import type { AuditRecord } from "../../../modules/accounts/audit-model.ts";
import { CopyText } from "../../ui/copy.tsx";
import { Field, Fields } from "../../ui/fields.tsx";
import { SideDrawer } from "../../ui/side-drawer.tsx";
import { exactTime } from "../../ui/time.tsx";
import { useOpenRow } from "../../ui/use-open-row.ts";
import {
  actionWords,
  actorWords,
  changedValueText,
  fieldWords,
  objectWords,
} from "./audit-words.ts";

export function AuditDrawer(props: {
  id: string | undefined;
  rows: readonly AuditRecord[];
  onOpen: (id: string) => void;
  onClose: () => void;
}) {
  const { id, rows, onOpen, onClose } = props;
  const { found, last, next, previous } = useOpenRow(id, rows);
  const record = found ?? last;
  return (
    <SideDrawer
      isOpen={found !== undefined}
      onClose={onClose}
      label="Change"
      size={600}
      title={
        <h2 className="drawer-heading">
          {record === undefined ? "Change" : (actionWords(record.action) ?? record.action)}
        </h2>
      }
      onNext={next === undefined ? undefined : () => onOpen(next)}
      onPrevious={previous === undefined ? undefined : () => onOpen(previous)}
    >
      {record !== undefined && <ChangeView record={record} />}
    </SideDrawer>
  );
}

function ChangeView({ record }: { record: AuditRecord }) {
  const { at, actor, project, objectId, objectName, address, changes, fields } = record;
  const known = new Set(changes.map(({ field }) => field));
  const others = fields.filter((field) => !known.has(field));
  return (
    <>
      <section className="section">
        <Fields>
          <Field label="Time">{exactTime(new Date(at))}</Field>
          <Field label="Who">
            {actorWords(actor)}
            {actor.name !== null && <span className="muted"> ({actor.label})</span>}
          </Field>
          {project !== null && <Field label="Project">{project.name}</Field>}
          <Field label="Object">{[objectWords(record), objectName ?? ""].join(" ")}</Field>
          {objectId !== null && (
            <Field label="Id">
              <CopyText value={objectId} label="Copy the id" />
            </Field>
          )}
          {address !== null && <Field label="Address">{address}</Field>}
        </Fields>
      </section>
      <section className="section">
        <h3 className="audit-heading">Changes</h3>
        {changes.map(({ field, before, after }) => (
          <dl key={field} className="audit-change">
            <dt>{fieldWords(field)}</dt>
            <dd>
              <del>{changedValueText(before)}</del>
              <ins>{changedValueText(after)}</ins>
            </dd>
          </dl>
        ))}
        {others.length > 0 && (
          <p className="muted">
            {changes.length > 0 && "Also changed: "}
            {others.map(fieldWords).join(", ")}. The values of these fields are not kept.
          </p>
        )}
        {changes.length + others.length === 0 && (
          <p className="muted">No values of fields are kept for this change.</p>
        )}
      </section>
    </>
  );
}
