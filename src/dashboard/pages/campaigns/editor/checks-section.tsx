/** The section with the checks of the mail, and with a rehearsal for contacts whose data differ. */

import { useQuery } from "@tanstack/react-query";
import type { EmailChecks } from "../../../../modules/emails/content/model.ts";
import { api } from "../../../api.ts";
import { Problem } from "../../../ui/problem.tsx";
import { FindingList, Findings, Support } from "../../../ui/message/checks.tsx";
import type { draftOf } from "../../templates/editor/use-draft-preview.ts";
import type { CampaignEditing } from "./campaign-source.ts";
import { RehearsalPart } from "./rehearsal.tsx";
import { Section } from "./section.tsx";
import type { SectionState } from "./sections.ts";

/**
 * The checks of the draft as it is now. They are not requested while the content has a gap or a
 * fault.
 */
export const useDraftChecks = (
  project: string,
  draft: ReturnType<typeof draftOf>,
  isComplete: boolean,
) =>
  useQuery({
    queryKey: ["campaign-checks", project, draft],
    queryFn: ({ signal }) => api.post<EmailChecks>("/templates/checks", draft, { signal }),
    enabled: isComplete,
    placeholderData: (before) => before,
    gcTime: 0,
  });

export function ChecksSection(props: {
  id: string;
  project: string;
  editor: CampaignEditing;
  checks: ReturnType<typeof useDraftChecks>;
  state: SectionState;
  /** Whether the campaign has all that a rehearsal needs. */
  isReady: boolean;
}) {
  const { id, project, editor, checks, state, isReady } = props;
  const { data, error, refetch } = checks;
  return (
    <Section section="checks" state={state}>
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && (
        <p className="muted">The mail is checked as soon as it has a subject and a body.</p>
      )}
      {data !== undefined && <CheckResults checks={data} html={editor.value.body} />}
      <RehearsalPart id={id} project={project} editor={editor} isReady={isReady} />
    </Section>
  );
}

function CheckResults({ checks, html }: { checks: EmailChecks; html: string }) {
  const { findings, support, features } = checks;
  const bad = findings.filter(({ status }) => status !== "OK");
  return (
    <>
      {bad.length === 0 ? (
        <p>All {findings.length} checks of structure and headers passed.</p>
      ) : (
        <FindingList findings={bad} html={html} />
      )}
      <details className="draft-details">
        <summary>All checks, and the support by mail programs</summary>
        <Findings findings={findings} html={html} />
        <Support support={support} features={features} />
      </details>
    </>
  );
}
