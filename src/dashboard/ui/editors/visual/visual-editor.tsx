/**
 * The visual editor of a letter. It is loaded where it is used, with `React.lazy`: it is the largest
 * script of the dashboard.
 *
 * A design is read (design.ts) and opened in Tiptap with the blocks of extensions.ts; after a change
 * the design and the body that write-html.ts makes of it are given to the page. Another design is
 * opened by another `key`.
 */

import "./styles.ts";
import { Button } from "@mantine/core";
import { type Editor, getSchema } from "@tiptap/core";
import { NodeSelection } from "@tiptap/pm/state";
import { EditorContent } from "@tiptap/react";
import { FileWarning } from "lucide-react";
import { type CSSProperties, type KeyboardEvent, useMemo, useRef, useState } from "react";
import { Note } from "../../note.tsx";
import { BlockSettings } from "./block-settings.tsx";
import { type Design, type ReadDesign, readDesign, type StoredDesign } from "./design.ts";
import { extensions } from "./extensions.ts";
import { derivePalette, fontStack, type MailTheme, readTheme } from "./mail-theme.ts";
import { PickerMenu, usePicker } from "./picker.tsx";
import { ThemePanel } from "./theme-panel.tsx";
import { Toolbar } from "./toolbar.tsx";
import type { UploadImage } from "./upload-plugin.ts";
import { useLetter } from "./use-letter.ts";
import type { ContactField } from "./variables.ts";

export type VisualEditorProps = {
  /** The stored design; null for a letter that was written as HTML, or that is new. */
  design: object | null;
  /** The HTML that a letter without a design begins with. */
  body: string;
  /** Called soon after a change, at the latest when the editor loses the focus or is closed. */
  onChange: (change: { design: StoredDesign; body: string }) => void;
  contactFields: readonly ContactField[];
  uploadImage: UploadImage;
  /** The theme of the project, for designs that have none. */
  theme?: Partial<MailTheme> | null | undefined;
  /** The accessible name of the text. */
  label: string;
  isReadOnly?: boolean;
  /** Whether the body is put into a layout, which has the document and the background. */
  hasLayout?: boolean;
};

export default function VisualEditor(props: VisualEditorProps) {
  const { design, theme } = props;
  const base = readTheme(theme);
  // Only the first design is opened, so that an autosaved one does not replace what is typed.
  const [opened] = useState(() => (design === null ? null : openDesign(design, base)));
  if (opened?.ok === false) return <Unreadable problem={opened.problem} />;
  return <Letter {...props} base={base} opened={opened?.design ?? null} />;
}

/** Reads a design. It is refused if the editor lacks a block of it, or if its blocks do not fit. */
function openDesign(design: object, base: MailTheme): ReadDesign {
  const read = readDesign(design, base);
  if (!read.ok) return read;
  try {
    getSchema(extensions).nodeFromJSON(read.design.document).check();
    return read;
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 200) : "";
    return { ok: false, problem: `Its blocks do not fit into each other (${reason}).` };
  }
}

function Unreadable({ problem }: { problem: string }) {
  return (
    <div role="alert">
      <Note icon={<FileWarning size={22} aria-hidden />} title="This design cannot be opened here">
        {problem} It stays as it is, and mails are sent as before. Open the letter with the program
        that made it, or go on in the code mode.
      </Note>
    </div>
  );
}

type LetterProps = VisualEditorProps & { base: MailTheme; opened: Design | null };

function Letter(props: LetterProps) {
  const { base, contactFields, label } = props;
  const root = useRef<HTMLDivElement>(null);
  const [isThemeOpen, setThemeOpen] = useState(false);
  const picker = usePicker(contactFields);
  const letter = useLetter({ ...props, picker });
  const { editor, theme } = letter;
  const style = useMemo(() => writeVariables(theme), [theme]);
  if (editor === null) return <div className="visual-editor" />;
  const focusPanel = () => {
    const panel = root.current?.querySelector(".visual-panel");
    // The buttons of the head come before the first field.
    const fields = "input:not([type=file], [type=color], :disabled), textarea";
    const target = panel?.querySelector<HTMLElement>(fields) ?? panel?.querySelector("button");
    target?.focus();
  };
  return (
    <div
      ref={root}
      className="visual-editor"
      data-has-panel={letter.isEditable || undefined}
      onKeyDownCapture={(event) => {
        if (event.key === "F10" && event.altKey) {
          event.preventDefault();
          root.current?.querySelector<HTMLElement>('[role="toolbar"] [tabindex="0"]')?.focus();
        } else if (event.key === "Enter" && (event.altKey || isVariableSelected(editor, event))) {
          event.preventDefault();
          event.stopPropagation();
          focusPanel();
        } else if (event.key.toLowerCase() === "s" && (event.metaKey || event.ctrlKey))
          letter.flush();
      }}
    >
      {letter.isEditable && (
        <Toolbar
          editor={editor}
          onImage={letter.chooseImage}
          onLink={letter.startLink}
          isThemeOpen={isThemeOpen}
          onTheme={() => setThemeOpen(!isThemeOpen)}
          onSettings={focusPanel}
        />
      )}
      {letter.error !== null && (
        <div className="visual-error" role="alert">
          <span>{letter.error}</span>
          <Button size="compact-xs" variant="subtle" onClick={letter.clearError}>
            Close
          </Button>
        </div>
      )}
      <div className="visual-body">
        <div className="visual-canvas" style={style}>
          <EditorContent editor={editor} className="visual-letter" />
        </div>
        {letter.isEditable && (
          <aside
            className="visual-panel"
            aria-label={isThemeOpen ? "Theme" : "Settings"}
            onKeyDown={(event) => {
              if (event.key !== "Escape" || event.defaultPrevented) return;
              event.stopPropagation();
              editor.view.focus();
            }}
          >
            {isThemeOpen ? (
              <ThemePanel
                theme={theme}
                base={base}
                onChange={letter.setTheme}
                onClose={() => setThemeOpen(false)}
              />
            ) : (
              <BlockSettings
                editor={editor}
                fields={contactFields}
                link={letter.link}
                uploadImage={props.uploadImage}
              />
            )}
          </aside>
        )}
      </div>
      <PickerMenu picker={picker} editor={editor} onImage={letter.chooseImage} label={label} />
      <input
        ref={letter.fileInput}
        type="file"
        accept="image/png,image/jpeg,image/gif,image/webp"
        multiple
        hidden
        aria-label="Image files"
        onChange={letter.onFiles}
      />
    </div>
  );
}

/** Enter would remove a selected variable and break the line. */
function isVariableSelected(editor: Editor, event: KeyboardEvent): boolean {
  const { selection } = editor.state;
  return (
    event.target === editor.view.dom &&
    selection instanceof NodeSelection &&
    selection.node.isInline
  );
}

/** The theme as variables of CSS, which visual.css draws the letter with. */
function writeVariables(theme: MailTheme): CSSProperties {
  const { muted, line, box, onAccent, link } = derivePalette(theme);
  const values: Record<`--mail-${string}`, string> = {
    "--mail-page": theme.page,
    "--mail-surface": theme.surface,
    "--mail-text": theme.text,
    "--mail-accent": theme.accent,
    "--mail-on-accent": onAccent,
    "--mail-link": link,
    "--mail-muted": muted,
    "--mail-line": line,
    "--mail-box": box,
    "--mail-font": fontStack(theme.font),
    "--mail-size": `${theme.fontSizePx}px`,
    "--mail-width": `${theme.widthPx}px`,
    "--mail-radius": `${theme.radiusPx}px`,
  };
  return values;
}
