/** What is edited of a layout, and how it is read and saved. */

import type { QueryClient } from "@tanstack/react-query";
import type { Layout } from "../../../../modules/layouts.ts";
import { api } from "../../../api.ts";
import type { SaveOptions, Stored } from "../../../ui/editors/autosave.ts";
import { pickFields } from "../../../ui/editors/merge.ts";

export type LayoutSource = Pick<Layout, "name" | "body">;

export const layoutPath = (id: string): string => `/layouts/${encodeURIComponent(id)}`;

export const layoutKey = (project: string, id: string) => ["layouts", project, id];

export function layoutRequests(client: QueryClient, project: string, id: string) {
  const key = layoutKey(project, id);
  return {
    async save(
      value: LayoutSource,
      revision: number,
      { changed, isLeaving }: SaveOptions,
    ): Promise<number> {
      const saved = await api.patch<Layout>(layoutPath(id), pickFields(value, changed), {
        headers: { "If-Match": `"${revision}"` },
        project,
        keepalive: isLeaving,
      });
      client.setQueryData(key, saved);
      void client.invalidateQueries({
        queryKey: ["layouts", project],
        predicate: ({ queryKey }) => queryKey[2] !== id || queryKey.length > key.length,
      });
      return saved.revision;
    },
    async load(): Promise<Stored<LayoutSource>> {
      const layout = await api.get<Layout>(layoutPath(id), { project });
      client.setQueryData(key, layout);
      const { name, body, revision } = layout;
      return { value: { name, body }, revision };
    },
  };
}

/** The place of the content in a layout. */
const CONTENT = /\{\{-?\s{0,9}content\s{0,9}-?\}\}/;

/** One line, so that the lines of the layout keep their numbers. */
const SAMPLE =
  '<h1 style="margin: 0 0 16px; font-size: 24px">Your order 1001</h1>' +
  '<p style="margin: 0 0 16px">Thank you, {{ name ?? friend }}. This is where the content of a ' +
  "template appears.</p>" +
  '<p style="margin: 0"><a href="https://example.com">A link</a></p>';

/** The layout around a sample. */
export const withSampleContent = (body: string): string => body.replace(CONTENT, () => SAMPLE);
