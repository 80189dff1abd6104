/** The settings of each kind of block. A change is made at once, so that the letter shows it. */

import {
  Autocomplete,
  Button,
  Checkbox,
  FileButton,
  NumberInput,
  SegmentedControl,
  Select,
  Textarea,
  TextInput,
} from "@mantine/core";
import type { Editor } from "@tiptap/core";
import { Plus } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { errorText } from "../../error-text.ts";
import { HrefField } from "./href-field.tsx";
import { ColorField } from "./color-field.tsx";
import { type Around, setAttribute } from "./commands.ts";
import {
  chooseOperator,
  type Condition,
  findFaults,
  listOperators,
  needsValue,
  readKind,
} from "./conditions.ts";
import type { UploadImage } from "./upload-plugin.ts";
import { type ContactField, findStringFault, writeVariable } from "./variables.ts";
import { readSocialLinks } from "./write-html.ts";

type FormProps = {
  editor: Editor;
  block: Around;
  fields: readonly ContactField[];
  uploadImage: UploadImage;
};

const textAt = (block: Around, name: string): string => {
  const value = block.attrs[name];
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
};

const ALIGNMENTS = [
  { value: "left", label: "Left" },
  { value: "center", label: "Centre" },
  { value: "right", label: "Right" },
];

function AlignmentField({ editor, block }: Pick<FormProps, "editor" | "block">) {
  const alignment = textAt(block, "alignment");
  return (
    <div>
      <span className="visual-field-label" id="visual-alignment">
        Alignment
      </span>
      <SegmentedControl
        aria-labelledby="visual-alignment"
        fullWidth
        size="xs"
        data={ALIGNMENTS}
        value={alignment === "" ? "left" : alignment}
        onChange={(value) => setAttribute(editor, block.pos, "alignment", value)}
      />
    </div>
  );
}

function ButtonForm({ editor, block, fields }: FormProps) {
  return (
    <>
      <HrefField
        label="Opens"
        value={textAt(block, "href")}
        fields={fields}
        onCommit={(href) => {
          setAttribute(editor, block.pos, "href", href);
          return true;
        }}
      />
      {textAt(block, "href") === "" && (
        <p className="visual-note">Without an address the button opens nothing.</p>
      )}
      <AlignmentField editor={editor} block={block} />
      <ColorField
        label="Colour"
        value={textAt(block, "background")}
        fallback="That of the theme"
        onChange={(color) => setAttribute(editor, block.pos, "background", color)}
      />
    </>
  );
}

function ImageForm({ editor, block, fields, uploadImage }: FormProps) {
  const alt = useRef<HTMLInputElement>(null);
  const [error, setError] = useState<string | null>(null);
  const isDecorative = block.attrs["isDecorative"] === true;
  const text = textAt(block, "alt");
  const isNew = text === "" && !isDecorative;
  // A new image asks for its text.
  useEffect(() => {
    if (isNew) alt.current?.focus();
    // oxlint-disable-next-line react/exhaustive-deps
  }, []);
  async function replace(file: File | null): Promise<void> {
    if (file === null) return;
    setError(null);
    try {
      const { url } = await uploadImage(file);
      setAttribute(editor, block.pos, "src", url);
    } catch (reason) {
      setError(errorText(reason));
    }
  }
  return (
    <>
      <TextInput
        ref={alt}
        label="Alternative text"
        description="Shown until the image is loaded, and read by screen readers"
        value={text}
        disabled={isDecorative}
        onChange={(event) => setAttribute(editor, block.pos, "alt", event.currentTarget.value)}
      />
      <Checkbox
        label="Only decoration: no text"
        checked={isDecorative}
        onChange={(event) => {
          setAttribute(editor, block.pos, "isDecorative", event.currentTarget.checked);
          if (event.currentTarget.checked) setAttribute(editor, block.pos, "alt", "");
        }}
      />
      <NumberInput
        label="Width in pixels"
        min={1}
        max={2_000}
        allowDecimal={false}
        value={Number(textAt(block, "width")) || ""}
        placeholder="That of the letter"
        onChange={(width) =>
          setAttribute(editor, block.pos, "width", typeof width === "number" ? width : null)
        }
      />
      <HrefField
        label="Opens"
        value={textAt(block, "href")}
        fields={fields}
        isOptional
        onCommit={(href) => {
          setAttribute(editor, block.pos, "href", href);
          return true;
        }}
      />
      <AlignmentField editor={editor} block={block} />
      <FileButton
        accept="image/png,image/jpeg,image/gif,image/webp"
        onChange={(file) => void replace(file)}
      >
        {(props) => (
          <Button {...props} variant="default" size="xs">
            Replace the image
          </Button>
        )}
      </FileButton>
      {error !== null && (
        <p className="visual-note" role="alert">
          {error}
        </p>
      )}
    </>
  );
}

function SectionForm({ editor, block }: FormProps) {
  return (
    <ColorField
      label="Background"
      value={textAt(block, "background")}
      fallback="That of the theme"
      onChange={(color) => setAttribute(editor, block.pos, "background", color)}
    />
  );
}

function SpacerForm({ editor, block }: FormProps) {
  return (
    <NumberInput
      label="Height in pixels"
      min={1}
      max={400}
      allowDecimal={false}
      value={Number(textAt(block, "height")) || 24}
      onChange={(height) =>
        typeof height === "number" && setAttribute(editor, block.pos, "height", height)
      }
    />
  );
}

function HtmlForm({ editor, block }: FormProps) {
  const html = textAt(block, "html");
  return (
    <>
      <Textarea
        label="Source"
        description="Sent as it is. Scripts and forms do not work in mails."
        className="visual-source"
        autosize
        minRows={6}
        maxRows={18}
        spellCheck={false}
        value={html}
        onChange={(event) => setAttribute(editor, block.pos, "html", event.currentTarget.value)}
      />
      {/<script|\son\w+\s*=/i.test(html) && (
        <p className="visual-note">Mail programs remove scripts, and may take the mail for spam.</p>
      )}
    </>
  );
}

function ConditionForm({ editor, block, fields }: FormProps) {
  const condition: Condition = {
    field: textAt(block, "field"),
    operator: textAt(block, "operator"),
    value: textAt(block, "value"),
  };
  const kind = readKind(fields.find(({ name }) => name === condition.field)?.type);
  // An empty form is not wrong yet; the label of the block says what is missing.
  const [isLeft, setLeft] = useState(false);
  const faults = isLeft ? findFaults(condition, kind) : {};
  const set = (name: keyof Condition, value: string) =>
    setAttribute(editor, block.pos, name, value);
  function setField(name: string): void {
    set("field", name);
    const next = readKind(fields.find((each) => each.name === name)?.type);
    const operator = chooseOperator(next, condition.operator);
    if (operator !== condition.operator) set("operator", operator);
  }
  const { operator, value } = condition;
  const common = { label: "Value", value, error: faults.value };
  return (
    <>
      <p className="visual-note">These blocks are only for contacts that it is true for.</p>
      <Autocomplete
        label="Field"
        data={fields.map(({ name }) => name)}
        limit={50}
        placeholder="Choose or type a name"
        value={condition.field}
        error={faults.field}
        onBlur={() => setLeft(true)}
        onChange={setField}
      />
      <Select
        label="Comparison"
        allowDeselect={false}
        data={listOperators(kind, operator).map(({ name, words }) => ({
          value: name,
          label: words,
        }))}
        value={operator}
        onChange={(name) => name !== null && set("operator", name)}
      />
      {needsValue(operator) &&
        (kind === "flag" ? (
          <Select
            {...common}
            data={[
              { value: "true", label: "yes" },
              { value: "false", label: "no" },
            ]}
            onChange={(next) => set("value", next ?? "")}
          />
        ) : (
          <TextInput
            {...common}
            type={
              kind === "date" || operator === "after" || operator === "before" ? "date" : "text"
            }
            inputMode={kind === "number" ? "decimal" : "text"}
            onBlur={() => setLeft(true)}
            onChange={(event) => set("value", event.currentTarget.value)}
          />
        ))}
    </>
  );
}

function VariableForm({ editor, block }: FormProps) {
  const fallback = textAt(block, "fallback");
  const name = textAt(block, "name");
  return (
    <>
      <p className="visual-code">{writeVariable({ name, fallback })}</p>
      <TextInput
        label="Default"
        description="For contacts without a value"
        value={fallback}
        error={findStringFault(fallback)}
        onChange={(event) => setAttribute(editor, block.pos, "fallback", event.currentTarget.value)}
      />
    </>
  );
}

const NETWORKS = [
  "Instagram",
  "LinkedIn",
  "Facebook",
  "X",
  "YouTube",
  "Mastodon",
  "TikTok",
  "GitHub",
];
const MAX_LINKS = 10;

function SocialForm({ editor, block, fields }: FormProps) {
  const links = readSocialLinks(block.attrs["links"]);
  const set = (next: object[]) => setAttribute(editor, block.pos, "links", next);
  const change = (at: number, part: object) =>
    set(links.map((link, index) => (index === at ? { ...link, ...part } : link)));
  const unused = NETWORKS.find((network) => links.every(({ name }) => name !== network));
  return (
    <>
      {links.map(({ name, href }, at) => (
        <div className="visual-social-row" key={at}>
          <Autocomplete
            label={`Name of link ${at + 1}`}
            data={NETWORKS}
            value={name}
            onChange={(next) => change(at, { name: next })}
          />
          <HrefField
            label={`Address of link ${at + 1}`}
            value={href}
            fields={fields}
            onCommit={(next) => {
              change(at, { href: next });
              return true;
            }}
          />
          <Button
            size="compact-xs"
            variant="subtle"
            color="gray"
            onClick={() => set(links.filter((_, index) => index !== at))}
          >
            Remove {name === "" ? `link ${at + 1}` : name}
          </Button>
        </div>
      ))}
      {links.length < MAX_LINKS && (
        <Button
          size="xs"
          variant="default"
          leftSection={<Plus size={14} aria-hidden />}
          onClick={() => set([...links, { name: unused ?? "Website", href: "" }])}
        >
          Add a link
        </Button>
      )}
    </>
  );
}

const ColumnsForm = () => (
  <p className="visual-note">On phones, the columns are one below the other.</p>
);

export const FORMS: Readonly<Record<string, (props: FormProps) => ReactNode>> = {
  button: ButtonForm,
  image: ImageForm,
  section: SectionForm,
  spacer: SpacerForm,
  htmlBlock: HtmlForm,
  condition: ConditionForm,
  variable: VariableForm,
  social: SocialForm,
  twoColumns: ColumnsForm,
  threeColumns: ColumnsForm,
  fourColumns: ColumnsForm,
};
