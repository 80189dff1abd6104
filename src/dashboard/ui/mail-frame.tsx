import { Button, SegmentedControl } from "@mantine/core";
import { useState } from "react";

/**
 * An email in a sandboxed frame: no scripts, no forms, and no remote images until they are asked for.
 * `src` is an address of the server, never a text: a document made in the page would inherit its
 * Content-Security-Policy. `projectUrl` of api.ts makes the address.
 */
export function MailFrame(props: {
  src: string;
  /** The same with remote images; without it, the mail has none. */
  srcWithImages?: string;
  /** Whether the address takes `dark=true`, which simulates a mail program with a dark theme. */
  canBeDark?: boolean;
  /** Names the frame: "Preview of Your order". */
  title: string;
}) {
  const { src, srcWithImages, canBeDark = false, title } = props;
  const [width, setWidth] = useState("desktop");
  const [colours, setColours] = useState("light");
  const [hasImages, setHasImages] = useState(false);
  const address = (hasImages ? srcWithImages : undefined) ?? src;
  const shown = colours === "dark" ? withDark(address) : address;
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
        {canBeDark && (
          <SegmentedControl
            aria-label="Colours of the preview"
            value={colours}
            onChange={setColours}
            data={[
              { value: "light", label: "Light" },
              { value: "dark", label: "Dark (simulated)" },
            ]}
          />
        )}
        {srcWithImages !== undefined && !hasImages && (
          <>
            <span className="muted small">Remote images are blocked.</span>
            <Button size="compact-xs" variant="default" onClick={() => setHasImages(true)}>
              Show images
            </Button>
          </>
        )}
      </div>
      <div className="mail-stage" data-width={width}>
        {/* A new frame for each address: a frame that goes to another one adds to the history. */}
        <iframe
          key={shown}
          title={title}
          sandbox="allow-popups allow-popups-to-escape-sandbox"
          referrerPolicy="no-referrer"
          src={shown}
        />
      </div>
    </div>
  );
}

const withDark = (address: string) => `${address}${address.includes("?") ? "&" : "?"}dark=true`;
