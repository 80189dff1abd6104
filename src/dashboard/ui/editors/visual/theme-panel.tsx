/** The look of the whole letter. */

import { Button, CloseButton, NumberInput, Select, Switch } from "@mantine/core";
import { ColorField } from "./color-field.tsx";
import { findThemeFaults, FONTS, type MailTheme, SIZE_LIMITS } from "./mail-theme.ts";

const COLORS = [
  ["page", "Background"],
  ["surface", "Letter"],
  ["text", "Text"],
  ["accent", "Buttons and links"],
] as const;
const SIZES = [
  ["fontSizePx", "Size of the text"],
  ["widthPx", "Width of the letter"],
  ["radiusPx", "Rounding of corners"],
] as const;

export function ThemePanel(props: {
  theme: MailTheme;
  /** The theme of the project. */
  base: MailTheme;
  onChange: (theme: MailTheme) => void;
  onClose: () => void;
}) {
  const { theme, base, onChange, onClose } = props;
  const faults = findThemeFaults(theme);
  const isBase = JSON.stringify(theme) === JSON.stringify(base);
  return (
    <section className="visual-settings" aria-label="Theme">
      <header>
        <h3>Theme</h3>
        <CloseButton size="sm" aria-label="Close the theme" onClick={onClose} />
      </header>
      {COLORS.map(([name, label]) => (
        <ColorField
          key={name}
          label={label}
          value={theme[name]}
          onChange={(color) => color !== null && onChange({ ...theme, [name]: color })}
        />
      ))}
      {faults.map((fault) => (
        <p className="visual-note" role="status" key={fault}>
          {fault}
        </p>
      ))}
      <Select
        label="Font"
        description="A font that every computer has: mails load none"
        allowDeselect={false}
        data={FONTS.map(({ name, label }) => ({ value: name, label }))}
        value={theme.font}
        onChange={(font) => font !== null && onChange({ ...theme, font })}
      />
      {SIZES.map(([name, label]) => (
        <NumberInput
          key={name}
          label={label}
          suffix=" px"
          allowDecimal={false}
          clampBehavior="blur"
          {...SIZE_LIMITS[name]}
          value={theme[name]}
          onChange={(value) => {
            const { min, max } = SIZE_LIMITS[name];
            if (typeof value === "number" && value >= min && value <= max) {
              onChange({ ...theme, [name]: value });
            }
          }}
        />
      ))}
      <Switch
        label="Dark colours in programs that show dark mails"
        checked={theme.hasDark}
        onChange={(event) => onChange({ ...theme, hasDark: event.currentTarget.checked })}
      />
      {!isBase && (
        <Button variant="default" size="xs" onClick={() => onChange(base)}>
          Use the theme of the project
        </Button>
      )}
    </section>
  );
}
