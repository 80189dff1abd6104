/** The state of a letter that is edited: the document in Tiptap, its theme, and what is saved. */

import type { Editor } from "@tiptap/core";
import { Fragment, type Node as ProseNode, type Schema, Slice } from "@tiptap/pm/model";
import { NodeSelection, TextSelection } from "@tiptap/pm/state";
import type { EditorView } from "@tiptap/pm/view";
import { useEditor, useEditorState } from "@tiptap/react";
import { type ChangeEvent, useEffect, useRef, useState } from "react";
import { errorText } from "../../error-text.ts";
import { cleanHtml } from "./clean-html.ts";
import { type Design, readDesign, type StoredDesign, storeDesign } from "./design.ts";
import { extensions } from "./extensions.ts";
import { escapeText, repairLiquid, splitLiquid } from "./liquid-text.ts";
import { type MailTheme, readTheme } from "./mail-theme.ts";
import type { PickerState } from "./picker.tsx";
import { Picker } from "./picker-plugin.ts";
import { listImages, type UploadImage, uploadImages, Uploads } from "./upload-plugin.ts";
import { readVariable } from "./variables.ts";
import { writeHtml } from "./write-html.ts";

/** A change is given to the page after this pause, so that a keystroke costs nothing but itself. */
const PAUSE_MS = 250;
/** The width at both sides of the text, in pixels. */
const PADDING_PX = 64;

type Options = {
  opened: Design | null;
  base: MailTheme;
  body: string;
  label: string;
  isReadOnly?: boolean;
  hasLayout?: boolean;
  onChange: (change: { design: StoredDesign; body: string }) => void;
  uploadImage: UploadImage;
  picker: PickerState;
};

export function useLetter(options: Options) {
  const { opened, base, body, label, isReadOnly = false, picker } = options;
  const [error, setError] = useState<string | null>(null);
  const [isLinking, setLinking] = useState(false);
  const { hasLayout = false, onChange } = options;
  const isInMenu = picker.match !== null;
  const saving = useSaving({ base, hasLayout, isInMenu, onChange, onError: setError });
  const uploads = useUploads(options.uploadImage, setError);
  // Options that are the same each time are not set again.
  const [fixed] = useState(() => ({
    extensions: [
      ...extensions,
      Uploads,
      Picker.configure({ onMatch: picker.setMatch, onKey: picker.onKey }),
    ],
    content: startContent(opened, base, body),
    editorProps: createProps(label, uploads.add, () => setLinking(true)),
  }));
  const editor = useEditor({
    ...fixed,
    editable: !isReadOnly,
    shouldRerenderOnTransaction: false,
    onCreate: ({ editor: created }) => saving.start(created),
    onUpdate: ({ editor: changed }) => saving.plan(changed),
    onBlur: () => saving.flush(),
  });
  useLayoutChange(editor, hasLayout, saving);
  const theme = useEditorState({
    editor,
    selector: ({ editor: current }) => readLetterTheme(current, base),
    equalityFn: (a, b) => JSON.stringify(a) === JSON.stringify(b),
  });
  uploads.maxWidthPx.current = (theme ?? base).widthPx - PADDING_PX;

  return {
    editor,
    theme: theme ?? base,
    isEditable: !isReadOnly,
    error,
    clearError: () => setError(null),
    flush: saving.flush,
    setTheme: (next: MailTheme) =>
      editor?.view.dispatch(editor.state.tr.setDocAttribute("theme", next)),
    startLink: () => setLinking(true),
    link: { isStarted: isLinking, end: () => setLinking(false) },
    fileInput: uploads.input,
    chooseImage: () => uploads.input.current?.click(),
    onFiles: (event: ChangeEvent<HTMLInputElement>) => {
      const files = [...(event.target.files ?? [])];
      event.target.value = "";
      if (editor !== null) uploads.add(editor.view, files, null);
    },
  };
}

/** With another layout the body is another one, although the letter is the same. */
function useLayoutChange(
  editor: Editor | null,
  hasLayout: boolean,
  saving: { plan: (editor: Editor) => void },
): void {
  const before = useRef(hasLayout);
  useEffect(() => {
    if (hasLayout === before.current || editor === null) return;
    before.current = hasLayout;
    saving.plan(editor);
  }, [editor, hasLayout, saving]);
}

/** Gives each change to the page, after a pause and at the latest when the editor is left. */
function useSaving(options: {
  base: MailTheme;
  hasLayout: boolean;
  /** Whether a menu is open for text that is not finished, such as `{{ na`. */
  isInMenu: boolean;
  onChange: Options["onChange"];
  onError: (problem: string) => void;
}) {
  const latest = useRef(options);
  latest.current = options;
  const [saving] = useState(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    let changed: Editor | null = null;
    /** The design that the page has, as JSON. */
    let known = "";
    const flush = (): void => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      if (changed === null || changed.isDestroyed) return;
      const design = readStored(changed, latest.current);
      changed = null;
      const text = JSON.stringify(design);
      if (text === known) return;
      const read = readDesign(design);
      if (!read.ok) {
        latest.current.onError(`The letter is not saved. ${read.problem}`);
        return;
      }
      known = text;
      latest.current.onChange({ design, body: writeHtml(read.design) });
    };
    const plan = (editor: Editor): void => {
      changed = editor;
      if (timer !== null) clearTimeout(timer);
      timer = setTimeout(() => (latest.current.isInMenu ? plan(editor) : flush()), PAUSE_MS);
    };
    return {
      flush,
      start(editor: Editor): void {
        known = JSON.stringify(readStored(editor, latest.current));
      },
      plan,
    };
  });
  useEffect(() => {
    addEventListener("pagehide", saving.flush);
    return () => {
      removeEventListener("pagehide", saving.flush);
      saving.flush();
    };
  }, [saving]);
  return saving;
}

function useUploads(uploadImage: UploadImage, onError: (problem: string | null) => void) {
  const latest = useRef({ uploadImage, onError });
  latest.current = { uploadImage, onError };
  const input = useRef<HTMLInputElement>(null);
  /** The width for an image in the letter, in pixels. */
  const maxWidthPx = useRef(0);
  const [add] = useState(
    () =>
      (view: EditorView, files: readonly File[], pos: number | null): boolean => {
        if (files.length === 0 || !view.editable) return false;
        latest.current.onError(null);
        uploadImages(view, files, {
          pos: pos ?? view.state.selection.to,
          maxWidthPx: maxWidthPx.current,
          upload: (file) => latest.current.uploadImage(file),
        }).catch((error: unknown) => latest.current.onError(errorText(error)));
        return true;
      },
  );
  return { add, input, maxWidthPx };
}

/** Returns whether there were images among the files. */
type AddFiles = (view: EditorView, files: readonly File[], pos: number | null) => boolean;

/** Handles text and files that are pasted, dropped or typed. */
function createProps(label: string, addFiles: AddFiles, startLink: () => void) {
  return {
    attributes: {
      role: "textbox",
      "aria-multiline": "true",
      "aria-label": label,
      spellcheck: "true",
    },
    transformPastedHTML: cleanHtml,
    transformPasted: (slice: Slice, view: EditorView) =>
      new Slice(convertVariables(slice.content, view.state.schema), slice.openStart, slice.openEnd),
    handlePaste: (view: EditorView, event: ClipboardEvent) =>
      addFiles(view, listImages(event.clipboardData), null),
    handleDrop: (view: EditorView, event: DragEvent, _: Slice, isMoved: boolean) => {
      if (isMoved) return false;
      const at = view.posAtCoords({ left: event.clientX, top: event.clientY });
      return addFiles(view, listImages(event.dataTransfer), at?.pos ?? null);
    },
    handleTextInput: typeBelowBlock,
    handleKeyDown: (_: EditorView, event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey)) return false;
      event.preventDefault();
      // The palette has the same keys elsewhere.
      event.stopPropagation();
      startLink();
      return true;
    },
  };
}

/**
 * Text that is typed while a block is selected does not replace the block: it begins a line below.
 */
function typeBelowBlock(view: EditorView, _from: number, _to: number, text: string): boolean {
  const { state } = view;
  const { selection } = state;
  const paragraph = state.schema.nodes["paragraph"];
  if (!(selection instanceof NodeSelection) || !selection.node.isBlock || paragraph === undefined) {
    return false;
  }
  const at = selection.to;
  const transaction = state.tr.insert(at, paragraph.create(null, state.schema.text(text)));
  const end = TextSelection.create(transaction.doc, at + 1 + text.length);
  view.dispatch(transaction.setSelection(end).scrollIntoView());
  return true;
}

function readLetterTheme(editor: Editor | null, base: MailTheme): MailTheme {
  const stored: unknown = editor?.state.doc.attrs["theme"];
  return readTheme(stored, base);
}

const readStored = (
  editor: Editor,
  { base, hasLayout }: { base: MailTheme; hasLayout: boolean },
): StoredDesign => storeDesign(editor.getJSON(), readLetterTheme(editor, base), hasLayout);

/** The document to open: that of the design, or the HTML without all that the editor has not. */
function startContent(opened: Design | null, base: MailTheme, body: string) {
  if (opened === null) return markVariables(cleanHtml(body));
  return { ...opened.document, attrs: { theme: opened.theme ?? base } };
}

/** Variables in the text of cleaned HTML become chips. */
function markVariables(html: string): string {
  if (!html.includes("{{")) return html;
  return html.replace(/<[^<>]*>|[^<]+/g, (part) => (part.startsWith("<") ? part : markText(part)));
}

function markText(text: string): string {
  const mark = (code: string): string => {
    const variable = readVariable(repairLiquid(code));
    if (variable === null) return code;
    const [name, fallback] = [variable.name, variable.fallback].map((each) => escapeText(each));
    return `<span data-type="variable" data-name="${name}" data-fallback="${fallback}"></span>`;
  };
  return splitLiquid(text)
    .map((piece) => (piece.isLiquid ? mark(piece.text) : piece.text))
    .join("");
}

/** Variables that stand in a text become chips. */
function convertVariables(content: Fragment, schema: Schema): Fragment {
  const nodes: ProseNode[] = [];
  content.forEach((node) => {
    if (!node.isText) nodes.push(node.copy(convertVariables(node.content, schema)));
    else nodes.push(...splitVariables(node, schema));
  });
  return Fragment.fromArray(nodes);
}

function splitVariables(node: ProseNode, schema: Schema): ProseNode[] {
  const text = node.text ?? "";
  if (!text.includes("{{")) return [node];
  return splitLiquid(text).map((piece) => {
    const variable = piece.isLiquid ? readVariable(piece.text) : null;
    return variable === null
      ? schema.text(piece.text, node.marks)
      : schema.node("variable", variable, undefined, node.marks);
  });
}
