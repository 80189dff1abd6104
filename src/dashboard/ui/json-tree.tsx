import { useMemo } from "react";
import { Copy } from "./copy.tsx";
import { type JsonNode, jsonNodes } from "./json-nodes.ts";

/** Deeper objects and lists are closed at first. */
const OPEN_DEPTH = 2;

/** Data as a tree whose objects and lists open and close, with a button that copies all of it. */
export function JsonTree({ value, label }: { value: unknown; label: string }) {
  const root = useMemo(() => jsonNodes(value), [value]);
  return (
    <div className="json" role="group" aria-label={label}>
      <span className="json-copy">
        <Copy value={JSON.stringify(value, null, 2)} label="Copy as JSON" />
      </span>
      {root.members === null ? <Leaf node={root} /> : <Members node={root} depth={0} />}
    </div>
  );
}

function Members({ node, depth }: { node: JsonNode; depth: number }) {
  const { members, hidden, kind } = node;
  return (
    <ul>
      {(members ?? []).map((member) => (
        <li key={member.name}>
          {member.members === null ? (
            <Leaf node={member} />
          ) : (
            <details open={depth + 1 < OPEN_DEPTH}>
              <summary>
                <span className="json-name">{member.name}</span>{" "}
                <span className="muted">{member.text}</span>
              </summary>
              <Members node={member} depth={depth + 1} />
            </details>
          )}
        </li>
      ))}
      {hidden > 0 && (
        <li className="muted">
          {hidden} more {kind === "list" ? "items" : "members"} are not shown.
        </li>
      )}
    </ul>
  );
}

function Leaf({ node: { name, text, kind } }: { node: JsonNode }) {
  return (
    <span className="json-leaf">
      {name !== null && <span className="json-name">{name}</span>}{" "}
      <bdi data-kind={kind}>{text}</bdi>
    </span>
  );
}
