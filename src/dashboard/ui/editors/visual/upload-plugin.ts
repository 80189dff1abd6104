/** Shows images that are being uploaded as placeholders in the letter, which move with the text. */

import { Extension } from "@tiptap/core";
import { NodeSelection, Plugin, PluginKey } from "@tiptap/pm/state";
import { Decoration, DecorationSet, type EditorView } from "@tiptap/pm/view";
import { cleanHtml } from "./clean-html.ts";

export type UploadImage = (file: File) => Promise<{ url: string; width: number; height: number }>;

type Change = { id: object; pos: number | null };

const key = new PluginKey<DecorationSet>("uploads");

export const Uploads = Extension.create({
  name: "uploads",
  addProseMirrorPlugins: () => [
    new Plugin<DecorationSet>({
      key,
      state: {
        init: () => DecorationSet.empty,
        apply(transaction, before) {
          const set = before.map(transaction.mapping, transaction.doc);
          const change = readChange(transaction.getMeta(key));
          if (change === null) return set;
          const { id, pos } = change;
          if (pos === null) return set.remove(findPlaceholder(set, id));
          return set.add(transaction.doc, [Decoration.widget(pos, drawPlaceholder, { id })]);
        },
      },
      props: { decorations: (state) => key.getState(state) },
    }),
  ],
});

function readChange(meta: unknown): Change | null {
  if (typeof meta !== "object" || meta === null || !("id" in meta) || !("pos" in meta)) return null;
  const { id, pos } = meta;
  if (typeof id !== "object" || id === null) return null;
  return { id, pos: typeof pos === "number" ? pos : null };
}

const findPlaceholder = (set: DecorationSet, id: object) =>
  set.find(undefined, undefined, (spec) => spec["id"] === id);

function drawPlaceholder(): HTMLElement {
  const element = document.createElement("div");
  element.className = "visual-uploading";
  element.textContent = "Uploading the image…";
  return element;
}

/** Uploads the files one after the other, and puts each where its placeholder is then. */
export async function uploadImages(
  view: EditorView,
  files: readonly File[],
  { pos, maxWidthPx, upload }: { pos: number; maxWidthPx: number; upload: UploadImage },
): Promise<void> {
  const id = {};
  view.dispatch(view.state.tr.setMeta(key, { id, pos }).setMeta("addToHistory", false));
  try {
    for (const file of files) {
      const { url, width, height } = await upload(file);
      if (view.isDestroyed) return;
      const shown = Math.min(width, maxWidthPx);
      insertImage(view, id, {
        src: url,
        width: shown,
        height: Math.round((height * shown) / Math.max(1, width)),
      });
    }
  } finally {
    if (!view.isDestroyed) {
      view.dispatch(view.state.tr.setMeta(key, { id, pos: null }).setMeta("addToHistory", false));
    }
  }
}

function insertImage(view: EditorView, id: object, attributes: object): void {
  const { state } = view;
  const [placeholder] = findPlaceholder(key.getState(state) ?? DecorationSet.empty, id);
  const type = state.schema.nodes["image"];
  if (type === undefined) return;
  const at = placeholder?.from ?? state.selection.to;
  const transaction = state.tr;
  const $at = transaction.doc.resolve(at);
  // The image comes behind the line of the placeholder, or replaces that line if it is empty.
  const isEmptyLine = $at.parent.isTextblock && $at.parent.content.size === 0;
  const from = $at.parent.isTextblock ? (isEmptyLine ? $at.before() : $at.after()) : at;
  const to = isEmptyLine ? $at.after() : from;
  transaction.replaceWith(from, to, type.create(attributes));
  transaction.setSelection(NodeSelection.create(transaction.doc, from)).scrollIntoView();
  view.dispatch(transaction);
}

/**
 * Returns the images among dropped or pasted files. Office programs add a picture of the copied text,
 * which is not wanted.
 */
export function listImages(data: DataTransfer | null): File[] {
  const html = cleanHtml(data?.getData("text/html") ?? "");
  const hasText = html.replace(/<[^<>]*>/g, "").trim() !== "";
  return hasText ? [] : [...(data?.files ?? [])].filter(({ type }) => type.startsWith("image/"));
}
