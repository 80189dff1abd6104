/** One email as a page, for links to it. */

import { getRouteApi, Link } from "@tanstack/react-router";
import { BackLabel, Page } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { shownStatus, subjectOf } from "./columns.tsx";
import { EmailView } from "./email-view.tsx";
import { useEmail } from "./use-email.ts";
import { useNames } from "./use-names.ts";

const route = getRouteApi("/user/p/$project/emails/$email");

export function EmailPage() {
  const { project, email: id } = route.useParams();
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  const names = useNames();
  const { data } = useEmail(id);
  return (
    <Page
      title={data === undefined ? "Email" : subjectOf(data)}
      badge={data === undefined ? undefined : <Status value={shownStatus(data)} />}
      back={
        <Link to="/p/$project/emails" params={{ project }} className="page-back">
          <BackLabel>Emails</BackLabel>
        </Link>
      }
    >
      <EmailView
        key={id}
        id={id}
        tab={tab}
        names={names}
        onOpen={(email) => void navigate({ params: { project, email }, search: {} })}
      />
    </Page>
  );
}
