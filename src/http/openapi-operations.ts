/** Turns one route into an operation of the OpenAPI document. */

import { ALSO, extrasOf, OPERATION } from "./documented.ts";
import { exampleOf } from "./openapi-examples.ts";
import { describeStatus, errorReference, headersOfSuccess } from "./openapi-responses.ts";
import { type Components, extractSchemas, resolved } from "./openapi-schemas.ts";
import { isRecord } from "./validation.ts";

type Value = Readonly<Record<string, unknown>>;
type Extras = ReturnType<typeof extrasOf>;
export type DocumentedRoute = { method: string; path: string; hooks: unknown };

/** Returns null for a route that is not documented. */
export function operationOf(
  { path, hooks }: DocumentedRoute,
  components: Components,
): Value | null {
  const { detail, query, body, response } = recordOf(hooks);
  const { [OPERATION]: _, hide, requestBody, ...about } = recordOf(detail);
  if (hide === true) return null;
  const extras = extrasOf(recordOf(detail));
  const { security } = about;
  const isOpen = Array.isArray(security) && security.length === 0;
  const hasRate = !isOpen;
  return {
    ...about,
    parameters: [
      ...pathParameters(path, extras.parameters),
      ...queryParameters(query, components),
      ...(extras.isIdempotent ? [parameterReference("Idempotency-Key")] : []),
      ...(extras.isConditional ? [parameterReference("If-Match")] : []),
    ],
    ...requestBodyOf(body, requestBody, components),
    responses: Object.fromEntries(
      Object.entries(recordOf(response)).map(([status, schema]) => [
        status,
        responseOf(status, schema, { extras, hasRate, components }),
      ]),
    ),
  };
}

function recordOf(value: unknown): Value {
  return isRecord(value) ? value : {};
}

function pathParameters(path: string, texts: Extras["parameters"]): Value[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: texts[name],
    schema: { type: "string" },
  }));
}

function queryParameters(schema: unknown, components: Components): Value[] {
  const { properties } = recordOf(schema);
  return Object.entries(recordOf(properties)).map(([name, property]) => {
    const { description, ...rest } = recordOf(extractSchemas(property, components));
    return { name, in: "query", required: false, description, schema: rest };
  });
}

/** A body that `given` describes is read by its route as it arrives. */
function requestBodyOf(schema: unknown, given: unknown, components: Components): Value {
  if (isRecord(given)) return { requestBody: withExamples(given, components) };
  if (!isRecord(schema)) return {};
  const { "x-optional": isOptional, ...rest } = schema;
  const media = mediaOf(extractSchemas(rest, components), components);
  return {
    requestBody: { required: isOptional !== true, content: { "application/json": media } },
  };
}

function withExamples(body: Value, components: Components): Value {
  const content = Object.entries(recordOf(body["content"])).map(([type, media]) => [
    type,
    mediaOf(extractSchemas(recordOf(media)["schema"], components), components),
  ]);
  return { ...body, content: Object.fromEntries(content) };
}

function mediaOf(schema: unknown, components: Components): Value {
  return { schema, example: exampleOf(schema, components) };
}

function responseOf(
  status: string,
  given: unknown,
  { extras, hasRate, components }: { extras: Extras; hasRate: boolean; components: Components },
): Value {
  const { [ALSO]: others, ...own } = recordOf(given);
  const mediaType = own["contentMediaType"];
  // Routes that return HTML pages also return their errors as HTML pages.
  if (Number(status) >= 400 && typeof mediaType !== "string") return errorReference(status);
  const schema = extractSchemas(own, components);
  const headers = headersOfSuccess({
    hasRate,
    isIdempotent: extras.isIdempotent,
    own: Number(status) < 400 ? extras.headers : [],
  });
  if (/^(?:204|3\d\d)$/.test(status)) return { description: describeStatus(status), headers };
  const { description } = recordOf(resolved(schema, components));
  return {
    description: typeof description === "string" ? description : describeStatus(status),
    headers,
    content: {
      [typeof mediaType === "string" ? mediaType : "application/json"]: mediaOf(schema, components),
      ...otherMedia(recordOf(others)),
    },
    ...linksOf(extras.links),
  };
}

/** The other media types in which a route sends a file, with their examples. */
function otherMedia(examples: Value): Value {
  const media = Object.entries(examples).map(([contentMediaType, example]) => [
    contentMediaType,
    { schema: { type: "string", contentMediaType }, example },
  ]);
  return Object.fromEntries(media);
}

function linksOf(links: Extras["links"]): Value {
  const entries = Object.entries(links).map(([operationId, parameters]) => {
    const values = Object.entries(parameters).map(([name, value]) => [
      name,
      value.startsWith("$") ? value : `$response.body#${value}`,
    ]);
    return [operationId, { operationId, parameters: Object.fromEntries(values) }];
  });
  return entries.length === 0 ? {} : { links: Object.fromEntries(entries) };
}

/** The headers of requests that several operations read: the components of the document. */
export const HEADER_PARAMETERS = {
  "If-Match": {
    in: "header",
    name: "If-Match",
    required: false,
    description:
      "The ETag of the object that the change was made for. If it has another one now, nothing is " +
      "changed, and the answer is 412 with the code REVISION_CONFLICT.",
    schema: { type: "string", maxLength: 255 },
    example: '"3"',
  },
  "Idempotency-Key": {
    in: "header",
    name: "Idempotency-Key",
    required: false,
    description:
      "The first response to a key is stored together with the change and replayed for 24 hours",
    schema: { type: "string", minLength: 1, maxLength: 255 },
    example: "order-1001-receipt",
  },
} as const;

const parameterReference = (name: keyof typeof HEADER_PARAMETERS) => ({
  $ref: `#/components/parameters/${name}`,
});
