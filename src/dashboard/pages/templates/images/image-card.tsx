import { ActionIcon, Tooltip } from "@mantine/core";
import { Trash2 } from "lucide-react";
import type { Image } from "../../../../modules/images/images.ts";
import { Copy } from "../../../ui/copy.tsx";
import { sizeText } from "../../../ui/size-text.ts";
import { Time } from "../../../ui/time.tsx";

/** `onDelete` is null if the user may not delete images. */
export function ImageCard(props: { image: Image; onDelete: ((image: Image) => void) | null }) {
  const { image, onDelete } = props;
  const { name, url, format, width, height, sizeBytes, createdAt } = image;
  const path = new URL(url, window.location.href).pathname;
  return (
    <li className="image-card">
      <a
        href={path}
        target="_blank"
        rel="noreferrer"
        className="image-picture"
        aria-label={`Open ${name}`}
      >
        {/* From the address of the page, because others are blocked by its policy. */}
        <img src={path} alt="" loading="lazy" />
      </a>
      <div className="image-text">
        <strong className="cut" title={name}>
          {name}
        </strong>
        <span className="muted small">
          {width} × {height}, {format.toUpperCase()}, {sizeText(sizeBytes)}
        </span>
        <span className="image-line muted small">
          <Time at={createdAt} isPlain />
          <span className="image-actions">
            <Copy value={url} label={`Copy the address of ${name}`} />
            {onDelete !== null && (
              <Tooltip label="Delete">
                <ActionIcon size="sm" aria-label={`Delete ${name}`} onClick={() => onDelete(image)}>
                  <Trash2 size={14} />
                </ActionIcon>
              </Tooltip>
            )}
          </span>
        </span>
      </div>
    </li>
  );
}
