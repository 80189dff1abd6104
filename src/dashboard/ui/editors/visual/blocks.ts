/** The blocks that can be inserted, for the menu of `/` and of the toolbar. */

export type BlockChoice = {
  name: string;
  title: string;
  hint: string;
  /** The other words by which the block is found. */
  words: string;
  group: "Text" | "Layout" | "Pieces";
  /** The node; null if the editor does more than to insert one, such as choosing a file. */
  content: object | null;
};

const paragraph = { type: "paragraph" };
const textOf = (text: string) => ({ type: "text", text });
const column = { type: "columnsColumn", content: [paragraph] };

export const BLOCKS: readonly BlockChoice[] = [
  {
    name: "heading1",
    title: "Title",
    hint: "Large heading",
    words: "h1 heading",
    group: "Text",
    content: { type: "heading", attrs: { level: 1 } },
  },
  {
    name: "heading2",
    title: "Heading",
    hint: "Heading of a part",
    words: "h2 subtitle",
    group: "Text",
    content: { type: "heading", attrs: { level: 2 } },
  },
  {
    name: "heading3",
    title: "Small heading",
    hint: "Heading in a part",
    words: "h3",
    group: "Text",
    content: { type: "heading", attrs: { level: 3 } },
  },
  {
    name: "bulletList",
    title: "Bullet list",
    hint: "List with points",
    words: "ul unordered",
    group: "Text",
    content: { type: "bulletList", content: [{ type: "listItem", content: [paragraph] }] },
  },
  {
    name: "orderedList",
    title: "Numbered list",
    hint: "List with numbers",
    words: "ol ordered",
    group: "Text",
    content: { type: "orderedList", content: [{ type: "listItem", content: [paragraph] }] },
  },
  {
    name: "blockquote",
    title: "Quote",
    hint: "Text of somebody else",
    words: "blockquote citation",
    group: "Text",
    content: { type: "blockquote", content: [paragraph] },
  },
  {
    name: "button",
    title: "Button",
    hint: "Opens an address",
    words: "cta call to action link",
    group: "Layout",
    content: { type: "button", content: [textOf("Button")] },
  },
  {
    name: "image",
    title: "Image",
    hint: "Upload a file",
    words: "picture photo upload logo",
    group: "Layout",
    content: null,
  },
  {
    name: "columns2",
    title: "Two columns",
    hint: "Stacked on phones",
    words: "grid layout",
    group: "Layout",
    content: { type: "twoColumns", content: [column, column] },
  },
  {
    name: "columns3",
    title: "Three columns",
    hint: "Stacked on phones",
    words: "grid layout",
    group: "Layout",
    content: { type: "threeColumns", content: [column, column, column] },
  },
  {
    name: "section",
    title: "Box",
    hint: "Blocks on another background",
    words: "section card highlight callout",
    group: "Layout",
    content: { type: "section", content: [paragraph] },
  },
  {
    name: "divider",
    title: "Divider",
    hint: "A line",
    words: "hr horizontal rule separator",
    group: "Layout",
    content: { type: "horizontalRule" },
  },
  {
    name: "spacer",
    title: "Space",
    hint: "Room between two blocks",
    words: "spacer gap margin",
    group: "Layout",
    content: { type: "spacer", attrs: { height: 24 } },
  },
  {
    name: "condition",
    title: "Condition",
    hint: "For some contacts only",
    words: "if show personalise dynamic liquid",
    group: "Pieces",
    content: {
      type: "condition",
      attrs: { field: "", operator: "is", value: "" },
      content: [paragraph],
    },
  },
  {
    name: "unsubscribe",
    title: "Unsubscribe link",
    hint: "With the reason for the mail",
    words: "footer opt out legal",
    group: "Pieces",
    content: {
      type: "footer",
      content: [
        textOf("You get this mail because you subscribed to it. "),
        {
          type: "text",
          text: "Unsubscribe",
          marks: [{ type: "link", attrs: { href: "{{ unsubscribeUrl }}" } }],
        },
      ],
    },
  },
  {
    name: "social",
    title: "Social links",
    hint: "Links to your profiles",
    words: "instagram linkedin facebook x mastodon youtube footer",
    group: "Pieces",
    content: { type: "social", attrs: { links: [{ name: "Instagram", href: "" }] } },
  },
  {
    name: "html",
    title: "HTML",
    hint: "Source that is sent as it is",
    words: "raw code source",
    group: "Pieces",
    content: { type: "htmlBlock", attrs: { html: "" } },
  },
];

/** The blocks whose title begins with the text, then those that it occurs in. */
export function findBlocks(typed: string): BlockChoice[] {
  const wanted = typed.trim().toLowerCase();
  if (wanted === "") return [...BLOCKS];
  const rank = ({ title, words }: BlockChoice): number => {
    const name = title.toLowerCase();
    if (name.startsWith(wanted)) return 0;
    if (words.split(" ").some((word) => word.startsWith(wanted))) return 1;
    return name.includes(wanted) ? 2 : 3;
  };
  return BLOCKS.filter((block) => rank(block) < 3).toSorted((a, b) => rank(a) - rank(b));
}
