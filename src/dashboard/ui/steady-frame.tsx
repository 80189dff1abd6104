/**
 * A mail in a sandboxed frame that is replaced without a flash: the document before stays visible
 * until the next one is loaded.
 */

import { useState } from "react";

export function SteadyFrame(props: { src: string; title: string; isDark: boolean }) {
  const { src, title, isDark } = props;
  const [shown, setShown] = useState(src);
  const sources = shown === src ? [src] : [shown, src];
  return sources.map((each) => (
    <iframe
      key={each}
      title={title}
      // The next document has the place of the present one when it is there.
      className={each === shown ? undefined : "preview-next"}
      aria-hidden={each === shown ? undefined : true}
      tabIndex={each === shown ? undefined : -1}
      sandbox="allow-popups allow-popups-to-escape-sandbox"
      referrerPolicy="no-referrer"
      style={{ colorScheme: isDark ? "dark" : "light" }}
      src={each}
      onLoad={() => {
        if (each === src) setShown(each);
      }}
    />
  ));
}
