/** A field of one line that offers the variables of a mail: after `{{`, or with its button. */

import { ActionIcon, Combobox, TextInput, type TextInputProps, useCombobox } from "@mantine/core";
import { Braces } from "lucide-react";
import { useLayoutEffect, useRef, useState } from "react";
import { KNOWN_VARIABLES, type Word } from "../../../ui/editors/code/liquid-words.ts";
import { completeVariable, findOpenVariable } from "./open-variable.ts";

const MOST_SHOWN = 8;

type Props = Pick<TextInputProps, "label" | "placeholder" | "maxLength" | "error"> & {
  /** The field into which the variable is inserted, such as "the subject". */
  noun: string;
  value: string;
  /** The fields of the contacts. */
  variables: readonly Word[];
  onChange: (value: string) => void;
};

export function VariableField({ noun, value, variables, error, onChange, ...rest }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const [cursor, setCursor] = useState(0);
  /** The position of the cursor after the field has its new text. */
  const moved = useRef<number | null>(null);
  const combobox = useCombobox();
  const open = findOpenVariable(value, cursor);
  const words = open === null ? [] : findWords(variables, open.query);

  useLayoutEffect(() => {
    if (moved.current !== null) input.current?.setSelectionRange(moved.current, moved.current);
    moved.current = null;
  });

  function write(text: string, at: number): void {
    moved.current = at;
    setCursor(at);
    onChange(text);
    if (findOpenVariable(text, at) === null) combobox.closeDropdown();
    else {
      combobox.openDropdown();
      // The list is drawn first.
      requestAnimationFrame(combobox.selectFirstOption);
    }
  }

  function begin(): void {
    const at = input.current?.selectionStart ?? value.length;
    input.current?.focus();
    write(`${value.slice(0, at)}{{ ${value.slice(at)}`, at + "{{ ".length);
  }

  return (
    <Combobox
      store={combobox}
      position="bottom-start"
      width={300}
      onOptionSubmit={(name) => {
        if (open === null) return;
        const next = completeVariable(value, open, name);
        write(next.text, next.cursor);
      }}
    >
      <Combobox.Target>
        <TextInput
          {...rest}
          ref={input}
          className="editor-field"
          variant="unstyled"
          value={value}
          // No fault is shown while a variable is being chosen.
          error={combobox.dropdownOpened ? undefined : error}
          rightSection={
            <ActionIcon
              aria-label="Insert a variable here"
              aria-description={`Into ${noun}`}
              onClick={begin}
            >
              <Braces size={14} aria-hidden />
            </ActionIcon>
          }
          onChange={({ currentTarget }) =>
            write(currentTarget.value, currentTarget.selectionStart ?? currentTarget.value.length)
          }
          onBlur={() => combobox.closeDropdown()}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={words.length === 0}>
        <Combobox.Options aria-label="Variables">
          {words.map(({ name, text }) => (
            <Combobox.Option key={name} value={name} className="editor-variable">
              <code>{name}</code> <span className="muted small">{text}</span>
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

const findWords = (variables: readonly Word[], query: string): Word[] =>
  [...variables, ...KNOWN_VARIABLES]
    .filter(({ name }) => name.toLowerCase().includes(query.toLowerCase()))
    .slice(0, MOST_SHOWN);
