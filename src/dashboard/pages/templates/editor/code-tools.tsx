/** The buttons that insert variables and images into the code at the cursor. */

import { Button, FileButton, Menu } from "@mantine/core";
import { Braces, ChevronDown, Image as ImageIcon } from "lucide-react";
import { memo, type ReactNode, type RefObject, useState } from "react";
import type { CodeControl } from "../../../ui/editors/code/code-editor.tsx";
import { KNOWN_VARIABLES, type Word } from "../../../ui/editors/code/liquid-words.ts";
import { showFailure } from "../../../ui/undo.tsx";
import { imageTag, uploadImage } from "./images.ts";

/** Text that is typed does not draw them again. */
export const CodeTools = memo(function CodeTools(props: {
  project: string;
  variables: readonly Word[];
  control: RefObject<CodeControl | null>;
  /** Further buttons. */
  children?: ReactNode;
}) {
  const { project, variables, control, children } = props;
  const insert = (text: string) => control.current?.insert(text);
  return (
    <div className="editor-tools">
      <Menu position="bottom-start" width={300} returnFocus={false}>
        <Menu.Target>
          <Button
            size="compact-sm"
            variant="subtle"
            color="gray"
            leftSection={<Braces size={14} aria-hidden />}
            rightSection={<ChevronDown size={14} aria-hidden />}
          >
            Insert a variable
          </Button>
        </Menu.Target>
        <Menu.Dropdown className="editor-variables">
          {variables.length > 0 && <Menu.Label>Fields of contacts</Menu.Label>}
          {variables.map((word) => (
            <VariableItem key={word.name} word={word} onChoose={insert} />
          ))}
          <Menu.Label>In every mail</Menu.Label>
          {KNOWN_VARIABLES.map((word) => (
            <VariableItem key={word.name} word={word} onChoose={insert} />
          ))}
        </Menu.Dropdown>
      </Menu>
      <ImageButton project={project} onUploaded={insert} />
      {children}
    </div>
  );
});

function VariableItem({ word, onChoose }: { word: Word; onChoose: (text: string) => void }) {
  const { name, text } = word;
  return (
    <Menu.Item
      onClick={() => onChoose(`{{ ${name} }}`)}
      rightSection={<span className="muted small">{text}</span>}
    >
      <code>{name}</code>
    </Menu.Item>
  );
}

function ImageButton(props: { project: string; onUploaded: (tag: string) => void }) {
  const { project, onUploaded } = props;
  const [isBusy, setIsBusy] = useState(false);
  async function upload(file: File | null): Promise<void> {
    if (file === null) return;
    setIsBusy(true);
    try {
      onUploaded(imageTag(await uploadImage(project, file)));
    } catch (error) {
      showFailure("The image was not uploaded", error);
    } finally {
      setIsBusy(false);
    }
  }
  return (
    <FileButton
      accept="image/png,image/jpeg,image/gif,image/webp"
      onChange={(file) => void upload(file)}
    >
      {(button) => (
        <Button
          {...button}
          size="compact-sm"
          variant="subtle"
          color="gray"
          loading={isBusy}
          leftSection={<ImageIcon size={14} aria-hidden />}
        >
          Insert an image
        </Button>
      )}
    </FileButton>
  );
}
