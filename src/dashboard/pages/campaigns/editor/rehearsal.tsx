/** The rehearsal: the campaign as contacts with different data would get it, in the capture inbox. */

import { Button, SegmentedControl, Table } from "@mantine/core";
import { skipToken, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Drama } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { Rehearsal, RehearsalVariant } from "../../../../modules/campaigns/rehearsal-model.ts";
import { api } from "../../../api.ts";
import { checkText } from "../../../ui/message/check-texts.ts";
import { Problem } from "../../../ui/problem.tsx";
import { Status } from "../../../ui/status.tsx";
import { counted } from "../numbers.ts";
import { type CampaignEditing, campaignPath, CAMPAIGN_LABELS } from "./campaign-source.ts";
import { commonFindings, rehearsalText } from "./rehearsal-text.ts";
import { saveAll } from "../../../ui/editors/save-all.ts";

/** The name of the inbox that gets the messages. */
const INBOX = "rehearsal";

export function RehearsalPart(props: {
  id: string;
  project: string;
  editor: CampaignEditing;
  isReady: boolean;
}) {
  const { id, project, editor, isReady } = props;
  const client = useQueryClient();
  const variants = editor.value.abTest?.variants ?? [];
  const [variantId, setVariant] = useState("A");
  const isVariant = variants.some((each) => each.id === variantId);
  const queryKey = ["campaign-rehearsal", id];
  // It is still here when the user comes back from one of its mails.
  const { data } = useQuery<Rehearsal>({ queryKey, queryFn: skipToken, staleTime: Infinity });
  const run = useMutation({
    mutationFn: async () => {
      await saveAll(editor, CAMPAIGN_LABELS);
      return await api.post<Rehearsal>(
        `${campaignPath(id)}/rehearsal`,
        isVariant ? { variantId } : undefined,
      );
    },
    onSuccess: (rehearsal) => client.setQueryData(queryKey, rehearsal),
  });
  return (
    <div className="rehearsal" role="group" aria-labelledby="rehearsal">
      <div className="rehearsal-head">
        <div>
          <h3 id="rehearsal">Rehearsal</h3>
          <p className="muted">
            Renders the campaign for contacts whose data differ, puts the mails into the inbox
            “rehearsal”, and checks each. Nothing leaves.
          </p>
        </div>
        <Button
          variant="default"
          leftSection={<Drama size={15} aria-hidden />}
          loading={run.isPending}
          disabled={!isReady}
          onClick={() => run.mutate()}
        >
          {data === undefined ? "Rehearse" : "Rehearse again"}
        </Button>
      </div>
      {variants.length > 0 && (
        <SegmentedControl
          className="rehearsal-variant"
          aria-label="Variant to rehearse"
          value={variantId}
          onChange={setVariant}
          data={variants.map((each) => ({ value: each.id, label: `Variant ${each.id}` }))}
        />
      )}
      {!isReady && (
        <p className="muted small">It needs an audience, a sender, a subject and a body.</p>
      )}
      {run.error !== null && <Problem error={run.error} />}
      {run.isPending && (
        <p className="muted">
          The mails arrive in the inbox “rehearsal”.{" "}
          <InboxLink project={project}>Open the inbox</InboxLink>
        </p>
      )}
      <div aria-live="polite">
        {data !== undefined && <Result rehearsal={data} project={project} />}
      </div>
    </div>
  );
}

function InboxLink({ project, children }: { project: string; children: ReactNode }) {
  return (
    <Link to="/p/$project/inboxes/{-$inbox}" params={{ project, inbox: INBOX }}>
      {children}
    </Link>
  );
}

function Result({ rehearsal, project }: { rehearsal: Rehearsal; project: string }) {
  const { variants, rendered, failed, withErrors, withWarnings } = rehearsal;
  const common = commonFindings(variants);
  return (
    <>
      <p>
        {counted(variants.length, "contact")}: {rehearsalText({ failed, withErrors, withWarnings })}{" "}
        {rendered > 0 && (
          <InboxLink project={project}>
            {rendered === 1
              ? "Open the mail in the inbox"
              : `Open the ${rendered} mails in the inbox`}
          </InboxLink>
        )}
      </p>
      {common.length > 0 && (
        <p className="rehearsal-common">
          <span className="muted">In all mails:</span>
          {common.map((finding) => (
            <FindingState key={finding.name} finding={finding} />
          ))}
        </p>
      )}
      <div className="rehearsal-table">
        <Table aria-label="The campaign for different contacts">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Contact</Table.Th>
              <Table.Th className="rehearsal-wide">Why this one</Table.Th>
              <Table.Th className="rehearsal-wide">Subject</Table.Th>
              <Table.Th>Findings</Table.Th>
              <Table.Th>
                <span className="page-read-title">Mail</span>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {variants.map((variant) => (
              <Variant
                key={variant.contact.id}
                variant={variant}
                common={common}
                project={project}
              />
            ))}
          </Table.Tbody>
        </Table>
      </div>
    </>
  );
}

type Finding = RehearsalVariant["findings"][number];

function FindingState({ finding }: { finding: Finding }) {
  const { name, status, message } = finding;
  return (
    <span className="rehearsal-finding" title={message}>
      <Status tone={status === "ERROR" ? "failed" : "held"}>{checkText(name).title}</Status>
    </span>
  );
}

function Variant(props: {
  variant: RehearsalVariant;
  common: readonly Finding[];
  project: string;
}) {
  const { variant, common, project } = props;
  const { contact, reasons, subject, fault, messageId, findings } = variant;
  const isOwn = ({ name }: Finding) => !common.some((each) => each.name === name);
  const bad = findings.filter((finding) => finding.status !== "OK" && isOwn(finding));
  return (
    <Table.Tr>
      <Table.Td>
        <Link to="/p/$project/contacts/$contact" params={{ project, contact: contact.id }}>
          <bdi>{contact.email}</bdi>
        </Link>
        <span className="rehearsal-narrow muted small">
          {reasons.join(", ")}
          {subject !== null && (
            <>
              {" · "}
              <bdi>{subject}</bdi>
            </>
          )}
        </span>
      </Table.Td>
      <Table.Td className="rehearsal-wide muted">{reasons.join(", ")}</Table.Td>
      <Table.Td className="rehearsal-wide">
        <bdi>{subject ?? "–"}</bdi>
      </Table.Td>
      <Table.Td>
        {fault !== null && <Status tone="failed">{fault}</Status>}
        {fault === null && bad.length === 0 && (
          <Status tone="good">{common.length === 0 ? "In order" : "Nothing else"}</Status>
        )}
        {bad.map((finding) => (
          <FindingState key={finding.name} finding={finding} />
        ))}
      </Table.Td>
      <Table.Td>
        {messageId !== null && (
          <Link
            to="/p/$project/inboxes/{-$inbox}"
            params={{ project, inbox: INBOX }}
            search={{ message: messageId }}
            aria-label={`Mail to ${contact.email}`}
          >
            Open
          </Link>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
