/** The members of a layout that its page edits, and the requests that read and save them. */

import type { QueryClient } from "@tanstack/react-query";
import type { Layout } from "../../../../modules/layouts.ts";
import { pickFields } from "../../../ui/editors/merge.ts";
import { recordRequests, refreshOthers } from "../../../ui/editors/record-requests.ts";

export type LayoutSource = Pick<Layout, "name" | "body">;

export const layoutPath = (id: string): string => `/layouts/${encodeURIComponent(id)}`;

export const layoutKey = (project: string, id: string) => ["layouts", project, id];

export function layoutRequests(client: QueryClient, project: string, id: string) {
  const queryKey = layoutKey(project, id);
  return recordRequests<Layout, LayoutSource>({
    client,
    project,
    path: layoutPath(id),
    queryKey,
    read: ({ name, body }) => ({ name, body }),
    patch: pickFields,
    onSaved: () => refreshOthers(client, queryKey),
  });
}

/** The place of the content in a layout. */
const CONTENT = /\{\{-?\s{0,9}content\s{0,9}-?\}\}/;

/** The sample is one line, so that the lines of the layout keep their numbers. */
const SAMPLE =
  '<h1 style="margin: 0 0 16px; font-size: 24px">Your order 1001</h1>' +
  '<p style="margin: 0 0 16px">Thank you, {{ name ?? friend }}. This is where the content of a ' +
  "template appears.</p>" +
  '<p style="margin: 0"><a href="https://example.com">A link</a></p>';

/** The layout around a sample. */
export const withSampleContent = (body: string): string => body.replace(CONTENT, () => SAMPLE);
