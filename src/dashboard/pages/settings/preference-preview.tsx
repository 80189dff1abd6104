/** The preference page of recipients in a sandboxed frame, in a language and a colour scheme. */

import { SegmentedControl, Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { projectUrl } from "../../api.ts";
import type { BrandValues } from "./brand-values.ts";
import { LANGUAGE_CHOICES } from "./choices.ts";

/** A half-typed colour is not shown. */
const COLOR = /^(#[0-9a-f]{6})?$/i;
const QUIET_MS = 300;

export function PreferencePreview(props: { values: BrandValues; language: string }) {
  const [language, setLanguage] = useState(props.language);
  const [scheme, setScheme] = useState("light");
  const [{ brandColor, logoImageId }] = useDebouncedValue(props.values, QUIET_MS);
  const src = projectUrl("/preference-page/preview", {
    language,
    logoImageId,
    ...(COLOR.test(brandColor) ? { brandColor } : {}),
  });
  return (
    <section className="section branding-preview" aria-labelledby="branding-preview">
      <h2 id="branding-preview">Preview</h2>
      <p className="muted settings-note">
        The preference page that the link <code>{"{{ manageUrl }}"}</code> of a mail opens. Pages to
        subscribe and unsubscribe look alike.
      </p>
      <div className="branding-tools">
        <Select
          aria-label="Language of the preview"
          data={LANGUAGE_CHOICES}
          value={language}
          allowDeselect={false}
          onChange={(next) => setLanguage(next ?? language)}
        />
        <SegmentedControl
          aria-label="Colour scheme of the preview"
          value={scheme}
          onChange={setScheme}
          data={[
            { value: "light", label: "Light" },
            { value: "dark", label: "Dark" },
          ]}
        />
      </div>
      {/* A new frame for each address: a frame that goes to another one adds to the history. */}
      <iframe
        key={`${src} ${scheme}`}
        className="branding-frame"
        title="Preview of the preference page"
        sandbox=""
        referrerPolicy="no-referrer"
        style={{ colorScheme: scheme }}
        src={src}
      />
    </section>
  );
}
