import { ActionIcon, Menu, TextInput } from "@mantine/core";
import { Braces } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { completeLink, findLinkFault } from "./links.ts";
import { type ContactField, findVariables, writeVariable } from "./variables.ts";

/** An address, which may have variables. It is taken when the field is left, or by Enter. */
export function HrefField(props: {
  label: string;
  value: string;
  fields: readonly ContactField[];
  isOptional?: boolean;
  isFocused?: boolean;
  /** Returns whether the address was taken. */
  onCommit: (href: string) => boolean | undefined;
  onEnter?: () => void;
  onEscape?: () => void;
}) {
  const { label, value, fields, isOptional = false, isFocused = false } = props;
  const { onCommit, onEnter, onEscape } = props;
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(value);
  const [isLeft, setLeft] = useState(false);
  /** The field is left by Enter too, and an address is taken once. */
  const taken = useRef(value);
  useEffect(() => {
    setTyped(value);
    taken.current = value;
  }, [value]);
  useEffect(() => {
    if (isFocused) input.current?.focus();
  }, [isFocused]);
  const isEmpty = typed.trim() === "";
  const fault = isEmpty && isOptional ? null : findLinkFault(completeLink(typed));
  function commit(text: string): boolean {
    const href = completeLink(text);
    setTyped(href);
    setLeft(true);
    const isEmptied = href === "" && isOptional;
    if (!isEmptied && findLinkFault(href) !== null) return false;
    if (href === taken.current) return true;
    taken.current = href;
    onCommit(href);
    return true;
  }
  function insert(name: string): void {
    const at = input.current?.selectionStart ?? typed.length;
    const text = typed.slice(0, at) + writeVariable({ name, fallback: "" }) + typed.slice(at);
    commit(text);
  }
  return (
    <TextInput
      ref={input}
      label={label}
      value={typed}
      placeholder="https://"
      inputMode="url"
      spellCheck={false}
      error={isLeft && fault !== null ? fault : undefined}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onBlur={() => typed !== taken.current && commit(typed)}
      onKeyDown={(event) => {
        if (event.key === "Enter") {
          event.preventDefault();
          if (commit(typed)) onEnter?.();
        } else if (event.key === "Escape") onEscape?.();
      }}
      rightSection={<VariableMenu fields={fields} onChoose={insert} />}
    />
  );
}

function VariableMenu(props: {
  fields: readonly ContactField[];
  onChoose: (name: string) => void;
}) {
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label="Insert a variable">
          <Braces size={15} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown className="visual-menu">
        {findVariables(props.fields, "", 30).map(({ name }) => (
          <Menu.Item key={name} onClick={() => props.onChoose(name)}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
