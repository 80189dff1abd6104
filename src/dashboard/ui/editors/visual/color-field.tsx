import { Button, TextInput } from "@mantine/core";
import { useEffect, useId, useState } from "react";
import { readColor } from "./mail-theme.ts";

/** A colour as a text and as the swatch of the browser. With a `fallback` it may be none. */
export function ColorField(props: {
  label: string;
  /** "" for none. */
  value: string;
  fallback?: string;
  onChange: (color: string | null) => void;
}) {
  const { label, value, fallback, onChange } = props;
  const id = useId();
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const color = readColor(typed);
  return (
    <div className="visual-color">
      <TextInput
        id={id}
        label={label}
        value={typed}
        placeholder={fallback ?? "#000000"}
        spellCheck={false}
        error={
          color === null && !(typed === "" && fallback !== undefined)
            ? "Enter a colour as #4338ca."
            : undefined
        }
        onChange={(event) => {
          const text = event.currentTarget.value;
          setTyped(text);
          const next = readColor(text);
          if (next !== null) onChange(next);
          else if (text === "" && fallback !== undefined) onChange(null);
        }}
        rightSection={
          <input
            type="color"
            className="visual-swatch"
            aria-label={`${label}, swatch`}
            value={readColor(value) ?? "#ffffff"}
            onChange={(event) => onChange(event.currentTarget.value)}
          />
        }
      />
      {fallback !== undefined && value !== "" && (
        <Button size="compact-xs" variant="subtle" color="gray" onClick={() => onChange(null)}>
          Use that of the theme
        </Button>
      )}
    </div>
  );
}
