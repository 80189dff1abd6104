/** The attachments and inline parts of a message, with a small picture of images. */

import { Button } from "@mantine/core";
import { Download, Eye, File } from "lucide-react";
import { sizeText } from "../size-text.ts";

export type ListedPart = {
  id: string;
  /** Empty if it has none. */
  filename: string;
  contentType: string;
  size: number;
  isInline?: boolean;
  sha256?: string;
  /** The address of its content, for this session. */
  url: string;
};

/** Types that a browser shows without running anything in them. */
const SHOWN = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/i;

export function PartList({ parts }: { parts: readonly ListedPart[] }) {
  return (
    <ul className="parts" aria-label="Attachments">
      {parts.map((part) => (
        <PartItem key={part.id} part={part} />
      ))}
    </ul>
  );
}

function PartItem({ part }: { part: ListedPart }) {
  const { id, filename, contentType, size, isInline = false, sha256, url } = part;
  const name = filename === "" ? `Part ${id}` : filename;
  const isImage = SHOWN.test(contentType);
  return (
    <li>
      <span className="part-picture">
        {isImage ? <img src={url} alt="" loading="lazy" /> : <File size={20} aria-hidden />}
      </span>
      <span className="part-text">
        <strong>{name}</strong>
        <span className="muted small">
          {contentType}, {sizeText(size)}
          {isInline ? ", shown in the message" : ""}
        </span>
        {sha256 !== undefined && (
          <code className="muted small cut" title={sha256}>
            SHA-256 {sha256}
          </code>
        )}
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
}
