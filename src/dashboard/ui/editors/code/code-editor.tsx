/**
 * An editor for Liquid in HTML: it completes variables, filters and tags, and shows the faults that
 * the server found at their lines. Tab indents; Esc and then Tab leaves it. It is a chunk of its own
 * (lazy-code-editor.tsx).
 */

import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { html } from "@codemirror/lang-html";
import { closePercentBrace, liquidLanguage } from "@codemirror/lang-liquid";
import { bracketMatching, LanguageSupport } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import {
  ChangeSet,
  Compartment,
  EditorState,
  type Extension,
  Prec,
  type Text,
} from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { useEffect, useRef } from "react";
import { replacedRange } from "./replaced-range.ts";
import { codeStyle } from "./code-style.ts";
import { completeTags } from "./complete-tags.ts";
import { completeLiquid } from "./completions.ts";
import type { Word } from "./liquid-words.ts";

/** A fault of the source; line and column count from 1. */
export type CodeFault = { line: number; column: number; message: string };

export type CodeEditorProps = {
  value: string;
  onChange: (value: string) => void;
  /** The accessible name. */
  label: string;
  /** The id of the element that says how to leave the editor by keyboard. */
  describedBy?: string;
  faults?: readonly CodeFault[];
  /** The variables of the project, which are completed. */
  variables?: readonly Word[];
  /** Is called with a function that moves the cursor to a place. */
  onReady?: (control: CodeControl) => void;
};

export type CodeControl = {
  goTo: (line: number, column: number) => void;
  /** Inserts a text at the cursor. */
  insert: (text: string) => void;
};

const NO_FAULTS: readonly CodeFault[] = [];
const NO_WORDS: readonly Word[] = [];

/**
 * The page gets a text so long after the last change, because it draws more than the editor does.
 */
const SETTLED_MS = 250;

export function CodeEditor(props: CodeEditorProps) {
  const { value, label, describedBy, faults = NO_FAULTS, variables = NO_WORDS } = props;
  const parent = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const code = useRef<Code>(null);

  useEffect(() => {
    if (parent.current === null) return undefined;
    const created = createCode({
      parent: parent.current,
      text: latest.current.value,
      attributes: {
        "aria-label": label,
        // An editable element has the focus without it, which axe does not know.
        tabindex: "0",
        ...(describedBy === undefined ? {} : { "aria-describedby": describedBy }),
      },
      onChange: (text) => latest.current.onChange(text),
    });
    code.current = created;
    latest.current.onReady?.(controlOf(created.view));
    return () => {
      code.current = null;
      created.close();
    };
  }, [label, describedBy]);

  // The text is that of another person, or of a restored version.
  useEffect(() => code.current?.show(value), [value]);

  useEffect(() => code.current?.complete(variables), [variables]);

  useEffect(() => {
    const view = code.current?.view;
    if (view === undefined) return;
    const found = faults.map((fault) => diagnosticOf(view.state.doc, fault));
    view.dispatch(setDiagnostics(view.state, found));
  }, [faults]);

  return <div className="code-editor" ref={parent} />;
}

type Code = ReturnType<typeof createCode>;

/**
 * The editor itself. It reports its text a moment after a change, and at the latest when it is
 * left.
 */
function createCode(options: {
  parent: HTMLElement;
  text: string;
  attributes: Record<string, string>;
  onChange: (text: string) => void;
}) {
  const { parent, attributes, onChange } = options;
  const completions = new Compartment();
  /** The text that the page knows, and the changes since. */
  let known = options.text;
  let changes: ChangeSet | null = null;
  let timer: number | undefined;

  function report(): void {
    window.clearTimeout(timer);
    if (changes === null) return;
    changes = null;
    known = view.state.doc.toString();
    onChange(known);
  }

  function onHide(): void {
    if (document.visibilityState === "hidden") report();
  }

  const view = new EditorView({
    parent,
    doc: known,
    extensions: [
      EXTENSIONS,
      completions.of(completionsOf(NO_WORDS)),
      EditorView.contentAttributes.of(attributes),
      EditorView.domEventHandlers({ blur: report }),
      Prec.highest(
        keymap.of([
          {
            key: "Mod-s",
            run() {
              // The page, which saves at this key, needs the newest text.
              report();
              return false;
            },
          },
        ]),
      ),
      EditorView.updateListener.of((update) => {
        if (!update.docChanged) return;
        changes = changes === null ? update.changes : changes.compose(update.changes);
        window.clearTimeout(timer);
        timer = window.setTimeout(report, SETTLED_MS);
      }),
    ],
  });
  // The capture phase comes before the listeners of the page, which save.
  window.addEventListener("pagehide", report, { capture: true });
  document.addEventListener("visibilitychange", onHide, { capture: true });

  return {
    view,
    /**
     * Shows a text of the page. Characters that were typed since the page got the last one stay in
     * it.
     */
    show(text: string): void {
      if (text === known) return;
      const foreign = ChangeSet.of(replacedRange(known, text), known.length);
      known = text;
      const typed = changes;
      view.dispatch({ changes: typed === null ? foreign : foreign.map(typed) });
      changes = typed === null ? null : typed.map(foreign, true);
    },
    complete(variables: readonly Word[]): void {
      view.dispatch({ effects: completions.reconfigure(completionsOf(variables)) });
    },
    close(): void {
      report();
      window.removeEventListener("pagehide", report, { capture: true });
      document.removeEventListener("visibilitychange", onHide, { capture: true });
      view.destroy();
    },
  };
}

const completionsOf = (variables: readonly Word[]): Extension =>
  autocompletion({
    icons: false,
    interactionDelay: 0,
    override: [completeLiquid(variables), completeTags],
  });

/**
 * Text over a selection is replaced here. The browser would give it the style of what it replaces, as
 * an attribute, which the Content-Security-Policy refuses with a message in the console.
 */
function replaceSelected(event: InputEvent, view: EditorView): boolean {
  const { data, inputType } = event;
  const { from, to, empty } = view.state.selection.main;
  const isPlain = inputType === "insertText" && data !== null && !event.isComposing;
  if (!isPlain || empty || view.state.readOnly) return false;
  const insert = () =>
    view.state.update(view.state.replaceSelection(data), {
      userEvent: "input.type",
      scrollIntoView: true,
    });
  const isHandled = view.state
    .facet(EditorView.inputHandler)
    .some((handle) => handle(view, from, to, data, insert));
  if (!isHandled) view.dispatch(insert());
  return true;
}

const EXTENSIONS: Extension = [
  lineNumbers(),
  lintGutter(),
  highlightActiveLineGutter(),
  highlightSpecialChars(),
  highlightActiveLine(),
  highlightSelectionMatches(),
  history(),
  drawSelection(),
  bracketMatching(),
  closeBrackets(),
  closePercentBrace,
  search(),
  EditorView.domEventHandlers({ beforeinput: replaceSelected }),
  EditorView.lineWrapping,
  EditorState.tabSize.of(2),
  // A closing tag that is typed would stand beside the one that was written for it.
  new LanguageSupport(liquidLanguage, [html({ autoCloseTags: false }).support]),
  codeStyle,
  keymap.of([
    ...closeBracketsKeymap,
    ...completionKeymap,
    ...searchKeymap,
    ...historyKeymap,
    indentWithTab,
    ...defaultKeymap.filter(({ key }) => key !== "Mod-Enter"),
  ]),
];

function controlOf(view: EditorView): CodeControl {
  return {
    goTo(line, column) {
      const at = offsetOf(view.state.doc, { line, column });
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, CENTRE) });
      view.focus();
    },
    insert(text) {
      view.dispatch(view.state.replaceSelection(text));
      view.focus();
    },
  };
}

const CENTRE = { y: "center" } as const;

/** Converts a place to an offset. The place may be of a text that was longer. */
function offsetOf(doc: Text, { line, column }: { line: number; column: number }): number {
  const { from, to } = doc.line(Math.min(Math.max(1, line), doc.lines));
  return Math.min(to, from + Math.max(0, column - 1));
}

/** The fault marks its construct, or at least one character. */
function diagnosticOf(doc: Text, fault: CodeFault): Diagnostic {
  const from = offsetOf(doc, fault);
  const { to: lineEnd, text, from: lineStart } = doc.lineAt(from);
  const rest = text.slice(from - lineStart);
  const [construct = ""] = /^\{[{%].*?[%}]\}+/.exec(rest) ?? [];
  const to = Math.min(lineEnd, from + Math.max(1, construct.length));
  return {
    from: from === to ? Math.max(lineStart, from - 1) : from,
    to,
    severity: "error",
    message: fault.message,
  };
}
