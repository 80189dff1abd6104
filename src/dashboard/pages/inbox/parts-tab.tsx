import { Button } from "@mantine/core";
import { Download, Eye, File } from "lucide-react";
import type { MessageDetail } from "../../../modules/inboxes/model.ts";
import { projectUrl } from "../../api.ts";
import { sizeText } from "../../ui/size-text.ts";
import type { MessagePlace } from "./use-message.ts";
import { messagePath } from "./use-messages.ts";

/** Types that a browser shows without running anything in them. */
const SHOWN = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/i;

/** Attachments and inline parts, with a small picture of images. */
export function PartsTab({ place, message }: { place: MessagePlace; message: MessageDetail }) {
  return (
    <ul className="parts" aria-label="Attachments">
      {message.parts.map((part) => {
        const { partId, filename, contentType, size, inline, sha256 } = part;
        const url = projectUrl(
          `${messagePath(place.inbox, place.id)}/parts/${encodeURIComponent(partId)}`,
        );
        const name = filename === "" ? `Part ${partId}` : filename;
        const isImage = SHOWN.test(contentType);
        return (
          <li key={partId}>
            <span className="part-picture">
              {isImage ? <img src={url} alt="" loading="lazy" /> : <File size={20} aria-hidden />}
            </span>
            <span className="part-text">
              <strong>{name}</strong>
              <span className="muted small">
                {contentType}, {sizeText(size)}
                {inline ? ", shown in the message" : ""}
              </span>
              <code className="muted small cut" title={sha256}>
                SHA-256 {sha256}
              </code>
            </span>
            {isImage && (
              <Button
                component="a"
                size="xs"
                variant="default"
                href={url}
                target="_blank"
                rel="noreferrer"
                leftSection={<Eye size={14} aria-hidden />}
                aria-label={`View ${name}`}
              >
                View
              </Button>
            )}
            <Button
              component="a"
              size="xs"
              variant="default"
              href={url}
              download={name}
              leftSection={<Download size={14} aria-hidden />}
              aria-label={`Download ${name}`}
            >
              Download
            </Button>
          </li>
        );
      })}
    </ul>
  );
}
