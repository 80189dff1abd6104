/** The checks of the mail that a template makes, as of a mail that was sent. */

import { Button } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { EmailChecks } from "../../../../modules/emails/content/model.ts";
import { api } from "../../../api.ts";
import { Loaded } from "../../../ui/loaded.tsx";
import { Findings, LinkAnswers, Support } from "../../../ui/message/checks.tsx";
import type { TemplateSource } from "./template-source.ts";
import { draftOf, type TemplateDraft } from "./use-draft-preview.ts";

const SETTLED_MS = 400;

export function TemplateChecksTab(props: {
  source: TemplateSource;
  project: string;
  contactId: string | undefined;
}) {
  const { source, project, contactId } = props;
  const [draft] = useDebouncedValue(draftOf(source, contactId), SETTLED_MS);
  const checks = useQuery({
    queryKey: ["template-checks", project, draft],
    queryFn: ({ signal }) => api.post<EmailChecks>("/templates/checks", draft, { signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Loaded query={checks} height={320}>
      {({ findings, support, features, urls }) => (
        <>
          <Findings findings={findings} html={source.body} />
          <Support support={support} features={features} />
          <DraftLinks key={JSON.stringify(urls)} draft={draft} project={project} urls={urls} />
        </>
      )}
    </Loaded>
  );
}

/** The links are requested only when the user asks for it, because a server counts each request. */
function DraftLinks(props: { draft: TemplateDraft; project: string; urls: readonly string[] }) {
  const { draft, project, urls } = props;
  const [isAsked, setIsAsked] = useState(false);
  const answers = useQuery({
    queryKey: ["template-checks", project, draft, "links"],
    queryFn: ({ signal }) =>
      api.post<EmailChecks>("/templates/checks", draft, { query: { links: true }, signal }),
    enabled: isAsked,
    staleTime: Infinity,
  });
  return (
    <section className="section">
      <h2 className="checks-title">Links</h2>
      {urls.length === 0 && <p className="muted">The mail has no links of its own.</p>}
      {urls.length > 0 && !isAsked && (
        <Button size="xs" variant="default" onClick={() => setIsAsked(true)}>
          {urls.length === 1
            ? "Check whether the link responds"
            : `Check whether the ${urls.length} links respond`}
        </Button>
      )}
      {isAsked && answers.isPending && <p role="status">Requesting the links…</p>}
      {isAsked && !answers.isPending && (
        <Loaded query={answers}>{({ links }) => <LinkAnswers links={links ?? []} />}</Loaded>
      )}
    </section>
  );
}
