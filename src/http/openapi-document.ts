/**
 * Makes the OpenAPI document. The plugin lists the operations, and this file completes its document:
 * `openapi-operations.ts` describes each route, `openapi-schemas.ts` collects the named schemas,
 * `openapi-examples.ts` derives the examples, and `openapi-responses.ts` has the headers and errors
 * that all operations share.
 */

import { swagger } from "@elysiajs/swagger";
import { type AnyElysia, Elysia } from "elysia";
import { VERSION } from "../lib/version.ts";
import { ErrorBody } from "./envelope.ts";
import { HEADER_PARAMETERS, type DocumentedRoute, operationOf } from "./openapi-operations.ts";
import { errorResponses, HEADERS } from "./openapi-responses.ts";
import { createComponents, extractSchemas } from "./openapi-schemas.ts";
import { isRecord } from "./validation.ts";

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
  Layouts: "What templates share around their bodies",
  Images: "Images that mails show",
  Domains: "The domains that a project sends from, and their DNS records",
  Suppressions: "Addresses that get no mail",
  Delivery:
    "The way by which the mail of a project leaves: a relay of its own, and the host of its tracked links",
  Bounces: "Reports of other mail servers about mails: bounces and complaints",
  Inbound: "Addresses for which mail is received, and the mails that arrived",
  Statistics: "Numbers of mails and subscriptions by hour and day",
  Events: "Record events of contacts, and read the event log",
  Verification: "Check an address without sending mail",
  Segments: "Groups of contacts, by a condition or by a list",
  Topics: "Kinds of marketing mail that contacts join and leave",
  Forms: "Sign-up forms, on a page of this server and in the HTML of other sites",
  Privacy: "Consents of contacts, exports of what is stored about a person, and erasures",
  Campaigns: "One mail to an audience of contacts",
  Workflows: "Steps that an event starts for a contact",
  Webhooks: "Calls that tell other systems about events",
  Inboxes: "Read, wait for and check mail that was caught instead of sent",
  Projects: "The tenants of an installation, for users who are signed in",
  "API keys": "The keys with which programs use a project",
  "Saved views": "Names for the filters of lists in the dashboard",
  Team: "The people who may open a project, and what they changed",
  Recipients: "Pages and links in mails, which recipients open without a key",
  System: "The state of the installation",
};

/** The parts of the document that do not come from the routes. */
const DOCUMENTATION = {
  info: {
    title: "Mailstead",
    version: VERSION,
    description: DESCRIPTION,
    license: { name: "MIT", url: "https://opensource.org/license/mit" },
  },
  servers: [{ url: "/", description: "This server" }],
  tags: Object.entries(SECTIONS).map(([name, description]) => ({ name, description })),
  security: [{ secretKey: [] }],
  components: {
    securitySchemes: {
      secretKey: {
        type: "http" as const,
        scheme: "bearer",
        bearerFormat: "sk_…",
        description:
          "A secret key, for servers. `x-scopes` of an operation lists the scopes of the keys that may " +
          "call it; without it, the key needs the scope EVERYTHING.",
      },
      publicKey: {
        type: "http" as const,
        scheme: "bearer",
        bearerFormat: "pk_…",
        description: "A public key, which pages may contain",
      },
      session: {
        type: "apiKey" as const,
        in: "cookie" as const,
        name: "__Host-mailstead",
        description:
          "The session of a user of the dashboard; `mailstead` over plain http. Each operation has " +
          "the least role of the user in `x-role`.",
      },
    },
  },
};

const SPEC_PATH = "/spec";

/** Returns the document for the routes of `api`. The page of the plugin is not used. */
export async function describeApi(api: AnyElysia): Promise<object> {
  const documented = new Elysia().use(api).use(
    swagger({
      path: "/page",
      specPath: SPEC_PATH,
      excludeStaticFile: false,
      exclude: [SPEC_PATH, "/page"],
      documentation: DOCUMENTATION,
    }),
  );
  const response = await documented.handle(new Request(`http://localhost${SPEC_PATH}`));
  return completeDocument(await response.json(), api.routes);
}

/**
 * Replaces the operations of the plugin's document by descriptions with named schemas. Declares
 * OpenAPI 3.1, because the schemas use `null` and `const`.
 */
function completeDocument(plugin: unknown, routes: readonly DocumentedRoute[]): object {
  if (!isRecord(plugin)) throw new Error("the plugin returned no OpenAPI document");
  const components = createComponents();
  extractSchemas(ErrorBody, components);
  const operations = new Map(
    routes.map((route) => [`${route.method.toLowerCase()} ${templateOf(route.path)}`, route]),
  );
  const described = (path: string, method: string): unknown => {
    const route = operations.get(`${method} ${path}`);
    if (route === undefined) throw new Error(`the document has no route for ${method} ${path}`);
    return operationOf(route, components);
  };
  const paths = mapObject(plugin["paths"], (item, path) =>
    mapObject(item, (_, method) => described(path, method)),
  );
  return {
    ...plugin,
    openapi: "3.1.0",
    paths,
    components: {
      ...DOCUMENTATION.components,
      headers: HEADERS,
      parameters: HEADER_PARAMETERS,
      responses: errorResponses(),
      schemas: Object.fromEntries([...components].map(([name, it]) => [name, withoutExamples(it)])),
    },
  };
}

/** The path as OpenAPI writes it: `/contacts/{id}`. */
function templateOf(path: string): string {
  return path.replaceAll(/:(\w+)/g, "{$1}");
}

function mapObject(value: unknown, map: (inner: unknown, name: string) => unknown): object {
  const entries = Object.entries(isRecord(value) ? value : {});
  return Object.fromEntries(entries.map(([name, inner]) => [name, map(inner, name)]));
}

/** The operations show the examples of their schemas, so the components do not repeat them. */
function withoutExamples(schema: unknown): unknown {
  if (!isRecord(schema) || schema["type"] !== "object") return schema;
  const { examples: _, ...rest } = schema;
  return rest;
}
