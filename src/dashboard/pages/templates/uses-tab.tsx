/** The workflows that send a template, and the mails that were made from it. */

import { getRouteApi, Link } from "@tanstack/react-router";
import type { Template } from "../../../modules/templates.ts";
import type { TemplateUsage } from "../../../modules/templates/model.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Time } from "../../ui/time.tsx";
import { Uses } from "../../ui/uses.tsx";
import { useUsage } from "./use-usage.ts";

const route = getRouteApi("/user/p/$project/templates/$template");

export function UsesTab({ template }: { template: Template }) {
  const { project } = route.useParams();
  const usage = useUsage(template);
  return (
    <div className="template">
      <section className="card">
        <h2>Workflows and campaigns</h2>
        <Loaded query={usage} height={80}>
          {({ users }) =>
            users.length === 0 ? (
              <p className="muted">
                No workflow sends this template. Campaigns have content of their own.
              </p>
            ) : (
              <>
                <Uses users={users} />
                <p className="muted small template-uses">
                  The template cannot be deleted while they send it. Their next mails have its
                  newest content.
                </p>
              </>
            )
          }
        </Loaded>
      </section>
      <section className="card">
        <h2>Your programs</h2>
        <Loaded query={usage} height={20}>
          {({ apiSends }) => <ApiSends {...apiSends} />}
        </Loaded>
        <p className="muted">
          Programs name the template by its id <code>{template.id}</code> when they send a mail.{" "}
          <Link to="/p/$project/emails" params={{ project }} search={{ template: template.id }}>
            Show the emails made from it
          </Link>
        </p>
      </section>
    </div>
  );
}

/** The number of mails that programs have made of the template, and the time of the latest. */
function ApiSends({ count, isComplete, lastAt }: TemplateUsage["apiSends"]) {
  if (lastAt === null) {
    const found = isComplete
      ? "No program has sent a mail of this template."
      : "None of the latest mails was made by a program from this template.";
    return <p>{found}</p>;
  }
  const mails =
    count === 1 && isComplete ? "1 mail" : `${count}${isComplete ? "" : " or more"} mails`;
  return (
    <p>
      Programs have sent {mails} of this template, the latest <Time at={lastAt} />.
    </p>
  );
}
