import { Combobox, Pill, PillsInput, useCombobox } from "@mantine/core";
import { Search } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useRef, useState } from "react";
import { useShortcuts } from "../shortcuts.ts";
import { parseTerms } from "./filter-terms.ts";

/** A term of the search, such as `status:` with its values. */
export type FilterField = {
  /** The word before the colon; also the name of the search parameter. */
  key: string;
  /** Its meaning, for the list of suggestions. */
  hint: string;
  /** The values to choose from; any text without them. */
  values?: readonly { value: string; label: string }[];
};

/** The filters of a list by field. The page keeps them in the search parameters of its URL. */
export type Filters = Readonly<Record<string, string | undefined>>;

/** The name of the words without a field. */
const TEXT = "q";

/**
 * The search field of a list. Terms such as `to:ada@example.com` become chips; other words search as
 * `q`. `/` moves the focus here, Enter applies, and Backspace in the empty field removes the last
 * chip.
 */
export function FilterBar(props: {
  label: string;
  fields: readonly FilterField[];
  filters: Filters;
  onChange: (filters: Filters) => void;
  /** Reads what was typed, for lists with a syntax of their own. */
  parse?: (text: string) => Filters;
  /** At the right, such as the number of rows. */
  children?: ReactNode;
}) {
  const { label, fields, filters, onChange, parse, children } = props;
  const input = useRef<HTMLInputElement>(null);
  const [draft, setDraft] = useState("");
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() });
  useShortcuts({ "/": () => input.current?.focus() });

  const chips = [TEXT, ...fields.map(({ key }) => key)].flatMap((key) => {
    const value = filters[key];
    return value === undefined || value === "" ? [] : [{ key, value }];
  });
  const suggestions = suggestionsFor(draft, fields, filters);

  function apply(text: string): void {
    const keys = fields.map(({ key }) => key);
    const terms = parse?.(text) ?? parseTerms(text, keys, TEXT);
    setDraft("");
    combobox.closeDropdown();
    onChange({ ...filters, ...terms });
  }

  function choose(text: string): void {
    if (!text.endsWith(":")) return apply(text);
    setDraft(text);
    combobox.openDropdown();
    input.current?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === "Enter" && combobox.getSelectedOptionIndex() === -1 && draft.trim() !== "") {
      event.preventDefault();
      apply(draft);
    }
    // The shortcuts of the list work again.
    if (event.key === "Escape" && draft === "") input.current?.blur();
    const last = chips.at(-1);
    if (event.key === "Backspace" && draft === "" && last !== undefined) {
      onChange({ ...filters, [last.key]: undefined });
    }
  }

  return (
    <div className="filter-bar">
      <Combobox store={combobox} onOptionSubmit={choose} position="bottom-start">
        <Combobox.DropdownTarget>
          <PillsInput
            size="sm"
            className="filter-input"
            leftSection={<Search size={15} aria-hidden />}
            onClick={() => input.current?.focus()}
          >
            <Pill.Group>
              {chips.map(({ key, value }) => (
                <Pill
                  key={key}
                  withRemoveButton
                  removeButtonProps={{
                    "aria-label": `Remove the filter ${key}`,
                    "aria-hidden": false,
                    tabIndex: 0,
                  }}
                  onRemove={() => onChange({ ...filters, [key]: undefined })}
                >
                  {key === TEXT ? value : `${key}: ${labelOf(fields, key, value)}`}
                </Pill>
              ))}
              <Combobox.EventsTarget>
                <PillsInput.Field
                  ref={input}
                  aria-label={label}
                  placeholder={chips.length === 0 ? label : ""}
                  value={draft}
                  autoComplete="off"
                  spellCheck={false}
                  onFocus={() => combobox.openDropdown()}
                  onBlur={() => combobox.closeDropdown()}
                  onChange={({ currentTarget }) => {
                    setDraft(currentTarget.value);
                    combobox.openDropdown();
                  }}
                  onKeyDown={onKeyDown}
                />
              </Combobox.EventsTarget>
            </Pill.Group>
          </PillsInput>
        </Combobox.DropdownTarget>
        <Combobox.Dropdown hidden={suggestions.length === 0 && draft.trim() === ""}>
          <Combobox.Options mah={320} className="filter-suggestions" aria-label="Suggestions">
            {suggestions.map(({ text, shown, hint }) => (
              <Combobox.Option key={text} value={text}>
                <span className="filter-suggestion">
                  <code>{shown}</code>
                  <span className="muted small">{hint}</span>
                </span>
              </Combobox.Option>
            ))}
          </Combobox.Options>
          {draft.trim() !== "" && (
            <p className="filter-hint muted small">
              Press Enter to search for “<bdi>{draft.trim()}</bdi>”.
            </p>
          )}
        </Combobox.Dropdown>
      </Combobox>
      {children !== undefined && <div className="filter-rest">{children}</div>}
    </div>
  );
}

function labelOf(fields: readonly FilterField[], key: string, value: string): string {
  const values = fields.find((field) => field.key === key)?.values ?? [];
  return values.find((known) => known.value === value)?.label ?? value;
}

/** `text` is what is applied; `shown` has the names of values that are ids. */
type Suggestion = { text: string; shown: string; hint: string };

/** The fields that begin with the draft, or the values of the field that it names. */
function suggestionsFor(
  draft: string,
  fields: readonly FilterField[],
  filters: Filters,
): Suggestion[] {
  const colon = draft.indexOf(":");
  if (colon === -1) {
    const start = draft.trim().toLowerCase();
    return fields
      .filter(({ key }) => key.toLowerCase().startsWith(start) && filters[key] === undefined)
      .map(({ key, hint }) => ({ text: `${key}:`, shown: `${key}:`, hint }));
  }
  const field = fields.find(({ key }) => key === draft.slice(0, colon).trim());
  const typed = draft
    .slice(colon + 1)
    .trim()
    .toLowerCase();
  return (field?.values ?? [])
    .filter(({ value, label }) => label.toLowerCase().includes(typed) || value === typed)
    .map(({ value, label }) => {
      const text = `${field?.key}:${value}`;
      const isWord = label.toLowerCase() === value;
      return { text, shown: isWord ? text : `${field?.key}: ${label}`, hint: "" };
    });
}
