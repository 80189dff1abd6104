/** The dialog that uploads an image. It stays open, so that several can follow each other. */

import { Button, Group, Stack } from "@mantine/core";
import { useState } from "react";
import { useProject } from "../../../state.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { FileDrop } from "../../../ui/file-drop.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { sizeText } from "../../../ui/size-text.ts";
import { uploadImage } from "../editor/images.ts";

type Props = { isOpen: boolean; onClose: () => void; onUploaded: () => void };

const MAX_BYTES = 5 * 1024 * 1024;
const IMAGE_TYPES = "image/png,image/jpeg,image/gif,image/webp";

export function UploadImages({ isOpen, onClose, onUploaded }: Props) {
  return (
    <Dialog opened={isOpen} onClose={onClose} title="Upload an image" size="md">
      <Upload onClose={onClose} onUploaded={onUploaded} />
    </Dialog>
  );
}

function Upload({ onClose, onUploaded }: Omit<Props, "isOpen">) {
  const project = useProject()?.id ?? "";
  const [current, setCurrent] = useState<string | null>(null);
  const [done, setDone] = useState<readonly string[]>([]);
  const [error, setError] = useState<unknown>(null);

  async function send(file: File): Promise<void> {
    if (current !== null) return;
    setError(null);
    if (file.size > MAX_BYTES) {
      setError(new Error(`${file.name} has ${sizeText(file.size)}; an image may have 5 MiB.`));
      return;
    }
    setCurrent(file.name);
    try {
      await uploadImage(project, file);
      setDone([...done, file.name]);
      onUploaded();
    } catch (caught) {
      setError(caught);
    } finally {
      setCurrent(null);
    }
  }

  return (
    <Stack gap="md">
      <FileDrop
        label="Image"
        title="Drop an image here"
        accept={IMAGE_TYPES}
        button="Choose an image"
        hint="PNG, JPEG, GIF or WebP, up to 5 MiB. It is made smaller if it is much wider than a mail, and the location and camera data of a photo are removed."
        onFile={(file) => void send(file)}
      />
      <p role="status" className="muted small">
        {current !== null
          ? `Uploading ${current}…`
          : done.length > 0
            ? `${done.at(-1)} was uploaded.`
            : ""}
      </p>
      {error !== null && <Problem error={error} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {done.length > 0 ? "Done" : "Cancel"}
        </Button>
      </Group>
    </Stack>
  );
}
