/** The rows of the audit log: sentences whose actors and objects are links that filter by them. */

import { Link } from "@tanstack/react-router";
import type { AuditRecord } from "../../../modules/accounts/audit-model.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Time } from "../../ui/time.tsx";
import { actorWords, auditSentence } from "./audit-words.ts";

const ID_CHARACTERS = 8;

const AT: Column<AuditRecord> = {
  key: "at",
  title: "Time",
  width: "120px",
  render: ({ at }) => <Time at={at} isPlain />,
};
const ADDRESS: Column<AuditRecord> = {
  key: "address",
  title: "Address",
  width: "136px",
  render: ({ address }) => <span className="muted">{address ?? "–"}</span>,
};
const CHANGE: Column<AuditRecord> = {
  key: "change",
  title: "Change",
  render: (record) => <Sentence record={record} />,
};
const PROJECT: Column<AuditRecord> = {
  key: "project",
  title: "Project",
  width: "15%",
  render: ({ project }) => project?.name ?? <span className="muted">–</span>,
};

export const AUDIT_COLUMNS: readonly Column<AuditRecord>[] = [AT, CHANGE, ADDRESS];
/** The columns of the log of the whole installation. */
export const SYSTEM_AUDIT_COLUMNS: readonly Column<AuditRecord>[] = [AT, CHANGE, PROJECT, ADDRESS];

/** "Ada changed sender of template Welcome: a → b", whose actor and object are links. */
function Sentence({ record }: { record: AuditRecord }) {
  const { did, values } = auditSentence(record);
  return (
    <span title={sentenceText(record)}>
      <Actor record={record} /> {did} <ObjectLink record={record} />
      {values !== "" && <span className="audit-values">: {values}</span>}
    </span>
  );
}

function sentenceText(record: AuditRecord): string {
  const { did, values } = auditSentence(record);
  const sentence = [actorWords(record.actor), did, record.objectName ?? ""];
  return sentence.filter((text) => text !== "").join(" ") + (values === "" ? "" : `: ${values}`);
}

/** The two lines of a row on phones. */
export function auditLines(record: AuditRecord) {
  const { did, values } = auditSentence(record);
  return {
    first: (
      <span className="line">
        <span className="cut">
          <bdi>{actorWords(record.actor)}</bdi> {did} <bdi>{record.objectName}</bdi>
        </span>
        <span className="muted small">
          <Time at={record.at} isPlain />
        </span>
      </span>
    ),
    second: [values, record.project?.name ?? ""].filter((text) => text !== "").join(" · "),
  };
}

function Actor({ record: { actor } }: { record: AuditRecord }) {
  const words = actorWords(actor);
  if (actor.id === null) return <span className="muted">{words}</span>;
  const { id } = actor;
  return (
    <Link
      to="."
      search={(before: object) => ({ ...before, actor: id })}
      className="audit-link audit-actor"
      title={`Show only changes by ${actor.label}`}
    >
      {words}
    </Link>
  );
}

/** Without a name, the last characters of the id: they differ more than the first, which are a time. */
function ObjectLink({ record }: { record: AuditRecord }) {
  const { objectId, objectName } = record;
  // The id of a session says nothing to people.
  if (record.objectType === "session") return null;
  if (objectId === null) return objectName === null ? null : <strong>{objectName}</strong>;
  const isShort = objectId.length <= ID_CHARACTERS + 4;
  const name = objectName === null || objectName === "" ? null : objectName;
  return (
    <Link
      to="."
      search={(before: object) => ({ ...before, object: objectId })}
      className="audit-link audit-object"
      title={`Show only changes of ${name === null ? objectId : `${name} (${objectId})`}`}
    >
      {name ?? <code>{isShort ? objectId : `…${objectId.slice(-ID_CHARACTERS)}`}</code>}
    </Link>
  );
}
