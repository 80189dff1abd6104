/**
 * Segments, layouts and templates of a collection. Each is found by its name: one that exists is never
 * changed, so an import that died is repeated without doubles, and what was edited here since stays.
 */

import { type Static, Type } from "@sinclair/typebox";
import { AppError } from "../../lib/errors.ts";
import { layoutFault } from "../../render/layout.ts";
import { quickTemplateErrors } from "../../render/request-mails.ts";
import type { Collection } from "./collection.ts";
import { type ImportCounts, countsOf } from "./counts.ts";
import { type HttpClient, listAll, parseShape } from "./http-client.ts";
import type { ImportTarget } from "./import-people.ts";

const MEMBERS_AT_ONCE = 1_000;

const Segment = Type.Object({
  id: Type.String(),
  name: Type.String(),
  type: Type.String(),
  condition: Type.Unknown(),
});
type Segment = Static<typeof Segment>;
type SourceSegment = ReturnType<Collection["result"]>["segments"][number];

export async function importSegments(
  target: ImportTarget,
  { segments, conditions }: { segments: readonly SourceSegment[] } & Pick<Collection, "conditions">,
): Promise<ImportCounts> {
  const counts = countsOf("Segments", segments.length + conditions.length);
  if (counts.read === 0) return counts;
  const known = byName(await listAll(target.server, "/segments", Segment));
  for (const segment of segments) {
    const outcome = await settle(target, `segment ${segment.name}`, () =>
      importStatic(target, segment, known.get(segment.name)),
    );
    counts[outcome]++;
  }
  for (const segment of conditions) {
    const outcome = await settle(target, `segment ${segment.name}`, () =>
      importCondition(target, segment, known.get(segment.name)),
    );
    counts[outcome]++;
  }
  return counts;
}

type Outcome = "created" | "changed" | "unchanged" | "refused";

/** The server's refusal of one object is its reason, and does not end the import. */
export async function settle(
  { refused }: Pick<ImportTarget, "refused">,
  what: string,
  run: () => Promise<Outcome>,
): Promise<Outcome> {
  try {
    return await run();
  } catch (error) {
    const isRefusal = error instanceof AppError && (error.status === 409 || error.status === 422);
    if (!isRefusal) throw error;
    refused.push({ what, reason: error.message });
    return "refused";
  }
}

function kept(what: string): AppError {
  return new AppError(409, "KEPT", `another ${what} has this name here; it is kept as it is`);
}

async function importStatic(
  { server, isDry }: ImportTarget,
  { name, emails }: SourceSegment,
  known: Segment | undefined,
): Promise<Outcome> {
  if (known !== undefined && known.type !== "STATIC") throw kept("segment");
  if (isDry) {
    return known === undefined ? "created" : await compareMembers(server, known, emails);
  }
  const id = known?.id ?? (await createObject(server, "/segments", { name, type: "STATIC" }));
  let added = 0;
  for (let i = 0; i < emails.length; i += MEMBERS_AT_ONCE) {
    const answer = await server.post(`/segments/${id}/members`, {
      emails: emails.slice(i, i + MEMBERS_AT_ONCE),
    });
    added += parseShape(Added, answer, "The answer of the server").data.added;
  }
  return known === undefined ? "created" : added > 0 ? "changed" : "unchanged";
}

/** Members of larger segments are counted and not read, which would take a request for each hundred. */
const MAX_COMPARED = 5_000;
const Counted = Type.Object({ data: Type.Object({ memberCount: Type.Integer() }) });
const Member = Type.Object({ email: Type.String() });

async function compareMembers(
  server: HttpClient,
  { id }: Segment,
  emails: readonly string[],
): Promise<Outcome> {
  const { data } = parseShape(Counted, await server.get(`/segments/${id}`), "The segment");
  if (data.memberCount < emails.length) return "changed";
  if (data.memberCount > MAX_COMPARED) return "unchanged";
  const members = await listAll(server, `/segments/${id}/contacts`, Member);
  const present = new Set(members.map(({ email }) => email));
  return emails.every((email) => present.has(email)) ? "unchanged" : "changed";
}

const Added = Type.Object({ data: Type.Object({ added: Type.Integer() }) });

async function importCondition(
  { server, isDry }: ImportTarget,
  { name, condition }: Collection["conditions"][number],
  known: Segment | undefined,
): Promise<Outcome> {
  if (known !== undefined) {
    if (Bun.deepEquals(known.condition, condition)) return "unchanged";
    throw kept("segment");
  }
  if (isDry) await server.post("/segments/preview?counted=RECENT", { condition });
  else await createObject(server, "/segments", { name, condition });
  return "created";
}

const Layout = Type.Object({ name: Type.String(), body: Type.String() });

export async function importLayouts(
  target: ImportTarget,
  { layouts }: Pick<Collection, "layouts">,
): Promise<ImportCounts> {
  const counts = countsOf("Layouts", layouts.length);
  if (layouts.length === 0) return counts;
  const known = byName(await listAll(target.server, "/layouts", Layout));
  for (const { name, body } of layouts) {
    const outcome = await settle(target, `layout ${name}`, async () => {
      const found = known.get(name);
      if (found?.body === body) return "unchanged";
      if (found !== undefined) throw kept("layout");
      ensureLiquid({ body });
      const fault = layoutFault(body);
      if (fault !== null) throw new AppError(422, "INVALID", fault.message);
      if (!target.isDry) await createObject(target.server, "/layouts", { name, body });
      known.set(name, { name, body });
      return "created";
    });
    counts[outcome]++;
  }
  return counts;
}

const Template = Type.Object({ name: Type.String(), subject: Type.String(), body: Type.String() });

export async function importTemplates(
  target: ImportTarget,
  { templates }: Pick<Collection, "templates">,
): Promise<ImportCounts> {
  const counts = countsOf("Templates", templates.length);
  if (templates.length === 0) return counts;
  const known = byName(await listAll(target.server, "/templates", Template));
  for (const { name, subject, body, type, fault = null } of templates) {
    const outcome = await settle(target, `template ${name}`, async () => {
      if (fault !== null) throw new AppError(422, "INVALID", fault);
      const found = known.get(name);
      if (found?.body === body && found.subject === subject) return "unchanged";
      if (found !== undefined) throw kept("template");
      ensureLiquid({ subject, body });
      if (!target.isDry)
        await createObject(target.server, "/templates", { name, subject, body, type });
      known.set(name, { name, subject, body });
      return "created";
    });
    counts[outcome]++;
  }
  return counts;
}

/** The server checks the same; a dry run says it without storing anything. */
function ensureLiquid(sources: { subject?: string; body: string }): void {
  const [error] = quickTemplateErrors(sources, { isLenient: false });
  if (error !== undefined) throw new AppError(422, "INVALID", `${error.field} ${error.message}`);
}

const Created = Type.Object({ data: Type.Object({ id: Type.String() }) });

export async function createObject(
  server: HttpClient,
  path: string,
  body: unknown,
): Promise<string> {
  return parseShape(Created, await server.post(path, body), "The answer of the server").data.id;
}

function byName<T extends { name: string }>(items: readonly T[]): Map<string, T> {
  return new Map(items.map((item) => [item.name, item]));
}
