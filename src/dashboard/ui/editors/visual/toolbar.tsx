/**
 * The toolbar of the editor: one stop for the Tab key, and arrows within it. On phones the rarer
 * buttons are in a menu.
 */

import { ActionIcon, Button, Menu, Tooltip } from "@mantine/core";
import type { Editor } from "@tiptap/core";
import { useEditorState } from "@tiptap/react";
import {
  AlignCenter,
  AlignLeft,
  AlignRight,
  Baseline,
  Bold,
  Braces,
  ChevronDown,
  Code,
  Ellipsis,
  Italic,
  Link,
  List,
  ListOrdered,
  Palette,
  Plus,
  Redo2,
  SlidersHorizontal,
  Strikethrough,
  Superscript,
  Underline,
  Undo2,
} from "lucide-react";
import { type KeyboardEvent, type ReactNode, useRef, useState } from "react";
import { BLOCKS } from "./blocks.ts";
import { insertBlock, openVariables } from "./commands.ts";

type ToolbarProps = {
  editor: Editor;
  onImage: () => void;
  onLink: () => void;
  isThemeOpen: boolean;
  onTheme: () => void;
  onSettings: () => void;
};

type Tool = {
  id: string;
  label: string;
  icon: ReactNode;
  /** Undefined for a button that is not on or off. */
  isOn?: boolean | undefined;
  isDisabled?: boolean;
  isRare?: boolean;
  run: () => void;
};

const ICON = { size: 16, "aria-hidden": true } as const;
const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
const keys = (text: string): string => (isMac ? `⌘${text}` : `Ctrl+${text}`);

export function Toolbar(props: ToolbarProps) {
  const { editor, onImage, onLink, isThemeOpen, onTheme, onSettings } = props;
  const root = useRef<HTMLDivElement>(null);
  /** The button that the Tab key reaches. */
  const [current, setCurrent] = useState("style");
  const state = useEditorState({ editor, selector: ({ editor: now }) => readState(now) });
  const run = () => editor.chain().focus();
  const align = (alignment: "left" | "center" | "right") => () =>
    editor
      .chain()
      .focus()
      .command(({ tr }) => {
        const value = alignment === "left" ? null : alignment;
        tr.doc.nodesBetween(tr.selection.from, tr.selection.to, (node, pos) => {
          if ("alignment" in node.attrs) tr.setNodeAttribute(pos, "alignment", value);
        });
        return true;
      })
      .run();
  const groups: Tool[][] = [
    [
      {
        id: "bold",
        label: `Bold (${keys("B")})`,
        icon: <Bold {...ICON} />,
        isOn: state.bold,
        run: () => run().toggleBold().run(),
      },
      {
        id: "italic",
        label: `Italic (${keys("I")})`,
        icon: <Italic {...ICON} />,
        isOn: state.italic,
        run: () => run().toggleItalic().run(),
      },
      {
        id: "underline",
        label: `Underline (${keys("U")})`,
        icon: <Underline {...ICON} />,
        isOn: state.underline,
        isRare: true,
        run: () => run().toggleUnderline().run(),
      },
      {
        id: "strike",
        label: "Strike through",
        icon: <Strikethrough {...ICON} />,
        isOn: state.strike,
        isRare: true,
        run: () => run().toggleStrike().run(),
      },
      {
        id: "sup",
        label: "Superscript",
        icon: <Superscript {...ICON} />,
        isOn: state.sup,
        isRare: true,
        run: () => run().toggleMark("sup").run(),
      },
      {
        id: "code",
        label: `Code (${keys("E")})`,
        icon: <Code {...ICON} />,
        isOn: state.code,
        isRare: true,
        run: () => run().toggleCode().run(),
      },
      {
        id: "link",
        label: `Link (${keys("K")})`,
        icon: <Link {...ICON} />,
        isOn: state.link,
        run: onLink,
      },
    ],
    [
      {
        id: "bullets",
        label: "Bullet list",
        icon: <List {...ICON} />,
        isOn: state.bullets,
        isRare: true,
        run: () => run().toggleBulletList().run(),
      },
      {
        id: "numbers",
        label: "Numbered list",
        icon: <ListOrdered {...ICON} />,
        isOn: state.numbers,
        isRare: true,
        run: () => run().toggleOrderedList().run(),
      },
      {
        id: "left",
        label: "Align left",
        icon: <AlignLeft {...ICON} />,
        isOn: state.alignment === "left",
        isRare: true,
        run: align("left"),
      },
      {
        id: "center",
        label: "Align centre",
        icon: <AlignCenter {...ICON} />,
        isOn: state.alignment === "center",
        isRare: true,
        run: align("center"),
      },
      {
        id: "right",
        label: "Align right",
        icon: <AlignRight {...ICON} />,
        isOn: state.alignment === "right",
        isRare: true,
        run: align("right"),
      },
    ],
    [
      {
        id: "variable",
        label: "Insert a variable ({{)",
        icon: <Braces {...ICON} />,
        run: () => openVariables(editor),
      },
    ],
  ];
  const last: Tool[] = [
    {
      id: "undo",
      label: `Undo (${keys("Z")})`,
      icon: <Undo2 {...ICON} />,
      isDisabled: !state.canUndo,
      isRare: true,
      run: () => run().undo().run(),
    },
    {
      id: "redo",
      label: `Redo (${keys("Shift+Z")})`,
      icon: <Redo2 {...ICON} />,
      isDisabled: !state.canRedo,
      isRare: true,
      run: () => run().redo().run(),
    },
    {
      id: "settings",
      label: "Settings of the block (Alt+Enter)",
      icon: <SlidersHorizontal {...ICON} />,
      isDisabled: !state.hasSettings && !isThemeOpen,
      isRare: true,
      run: onSettings,
    },
    { id: "theme", label: "Theme", icon: <Palette {...ICON} />, isOn: isThemeOpen, run: onTheme },
  ];
  const rare = [...groups.flat(), ...last].filter(({ isRare }) => isRare === true);

  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const isEdge = event.key === "Home" || event.key === "End";
    if (
      event.key === "Escape" &&
      event.target instanceof HTMLElement &&
      root.current?.contains(event.target) === true
    ) {
      event.stopPropagation();
      editor.view.focus();
      return;
    }
    if (step === undefined && !isEdge) return;
    const buttons = [...(root.current?.querySelectorAll<HTMLElement>("[data-tool]") ?? [])].filter(
      (button) => button.offsetParent !== null,
    );
    const at = buttons.findIndex((button) => button === document.activeElement);
    if (at === -1) return;
    event.preventDefault();
    const next = isEdge
      ? buttons.at(event.key === "Home" ? 0 : -1)
      : buttons[(at + (step ?? 0) + buttons.length) % buttons.length];
    setCurrent(next?.dataset["tool"] ?? "style");
    next?.focus();
  }

  const stop = (id: string) => ({
    "data-tool": id,
    tabIndex: id === current ? 0 : -1,
    onFocus: () => setCurrent(id),
  });
  const show = (tool: Tool) => <ToolButton key={tool.id} tool={tool} stop={stop(tool.id)} />;
  return (
    <div
      ref={root}
      className="visual-toolbar"
      role="toolbar"
      aria-label="Formatting"
      aria-orientation="horizontal"
      onKeyDown={onKeyDown}
      // The text keeps the selection.
      onMouseDown={(event) => event.preventDefault()}
    >
      <Menu position="bottom-start" returnFocus={false} withinPortal>
        <Menu.Target>
          <Button
            {...stop("style")}
            variant="subtle"
            color="gray"
            size="compact-sm"
            className="visual-style"
            rightSection={<ChevronDown size={14} aria-hidden />}
            aria-label={`Style of the line: ${state.style}`}
          >
            {state.style}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {STYLES.map(({ name, apply }) => (
            <Menu.Item
              key={name}
              onClick={() => apply(editor)}
              aria-current={name === state.style || undefined}
            >
              {name}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {groups.map((tools, at) => (
        <div className="visual-tools" key={at}>
          {tools.map(show)}
          {at === 0 && <ColorMenu editor={editor} stop={stop("color")} />}
        </div>
      ))}
      <Menu position="bottom-start" returnFocus={false} withinPortal>
        <Menu.Target>
          <Button
            {...stop("insert")}
            variant="subtle"
            color="gray"
            size="compact-sm"
            leftSection={<Plus size={16} aria-hidden />}
            aria-label="Insert a block (/)"
          >
            <span className="visual-insert-text">Insert</span>
          </Button>
        </Menu.Target>
        <Menu.Dropdown className="visual-menu">
          {BLOCKS.map((block, at) => [
            block.group === BLOCKS[at - 1]?.group ? null : (
              <Menu.Label key={block.group}>{block.group}</Menu.Label>
            ),
            <Menu.Item
              key={block.name}
              onClick={() => {
                if (block.content === null) onImage();
                else insertBlock(editor, editor.state.selection, block);
              }}
            >
              {block.title}
            </Menu.Item>,
          ])}
        </Menu.Dropdown>
      </Menu>
      <div className="visual-tools visual-tools-last">
        {last.map(show)}
        <Menu position="bottom-end" returnFocus={false} withinPortal>
          <Menu.Target>
            <ActionIcon
              {...stop("more")}
              className="visual-more"
              variant="subtle"
              color="gray"
              aria-label="More"
            >
              <Ellipsis {...ICON} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {rare.map((tool) => (
              <Menu.Item
                key={tool.id}
                leftSection={tool.icon}
                disabled={tool.isDisabled === true}
                aria-current={tool.isOn || undefined}
                onClick={tool.run}
              >
                {tool.label}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      </div>
    </div>
  );
}

/** Colours that can be read on white and on dark letters. */
const COLORS = [
  ["Grey", "#6b7280"],
  ["Red", "#d92d20"],
  ["Orange", "#b54708"],
  ["Green", "#12805c"],
  ["Blue", "#2470d8"],
  ["Purple", "#7f56d9"],
] as const;

function ColorMenu({ editor, stop }: { editor: Editor; stop: Stop }) {
  const paint = (color: string | null) => {
    const chain = editor.chain().focus();
    if (color === null) chain.unsetMark("textColor").run();
    else chain.setMark("textColor", { color }).run();
  };
  return (
    <Menu position="bottom-start" returnFocus={false} withinPortal>
      <Menu.Target>
        <ActionIcon {...stop} variant="subtle" color="gray" aria-label="Colour of the text">
          <Baseline {...ICON} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => paint(null)}>That of the letter</Menu.Item>
        {COLORS.map(([name, color]) => (
          <Menu.Item
            key={color}
            leftSection={<span className="visual-color-dot" style={{ background: color }} />}
            onClick={() => paint(color)}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

type Stop = { "data-tool": string; tabIndex: number; onFocus: () => void };

function ToolButton({ tool, stop }: { tool: Tool; stop: Stop }) {
  const { label, icon, isOn, isDisabled = false, isRare = false, run } = tool;
  return (
    <Tooltip label={label} openDelay={400}>
      <ActionIcon
        {...stop}
        variant={isOn === true ? "light" : "subtle"}
        {...(isOn === true ? {} : { color: "gray" })}
        className={isRare ? "visual-tool-rare" : undefined}
        aria-label={label}
        aria-pressed={isOn}
        // A disabled button would not be reached by the arrows.
        aria-disabled={isDisabled || undefined}
        data-disabled={isDisabled}
        onClick={() => !isDisabled && run()}
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}

const STYLES: readonly { name: string; apply: (editor: Editor) => void }[] = [
  { name: "Text", apply: (editor) => editor.chain().focus().setNode("paragraph").run() },
  ...([1, 2, 3] as const).map((level) => ({
    name: ["Title", "Heading", "Small heading"][level - 1] ?? "Heading",
    apply: (editor: Editor) => editor.chain().focus().setNode("heading", { level }).run(),
  })),
  { name: "Quote", apply: (editor) => editor.chain().focus().toggleBlockquote().run() },
];

function readState(editor: Editor) {
  const { $from } = editor.state.selection;
  const heading: unknown = $from.parent.attrs["level"];
  const isHeading = $from.parent.type.name === "heading";
  const alignment: unknown = $from.parent.attrs["alignment"];
  return {
    bold: editor.isActive("bold"),
    italic: editor.isActive("italic"),
    underline: editor.isActive("underline"),
    strike: editor.isActive("strike"),
    sup: editor.isActive("sup"),
    code: editor.isActive("code"),
    link: editor.isActive("link"),
    bullets: editor.isActive("bulletList"),
    numbers: editor.isActive("orderedList"),
    alignment: typeof alignment === "string" ? alignment : "left",
    style: isHeading
      ? (STYLES[Number(heading)]?.name ?? "Heading")
      : editor.isActive("blockquote")
        ? "Quote"
        : "Text",
    canUndo: editor.can().undo(),
    canRedo: editor.can().redo(),
    hasSettings: hasSettings(editor),
  };
}

const SETTINGS = /^(?:button|image|section|spacer|htmlBlock|condition|variable|social|\w+Columns)$/;

function hasSettings({ state }: Editor): boolean {
  const { $from } = state.selection;
  const selected = $from.nodeAfter;
  if (selected?.isAtom === true && SETTINGS.test(selected.type.name)) return true;
  return Array.from({ length: $from.depth }, (_, at) => $from.node(at + 1).type.name).some((name) =>
    SETTINGS.test(name),
  );
}
