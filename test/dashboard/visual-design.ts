/** A letter with every block of the visual editor. */

export const text = (words: string) => ({ type: "text", text: words });
const paragraph = (words: string) => ({ type: "paragraph", content: [text(words)] });
const column = (words: string) => ({ type: "columnsColumn", content: [paragraph(words)] });
const item = (words: string) => ({ type: "listItem", content: [paragraph(words)] });
const marked = (words: string, type: string, attrs: object = {}) => ({
  ...text(words),
  marks: [{ type, attrs }],
});

export const everyBlock: readonly object[] = [
  { type: "heading", attrs: { level: 1, alignment: "center" }, content: [text("Title")] },
  {
    type: "paragraph",
    content: [
      text("Hello "),
      { type: "variable", attrs: { name: "name", fallback: "friend" } },
      text(", "),
      ...["bold", "italic", "underline", "strike", "code", "sup"].map((type) => marked(type, type)),
      marked("link", "link", { href: "https://shop.example/{{ id }}" }),
      marked("mail", "link", { href: "mailto:ada@shop.example" }),
      marked("colour", "textColor", { color: "#d92d20" }),
      { type: "hardBreak" },
    ],
  },
  {
    type: "image",
    attrs: {
      src: "https://shop.example/a.png",
      alt: "Sea",
      width: 400,
      alignment: "center",
      href: "{{ url }}",
    },
  },
  { type: "heading", attrs: { level: 2 }, content: [text("Heading")] },
  { type: "bulletList", content: [item("one"), item("two")] },
  { type: "heading", attrs: { level: 3 }, content: [text("Small heading")] },
  { type: "orderedList", attrs: { start: 1 }, content: [item("one"), item("two")] },
  { type: "blockquote", content: [paragraph("Quote")] },
  {
    type: "button",
    attrs: { href: "{{ url }}", alignment: "center" },
    content: [text("Buy"), { type: "variable", attrs: { name: "item", fallback: "" } }],
  },
  { type: "horizontalRule" },
  { type: "twoColumns", content: [column("left"), column("right")] },
  { type: "threeColumns", content: [column("left"), column("middle"), column("right")] },
  { type: "fourColumns", content: [column("1"), column("2"), column("3"), column("4")] },
  { type: "section", content: [paragraph("In a box")] },
  { type: "section", attrs: { background: "#10243e" }, content: [paragraph("In a dark box")] },
  { type: "spacer", attrs: { height: 40 } },
  {
    type: "condition",
    attrs: { field: "orders", operator: "greater", value: "3" },
    content: [paragraph("For good customers")],
  },
  { type: "htmlBlock", attrs: { html: `<p style="margin:0">As it is</p>` } },
  {
    type: "social",
    attrs: {
      links: [
        { name: "Instagram", href: "https://instagram.example/shop" },
        { name: "X", href: "https://x.example/shop" },
      ],
    },
  },
  {
    type: "footer",
    content: [
      text("You get this mail because you subscribed to it. "),
      marked("Unsubscribe", "link", { href: "{{ unsubscribeUrl }}" }),
    ],
  },
];
