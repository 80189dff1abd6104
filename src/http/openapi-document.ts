/**
 * Builds the OpenAPI document from the routes: `openapi-operations.ts` describes each route,
 * `openapi-schemas.ts` collects the named schemas, `openapi-examples.ts` derives the examples, and
 * `openapi-responses.ts` has the headers and errors that all operations share.
 */

import { VERSION } from "../lib/version.ts";
import { ErrorBody } from "./envelope.ts";
import { type DocumentedRoute, operationOf } from "./openapi-operations.ts";
import { errorResponses, HEADERS } from "./openapi-responses.ts";
import { createComponents, extractSchemas } from "./openapi-schemas.ts";

const DESCRIPTION = `An email platform in one executable.

Every request carries \`Authorization: Bearer <API key>\` with a secret key (\`sk_…\`). A public key
(\`pk_…\`) is accepted only by \`/v1/track\`. POST requests that create something accept an
\`Idempotency-Key\` header: the first response to a key is stored and replayed for 24 hours. All errors
have the same structure; programs should read \`error.code\`.`;

/** The sections of the page in their order. */
const SECTIONS: Readonly<Record<string, string>> = {
  Health: "Whether the process runs and can work; for probes",
  Emails: "Send mail, and read its status and attempts",
  Contacts: "The people that a project writes to, with free-form data",
  Templates: "Subjects and bodies that mails, workflows and previews use",
  Domains: "The domains that a project sends from, and their DNS records",
  Suppressions: "Addresses that get no mail",
  Events: "Record events of contacts, and read the event log",
  Verification: "Check an address without sending mail",
  Segments: "Groups of contacts, by a condition or by a list",
  Campaigns: "One mail to an audience of contacts",
  Workflows: "Steps that an event starts for a contact",
  Webhooks: "Calls that tell other systems about events",
  Recipients: "Pages and links in mails, which recipients open without a key",
};

/** Declares OpenAPI 3.1, because the schemas use `null` and `const`. */
export function buildDocument(routes: readonly DocumentedRoute[]): object {
  const components = createComponents();
  extractSchemas(ErrorBody, components);
  const paths = new Map<string, Record<string, unknown>>();
  for (const route of routes) {
    const operation = operationOf(route, components);
    if (operation === null) continue;
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths.set(path, { ...paths.get(path), [route.method.toLowerCase()]: operation });
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Mailstead",
      version: VERSION,
      description: DESCRIPTION,
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    },
    servers: [{ url: "/", description: "This server" }],
    tags: Object.entries(SECTIONS).map(([name, description]) => ({ name, description })),
    security: [{ secretKey: [] }],
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: {
        secretKey: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "sk_…",
          description: "A secret key, for servers",
        },
        publicKey: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "pk_…",
          description: "A public key, which pages may contain",
        },
      },
      headers: HEADERS,
      responses: errorResponses(),
      schemas: Object.fromEntries(components),
    },
  };
}
