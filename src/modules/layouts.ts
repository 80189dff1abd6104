/**
 * Layouts: the header and the footer that templates share. The body of a layout contains
 * `{{ content }}` once, where the body of a template is put (render/layout.ts). A change of a layout
 * applies to mails that are accepted later, as a change of a template does.
 */

import { type Static, Type } from "@sinclair/typebox";
import { and, eq, gte, sql } from "drizzle-orm";
import type { App } from "../core/app.ts";
import { layouts, templates } from "../db/schema/templates.ts";
import type { Project } from "../http/admission.ts";
import { BODY_LIMITS, limited } from "../http/body-limits.ts";
import { described, named } from "../http/documented.ts";
import { Envelope, ListEnvelope, NoContent, type Page } from "../http/envelope.ts";
import { EXAMPLE } from "../http/example-values.ts";
import { ensureRevision } from "../http/if-match.ts";
import { operations, read, write } from "../http/operations.ts";
import { containsText, PageQuery, smallPage } from "../http/pagination.ts";
import { Input, isLenient, LenientQuery, OneOf, withChecks } from "../http/validation.ts";
import { announceChange } from "../events/announcements.ts";
import { isoTime } from "../lib/clock.ts";
import { AppError, fieldError, type FieldError, notFound } from "../lib/errors.ts";
import { newId } from "../lib/id.ts";
import { ALWAYS_FITS, assembledFault, layoutFault } from "../render/layout.ts";
import { quickTemplateErrors } from "../render/request-mails.ts";
import { ensureTemplates } from "./content-work/content-work.ts";
import type { Noun } from "./module.ts";

const TEXTS = {
  name: "Name of the layout, which recipients do not see",
  body:
    "Liquid template of an HTML document that contains {{ content }} once, outside of tags such as " +
    "if; at most 256 KiB",
} as const;

const CONTENT_EXAMPLE = {
  name: "Letter",
  body: "<html><body><h1>Acme</h1>{{ content }}<p>Acme, 1 Harbour Street</p></body></html>",
};

const Layout = named(
  "Layout",
  described(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      body: Type.String(),
      revision: Type.Integer(),
      createdAt: Type.String({ format: "date-time" }),
      updatedAt: Type.String({ format: "date-time" }),
    }),
    {
      id: "Id of the layout",
      ...TEXTS,
      revision: "Number of the last change, from 1; also the ETag",
      createdAt: "When the layout was created",
      updatedAt: "When the layout was changed last",
    },
  ),
  {
    description: "What templates share around their bodies",
    example: {
      id: EXAMPLE.layoutId,
      ...CONTENT_EXAMPLE,
      revision: 1,
      createdAt: EXAMPLE.createdAt,
      updatedAt: EXAMPLE.updatedAt,
    },
  },
);
export type Layout = Static<typeof Layout>;

const Fields = described(
  Input({
    name: Type.String({ minLength: 1, maxLength: 255 }),
    body: Type.String({ minLength: 1 }),
  }),
  TEXTS,
);

/** The syntax of the body, and then its content. */
function layoutErrors(
  { body }: Readonly<Record<string, unknown>>,
  options: { isLenient: boolean },
): FieldError[] {
  if (typeof body !== "string" || body === "") return [];
  const errors = quickTemplateErrors({ body }, options);
  if (errors.length > 0) return errors;
  const fault = layoutFault(body);
  if (fault === null) return [];
  const { line, column } = fault;
  const message = `has an error in line ${line}, column ${column}: ${fault.message}`;
  return [{ field: "body", message, code: "invalid_format" }];
}

const LayoutInput = named("LayoutInput", withChecks(Fields, layoutErrors), {
  description: "A layout to create",
  example: CONTENT_EXAMPLE,
});
const LayoutPatch = named("LayoutPatch", withChecks(Type.Partial(Fields), layoutErrors), {
  description: "Changes of a layout; omitted fields stay as they are",
  example: { name: "Letter" },
});

const LayoutQuery = Input({
  ...PageQuery.properties,
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: "Only layouts whose name contains this text; case matters beyond ASCII",
    }),
  ),
});

const LayoutUsage = named(
  "LayoutUsage",
  described(
    Type.Object({
      users: Type.Array(
        described(
          Type.Object({
            kind: OneOf(["template", "campaign", "workflow", "form"]),
            id: Type.String(),
            name: Type.String(),
          }),
          { kind: "What it is", id: "Its id", name: "Its name" },
        ),
      ),
    }),
    {
      users:
        "The templates and campaigns that have the layout; it cannot be deleted while there are any",
    },
  ),
  {
    description: "Where a layout is used",
    example: { users: [{ kind: "template", id: EXAMPLE.templateId, name: "Receipt" }] },
  },
);

const createdLayout = { id: "/data/id" };
const etag = ({ revision }: Layout): number => revision;

type LayoutUser = Static<typeof LayoutUsage>["users"][number];

export const layoutNoun: Noun = {
  name: "layouts",
  operations: operations("Layouts", { parameters: { id: "Id of the layout" } }, [
    read("GET /layouts", {
      id: "listLayouts",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "List layouts",
      description: "Layouts whose name contains the text, newest first; all without a text.",
      query: LayoutQuery,
      answer: ListEnvelope(Layout),
      run: (app, { project, query }) => listLayouts(app, project, query),
    }),
    write("POST /layouts", {
      id: "createLayout",
      role: "EDITOR",
      summary: "Create a layout",
      description: "A body without exactly one {{ content }} is refused with 422.",
      isIdempotent: true,
      links: { getLayout: createdLayout, updateLayout: createdLayout, deleteLayout: createdLayout },
      query: LenientQuery,
      body: limited(LayoutInput, BODY_LIMITS.template),
      answer: Envelope(Layout),
      status: 201,
      etag,
      prepare: (app, { project, body, request }) =>
        ensureTemplates(app, project.seq, body, isLenient(request)),
      run: (app, { project, body }) => present(createLayout(app, project.seq, body)),
    }),
    read("GET /layouts/:id", {
      id: "getLayout",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "Get a layout",
      description: "The layout with the source of its body.",
      answer: Envelope(Layout),
      etag,
      run: (app, { project, params }) => present(getLayout(app, project.seq, params.id)),
    }),
    write("PATCH /layouts/:id", {
      id: "updateLayout",
      role: "EDITOR",
      summary: "Update a layout",
      description:
        "Changes the given fields for mails that are accepted later. A body with which a template " +
        "would be too large is refused with 422.",
      isConditional: true,
      query: LenientQuery,
      body: limited(LayoutPatch, BODY_LIMITS.template),
      answer: Envelope(Layout),
      etag,
      prepare: (app, { project, body, request }) =>
        ensureTemplates(app, project.seq, body, isLenient(request)),
      run(app, { project, params, body, request }) {
        const layout = getLayout(app, project.seq, params.id);
        ensureRevision(request, "layout", layout.revision);
        return present(updateLayout(app, layout, body));
      },
    }),
    write("DELETE /layouts/:id", {
      id: "deleteLayout",
      role: "EDITOR",
      summary: "Delete a layout",
      description:
        "A layout that a template or a campaign has is refused with 409, which names them.",
      isWithinQuota: false,
      answer: NoContent,
      run: (app, { project, params }) => deleteLayout(app, getLayout(app, project.seq, params.id)),
    }),
    read("GET /layouts/:id/usage", {
      id: "getLayoutUsage",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "Where a layout is used",
      description: "The templates and the campaigns that have the layout.",
      answer: Envelope(LayoutUsage),
      run: (app, { project, params }) => ({
        users: usersOf(app, getLayout(app, project.seq, params.id)),
      }),
    }),
  ]),
};

type LayoutRow = typeof layouts.$inferSelect;

/** Most users that a refusal names. */
const MAX_NAMED = 5;

function listLayouts(
  app: App,
  project: Project,
  { name, ...query }: Static<typeof LayoutQuery>,
): Promise<Page<Layout>> {
  return smallPage(app, project, {
    name: "layouts",
    query,
    table: layouts,
    filter: and(
      eq(layouts.projectSeq, project.seq),
      name === undefined ? undefined : containsText(layouts.name, name),
    ),
    present,
  });
}

/** Throws 404 without such a layout. */
function getLayout(app: App, projectSeq: number, id: string): LayoutRow {
  const layout = findById(app, projectSeq, id);
  if (layout === null) throw notFound("LAYOUT");
  return layout;
}

function findById({ db }: App, projectSeq: number, id: string): LayoutRow | null {
  const isThis = and(eq(layouts.projectSeq, projectSeq), eq(layouts.id, id));
  return db.select().from(layouts).where(isThis).limit(1).get() ?? null;
}

/** The layout that the field `layoutId` of a request names. Throws 422 without such a layout. */
export function layoutIn(app: App, projectSeq: number, id: string): LayoutRow {
  const layout = findById(app, projectSeq, id);
  if (layout !== null) return layout;
  throw fieldError("layoutId", "unknown_reference", "is not the id of a layout of this project");
}

/** The layout of a template. */
export function findLayout({ db }: App, seq: number): LayoutRow {
  const layout = db.select().from(layouts).where(eq(layouts.seq, seq)).limit(1).get();
  if (layout === undefined) throw new Error("a template has a layout that does not exist");
  return layout;
}

const announce = (app: App, { projectSeq, id }: Pick<LayoutRow, "projectSeq" | "id">): void =>
  announceChange(app, { projectSeq, type: "layout.changed", id });

function createLayout(
  app: App,
  projectSeq: number,
  { name, body }: Static<typeof LayoutInput>,
): LayoutRow {
  const now = app.clock.now();
  const row = { name, body, id: newId(now), projectSeq, createdAt: now, updatedAt: now };
  announce(app, row);
  return app.db.insert(layouts).values(row).returning().get();
}

function updateLayout(app: App, layout: LayoutRow, patch: Static<typeof LayoutPatch>): LayoutRow {
  const { name, body } = { ...layout, ...patch };
  if (name === layout.name && body === layout.body) return layout;
  if (body !== layout.body) ensureTemplatesFit(app, layout.seq, body);
  const revision = layout.revision + 1;
  announce(app, layout);
  return app.db
    .update(layouts)
    .set({ name, body, revision, updatedAt: app.clock.now() })
    .where(eq(layouts.seq, layout.seq))
    .returning()
    .get();
}

/** Throws 422 if a template would be too large in the layout. Only large ones can be. */
function ensureTemplatesFit({ db }: App, layoutSeq: number, layout: string): void {
  const size = sql`octet_length(${templates.body})`;
  const large = db
    .select({ name: templates.name, body: templates.body, preheader: templates.preheader })
    .from(templates)
    .where(and(eq(templates.layoutSeq, layoutSeq), gte(size, ALWAYS_FITS)))
    .all();
  for (const { name, body, preheader } of large) {
    const fault = assembledFault({ body, preheader, layout });
    if (fault === null) continue;
    throw fieldError("body", "too_big", `is too large: the template "${name}" ${fault}`);
  }
}

/** The templates of the layout, and the other objects that use it. */
function usersOf({ db, references }: App, { seq, projectSeq, id }: LayoutRow): LayoutUser[] {
  const own = db
    .select({ id: templates.id, name: templates.name })
    .from(templates)
    .where(eq(templates.layoutSeq, seq))
    .all();
  return [
    ...own.map((user): LayoutUser => ({ kind: "template", ...user })),
    ...references.usesOf("layout", projectSeq, id),
  ];
}

function deleteLayout(app: App, layout: LayoutRow): void {
  const names = usersOf(app, layout).map(({ kind, name }) => `${kind} "${name}"`);
  if (names.length > 0) throw inUse(names);
  app.db.delete(layouts).where(eq(layouts.seq, layout.seq)).run();
  announce(app, layout);
}

function inUse(names: readonly string[]): AppError {
  const shown = names.slice(0, MAX_NAMED).join(", ");
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  return new AppError(409, "CONFLICT", `This layout is used by ${shown}${more}.`, {
    suggestion: "Give them another layout or none first.",
  });
}

function present(row: LayoutRow): Layout {
  const { id, name, body, revision } = row;
  return {
    id,
    name,
    body,
    revision,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}
