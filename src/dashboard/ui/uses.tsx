import { useProject } from "../state.ts";
import { PathLink } from "./path-link.tsx";

const KINDS = {
  segment: { word: "Segment", folder: "segments" },
  campaign: { word: "Campaign", folder: "campaigns" },
  workflow: { word: "Workflow", folder: "workflows" },
  form: { word: "Form", folder: "forms" },
  template: { word: "Template", folder: "templates" },
} as const;

type User = { kind: keyof typeof KINDS; id: string; name: string };

/** The objects that use a template or a segment, as links to their pages. */
export function Uses({ users }: { users: readonly User[] }) {
  const project = useProject()?.id ?? "";
  return (
    <ul className="uses">
      {users.map(({ kind, id, name }) => (
        <li key={`${kind} ${id}`}>
          <PathLink path={`/p/${project}/${KINDS[kind].folder}/${encodeURIComponent(id)}`}>
            {name}
          </PathLink>
          <span className="muted small">{KINDS[kind].word}</span>
        </li>
      ))}
    </ul>
  );
}
