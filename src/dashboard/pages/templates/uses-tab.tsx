/** The workflows that send a template, and the mails that were made from it. */

import { getRouteApi, Link } from "@tanstack/react-router";
import type { Template } from "../../../modules/templates.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Uses } from "../../ui/uses.tsx";
import { useUsage } from "./use-usage.ts";

const route = getRouteApi("/user/p/$project/templates/$template");

export function UsesTab({ template }: { template: Template }) {
  const { project } = route.useParams();
  return (
    <div className="template">
      <section className="card">
        <h2>Workflows and campaigns</h2>
        <Loaded query={useUsage(template)} height={80}>
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
