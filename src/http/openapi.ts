/**
 * Serves `GET /openapi.json`, which is generated from the routes, and `GET /docs`, a page that
 * shows it. All assets are embedded in the executable.
 */

import { swagger } from "@elysiajs/swagger";
import { type AnyElysia, Elysia } from "elysia";
import bundlePath from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import stylePath from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import { VERSION } from "../lib/version.ts";
import { ErrorBody } from "./envelope.ts";
import { isRecord } from "./validation.ts";

const DESCRIPTION = `An email platform in one executable.

Every request carries \`Authorization: Bearer <API key>\` with a secret key (\`sk_…\`). A public key
(\`pk_…\`) is accepted only by \`/v1/track\`. POST requests that create something accept an
\`Idempotency-Key\` header: the first response to a key is stored and replayed for 24 hours. All errors
have the same structure; programs should read \`error.code\`.`;

const SPEC_PATH = "/spec";

/** The sections of the page in their order. A section that is not listed comes after these. */
const SECTIONS = [
  "Health",
  "Emails",
  "Contacts",
  "Templates",
  "Domains",
  "Suppressions",
  "Events",
  "Verification",
  "Segments",
  "Campaigns",
  "Workflows",
  "Webhooks",
  "Recipients",
];

/**
 * Returns the documentation routes for `api`. The document is generated on the first request for
 * it.
 */
export function openApiRoutes(api: AnyElysia) {
  let document: Promise<string> | null = null;
  return new Elysia({ name: "openapi-routes" })
    .get(
      "/openapi.json",
      async () => {
        document ??= describe(api);
        return asset(await document, "application/json");
      },
      hidden,
    )
    .get("/docs", () => asset(PAGE, "text/html; charset=utf-8"), hidden)
    .get("/docs/start.js", () => asset(START, "text/javascript; charset=utf-8"), hidden)
    .get(
      "/docs/swagger-ui.js",
      () => asset(Bun.file(bundlePath), "text/javascript; charset=utf-8"),
      hidden,
    )
    .get(
      "/docs/swagger-ui.css",
      () => asset(Bun.file(stylePath), "text/css; charset=utf-8"),
      hidden,
    );
}

const hidden = { detail: { hide: true } };

function asset(body: string | Blob, contentType: string): Response {
  return new Response(body, {
    headers: {
      "Content-Type": contentType,
      "Content-Security-Policy":
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:",
      "X-Content-Type-Options": "nosniff",
    },
  });
}

/** Only the document of the plugin is used, because its page loads assets from another server. */
async function describe(api: AnyElysia): Promise<string> {
  const documented = new Elysia().use(api).use(
    swagger({
      path: "/page",
      specPath: SPEC_PATH,
      excludeStaticFile: false,
      exclude: [/^\/docs/, "/openapi.json", SPEC_PATH, "/page"],
      documentation: {
        tags: SECTIONS.map((name) => ({ name })),
        info: { title: "Mailstead", version: VERSION, description: DESCRIPTION },
        security: [{ secretKey: [] }],
        components: {
          securitySchemes: {
            secretKey: { type: "http", scheme: "bearer", bearerFormat: "sk_…" },
            publicKey: { type: "http", scheme: "bearer", bearerFormat: "pk_…" },
          },
        },
      },
    }),
  );
  const response = await documented.handle(new Request(`http://localhost${SPEC_PATH}`));
  return JSON.stringify(completeDocument(await response.json()));
}

/**
 * Declares OpenAPI 3.1, because the schemas use `null` and `const`, and adds the shared error
 * schema.
 */
function completeDocument(document: unknown): unknown {
  if (!isRecord(document)) throw new Error("the plugin returned no OpenAPI document");
  return {
    ...document,
    openapi: "3.1.0",
    components: { ...Object(document["components"]), schemas: { Error: ErrorBody } },
    paths: mapObject(document["paths"], (item) => mapObject(item, completeOperation)),
  };
}

function completeOperation(operation: unknown, method: string): unknown {
  if (!isRecord(operation)) return operation;
  const { requestBody, responses, parameters, ...rest } = operation;
  const own: unknown[] = Array.isArray(parameters) ? parameters : [];
  return {
    ...rest,
    parameters: method === "post" ? [...own, IDEMPOTENCY_KEY] : own,
    ...(isRecord(requestBody)
      ? { requestBody: { required: true, ...contentOf(requestBody) } }
      : {}),
    responses: mapObject(responses, completeResponse),
  };
}

/** All errors refer to one shared schema. */
function completeResponse(response: unknown, status: string): unknown {
  const description = DESCRIPTIONS[status] ?? "Done";
  if (!isRecord(response) || /^(?:204|3\d\d)$/.test(status)) return { description };
  const own = contentOf(response);
  // Routes that return HTML pages also return their errors as HTML pages.
  const isJson = isRecord(own.content) && "application/json" in own.content;
  if (Number(status) < 400 || !isJson) return { description, ...own };
  const schema = { $ref: "#/components/schemas/Error" };
  return { description, content: { "application/json": { schema } } };
}

/**
 * Keeps one of the three media types that the plugin lists: JSON, unless the schema names another.
 */
function contentOf({ content }: Readonly<Record<string, unknown>>): { content?: unknown } {
  const json = isRecord(content) ? content["application/json"] : undefined;
  if (!isRecord(json)) return content === undefined ? {} : { content };
  const mediaType = isRecord(json["schema"]) ? json["schema"]["contentMediaType"] : undefined;
  return { content: { [typeof mediaType === "string" ? mediaType : "application/json"]: json } };
}

function mapObject(value: unknown, map: (inner: unknown, name: string) => unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, map(inner, name)]));
}

const IDEMPOTENCY_KEY = {
  in: "header",
  name: "Idempotency-Key",
  required: false,
  description:
    "The first response to a key is stored together with the change and replayed for 24 hours",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  200: "Done",
  201: "Created",
  202: "Accepted; the work continues",
  204: "Done; no body",
  302: "Redirect to the address in Location",
  400: "Malformed request",
  401: "Missing or invalid API key",
  403: "Not permitted",
  404: "No such resource",
  408: "The body did not arrive in time",
  409: "Conflict with the current state",
  413: "Body too large",
  415: "Compressed body",
  422: "Validation failed; details in errors",
  429: "Rate limit exceeded",
  500: "Unexpected error",
  503: "Not available right now",
};

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Mailstead API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="docs"></div>
<script src="/docs/swagger-ui.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>`;

/**
 * `validatorUrl` is null, because the page would otherwise send the document to a public service.
 */
const START = `SwaggerUIBundle({ url: "/openapi.json", dom_id: "#docs", validatorUrl: null, deepLinking: true, tryItOutEnabled: true, persistAuthorization: false });`;
