import { Button, Stack, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Image } from "../../../modules/images/images.ts";
import type { ProjectDetails } from "../../../modules/project-model.ts";
import { api } from "../../api.ts";
import { FileDrop } from "../../ui/file-drop.tsx";
import { Problem } from "../../ui/problem.tsx";
import { sizeText } from "../../ui/size-text.ts";
import { type BrandValues, brandValues } from "./brand-values.ts";
import { SaveRow, useProjectForm } from "./project-form.tsx";

const MAX_BYTES = 5 * 1024 * 1024;
const IMAGE_TYPES = "image/png,image/jpeg,image/gif,image/webp";
/** The width at which the pages show a logo, in pixels. */
const LOGO_WIDTH_PX = 200;
/** The colour that the picker starts with, which is that of the pages. */
const PLAIN_COLOR = "#1d56c4";

type Props = { project: ProjectDetails; onChange: (values: BrandValues) => void };

export function BrandingForm({ project, onChange }: Props) {
  const form = useProjectForm(project, { valuesOf: brandValues, bodyOf, onSaved: onChange });
  const set = (change: Partial<BrandValues>) => {
    form.form.setValues(change);
    onChange({ ...form.values, ...change });
  };
  const { brandColor, logoImageId } = form.values;
  return (
    <form className="section" onSubmit={form.onSubmit}>
      {form.unsaved}
      <h2>Branding</h2>
      <p className="muted settings-note">
        Recipients see it on the pages that the links of your mail open, and in the mails that these
        pages send.
      </p>
      <Stack gap="lg">
        <Logo id={logoImageId} onChange={(id) => set({ logoImageId: id })} />
        <TextInput
          label="Colour"
          description="Of buttons and links. Where a text could not be read in it, it is made lighter or darker."
          placeholder={PLAIN_COLOR}
          maxLength={7}
          autoComplete="off"
          spellCheck={false}
          className="branding-color"
          leftSection={
            <input
              type="color"
              aria-label="Choose the colour"
              value={/^#[0-9a-f]{6}$/i.test(brandColor) ? brandColor.toLowerCase() : PLAIN_COLOR}
              onChange={({ currentTarget }) => set({ brandColor: currentTarget.value })}
            />
          }
          {...form.field("brandColor")}
          onChange={({ currentTarget }) => set({ brandColor: currentTarget.value })}
        />
        <SaveRow
          form={form}
          onDiscard={() => {
            form.form.reset();
            onChange(brandValues(project));
          }}
        />
      </Stack>
    </form>
  );
}

const bodyOf = ({ brandColor, logoImageId }: BrandValues) => ({
  brandColor: brandColor.trim() === "" ? null : brandColor.trim(),
  logoImageId: logoImageId === "" ? null : logoImageId,
});

function Logo({ id, onChange }: { id: string; onChange: (id: string) => void }) {
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const { data: image } = useQuery({
    queryKey: ["images", id],
    queryFn: ({ signal }) => api.get<Image>(`/images/${encodeURIComponent(id)}`, { signal }),
    enabled: id !== "",
  });

  async function upload(file: File): Promise<void> {
    if (isBusy) return;
    setError(null);
    if (file.size > MAX_BYTES) {
      setError(new Error(`${file.name} has ${sizeText(file.size)}; an image may have 5 MiB.`));
      return;
    }
    setIsBusy(true);
    try {
      const form = new FormData();
      form.set("file", file, file.name);
      const stored = await api.upload<Image>("/images", form, { query: { width: LOGO_WIDTH_PX } });
      onChange(stored.id);
    } catch (caught) {
      setError(caught);
    } finally {
      setIsBusy(false);
    }
  }

  return (
    <div>
      <h3 className="branding-label">Logo</h3>
      {id === "" ? (
        <FileDrop
          label="Logo"
          title="Drop your logo here"
          accept={IMAGE_TYPES}
          button={isBusy ? "Uploading…" : "Choose a logo"}
          hint="PNG, JPEG, GIF or WebP. It is shown up to 192 pixels wide and 48 pixels high, on white in dark mode. A wide logo replaces the name of the project."
          onFile={(file) => void upload(file)}
        />
      ) : (
        <div className="branding-logo">
          {image !== undefined && <img src={new URL(image.url).pathname} alt={image.name} />}
          <Button variant="default" size="xs" onClick={() => onChange("")}>
            Remove the logo
          </Button>
        </div>
      )}
      {error !== null && <Problem error={error} />}
    </div>
  );
}
