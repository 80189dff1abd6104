/** The theme of the components. The colours of text, lines and states are variables of app.css. */

import {
  createTheme,
  defaultVariantColorsResolver,
  localStorageColorSchemeManager,
  type VariantColorsResolver,
} from "@mantine/core";
import { SCHEME_KEY } from "./scheme-key.ts";

export const schemeManager = localStorageColorSchemeManager({ key: SCHEME_KEY });

/**
 * The text of a filled control depends on the scheme, which `autoContrast` alone does not consider.
 * Light controls use the soft pair of the accent or of the state "failed".
 */
const variantColorResolver: VariantColorsResolver = (input) => {
  const resolved = defaultVariantColorsResolver(input);
  const isFailed = input.color === "red";
  if (input.variant === "filled") {
    return isFailed
      ? {
          background: "var(--failed)",
          hover: "var(--failed-hover)",
          color: "var(--on-failed)",
          border: "1px solid transparent",
        }
      : { ...resolved, color: "var(--mantine-primary-color-contrast)" };
  }
  if (input.variant === "light") {
    const [text, soft] = isFailed ? ["failed", "failed-soft"] : ["on-accent-soft", "accent-soft"];
    return {
      background: `var(--${soft})`,
      hover: `color-mix(in srgb, var(--${soft}), var(--text) 6%)`,
      color: `var(--${text})`,
      border: "1px solid transparent",
    };
  }
  if (input.variant === "subtle" && input.color === "gray") {
    return {
      background: "transparent",
      hover: "var(--hover)",
      color: "var(--muted)",
      border: "1px solid transparent",
    };
  }
  return isFailed ? { ...resolved, color: "var(--failed)" } : resolved;
};

const CONTROL = { defaultProps: { size: "sm" } };
const DIALOG = {
  transitionProps: { duration: 150 },
  overlayProps: { backgroundOpacity: 0.35 },
  closeButtonProps: { "aria-label": "Close" },
  // Esc closes one layer (ui/layers.ts).
  closeOnEscape: false,
};
const POPUP = { defaultProps: { shadow: "md", transitionProps: { duration: 120 } } };

export const theme = createTheme({
  primaryColor: "brand",
  primaryShade: { light: 7, dark: 3 },
  autoContrast: true,
  luminanceThreshold: 0.36,
  variantColorResolver,
  colors: {
    // The components take lines, fields and muted text from these two; tokens.css explains the values.
    gray: [
      "#f7f8fa",
      "#f0f2f5",
      "#e9ecf0",
      "#e3e6eb",
      "#868e9c",
      "#6d7685",
      "#586170",
      "#4a5361",
      "#2c323c",
      "#16191f",
    ],
    dark: [
      "#e8ebf0",
      "#c5cbd5",
      "#9aa4b2",
      "#808998",
      "#262c37",
      "#1d222b",
      "#1b2029",
      "#151920",
      "#0e1116",
      "#0a0c10",
    ],
    brand: [
      "#eef0ff",
      "#dfe2ff",
      "#c3c5ff",
      "#a5a8ff",
      "#8286f5",
      "#6366f1",
      "#5248e5",
      "#4338ca",
      "#3730a3",
      "#2e2a80",
    ],
  },
  fontFamily:
    'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", "Liberation Mono", monospace',
  fontSizes: { xs: "12px", sm: "13px", md: "14px", lg: "15px", xl: "18px" },
  lineHeights: { xs: "1.4", sm: "1.45", md: "1.5", lg: "1.5", xl: "1.4" },
  spacing: { xs: "8px", sm: "12px", md: "16px", lg: "24px", xl: "32px" },
  radius: { xs: "4px", sm: "6px", md: "8px", lg: "10px", xl: "16px" },
  defaultRadius: "md",
  headings: {
    fontWeight: "650",
    sizes: {
      h1: { fontSize: "22px", lineHeight: "1.3" },
      h2: { fontSize: "18px", lineHeight: "1.35" },
      h3: { fontSize: "15px", lineHeight: "1.4" },
    },
  },
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    Button: CONTROL,
    TextInput: CONTROL,
    PasswordInput: CONTROL,
    Textarea: CONTROL,
    // Enter takes the first match of what was typed.
    Select: { defaultProps: { ...CONTROL.defaultProps, selectFirstOptionOnChange: true } },
    NumberInput: CONTROL,
    SegmentedControl: { defaultProps: { size: "xs" } },
    ActionIcon: { defaultProps: { variant: "subtle", color: "gray" } },
    Menu: {
      defaultProps: {
        ...POPUP.defaultProps,
        // Without the placeholder the first item has the focus, as the role "menu" requires.
        withInitialFocusPlaceholder: false,
        // The canvas of workflows stops presses before they reach the document.
        clickOutsideCapture: true,
      },
    },
    Switch: { defaultProps: { withThumbIndicator: false } },
    Popover: POPUP,
    Tooltip: { defaultProps: { openDelay: 300, transitionProps: { duration: 120 } } },
    Modal: { defaultProps: { ...DIALOG, centered: true, radius: "lg" } },
    Drawer: { defaultProps: DIALOG },
  },
});
