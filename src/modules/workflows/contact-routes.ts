/**
 * GET    /contacts/{id}/executions            list the executions of all workflows for a contact
 * GET    /contacts/{id}/unentered-workflows   list the workflows that a contact never entered
 */

import { Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import type { Admission } from "../../http/admission.ts";
import { Envelope, envelope, IdParams, ListEnvelope, withErrors } from "../../http/envelope.ts";
import { roleForHistory } from "../../http/scopes.ts";
import type { Contacts } from "../contacts/service.ts";
import { listContactExecutions } from "./contact-executions.ts";
import { ContactExecution, ExecutionQuery } from "./execution-model.ts";
import { contactExecutionOperations } from "./operations.ts";
import { readableExecution } from "./present.ts";
import type { ListUnentered } from "./unentered.ts";
import { UnenteredWorkflows } from "./unentered-model.ts";

export function contactExecutionRoutes(deps: {
  app: App;
  admission: Admission;
  contacts: Pick<Contacts, "get">;
  listUnentered: ListUnentered;
}) {
  const { app, admission, contacts, listUnentered } = deps;
  return new Elysia({ name: "contact-execution-routes", prefix: "/contacts/:id" })
    .use(admission.secretKey)
    .get(
      "/executions",
      async ({ project, role, scope, params, query }) => {
        const contact = contacts.get(project.seq, params.id);
        const { items, ...page } = await listContactExecutions(app, project, contact, query);
        const reader = roleForHistory(role, scope);
        const shown = items.map((execution) => readableExecution(reader, execution));
        return envelope({ ...page, items: shown });
      },
      {
        params: IdParams,
        query: ExecutionQuery,
        response: withErrors({ 200: ListEnvelope(ContactExecution) }),
        detail: contactExecutionOperations.listContactExecutions,
      },
    )
    .get(
      "/unentered-workflows",
      ({ project, params }) => envelope({ items: listUnentered(project.seq, params.id) }),
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(UnenteredWorkflows) }),
        detail: contactExecutionOperations.listUnenteredWorkflows,
      },
    );
}
