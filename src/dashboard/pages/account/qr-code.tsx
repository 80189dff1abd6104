/** A QR code, drawn as one path. It is dark on white in both schemes, because cameras expect that. */

import { encode } from "uqr";

/** Modules of white around the code, which the standard wants to be four. */
const QUIET = 4;

export function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { ecc: "M", border: 0 });
  const full = size + 2 * QUIET;
  const path = data
    .flatMap((row, y) =>
      row.map((isDark, x) => (isDark ? `M${x + QUIET} ${y + QUIET}h1v1h-1z` : "")),
    )
    .join("");
  return (
    <svg
      className="qr-code"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${full} ${full}`}
      shapeRendering="crispEdges"
    >
      <path d={`M0 0h${full}v${full}H0z`} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
