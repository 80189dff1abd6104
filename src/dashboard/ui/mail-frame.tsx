import { ActionIcon, Button, SegmentedControl, Switch, Tooltip } from "@mantine/core";
import { ExternalLink, Image as ImageIcon, ImageOff } from "lucide-react";
import { useState } from "react";
import { projectUrl, type Query } from "../api.ts";

/**
 * An email in a sandboxed frame: no scripts, no forms, and no remote images until they are asked for.
 * `path` is a preview of the interface, never a text: a document made in the page would inherit its
 * Content-Security-Policy.
 */
export function MailFrame(props: {
  path: string;
  /** Further parameters of the preview. */
  query?: Query;
  /** Whether the text part can be shown, too. */
  hasText?: boolean;
  /** Whether it refers to images of other servers, as far as it is known. */
  hasImages?: boolean;
  /** Names the frame: "Preview of Your order". */
  title: string;
}) {
  const { path, query = {}, hasText = false, hasImages = true, title } = props;
  const [width, setWidth] = useState("desktop");
  const [isWithImages, setIsWithImages] = useState(false);
  const [isDark, setIsDark] = useState(false);
  const [isText, setIsText] = useState(false);
  const src = projectUrl(path, {
    ...query,
    part: isText ? "text" : undefined,
    images: isWithImages || undefined,
    dark: isDark || undefined,
  });
  return (
    <div className="mail">
      <div className="mail-tools">
        <SegmentedControl
          aria-label="Width of the preview"
          value={width}
          onChange={setWidth}
          data={[
            { value: "desktop", label: "Desktop" },
            { value: "phone", label: "Phone" },
          ]}
        />
        <Switch
          size="xs"
          label="Dark (simulated)"
          checked={isDark}
          onChange={({ currentTarget }) => setIsDark(currentTarget.checked)}
        />
        {hasText && (
          <Switch
            size="xs"
            label="Text part"
            checked={isText}
            onChange={({ currentTarget }) => setIsText(currentTarget.checked)}
          />
        )}
        {hasImages && !isText && (
          <Button
            size="compact-xs"
            variant="default"
            leftSection={
              isWithImages ? (
                <ImageIcon size={13} aria-hidden />
              ) : (
                <ImageOff size={13} aria-hidden />
              )
            }
            onClick={() => setIsWithImages(!isWithImages)}
          >
            {isWithImages ? "Block images" : "Show images"}
          </Button>
        )}
        <Tooltip label="Open in a tab">
          <ActionIcon
            component="a"
            className="mail-open"
            aria-label="Open the preview in a tab"
            href={src}
            target="_blank"
            rel="noreferrer"
          >
            <ExternalLink size={15} />
          </ActionIcon>
        </Tooltip>
      </div>
      <div className="mail-stage" data-width={width}>
        {/* A new frame for each address: a frame that goes to another one adds to the history. */}
        <iframe
          key={src}
          title={title}
          sandbox="allow-popups allow-popups-to-escape-sandbox"
          referrerPolicy="no-referrer"
          // Styles of the mail for dark mode apply by the scheme of the frame.
          style={{ colorScheme: isDark ? "dark" : "light" }}
          src={src}
        />
      </div>
    </div>
  );
}
