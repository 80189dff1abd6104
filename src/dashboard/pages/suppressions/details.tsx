/** One suppression in the drawer: why it exists, its cause in full, and how to remove it. */

import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Suppression } from "../../../modules/suppressions.ts";
import { useMay } from "../../state.ts";
import { CopyText } from "../../ui/copy.tsx";
import { Field, Fields } from "../../ui/fields.tsx";
import { Time } from "../../ui/time.tsx";
import { ReasonStatus } from "./columns.tsx";
import { REASONS } from "./reasons.ts";

export function SuppressionDetails(props: {
  suppression: Suppression;
  project: string;
  onRemove: () => void;
}) {
  const { suppression, project, onRemove } = props;
  const { email, reason, createdAt, expiresAt, cause } = suppression;
  const mayRemove = useMay("EDITOR");
  return (
    <>
      <p className="suppression-meaning">{REASONS[reason].meaning} The project sends it no mail.</p>
      <Fields>
        <Field label="Address">
          <CopyText value={email} label="Copy the address" />
        </Field>
        <Field label="Reason">
          <ReasonStatus reason={reason} />
        </Field>
        <Field label="Added">
          <Time at={createdAt} />
        </Field>
        <Field label="Ends">{expiresAt === null ? "Never" : <Time at={expiresAt} />}</Field>
        {cause !== null && (
          <>
            <Field label="Mail">
              <Link
                to="/p/$project/emails/$email"
                params={{ project, email: cause.emailId }}
                search={{ tab: "timeline" }}
              >
                Open the mail that caused it
              </Link>
            </Field>
            {cause.reportedAt !== null && (
              <Field label="Report arrived">
                <Time at={cause.reportedAt} />
              </Field>
            )}
            <Field label="Words of the server">
              {cause.reason ?? <span className="muted">Deleted with the contact</span>}
            </Field>
          </>
        )}
      </Fields>
      <p className="suppression-links">
        <Link to="/p/$project/emails" params={{ project }} search={{ to: email }}>
          Emails to this address
        </Link>{" "}
        ·{" "}
        <Link to="/p/$project/contacts" params={{ project }} search={{ q: email }}>
          Its contact
        </Link>
      </p>
      {mayRemove && (
        <Button variant="default" onClick={onRemove}>
          Remove the suppression
        </Button>
      )}
    </>
  );
}
