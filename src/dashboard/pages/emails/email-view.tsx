/** An email: who sent it to whom, what became of it, and its tabs. In the drawer and as a page. */

import { Skeleton } from "@mantine/core";
import type { ReactNode } from "react";
import type { Email } from "../../../modules/emails/record-model.ts";
import { useMay, useProject } from "../../state.ts";
import { CopyText } from "../../ui/copy.tsx";
import { Field, Fields } from "../../ui/fields.tsx";
import { PageTabs, TabLink } from "../../ui/page.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Status, statusWord } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { useDelayed } from "../../ui/use-delayed.ts";
import { ChecksTab } from "./checks-tab.tsx";
import { recipientOf, shownStatus, subjectOf } from "./columns.tsx";
import { HeadersTab } from "./headers-tab.tsx";
import { Outcome } from "./outcome.tsx";
import { PreviewTab } from "./preview-tab.tsx";
import { CancelMail } from "./cancel-mail.tsx";
import { SendAgain } from "./send-again.tsx";
import { RawTab, SourceTab } from "./source-tab.tsx";
import { TextTab } from "./text-tab.tsx";
import { TimelineTab } from "./timeline-tab.tsx";
import { TranscriptTab } from "./transcript-tab.tsx";
import { useEmail } from "./use-email.ts";
import type { EmailNames } from "./use-names.ts";

type Tab = { key: string; label: string; render: (email: Email) => ReactNode };

const TABS: readonly Tab[] = [
  { key: "preview", label: "Preview", render: (email) => <PreviewTab email={email} /> },
  { key: "text", label: "Text", render: ({ id }) => <TextTab id={id} /> },
  { key: "source", label: "Source", render: ({ id }) => <SourceTab id={id} /> },
  { key: "headers", label: "Headers", render: ({ id }) => <HeadersTab id={id} /> },
  { key: "transcript", label: "Transcript", render: (email) => <TranscriptTab email={email} /> },
  { key: "timeline", label: "Timeline", render: (email) => <TimelineTab email={email} /> },
  { key: "checks", label: "Checks", render: ({ id }) => <ChecksTab id={id} /> },
  { key: "raw", label: "Raw", render: ({ id }) => <RawTab id={id} /> },
];

/** The parts that show the content of the mail, which viewers read of marketing mail only. */
const CONTENT_TABS = ["preview", "text", "source", "headers", "checks", "raw"];

export function EmailView(props: {
  id: string;
  tab: string | undefined;
  names: EmailNames;
  /** Opens another email: the one that was sent again. */
  onOpen: (id: string) => void;
}) {
  const { id, tab, names, onOpen } = props;
  const { data: email, error, refetch } = useEmail(id);
  const mayRead = useMay("EDITOR");
  const isSlow = useDelayed(email === undefined && error === null);
  if (email === undefined) {
    if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />;
    return isSlow ? <ViewSkeleton /> : null;
  }
  const isHidden = !mayRead && email.type !== "MARKETING";
  const tabs = TABS.filter(({ key }) => !isHidden || !CONTENT_TABS.includes(key));
  const current = tabs.find(({ key }) => key === tab) ?? firstTab(email, isHidden);
  return (
    <div className="email-view">
      <Summary email={email} names={names} onOpen={onOpen} />
      <Outcome email={email} />
      <PageTabs label="Parts of the email">
        {tabs.map(({ key, label }) => (
          <TabLink key={key} tab={key} current={current?.key ?? ""}>
            {label}
          </TabLink>
        ))}
      </PageTabs>
      {isHidden && (
        <p className="muted small email-hidden">
          Transactional mail often contains personal data such as orders and links to sign in, so
          only editors and admins of the project read its content.
        </p>
      )}
      <section className="email-panel" aria-label={current?.label}>
        {current?.render(email)}
      </section>
    </div>
  );
}

/** The tab that opens first: the conversation with the server if the mail was not accepted. */
function firstTab({ status, sentAt, attempts }: Email, isHidden: boolean): Tab | undefined {
  const isRefused = sentAt === null && attempts.length > 0 && status !== "CANCELLED";
  return TABS.find(({ key }) => key === (isRefused || isHidden ? "transcript" : "preview"));
}

/** The heading of the drawer, which gets the focus when it opens. */
export function EmailTitle({ id }: { id: string }) {
  const { data: email } = useEmail(id);
  return (
    <h2 className="email-title" tabIndex={-1} data-autofocus>
      {email !== undefined && <Status value={shownStatus(email)} />}
      <span className="cut">{email === undefined ? "Email" : subjectOf(email)}</span>
    </h2>
  );
}

function Summary(props: { email: Email; names: EmailNames; onOpen: (id: string) => void }) {
  const { email, names, onOpen } = props;
  const { id, contactId, from, addressees, source, tags, createdAt, scheduledAt, sentAt } = email;
  const tagTexts = Object.entries(tags).map(([name, value]) => `${name}: ${value}`);
  const project = useProject()?.id ?? "";
  const origin = originOf(email, names);
  return (
    <div className="email-summary">
      <Fields>
        <Field label="To">
          {contactId === null ? (
            recipientOf(email)
          ) : (
            <PathLink path={`/p/${project}/contacts/${contactId}`}>{recipientOf(email)}</PathLink>
          )}
        </Field>
        <Field label="From">{from}</Field>
        {addressees !== null && addressees.cc.length > 0 && (
          <Field label="Cc">{addressees.cc.join(", ")}</Field>
        )}
        <Field label="Created">
          <Time at={createdAt} />
        </Field>
        <Field label="Sent">
          <Time at={sentAt} />
        </Field>
        <Field label="Source">
          {statusWord(source)}
          {origin !== null && (
            <>
              {" · "}
              <PathLink path={`/p/${project}/${origin.path}`}>{origin.name}</PathLink>
            </>
          )}
        </Field>
        {scheduledAt !== null && (
          <Field label="Scheduled">
            <Time at={scheduledAt} as="due" />
          </Field>
        )}
        {tagTexts.length > 0 && <Field label="Tags">{tagTexts.join(", ")}</Field>}
        <Field label="Id">
          <CopyText value={id} label="Copy the id" />
        </Field>
      </Fields>
      <SendAgain email={email} onSent={onOpen} />
      <CancelMail email={email} />
    </div>
  );
}

/** The campaign of the mail, or else its template. */
function originOf({ campaignId, templateId }: Email, { campaigns, templates }: EmailNames) {
  if (campaignId !== null) {
    return { path: `campaigns/${campaignId}`, name: campaigns.get(campaignId) ?? campaignId };
  }
  if (templateId === null) return null;
  return { path: `templates/${templateId}`, name: templates.get(templateId) ?? templateId };
}

function ViewSkeleton() {
  return (
    <div aria-busy="true" className="email-skeleton">
      <Skeleton height={12} width="50%" />
      <Skeleton height={12} width="40%" />
      <Skeleton height={12} width="45%" />
      <Skeleton height={320} mt={16} />
    </div>
  );
}
