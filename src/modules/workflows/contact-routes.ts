/** GET    /contacts/{id}/executions   list the executions of all workflows for a contact */

import { Elysia } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { envelope, IdParams, ListEnvelope, withErrors } from "../../http/envelope.ts";
import type { ListContactExecutions } from "./contact-executions.ts";
import { ContactExecution, ExecutionQuery } from "./execution-model.ts";
import { contactExecutionOperations } from "./operations.ts";

export function contactExecutionRoutes(deps: {
  admission: Admission;
  listOfContact: ListContactExecutions;
}) {
  const { admission, listOfContact } = deps;
  return new Elysia({ name: "contact-execution-routes", prefix: "/contacts/:id" })
    .use(admission.secretKey)
    .get(
      "/executions",
      async ({ project, params, query }) =>
        envelope(await listOfContact(project.seq, params.id, query)),
      {
        params: IdParams,
        query: ExecutionQuery,
        response: withErrors({ 200: ListEnvelope(ContactExecution) }),
        detail: contactExecutionOperations.listContactExecutions,
      },
    );
}
