/** The columns of the audit log. Actors and objects are links that filter by them. */

import { Link } from "@tanstack/react-router";
import type { AuditRecord } from "../../../modules/accounts/team-model.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Time } from "../../ui/time.tsx";
import { actionWords, actorWords, changeTexts, objectWords } from "./audit-words.ts";

const ID_CHARACTERS = 8;

export const AUDIT_COLUMNS: readonly Column<AuditRecord>[] = [
  { key: "at", title: "Time", width: "120px", render: ({ at }) => <Time at={at} isPlain /> },
  { key: "actor", title: "Who", width: "17%", render: (record) => <Actor record={record} /> },
  { key: "action", title: "What", width: "17%", render: (record) => <Action record={record} /> },
  {
    key: "object",
    title: "Object",
    width: "19%",
    render: (record) => <ObjectLink record={record} />,
  },
  { key: "fields", title: "Changes", render: (record) => <ChangedFields record={record} /> },
  {
    key: "address",
    title: "Address",
    width: "136px",
    render: ({ address }) => <span className="muted">{address ?? "–"}</span>,
  },
];

/** The two lines of a row on phones. */
export const auditLines = (record: AuditRecord) => ({
  first: (
    <span className="line">
      <span className="cut">
        <Action record={record} />
      </span>
      <span className="muted small">
        <Time at={record.at} isPlain />
      </span>
    </span>
  ),
  second: [actorWords(record.actor), record.objectName ?? "", ...changeTexts(record)]
    .filter((text) => text !== "")
    .join(" · "),
});

function Action({ record: { action } }: { record: AuditRecord }) {
  const words = actionWords(action);
  return words === null ? <code>{action}</code> : <span title={words}>{words}</span>;
}

function Actor({ record: { actor } }: { record: AuditRecord }) {
  const words = actorWords(actor);
  if (actor.id === null) return <span className="muted">{words}</span>;
  const { id } = actor;
  return (
    <Link
      to="."
      search={(before: object) => ({ ...before, actor: id })}
      className="audit-link"
      title={`Show only changes by ${words}`}
    >
      {words}
    </Link>
  );
}

/** Without a name, the last characters of the id: they differ more than the first, which are a time. */
function ObjectLink({ record }: { record: AuditRecord }) {
  const { objectId, objectName } = record;
  const noun = objectWords(record);
  if (objectId === null) return <span className="muted">{noun}</span>;
  const isShort = objectId.length <= ID_CHARACTERS + 4;
  const name = objectName === null || objectName === "" ? null : objectName;
  return (
    <Link
      to="."
      search={(before: object) => ({ ...before, object: objectId })}
      className="audit-link"
      title={`Show only changes of ${name === null ? objectId : `${name} (${objectId})`}`}
    >
      {/* The action names the noun. */}
      {name ?? (
        <>
          {noun} <code>{isShort ? objectId : `…${objectId.slice(-ID_CHARACTERS)}`}</code>
        </>
      )}
    </Link>
  );
}

function ChangedFields({ record }: { record: AuditRecord }) {
  const texts = changeTexts(record);
  if (texts.length === 0) return <span className="muted">–</span>;
  return <span title={texts.join("\n")}>{texts.join(", ")}</span>;
}
