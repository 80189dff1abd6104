/** The columns of the list of suppressions. */

import { Link } from "@tanstack/react-router";
import type { Suppression } from "../../../modules/suppressions.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { REASONS, type SuppressionReason } from "./reasons.ts";

export const suppressionColumns = (project: string): Column<Suppression>[] => [
  {
    key: "email",
    title: "Address",
    width: "30%",
    render: ({ email }) => <bdi title={email}>{email}</bdi>,
  },
  {
    key: "reason",
    title: "Reason",
    width: "164px",
    render: ({ reason }) => <ReasonStatus reason={reason} />,
  },
  {
    key: "cause",
    title: "Cause",
    render: (suppression) => <Cause suppression={suppression} project={project} />,
  },
  {
    key: "expires",
    title: "Ends",
    width: "128px",
    render: ({ expiresAt }) =>
      expiresAt === null ? <span className="muted">Never</span> : <Time at={expiresAt} isPlain />,
  },
  {
    key: "created",
    title: "Added",
    width: "128px",
    isFigure: true,
    render: ({ createdAt }) => <Time at={createdAt} isPlain />,
  },
];

/** The two lines of a row on phones. */
export const suppressionLines = ({ email, reason, createdAt }: Suppression) => ({
  first: <bdi>{email}</bdi>,
  second: (
    <span className="line">
      <ReasonStatus reason={reason} />
      <Time at={createdAt} isPlain />
    </span>
  ),
});

export function ReasonStatus({ reason }: { reason: SuppressionReason }) {
  const { tone, label } = REASONS[reason];
  return <Status tone={tone}>{label}</Status>;
}

/** The words of the refusal, which lead to the mail. */
function Cause({ suppression, project }: { suppression: Suppression; project: string }) {
  const { cause } = suppression;
  if (cause === null) return <span className="muted">–</span>;
  const words = cause.reason ?? "Mail of a deleted contact";
  return (
    <Link
      to="/p/$project/emails/$email"
      params={{ project, email: cause.emailId }}
      search={{ tab: "timeline" }}
      className="suppression-cause"
      title={words}
    >
      {words}
    </Link>
  );
}
