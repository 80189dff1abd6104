/** The checks of the mail that a template makes, as of a mail that was sent. */

import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { EmailChecks } from "../../../../modules/emails/content/model.ts";
import { api } from "../../../api.ts";
import { Loaded } from "../../../ui/loaded.tsx";
import { Findings, Support } from "../../../ui/message/checks.tsx";
import type { TemplateSource } from "./template-source.ts";
import { draftOf } from "./use-draft-preview.ts";

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
      {({ findings, support, features }) => (
        <>
          <Findings findings={findings} html={source.body} />
          <Support support={support} features={features} />
        </>
      )}
    </Loaded>
  );
}
