/**
 * Composes the text parts of mails from one template with the shapes of that template. In this order:
 * `render` records what the template writes (`trace.ts`); `encode` looks for the shape of that record
 * and fills it (`shape.ts`), or takes the ordinary path: `prepareOutgoing` and `textPart`. A record
 * that occurs for the second time is compiled to a shape, whose first parts are compared with the
 * ordinary ones; if they differ, the shape is never used and the log says so.
 *
 * Both ways give the same octets, so it does not matter which one a mail takes. A template whose
 * mails seldom find a shape takes the ordinary path for a while.
 */

import type { Log } from "../../lib/log.ts";
import type { TextParts } from "../../protocols/mime/message.ts";
import { textPart } from "../../protocols/mime/parts.ts";
import type { RecipientLinks } from "../links.ts";
import { type OutgoingInput, prepareOutgoing } from "../outgoing.ts";
import { BoundedEmitter, RENDER_LIMIT_MS } from "../template/limits.ts";
import { checkResult, renderInto, type Template, type Variables } from "../template/template.ts";
import { createFinishedBodies } from "./finished-bodies.ts";
import { compileShape, fillShape, type Shape } from "./shape.ts";
import type { TokenKeys } from "./tokens.ts";
import { FixedTexts, TraceEmitter } from "./trace.ts";

/** A rendered body. */
export type Body = { template: Template; emitter: BoundedEmitter };

type RenderedBody = { ok: true; body: Body } | { ok: false; reason: string };

type ShapeCache = {
  /** Renders a body like `render`. */
  render(template: Template, variables: Variables, links: RecipientLinks): RenderedBody;
  /** The text parts of a mail, as `prepareOutgoing` and `textPart` write them. */
  encode(body: Body, input: Omit<OutgoingInput, "html">): TextParts;
  readonly stats: Readonly<ShapeStats>;
};

/** Counts of mails since the start, and the memory of all shapes. */
type ShapeStats = {
  /** Mails whose parts came from a shape. */
  filled: number;
  /** Mails that were composed in the ordinary way. */
  ordinary: number;
  shapes: number;
  bytes: number;
};

type Limits = {
  maxShapes: number;
  maxBytes: number;
  /** Longest processor time of a render. */
  renderMs: number;
  /** After this number of traced mails, a template with fewer filled ones than a quarter is bypassed. */
  trial: number;
  /** The number of mails for which it is bypassed. */
  bypassed: number;
};

const LIMITS: Limits = {
  maxShapes: 1_000,
  maxBytes: 16 * 1024 * 1024,
  renderMs: RENDER_LIMIT_MS,
  trial: 256,
  bypassed: 4_096,
};

/** A compiled shape, or null for renders that cannot have one. */
type Entry = { owner: TemplateShapes; key: string; shape: Shape | null };

/** The shapes of one template. */
type TemplateShapes = {
  fixedTexts: FixedTexts;
  entries: Map<string, Entry>;
  /** Keys that occurred once. */
  seen: Set<string>;
  uses: number;
  traced: number;
  filled: number;
  /** Number of mails that still take the ordinary path. */
  bypassed: number;
  hasDiffered: boolean;
};

const MAX_SEEN = 512;
/** Estimated memory of an entry without a shape. */
const EMPTY_BYTES = 1_024;

/** Creates a cache that evicts the least recently used shape. */
export function createShapeCache(
  keys: TokenKeys,
  log: Log,
  given: Partial<Limits> = {},
): ShapeCache {
  const limits = { ...LIMITS, ...given };
  const limitMs = limits.renderMs;
  const templates = new WeakMap<Template, TemplateShapes>();
  const firstOf = createFinishedBodies();
  /** All entries, the least recently used one first. */
  const order = new Set<Entry>();
  const stats: ShapeStats = { filled: 0, ordinary: 0, shapes: 0, bytes: 0 };

  function shapesOf(template: Template): TemplateShapes {
    const known = templates.get(template);
    if (known !== undefined) return known;
    const created = newShapes(template);
    templates.set(template, created);
    return created;
  }

  function encode({ template, emitter }: Body, input: Omit<OutgoingInput, "html">): TextParts {
    const owner = shapesOf(template);
    const found = emitter instanceof TraceEmitter ? findParts(owner, emitter, input) : null;
    return found ?? composeOrdinary(emitter.buffer, input);
  }

  function composeOrdinary(html: string, input: Omit<OutgoingInput, "html">): TextParts {
    stats.ordinary++;
    const outgoing = prepareOutgoing({ ...input, html });
    return {
      htmlPart: textPart("html", outgoing.html),
      plainPart: textPart("plain", outgoing.text),
    };
  }

  function findParts(
    owner: TemplateShapes,
    trace: TraceEmitter,
    input: Omit<OutgoingInput, "html">,
  ): TextParts | null {
    countTrial(owner, limits);
    if (trace.key === null) return null;
    const key = `${contextKey(input)}\n${trace.key}`;
    const entry = owner.entries.get(key);
    if (entry !== undefined) {
      order.delete(entry);
      order.add(entry);
      const parts =
        entry.shape === null ? null : fillShape(entry.shape, trace, { keys, mail: input });
      if (parts === null) return null;
      owner.filled++;
      stats.filled++;
      return parts;
    }
    if (owner.seen.delete(key)) return compile(owner, key, { trace, input });
    if (owner.seen.size >= MAX_SEEN) owner.seen.clear();
    owner.seen.add(key);
    return null;
  }

  /** Compiles a shape and stores it, if its parts are those of the ordinary path. */
  function compile(
    owner: TemplateShapes,
    key: string,
    { trace, input }: { trace: TraceEmitter; input: Omit<OutgoingInput, "html"> },
  ): TextParts {
    const ordinary = composeOrdinary(trace.buffer, input);
    const shape = compileShape(trace, input, keys);
    const filled = shape === null ? null : fillShape(shape, trace, { keys, mail: input });
    const isSame = filled !== null && areSame(filled, ordinary);
    if (filled !== null && !isSame && !owner.hasDiffered) {
      owner.hasDiffered = true;
      log.warn("a compiled template differs from its ordinary rendering and is not used", {
        emailId: input.emailId,
      });
    }
    store({ owner, key, shape: isSame ? shape : null });
    return ordinary;
  }

  function store(entry: Entry): void {
    if (bytesOf(entry) > limits.maxBytes) return;
    entry.owner.entries.set(entry.key, entry);
    order.add(entry);
    stats.shapes++;
    stats.bytes += bytesOf(entry);
    for (const oldest of order) {
      if (order.size <= limits.maxShapes && stats.bytes <= limits.maxBytes) return;
      oldest.owner.entries.delete(oldest.key);
      order.delete(oldest);
      stats.shapes--;
      stats.bytes -= bytesOf(oldest);
    }
  }

  return {
    render(compiled, variables, links) {
      const template = firstOf(compiled);
      const shapes = shapesOf(template);
      if (!mayTrace(shapes)) {
        const emitter = new BoundedEmitter();
        return checked(template, renderInto(template, { variables, limitMs, emitter }));
      }
      const emitter = new TraceEmitter(shapes.fixedTexts, links);
      return renderTraced(template, { variables, limitMs, emitter });
    },
    encode,
    stats,
  };
}

function newShapes({ source }: Template): TemplateShapes {
  return {
    fixedTexts: new FixedTexts(source.length),
    entries: new Map(),
    seen: new Set(),
    uses: 0,
    traced: 0,
    filled: 0,
    bypassed: 0,
    hasDiffered: false,
  };
}

/** False for the first mail of a template, because most templates are used once. */
function mayTrace(shapes: TemplateShapes): boolean {
  if (shapes.uses++ === 0) return false;
  if (shapes.bypassed === 0) return true;
  shapes.bypassed--;
  return false;
}

function countTrial(shapes: TemplateShapes, { trial, bypassed }: Limits): void {
  if (++shapes.traced < trial) return;
  if (shapes.filled * 4 < shapes.traced) {
    shapes.bypassed = bypassed;
    shapes.seen.clear();
  }
  shapes.traced = 0;
  shapes.filled = 0;
}

function renderTraced(
  template: Template,
  rendering: { variables: Variables; limitMs: number; emitter: TraceEmitter },
): RenderedBody {
  const rendered = renderInto(template, rendering);
  // A render with a key has no character that a mail must not contain.
  if (rendered.ok && rendered.emitter.key !== null) {
    return { ok: true, body: { template, emitter: rendered.emitter } };
  }
  return checked(template, rendered);
}

function checked(
  template: Template,
  rendered: { ok: true; emitter: BoundedEmitter } | { ok: false; reason: string },
): RenderedBody {
  if (!rendered.ok) return rendered;
  const result = checkResult(rendered.emitter.buffer);
  return result.ok ? { ok: true, body: { template, emitter: rendered.emitter } } : result;
}

function areSame(a: TextParts, b: TextParts): boolean {
  return (
    a.htmlPart.join("") === b.htmlPart.join("") && a.plainPart.join("") === b.plainPart.join("")
  );
}

/** Writes what changes a shape besides its template. */
function contextKey({ marketing, tracking, parameters = [] }: Omit<OutgoingInput, "html">): string {
  const added = parameters.length === 0 ? "" : JSON.stringify(parameters);
  const isTracked = (tracking === null ? "" : "tracked") + added;
  if (marketing === null) return isTracked;
  const { language, projectName } = marketing;
  return `${isTracked} ${language} ${projectName.length} ${projectName}`;
}

function bytesOf({ key, shape }: Entry): number {
  return 2 * key.length + (shape?.bytes ?? EMPTY_BYTES);
}
