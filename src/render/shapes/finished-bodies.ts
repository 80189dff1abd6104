/**
 * Recognizes finished bodies, which have no outputs and tags, when several mails share one. The
 * template cache does not store them, because applications send a different one in each request.
 *
 * A new body is compared with the last ones, which takes less time than a look-up by its text: bodies
 * of different lengths differ at once. One that is used again is kept apart from those used once.
 */

import type { Template } from "../template/template.ts";

const MAX_ONCE = 8;
const MAX_REPEATED = 16;
/** Longest body that is kept, in UTF-16 units. */
const MAX_LENGTH = 96 * 1024;

/** Returns the function that returns the first template with the same body as this one. */
export function createFinishedBodies(): (template: Template) => Template {
  /** The oldest first. */
  const once: Template[] = [];
  /** The least recently used first. */
  const repeated: Template[] = [];

  return (template) => {
    if (template.nodes !== null || template.source.length > MAX_LENGTH) return template;
    const known = take(repeated, template) ?? take(once, template);
    const [list, max] = known === null ? [once, MAX_ONCE] : [repeated, MAX_REPEATED];
    const first = known ?? template;
    list.push(first);
    if (list.length > max) list.shift();
    return first;
  };
}

/** Removes and returns the template with the same source; null if there is none. */
function take(list: Template[], { source, kind }: Template): Template | null {
  // The most recently used is the most likely one.
  for (let at = list.length - 1; at >= 0; at--) {
    const found = list[at];
    if (found?.source !== source || found.kind !== kind) continue;
    list.splice(at, 1);
    return found;
  }
  return null;
}
