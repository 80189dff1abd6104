/** The settings of the blocks around the cursor: the innermost first, each as a small form. */

import type { Editor } from "@tiptap/core";
import { useEditorState } from "@tiptap/react";
import { ArrowDown, ArrowUp, Trash2 } from "lucide-react";
import { type ReactNode, useEffect } from "react";
import { FORMS } from "./block-forms.tsx";
import { type Around, deleteBlock, listAround, moveBlock } from "./commands.ts";
import { IconButton } from "./icon-button.tsx";
import { LinkForm, readLink } from "./link-form.tsx";
import type { UploadImage } from "./upload-plugin.ts";
import type { ContactField } from "./variables.ts";

const MOST_SHOWN = 3;
const MARGIN_PX = 24;

/**
 * In a narrow editor the settings cover the end of the letter, so their block is scrolled above
 * them.
 */
function keepInView(editor: Editor): void {
  if (editor.isDestroyed || !editor.isFocused) return;
  const root = editor.view.dom.closest(".visual-editor");
  const panel = root?.querySelector(".visual-panel");
  if (panel === null || panel === undefined || getComputedStyle(panel).bottom !== "0px") return;
  const { bottom } = editor.view.coordsAtPos(editor.state.selection.from);
  const covered = bottom + MARGIN_PX - panel.getBoundingClientRect().top;
  if (covered > 0) findScroller(root).scrollBy(0, covered);
}

function findScroller(start: Element | null | undefined): Element {
  for (let at = start ?? null; at !== null; at = at.parentElement) {
    const isScrolled = at.scrollHeight > at.clientHeight;
    if (isScrolled && /auto|scroll/.test(getComputedStyle(at).overflowY)) return at;
  }
  return document.scrollingElement ?? document.documentElement;
}

export function BlockSettings(props: {
  editor: Editor;
  fields: readonly ContactField[];
  link: { isStarted: boolean; end: () => void };
  uploadImage: UploadImage;
}) {
  const { editor, fields, link, uploadImage } = props;
  const blocks = useEditorState({
    editor,
    selector: ({ editor: now }) => listAround(now),
    equalityFn: (a, b) => JSON.stringify(a) === JSON.stringify(b),
  });
  const target = useEditorState({
    editor,
    selector: ({ editor: now }) => readLink(now),
    equalityFn: (a, b) => a?.from === b?.from && a?.to === b?.to && a?.href === b?.href,
  });
  const isLinkShown = link.isStarted || target !== null;
  const shown = `${isLinkShown} ${blocks.map(({ type, pos }) => type + pos).join(" ")}`;
  useEffect(() => keepInView(editor), [editor, shown]);
  if (!isLinkShown && blocks.length === 0) {
    return (
      <p className="visual-panel-empty">
        Type <code>/</code> for blocks and <code>{"{{"}</code> for variables. The settings of a
        block are shown here.
      </p>
    );
  }
  return (
    <>
      {isLinkShown && (
        <LinkForm
          key={`${target?.from ?? "new"}-${link.isStarted}`}
          editor={editor}
          fields={fields}
          target={target}
          isStarted={link.isStarted}
          onEnd={link.end}
        />
      )}
      {blocks.slice(0, MOST_SHOWN).map((block) => {
        const Form = FORMS[block.type];
        if (Form === undefined) return null;
        return (
          <Section key={`${block.type}-${block.pos}`} editor={editor} block={block}>
            <Form editor={editor} block={block} fields={fields} uploadImage={uploadImage} />
          </Section>
        );
      })}
    </>
  );
}

const TITLES: Readonly<Record<string, string>> = {
  button: "Button",
  image: "Image",
  section: "Box",
  spacer: "Space",
  htmlBlock: "HTML",
  condition: "Condition",
  variable: "Variable",
  social: "Social links",
  twoColumns: "Two columns",
  threeColumns: "Three columns",
  fourColumns: "Four columns",
};

function Section(props: { editor: Editor; block: Around; children: ReactNode }) {
  const { editor, block, children } = props;
  const title = TITLES[block.type] ?? "Block";
  const isInline = block.type === "variable";
  return (
    <section className="visual-settings" aria-label={title}>
      <header>
        <h3>{title}</h3>
        {!isInline && (
          <>
            <IconButton label="Move up" onClick={() => moveBlock(editor, block.pos, -1)}>
              <ArrowUp size={15} aria-hidden />
            </IconButton>
            <IconButton label="Move down" onClick={() => moveBlock(editor, block.pos, 1)}>
              <ArrowDown size={15} aria-hidden />
            </IconButton>
          </>
        )}
        <IconButton
          label={`Remove ${title.toLowerCase()}`}
          onClick={() => deleteBlock(editor, block.pos)}
        >
          <Trash2 size={15} aria-hidden />
        </IconButton>
      </header>
      {children}
    </section>
  );
}
